package devinfo8_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/internal/ctl/devinfo8"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// boot boots a stepped machine with an em on two buses, one of them without MSI, and an
// igb in another slot of the second.
func boot(t testing.TB) *machine.Machine {
	t.Helper()
	m, err := machine.Boot(machine.Config{Executor: kern.Stepped, Clock: kern.ManualClock, NCPU: 2, MemSize: 48 << 20,
		Env: map[string]string{"hint.em.0.port": "null", "hint.em.1.device": "82545EM", "hint.em.1.at": "pci0:5:0:0",
			"hint.igb.0.at": "pci0:5:1:0"}})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// run runs devinfo on a machine.
func run(m *machine.Machine, args string) (out, err string, exit int) {
	var stdout, stderr bytes.Buffer
	exit = devinfo8.Run(m.Slots(), strings.Fields(args), &stdout, &stderr)
	return stdout.String(), stderr.String(), exit
}

// prints compares what the arguments print.
func prints(t *testing.T, m *machine.Machine, args, want string) {
	t.Helper()
	out, errs, exit := run(m, args)
	if diff := cmp.Diff(want, out); diff != "" || errs != "" || exit != 0 {
		t.Errorf("devinfo %s: exit %d, %q\n%s", args, exit, errs, diff)
	}
}

const (
	emInfo  = "pnpinfo vendor=0x8086 device=0x10d3 subvendor=0x8086 subdevice=0xa01f class=0x020000 at slot=0 function=0 dbsf=pci0:2:0:0"
	lemInfo = "pnpinfo vendor=0x8086 device=0x100f subvendor=0x8086 subdevice=0x1001 class=0x020000 at slot=0 function=0 dbsf=pci0:5:0:0"
	igbInfo = "pnpinfo vendor=0x8086 device=0x1533 subvendor=0x8086 subdevice=0x0001 class=0x020000 at slot=1 function=0 dbsf=pci0:5:1:0"
)

func TestTreeHasWhatTheMachineHas(t *testing.T) {
	m := boot(t)
	prints(t, m, "", `nexus0
  pcib2
    pci2
      em0
  pcib5
    pci5
      em1
      igb0
`)
	prints(t, m, "-v", `nexus0
  pcib2
    pci2
      em0 `+emInfo+`
  pcib5
    pci5
      em1 `+lemInfo+`
      igb0 `+igbInfo+`
`)
}

func TestDevicesWithoutDriverAreUnknown(t *testing.T) {
	m := boot(t)
	must(t, m.Detach("em0"))
	must(t, m.Disable("em1"))
	must(t, m.Suspend("igb0"))
	prints(t, m, "", `nexus0
  pcib2
    pci2
  pcib5
    pci5
      igb0 (suspended)
`)
	prints(t, m, "-v", `nexus0
  pcib2
    pci2
      unknown `+emInfo+`
  pcib5
    pci5
      unknown `+lemInfo+` (disabled)
      igb0 `+igbInfo+` (suspended)
`)
}

func TestResourcesStandBelowTheirDevices(t *testing.T) {
	m := boot(t)
	prints(t, m, "-r", `nexus0
  pcib2
    pci2
        PCI domain 0 bus numbers:
            2
      em0
          Interrupt request lines:
              0x18
              0x19
              0x1a
          I/O memory addresses:
              0xc0000000-0xc001ffff
              0xc0020000-0xc0023fff
  pcib5
    pci5
        PCI domain 0 bus numbers:
            5
      em1
          Interrupt request lines:
              0x15
          I/O ports:
              0x2000-0x203f
          I/O memory addresses:
              0xc0040000-0xc005ffff
      igb0
          Interrupt request lines:
              0x1b
              0x1c
              0x1d
          I/O memory addresses:
              0xc0024000-0xc0027fff
              0xc0060000-0xc007ffff
`)
}

func TestUsageShowsWhatNobodyHas(t *testing.T) {
	m := boot(t)
	must(t, m.Detach("em0"))
	prints(t, m, "-u", `Interrupt request lines:
    0x10-0x14 ----
    0x15 (em1)
    0x16-0x17 ----
    0x1b (igb0)
    0x1c (igb0)
    0x1d (igb0)
I/O ports:
    0x2000-0x203f (em1)
    0x2040-0xffff ----
I/O memory addresses:
    0xc0000000-0xc001ffff ----
    0xc0020000-0xc0023fff ----
    0xc0024000-0xc0027fff (igb0)
    0xc0028000-0xc003ffff ----
    0xc0040000-0xc005ffff (em1)
    0xc0060000-0xc007ffff (igb0)
    0xc0080000-0xfebfffff ----
    0x4000000000-0x3fffffffffff ----
PCI domain 0 bus numbers:
    0-1 ----
    2 (pci2)
    3-4 ----
    5 (pci5)
    6-255 ----
`)
}

func TestPathLeadsUpToTheRoot(t *testing.T) {
	m := boot(t)
	prints(t, m, "-p igb0", "igb0 pci5 pcib5 nexus0\n")
	prints(t, m, "-vp em0", "em0 "+emInfo+"\n pci2\n pcib2\n nexus0\n")
	prints(t, m, "-p nexus0", "nexus0\n")
	out, errs, exit := run(m, "-p em7")
	if out != "" || errs != "devinfo: em7: Not found\n" || exit != 1 {
		t.Errorf("exit %d, %q, %q", exit, out, errs)
	}
}

func TestUsageErrors(t *testing.T) {
	m := boot(t)
	const usage = "usage: devinfo [-rv]\n       devinfo -u\n       devinfo -p dev [-v]\n"
	for args, want := range map[string]string{"-x": "devinfo: illegal option -- x\n" + usage, "-r -p em0": usage, "-up em0": usage,
		"-p": "devinfo: option requires an argument -- p\n" + usage} {
		out, errs, exit := run(m, args)
		if out != "" || errs != want || exit != 1 {
			t.Errorf("%s: exit %d, %q, %q", args, exit, out, errs)
		}
	}
}

func TestMachineWithoutDevices(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if exit := devinfo8.Run(nil, []string{"-v"}, &stdout, &stderr); exit != 0 || stdout.String() != "nexus0\n" {
		t.Errorf("exit %d, %q", exit, &stdout)
	}
}

func TestJSONHasLibxosNames(t *testing.T) {
	m := boot(t)
	prints(t, m, "-o json", `{"device-information": {"nexus0": {"pcib2": {"pci2": {"em0": {}}}, "pcib5": {"pci5": {"em1": {}, "igb0": {}}}}}}
`)
	must(t, m.Disable("em0"))
	prints(t, m, "-rv --libxo json", `{"device-information": {"nexus0": {"state":"enabled", "pcib2": {"state":"enabled", "pci2": {"state":"enabled", `+
		`"PCI-domain-0-bus-numbers": [{"start":"2","end":"2"}], `+
		`"unknown": {"pnpinfo": {"vendor":"0x8086","device":"0x10d3","subvendor":"0x8086","subdevice":"0xa01f","class":"0x020000"}, `+
		`"location": {"slot":"0","function":"0","dbsf":"pci0:2:0:0"},"state":"disabled", `+
		`"I-O-memory-addresses": [{"start":"0xc0000000","end":"0xc001ffff"}, {"start":"0xc0020000","end":"0xc0023fff"}]}}}, `+
		`"pcib5": {"state":"enabled", "pci5": {"state":"enabled", "PCI-domain-0-bus-numbers": [{"start":"5","end":"5"}], `+
		`"em1": {"pnpinfo": {"vendor":"0x8086","device":"0x100f","subvendor":"0x8086","subdevice":"0x1001","class":"0x020000"}, `+
		`"location": {"slot":"0","function":"0","dbsf":"pci0:5:0:0"},"state":"enabled", "Interrupt-request-lines": [{"start":"0x15","end":"0x15"}], `+
		`"I-O-ports": [{"start":"0x2000","end":"0x203f"}], "I-O-memory-addresses": [{"start":"0xc0040000","end":"0xc005ffff"}]}, `+
		`"igb0": {"pnpinfo": {"vendor":"0x8086","device":"0x1533","subvendor":"0x8086","subdevice":"0x0001","class":"0x020000"}, `+
		`"location": {"slot":"1","function":"0","dbsf":"pci0:5:1:0"},"state":"enabled", `+
		`"Interrupt-request-lines": [{"start":"0x1b","end":"0x1b"}, {"start":"0x1c","end":"0x1c"}, {"start":"0x1d","end":"0x1d"}], `+
		`"I-O-memory-addresses": [{"start":"0xc0024000","end":"0xc0027fff"}, {"start":"0xc0060000","end":"0xc007ffff"}]}}}}}}
`)
	prints(t, m, "-p em1 -o json", `{"device-path": {"em1": {"devicename":"em1", "pci5": {"devicename":"pci5", "pcib5": {"devicename":"pcib5", "nexus0": {"devicename":"nexus0"}}}}}}
`)
	out, _, _ := run(m, "-u -o json")
	if want := `{"device-resources": {"Interrupt-request-lines": {"0x10-0x14": ["----"], "0x15": ["em1"], "0x16-0x17": ["----"], `; !strings.HasPrefix(out, want) {
		t.Errorf("%s", out)
	}
	if out, errs, exit := run(m, "-p em9 -o json"); out != "" || errs != "devinfo: em9: Not found\n" || exit != 1 {
		t.Errorf("exit %d, %q, %q", exit, out, errs)
	}
}
