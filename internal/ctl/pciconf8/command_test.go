package pciconf8_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneOfEach are NICs of each kind of bus, the flash part without a driver.
func oneOfEach() map[string]string {
	return map[string]string{"hint.em.0.port": "null", "hint.em.1.device": "82545EM", "hint.em.2.device": "I217-V",
		"hint.em.2.disabled": "1", "hint.igb.0.device": "I350", "hint.igb.0.at": "pci0:1:0:2"}
}

const listing = `igb0@pci0:1:0:2:	class=0x020000 rev=0x01 hdr=0x00 vendor=0x8086 device=0x1521 subvendor=0x8086 subdevice=0x0001
    vendor     = 'Intel Corporation'
    device     = 'I350 Gigabit Network Connection'
    class      = network
    subclass   = ethernet
    bar   [10] = type Memory, range 32, base 0xc0080000, size 131072, enabled
    bar   [1c] = type Memory, range 32, base 0xc0028000, size 16384, enabled
    cap 01[40] = powerspec 3  supports D0 D3  current D0
    cap 05[50] = MSI supports 1 message, 64 bit, vector masks 
    cap 11[70] = MSI-X supports 25 messages, enabled
                 Table in map 0x1c[0x0], PBA in map 0x1c[0x2000]
    cap 10[a0] = PCI-Express 2 endpoint max data 128(512) FLR RO NS
                 max read 512
                 link x4(x4) speed 5.0(5.0)
em0@pci0:2:0:0:	class=0x020000 rev=0x00 hdr=0x00 vendor=0x8086 device=0x10d3 subvendor=0x8086 subdevice=0xa01f
    vendor     = 'Intel Corporation'
    device     = '82574L Gigabit Network Connection'
    class      = network
    subclass   = ethernet
    bar   [10] = type Memory, range 32, base 0xc0000000, size 131072, enabled
    bar   [1c] = type Memory, range 32, base 0xc0020000, size 16384, enabled
    cap 01[c8] = powerspec 2  supports D0 D3  current D0
    cap 05[d0] = MSI supports 1 message, 64 bit 
    cap 10[e0] = PCI-Express 1 endpoint max data 128(256) RO NS
                 max read 512
                 link x1(x1) speed 2.5(2.5)
    cap 11[a0] = MSI-X supports 5 messages, enabled
                 Table in map 0x1c[0x0], PBA in map 0x1c[0x2000]
em1@pci0:3:0:0:	class=0x020000 rev=0x01 hdr=0x00 vendor=0x8086 device=0x100f subvendor=0x8086 subdevice=0x1001
    vendor     = 'Intel Corporation'
    device     = '82545EM Gigabit Ethernet Controller (Copper)'
    class      = network
    subclass   = ethernet
    bar   [10] = type Memory, range 32, base 0xc0040000, size 131072, enabled
    bar   [18] = type I/O Port, range 32, base 0x2000, size 64, enabled
    cap 01[dc] = powerspec 2  supports D0 D3  current D0
    cap 07[e4] = PCI-X 64-bit supports 133MHz, 2048 burst read, 1 split transaction
none0@pci0:4:0:0:	class=0x020000 rev=0x00 hdr=0x00 vendor=0x8086 device=0x153b subvendor=0x8086 subdevice=0x153b
    vendor     = 'Intel Corporation'
    device     = 'Ethernet Connection I217-V'
    class      = network
    subclass   = ethernet
    bar   [10] = type Memory, range 32, base 0xc0060000, size 131072, disabled
    bar   [14] = type Memory, range 32, base 0xc0024000, size 4096, disabled
    cap 01[c8] = powerspec 2  supports D0 D3  current D0
    cap 05[d0] = MSI supports 1 message, 64 bit 
    cap 13[e0] = PCI Advanced Features: FLR TP
`

func TestListingOfEveryKindOfPart(t *testing.T) {
	m := boot(t, oneOfEach())
	out, errs, exit := run(m, "-lvbceBV")
	if diff := cmp.Diff(listing, out); diff != "" || errs != "" || exit != 0 {
		t.Errorf("exit %d, %q\n%s", exit, errs, diff)
	}
	for selector, first := range map[string]string{"em1": "em1@pci0:3:0:0:\t", "pci0:4:0:0": "none0@", "none7@pci0:4:0:0:": "none0@",
		"pci2:0": "em0@", "pci1:0:2": "igb0@", "pci9:0": ""} {
		out, errs, exit := run(m, "-l", selector)
		if !strings.HasPrefix(out, first) || strings.Count(out, "\n") != min(1, len(first)) || errs != "" || exit != 0 {
			t.Errorf("%s: exit %d, %q, %q", selector, exit, out, errs)
		}
	}
}

