package skel_test

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/skel"
	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry is how a machine learns of the driver.
var entry = machine.DriverEntry{
	Driver:      &skel.Driver,
	New:         func(_ string, cfg hw.Config) (hw.NIC, error) { return skelhw.New(cfg) },
	Chips:       func() []string { return []string{"SKEL-1"} },
	DefaultChip: "SKEL-1",
}

// box is a machine with skel0, which is plugged into nothing.
type box struct {
	*machine.Machine
	t       *testing.T
	console bytes.Buffer
}

func boot(t *testing.T, env map[string]string) *box {
	t.Helper()
	b := &box{t: t}
	vars := map[string]string{"hint.skel.0.port": "null"}
	for name, v := range env {
		vars[name] = v
	}
	m, err := machine.Boot(machine.Config{NCPU: 2, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true,
		MemSize: 32 << 20, Env: vars, Console: &b.console, Drivers: []machine.DriverEntry{entry}})
	b.Machine = m
	b.must(err)
	t.Cleanup(func() { b.must(m.Close()) })
	return b
}

func (b *box) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%v\n%s", err, b.console.String())
	}
}

func (b *box) text(name string) string {
	b.t.Helper()
	s, err := b.Kernel().Sysctl.Text(name)
	b.must(err)
	return s
}

func (b *box) settle() {
	b.Kernel().RunUntilIdle()
	b.Kernel().Advance(time.Second)
	b.Kernel().RunUntilIdle()
}

// send transmits a frame to nobody in particular.
func (b *box) send() error {
	z := mbuf.Of(b.Kernel())
	c := z.Borrow()
	defer z.Return(c)
	m := c.GetHdr()
	if !c.Append(m, make([]byte, 100)) {
		b.t.Fatal("no mbufs")
	}
	return b.Ifnet("skel0").Transmit(m)
}

func TestAddressOfAGroupIsNoStation(t *testing.T) {
	const point = "debug.fail_point.hw.skel0.eeprom"
	b := boot(t, map[string]string{point: "return(1)"})
	if b.Ifnet("skel0") != nil || !strings.Contains(b.console.String(), "skel0: IFDI_ATTACH_PRE failed 5\n") {
		t.Fatalf("attached with a broken NVM:\n%s", b.console.String())
	}
	b.must(b.Kernel().Sysctl.SetText(point, "off"))
	b.Hardware("skel0").Reset()
	b.must(b.Attach("skel0"))
}

func TestMTULimits(t *testing.T) {
	b := boot(t, nil)
	ifp := b.Ifnet("skel0")
	for mtu, want := range map[int]error{ifnet.EtherMTU - 1: nil, 9216: nil, 9217: syscall.EINVAL} {
		if err := ifp.Ioctl(ifnet.IoctlSetMTU, mtu); !errors.Is(err, want) {
			t.Errorf("MTU %d: %v, want %v", mtu, err, want)
		}
	}
}

func TestWhatThePartCountsIsASysctl(t *testing.T) {
	b := boot(t, nil)
	b.must(b.Up("skel0"))
	b.settle()
	for range 3 {
		b.must(b.send())
	}
	b.settle()
	for leaf, want := range map[string]string{"tx_frames": "3", "tx_errors": "0", "rx_frames": "0", "rx_errors": "0",
		"rx_missed": "0", "rx_filtered": "0", "refused": "0"} {
		if got := b.text("dev.skel.0.mac_stats." + leaf); got != want {
			t.Errorf("%s is %s, want %s", leaf, got, want)
		}
	}
}

func TestDescriptorThatComesBackChangedResetsTheInterface(t *testing.T) {
	b := boot(t, nil)
	b.must(b.Up("skel0"))
	b.settle()
	b.must(b.Kernel().Sysctl.SetText("debug.fail_point.hw.skel0.corrupt_writeback", "1*return(4)"))
	const packets = 40 // enough for iflib to ask what has become of them
	for range packets {
		_ = b.send() // the reset takes the link away
	}
	b.settle()
	if got := b.text("dev.skel.0.bad_writeback"); got == "0" {
		t.Errorf("bad_writeback is %s\n%s", got, b.console.String())
	}
	if want := "skel0: TX(0): descriptor came back changed\n"; strings.Count(b.console.String(), want) != 1 {
		t.Errorf("console says\n%s\nwant %q once", b.console.String(), want)
	}
	b.must(b.send())
}
