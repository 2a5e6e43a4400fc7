package emhw_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/machine/machinetest"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestConsoleNamesThePartOfTheHub(t *testing.T) {
	for chip, name := range map[string]string{
		"I217-LM": "Intel(R) I217-LM LPT", "I217-V": "Intel(R) I217-V LPT",
		"I219-LM": "Intel(R) I219-LM SPT", "I219-V": "Intel(R) I219-V SPT",
		"I219-LM6": "Intel(R) I219-LM CNP(6)", "I219-V6": "Intel(R) I219-V CNP(6)",
	} {
		h := machinetest.NewHost(t, "em", chip, port.NewFabric(pair.Kind()), hw.NewWorkList())
		for _, want := range []string{"em0: <" + name + ">", "em0: Using an MSI interrupt"} {
			if out := h.Out.String(); !strings.Contains(out, want) {
				t.Errorf("%s: no %q on the console:\n%s", chip, want, out)
			}
		}
	}
}

func TestSpoiledFlashFailsTheAttach(t *testing.T) {
	for _, chip := range []string{"I217-V", "I219-LM"} {
		out := &rig.Console{}
		m, err := machine.Boot(machine.Config{NCPU: 2, MemSize: 48 << 20, Console: out, Executor: kern.Stepped, Clock: kern.ManualClock,
			Files: fstest.MapFS{
				"boot/device.hints": {Data: []byte("hint.em.0.port=\"null\"\nhint.em.0.device=\"" + chip + "\"\n")},
				"boot/loader.conf":  {Data: []byte("debug.fail_point.hw.em0.eeprom=\"return(4)\"\n")},
			}})
		must(t, err)
		if m.Ctx("em0") != nil || !strings.Contains(out.String(), "em0: The EEPROM Checksum Is Not Valid") {
			t.Errorf("%s: console:\n%s", chip, out.String())
		}
		must(t, m.Close())
	}
}

// A frame that stays in the ring, because the head is stuck, does not keep I219 from
// coming back.
func TestI219ComesBackWithAFrameInItsRing(t *testing.T) {
	hosts := machinetest.NewHosts(t, "em", "I219-LM", "I219-V6")
	hosts.Settle()
	h := hosts[0]
	stuck := h.Kernel().FailPoint("hw.em0.stuck_head")
	must(t, stuck.Set("return"))
	h.Send(hosts[1], bytes.Repeat([]byte{1}, 60))
	h.Kernel().RunUntilIdle()
	ifp := h.Ifnet("em0")
	must(t, ifp.Ioctl(ifnet.IoctlSetFlags, ifp.Flags()&^ifnet.FlagUp))
	must(t, stuck.Set("off"))
	must(t, ifp.Ioctl(ifnet.IoctlSetFlags, ifp.Flags()|ifnet.FlagUp))
	hosts.Settle()
	h.Send(hosts[1], bytes.Repeat([]byte{2}, 60))
	hosts.Settle()
	if n := len(hosts[1].Got); n != 1 || hosts[1].Got[0][0] != 2 {
		t.Errorf("%d frames arrived after the part came back", n)
	}
	if out := h.Out.String(); strings.Contains(out, "refused") {
		t.Errorf("the hardware complains: %s", out)
	}
}

func TestLinkIdlesWithEEE(t *testing.T) {
	hosts := machinetest.NewHosts(t, "em", "I217-V", "I219-V")
	counts := func(h *machinetest.Host) (tx, rx string) {
		tx, err := h.Kernel().Sysctl.Text("dev.em.0.eee.tx_lpi_count")
		must(t, err)
		rx, err = h.Kernel().Sysctl.Text("dev.em.0.eee.rx_lpi_count")
		must(t, err)
		return tx, rx
	}
	for _, on := range []bool{false, true} {
		if on {
			for _, h := range hosts {
				must(t, h.Kernel().Sysctl.SetText("dev.em.0.eee_control", "0"))
			}
		}
		hosts.Settle()
		for range 4 {
			hosts[0].Send(hosts[1], bytes.Repeat([]byte{1}, 60))
			hosts.Settle()
		}
		want := "0"
		if on {
			want = "4"
		}
		tx, _ := counts(hosts[0])
		if _, rx := counts(hosts[1]); tx != want || rx != want {
			t.Errorf("EEE %v: idled %s and %s times, want %s", on, tx, rx, want)
		}
	}
	for _, h := range hosts {
		for _, c := range emhwCounts(t, h) {
			if c.Value != 0 && c.Name != "filtered" {
				t.Errorf("%s: %d", c.Name, c.Value)
			}
		}
	}
}

func emhwCounts(t *testing.T, h *machinetest.Host) []emhw.Count {
	t.Helper()
	return h.Ctx("em0").Function().Device().(emhw.Counter).Counts()
}