func TestEveryPartHasAName(t *testing.T) {
	env := map[string]string{"hint.igb.1.device": "82576", "hint.igb.0.device": "I210", "hint.igc.0.device": "I225-V", "hint.igc.1.device": "I226-V",
		"hint.em.0.device": "82540EM", "hint.em.1.device": "I217-LM", "hint.em.2.device": "I219-LM", "hint.em.3.device": "I219-V",
		"hint.em.4.device": "I219-LM6", "hint.em.5.device": "I219-V6"}
	m := boot(t, env)
	out, _, _ := run(m, "-lv")
	for _, want := range []string{"82576 Gigabit Network Connection", "I210 Gigabit Network Connection", "Ethernet Controller I225-V",
		"Ethernet Controller I226-V", "82540EM Gigabit Ethernet Controller", "Ethernet Connection I217-LM", "Ethernet Connection I219-LM",
		"Ethernet Connection I219-V", "Ethernet Connection (6) I219-LM", "Ethernet Connection (6) I219-V"} {
		if !strings.Contains(out, "    device     = '"+want+"'\n") {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(out, "    device     = "); n != len(m.Slots()) {
		t.Errorf("%d of %d parts have names", n, len(m.Slots()))
	}
}

func TestDetachedDeviceLosesItsName(t *testing.T) {
	m := boot(t, map[string]string{"hint.em.0.port": "null", "hint.em.1.port": "null"})
	must(t, m.Detach("em0"))
	must(t, m.Detach("em1"))
	out, _, _ := run(m, "-l")
	if !strings.HasPrefix(out, "none0@pci0:2:0:0:\t") || !strings.Contains(out, "\nnone1@pci0:3:0:0:\t") {
		t.Errorf("%s", out)
	}
	out, errs, exit := run(m, "-a", "pci0:2:0:0")
	if out != "pci0:2:0:0: not attached\n" || errs != "" || exit != 2 {
		t.Errorf("-a: exit %d, %q, %q", exit, out, errs)
	}
	must(t, m.Attach("em0"))
	out, errs, exit = run(m, "-a", "em0")
	if out != "em0: attached\n" || errs != "" || exit != 0 {
		t.Errorf("-a: exit %d, %q, %q", exit, out, errs)
	}
}

func TestConfigurationSpaceIsReadAndWritten(t *testing.T) {
	m := boot(t, map[string]string{"hint.em.0.device": "82545EM"})
	for _, step := range []struct{ args, want string }{
		{"-r em0 0", "100f8086\n"},
		{"-r em0 0x0:0xf", "100f8086 00100007 02000001 00000000 \n"},
		{"-r em0 0:20", "100f8086 00100007 02000001 00000000 \nc0000000 00000000 \n"},
		{"-r -h em0 0:2", "8086 100f \n"},
		{"-r -b pci0:2:0:0 0:013", "86 80 0f 10 07 00 10 00  01 00 00 02 \n"},
		{"-r em0 0x100", "ffffffff \n"},
		{"-w -h em0 4 0x3", ""},
		{"-r -h em0 4", "0003 \n"},
		{"-w em0 0 0x12345678", ""}, // who a function is cannot be written
		{"-r em0 0", "100f8086 \n"},
		{"-w -b em0 0x3c 0x1ff", ""},
		{"-r -b em0 60", "ff \n"},
		{"-w -b em0 60x -1", ""},
		{"-r em0 nothing", "100f8086 \n"},
	} {
		out, errs, exit := run(m, strings.Fields(step.args)...)
		if diff := cmp.Diff(strings.ReplaceAll(step.want, " \n", "\n"), strings.ReplaceAll(out, " \n", "\n")); diff != "" || errs != "" || exit != 0 {
			t.Errorf("%s: exit %d, %q\n%s", step.args, exit, errs, diff)
		}
	}
	out, _, _ := run(m, "-r", "-b", "em0", "0:15")
	if out != "86 80 0f 10 03 00 10 00  01 00 00 02 00 00 00 00 \n" {
		t.Errorf("%q", out)
	}
}

const usage = `usage: pciconf -l [-BbceVv] [device]
       pciconf -a device
       pciconf -r [-b | -h] device addr[:addr2]
       pciconf -w [-b | -h] device addr value
`

func TestErrorsAreFreeBSDs(t *testing.T) {
	m := boot(t, map[string]string{"hint.em.0.port": "null"})
	for args, want := range map[string]string{
		"":                            usage,
		"-l em0 em1":                  usage,
		"-r em0":                      usage,
		"-w em0 4":                    usage,
		"-a":                          usage,
		"-lq":                         "pciconf: illegal option -- q\n" + usage,
		"-l em1":                      "pciconf: Device not found\n",
		"-a em":                       "pciconf: Invalid device name\n",
		"-a 7":                        "pciconf: Invalid device name\n",
		"-a averyveryverylongdriver0": "pciconf: Device name is too long\n",
		"-a pci0:2:0:x":               "pciconf: cannot parse selector pci0:2:0:x\n",
		"-a pci0:2:0:0:1":             "pciconf: cannot parse selector pci0:2:0:0:1\n",
		"-a bus:1":                    "pciconf: cannot parse selector bus:1\n",
		"-a pci0:9:0:0":               "pciconf: ioctl(PCIOCATTACHED): Operation not supported by device\n",
		"-r pci0:9:0:0 0":             "pciconf: ioctl(PCIOCREAD): Operation not supported by device\n",
		"-r em0 2":                    "pciconf: ioctl(PCIOCREAD): Invalid argument\n",
		"-r em0 -4":                   "pciconf: ioctl(PCIOCREAD): Invalid argument\n",
		"-r em0 0x1000":               "pciconf: ioctl(PCIOCREAD): Invalid argument\n",
		"-w em0 0x100 0":              "pciconf: ioctl(PCIOCWRITE): Invalid argument\n",
		"-w -h em0 1 0":               "pciconf: ioctl(PCIOCWRITE): Invalid argument\n",
	} {
		out, errs, exit := run(m, strings.Fields(args)...)
		if out != "" || errs != want || exit != 1 {
			t.Errorf("%s: exit %d, %q, %q, want %q", args, exit, out, errs, want)
		}
	}
	if _, errs, _ := run(m, "-a", ""); errs != "pciconf: Empty device name\n" {
		t.Errorf("%q", errs)
	}
}

func TestListingAsJSON(t *testing.T) {
	m := boot(t, map[string]string{"hint.em.0.device": "82545EM", "hint.em.1.disabled": "1"})
	out, errs, exit := run(m, "-lvbc", "-o", "json")
	want := `{"pciconf": {"device": [{"name":"em0","selector":"pci0:2:0:0","class":"0x020000","rev":"0x01","hdr":"0x00","vendor":"0x8086","device":"0x100f",` +
		`"subvendor":"0x8086","subdevice":"0x1001","vendor-name":"Intel Corporation","device-name":"82545EM Gigabit Ethernet Controller (Copper)",` +
		`"class-name":"network","subclass-name":"ethernet", "bar": [{"register":"0x10","type":"Memory","range":32,"base":"0xc0000000","size":131072,"enabled":true}, ` +
		`{"register":"0x18","type":"I/O Port","range":32,"base":"0x2000","size":64,"enabled":true}], ` +
		`"cap": [{"id":"0x01","register":"0xdc","description":"powerspec 2 supports D0 D3 current D0"}, ` +
		`{"id":"0x07","register":"0xe4","description":"PCI-X 64-bit supports 133MHz, 2048 burst read, 1 split transaction"}]}, {"selector":"pci0:3:0:0",`
	if !strings.HasPrefix(out, want) || errs != "" || exit != 0 {
		t.Errorf("exit %d, %q\n%s", exit, errs, cmp.Diff(want, out[:min(len(out), len(want))]))
	}
	if out, _, _ := run(m, "-le", "-o", "json", "em0"); !strings.Contains(out, `"subdevice":"0x1001", "error": []}]}}`) {
		t.Errorf("%s", out)
	}
	out, _, _ = run(m, "--libxo", "json", "-l", "pci9:0")
	if out != "{\"pciconf\": {\"device\": []}}\n" {
		t.Errorf("%s", out)
	}
}
