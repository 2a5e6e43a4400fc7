package machine_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestHintsAndFilesDecideWhichNICsExist(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  machine.Config
		want []string
	}{
		"nothing": {machine.Config{}, []string{}},
		"hints, in the order of the bus": {machine.Config{Env: map[string]string{
			"hint.cqnic.0.at": "pci0:5:0:0", "hint.cqnic.1.at": "pci0:3:1:0", "hint.cqnic.2.port": "null",
		}}, []string{"cqnic2", "cqnic1", "cqnic0"}},
		"device.hints": {machine.Config{Files: tree("boot/device.hints", `hint.cqnic.4.device="CQ-2"`+"\n")}, []string{"cqnic4"}},
		"rc.conf":      {machine.Config{Files: tree("etc/rc.conf", "ifconfig_cqnic2_ipv6=\"inet6 ::1\"\nvlans_cqnic1=5\n")}, []string{"cqnic1", "cqnic2"}},
		"sysctl.conf":  {machine.Config{Files: tree("etc/sysctl.conf", "dev.cqnic.3.fc=0 # off\n")}, []string{"cqnic3"}},
		"loader.conf":  {machine.Config{Files: tree("boot/loader.conf.local", "dev.cqnic.7.iflib.override_ntxds=\"512\"\n")}, []string{"cqnic7"}},
		"values of rc.conf": {machine.Config{Files: tree("etc/rc.conf", "rtadvd_interfaces='cqnic5 cqnic06'\nhostname=x-cqnic9\ncreate_args_vlan1='vlan 1 vlandev cqnic6.2'\nstatic_routes=a:cqnic4\n")},
			[]string{"cqnic4", "cqnic5", "cqnic6"}},
		"pf.conf":                  {machine.Config{Files: tree("etc/rc.conf", "pf_enable=YES\npf_rules=/etc/my.conf\n", "etc/my.conf", "ext=\"cqnic8\" # not cqnic9\npass on { cqnic2, $ext } all\n")}, []string{"cqnic2", "cqnic8"}},
		"pf.conf, not enabled":     {machine.Config{Files: tree("etc/rc.conf", "pf_enable=NO\n", "etc/pf.conf", "pass on cqnic2 all\n")}, []string{}},
		"names of others":          {machine.Config{Files: tree("etc/rc.conf", "ifconfig_cqnic=x\nifconfig_cqnic01=x\nifconfig_cqnicx=x\nifconfig_lo0=x\n")}, []string{}},
		"hints of foreign buses":   {machine.Config{Env: map[string]string{"hint.uart.0.at": "isa", "hint.cqnic.0.port": "null"}}, []string{"cqnic0"}},
		"two drivers, table first": {machine.Config{Env: map[string]string{"hint.cqnic.0.port": "null", "hint.em.1.port": "null"}}, []string{"em1", "cqnic0"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := boot(t, c.cfg)
			if got := b.Devices(); !slices.Equal(got, c.want) {
				t.Errorf("devices %q, want %q", got, c.want)
			}
			for _, dev := range c.want {
				if b.Ctx(dev) == nil || b.Ifnet(dev) == nil || b.Hardware(dev) == nil || b.Port(dev).Name() != "null" {
					t.Errorf("%s is not whole", dev)
				}
			}
		})
	}
}

func TestBootErrorsNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct {
		hints string
		errno error
		want  string
	}{
		"place":      {"\nhint.cqnic.0.at=\"isa\"\n", syscall.EINVAL, `boot/device.hints:2: hint.cqnic.0.at: PCI location "isa"`},
		"same place": {"hint.cqnic.0.at=pci1\nhint.cqnic.0.at=\"pci1:0\"\nhint.cqnic.1.at=\"pci1:0\"\n", syscall.EEXIST, `boot/device.hints:3: hint.cqnic.1.at: pci0:1:0:0 is taken`},
		"chip":       {"hint.cqnic.0.device=\"82574L\"\n", syscall.ENODEV, `boot/device.hints:1: hint.cqnic.0.device: chip "82574L" is none of CQ-1, CQ-2`},
		"port":       {"hint.cqnic.0.port=\"carrier-pigeon:1\"\n", syscall.ENODEV, `boot/device.hints:1: hint.cqnic.0.port: `},
		"engine":     {"hint.cqnic.0.engine=\"steam\"\n", syscall.EINVAL, `boot/device.hints:1: hint.cqnic.0.engine: engine "steam"`},
		"cost":       {"hint.cqnic.0.mmio_ns=1000001\n", syscall.EINVAL, `boot/device.hints:1: hint.cqnic.0.mmio_ns: 1000001 is not in 0..1000000 ns`},
		"read cost":  {"hint.cqnic.0.mmio_read_ns=fast\n", nil, `boot/device.hints:1: hint.cqnic.0.mmio_read_ns: `},
		"mac":        {"hint.cqnic.0.mac=\"01:00:00:00:00:01\"\n", syscall.EINVAL, `boot/device.hints:1: hint.cqnic.0.mac: "01:00:00:00:00:01" is no station address`},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := machine.Boot(stepped(machine.Config{Files: tree("boot/device.hints", c.hints)}))
			if err == nil {
				must(t, m.Close())
				t.Fatal("no error")
			}
			if c.errno != nil && !errors.Is(err, c.errno) {
				t.Errorf("error %v does not wrap %v", err, c.errno)
			}
			if !strings.HasPrefix(err.Error(), "booting: "+c.want) {
				t.Errorf("error %q, want it to begin with %q", err, c.want)
			}
		})
	}
}

func TestBootErrorOfTheEnvironmentSaysSo(t *testing.T) {
	_, err := machine.Boot(stepped(machine.Config{
		Files: tree("boot/device.hints", "hint.cqnic.0.engine=\"inline\"\n"),
		Env:   map[string]string{"hint.cqnic.0.engine": "steam"},
	}))
	if err == nil || !strings.HasPrefix(err.Error(), "booting: environment: hint.cqnic.0.engine: ") {
		t.Errorf("error %v", err)
	}
}

func TestThirdEndOfAWireIsRefusedAndNothingIsLeft(t *testing.T) {
	env := map[string]string{}
	for _, unit := range []string{"0", "1", "2"} {
		env["hint.cqnic."+unit+".port"] = "pair:w"
	}
	if _, err := machine.Boot(stepped(machine.Config{Env: env})); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("error %v, want EBUSY", err)
	}
}

func TestConsoleOfABootIsFreeBSDs(t *testing.T) {
	b := boot(t, machine.Config{
		NCPU: 4, ThreadsPerCore: 2,
		Files: tree(
			"boot/loader.conf", "if_cqnic_load=\"YES\"\nif_cxgbe_load=\"YES\"\nx y\ndev.cqnic.0.iflib.simple_tx=1\n",
			"boot/device.hints", "hint.cqnic.0.at=\"pci0:2:0:0\"\nhint.cqnic.0.port=\"null\"\n",
			"etc/rc.conf", "hostname=dut\nifconfig_cqnic0=\"inet 198.18.0.1/24 -tso4 bogus\"\nifconfig_cxl0=\"up\"\n",
			"etc/sysctl.conf", "no.such.oid=1\ndev.cqnic.0.iflib.tx_abdicate=1\n",
		),
	})
	b.settle()
	want := `Loading /boot/device.hints
Loading /boot/loader.conf
Malformed line (3):
	'x y'
Failed to parse config: '/boot/loader.conf'
Loading /boot/loader.conf.local
boot/loader.conf:2: no module 'if_cxgbe'
---<<BOOT>>---
real memory  = 50331648 (48 MB)
FreeBSD/SMP: Multiprocessor System Detected: 4 CPUs
FreeBSD/SMP: 1 package(s) x 2 core(s) x 2 hardware threads
cqnic0: <CQ-1 completion queue test NIC> mem 0xc0000000-0xc000ffff,0xc0010000-0xc0013fff at device 0.0 on pci2
cqnic0: using simple if_transmit
cqnic0: Using 512 TX descriptors and 512 RX descriptors
cqnic0: Using 2 RX queues 2 TX queues
cqnic0: Using MSI-X interrupts with 3 vectors
cqnic0: Ethernet address: 02:82:78:03:00:01
etc/rc.conf:2: ifconfig: cqnic0: bogus: bad value
cqnic0: link state changed to UP
etc/rc.conf:3: ifconfig: interface cxl0 does not exist
etc/rc.conf:3: ifconfig_cxl0: skipped: no interface cxl0
etc/sysctl.conf: sysctl: unknown oid 'no.such.oid' at line 1
`
	if diff := cmp.Diff(lines(want), lines(b.console.String())); diff != "" {
		t.Errorf("console (-want +got):\n%s", diff)
	}
}

func TestFailedAttachLeavesTheMachineUp(t *testing.T) {
	b := boot(t, machine.Config{Env: map[string]string{
		"hint.cqnic.0.port": "null", "hint.cqnic.1.port": "null",
		"debug.fail_point.iflib.attach_pre": "return(6)", "debug.iflib.register_device": "cqnic0",
	}})
	if b.Ctx("cqnic0") != nil || b.Ifnet("cqnic0") != nil {
		t.Error("cqnic0 attached")
	}
	if got := b.console.String(); !strings.Contains(got, "cqnic0: IFDI_ATTACH_PRE failed 6\ndevice_attach: cqnic0 attach returned 6\n") {
		t.Errorf("console:\n%s", got)
	}
	if err := b.Up("cqnic0"); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("up of what is not there: %v", err)
	}
	must(t, b.Up("cqnic1"))
	b.settle()
	if b.Ifnet("cqnic1").LinkState() != ifnet.LinkStateUp {
		t.Error("cqnic1 has no link")
	}
	must(t, b.Kernel().Sysctl.SetText("debug.fail_point.iflib.attach_pre", "off"))
	must(t, b.Attach("cqnic0"))
	must(t, b.Up("cqnic0"))
}

func TestDisabledDeviceIsNotAttached(t *testing.T) {
	b := boot(t, machine.Config{Verbose: true, Env: map[string]string{"hint.cqnic.0.disabled": "1"}})
	if b.Ctx("cqnic0") != nil {
		t.Error("attached")
	}
	if !strings.Contains(b.console.String(), "\ncqnic0: disabled via hints entry\n") {
		t.Errorf("console:\n%s", b.console)
	}
	if err := b.Attach("cqnic0"); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("attach: %v, want ENXIO", err)
	}
}

func TestReattachReadsTunablesAndRCConfAgain(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("etc/rc.conf", `ifconfig_cqnic0="inet 192.0.2.1/24 mtu 1400"`)})
	if got := b.text("dev.cqnic.0.iflib.override_ntxds"); got != "0,0" {
		t.Errorf("override_ntxds %s, want 0,0", got)
	}
	if err := b.Attach("cqnic0"); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("attach twice: %v", err)
	}
	must(t, b.Detach("cqnic0"))
	if b.Ctx("cqnic0") != nil || b.Ifnet("cqnic0") != nil || len(b.Addrs("cqnic0")) != 0 {
		t.Error("something is left of cqnic0")
	}
	if err := b.Detach("cqnic0"); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("detach twice: %v", err)
	}
	must(t, b.Kernel().Env.Set("dev.cqnic.0.iflib.override_ntxds", "0,1024"))
	must(t, b.Attach("cqnic0"))
	if got := b.text("dev.cqnic.0.iflib.override_ntxds"); got != "0,1024" {
		t.Errorf("override_ntxds %s, want 0,1024", got)
	}
	if ifp := b.Ifnet("cqnic0"); ifp.MTU() != 1400 || ifp.Flags()&ifnet.FlagUp == 0 || len(b.Addrs("cqnic0")) != 1 {
		t.Errorf("mtu %d, flags %#x, addresses %v", ifp.MTU(), ifp.Flags(), b.Addrs("cqnic0"))
	}
	if got := strings.Count(b.console.String(), "\ncqnic0: detached\n"); got != 1 {
		t.Errorf("%d lines about detaching", got)
	}
}

func TestStationAddresses(t *testing.T) {
	mac := func(b *box, name string) [6]byte { return b.Ifnet(name).HWAddr() }
	b := boot(t, machine.Config{Env: map[string]string{"hint.cqnic.0.mac": "00:25:90:91:14:0a", "hint.em.3.port": "null", "hint.cqnic.1.port": "null"}})
	if got, want := mac(b, "cqnic0"), [6]byte{0, 0x25, 0x90, 0x91, 0x14, 0x0a}; got != want {
		t.Errorf("%x, want the hint's %x", got, want)
	}
	if got, want := mac(b, "em3"), [6]byte{2, 0, 0, 0, 3, 1}; got != want {
		t.Errorf("%x, want %x", got, want)
	}
	seen := map[[6]byte]string{}
	for _, host := range []string{"", "a", "b"} {
		b := boot(t, machine.Config{Files: tree("etc/rc.conf", "hostname="+host), Env: map[string]string{"hint.em.0.port": "null", "hint.cqnic.0.port": "null", "hint.cqnic.256.port": "null"}})
		for _, dev := range b.Devices() {
			if other, ok := seen[mac(b, dev)]; ok {
				t.Errorf("%s of %q has the address of %s", dev, host, other)
			}
			seen[mac(b, dev)] = dev + " of " + host
		}
	}
}

func TestEnvironmentWinsOverFiles(t *testing.T) {
	b := boot(t, machine.Config{
		Files: tree("boot/loader.conf", "net.iflib.prefer_mpring=0\nhint.ifsim.0.ncpu=3\n"),
		Env:   map[string]string{"net.iflib.prefer_mpring": "1"}, NCPU: 0,
	})
	if got := b.text("net.iflib.prefer_mpring"); got != "1" {
		t.Errorf("prefer_mpring %s, want the environment's 1", got)
	}
}

func TestCPUsComeFromHints(t *testing.T) {
	cfg := stepped(machine.Config{Files: tree("boot/loader.conf", "hint.ifsim.0.ncpu=4\nhint.ifsim.0.threads_per_core=2\n")})
	cfg.NCPU = 0
	m, err := machine.Boot(cfg)
	must(t, err)
	defer func() { must(t, m.Close()) }()
	if m.Kernel().NCPU() != 4 || m.Kernel().PhysicalCPUs().Count() != 2 {
		t.Errorf("%d CPUs in %d cores", m.Kernel().NCPU(), m.Kernel().PhysicalCPUs().Count())
	}
}

// stubborn is hardware that does not close well.
type stubborn struct{ hw.NIC }

func (s stubborn) Close() error { return errors.Join(s.NIC.Close(), errStubborn) }

var errStubborn = errors.New("the card is stuck in its slot")

func TestCloseGoesOnAndJoinsErrors(t *testing.T) {
	entry := cqEntry()
	make := entry.New
	entry.New = func(chip string, cfg hw.Config) (hw.NIC, error) {
		nic, err := make(chip, cfg)
		return stubborn{nic}, err
	}
	cfg := stepped(machine.Config{Env: map[string]string{"hint.cqnic.0.port": "null", "hint.cqnic.1.port": "null"}})
	cfg.Drivers = []machine.DriverEntry{entry}
	m, err := machine.Boot(cfg)
	must(t, err)
	err = m.Close()
	if !errors.Is(err, errStubborn) || strings.Count(err.Error(), errStubborn.Error()) != 2 {
		t.Errorf("error %v, want that of both cards", err)
	}
	must(t, m.Close())
}

func TestHardwareThatCannotBeMadeIsAnError(t *testing.T) {
	entry := cqEntry()
	entry.New = func(string, hw.Config) (hw.NIC, error) { return nil, syscall.EIO }
	cfg := stepped(machine.Config{Env: map[string]string{"hint.cqnic.0.port": "null"}})
	cfg.Drivers = []machine.DriverEntry{entry}
	if _, err := machine.Boot(cfg); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "making cqnic0, a CQ-1") {
		t.Errorf("error %v", err)
	}
}

func TestUnreadableFileIsAnError(t *testing.T) {
	if _, err := machine.NewRCConf().Read("etc/rc.conf", iotest.ErrReader(syscall.EIO)); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
}

func TestHintsReachTheHardware(t *testing.T) {
	entry := cqEntry()
	var chip string
	var got hw.Config
	make := entry.New
	entry.New = func(c string, cfg hw.Config) (hw.NIC, error) {
		chip, got = c, cfg
		return make(c, cfg)
	}
	cfg := stepped(machine.Config{Env: map[string]string{
		"hint.cqnic.5.device": "CQ-2", "hint.cqnic.5.engine": "thread", "hint.cqnic.5.mmio_ns": "100", "hint.cqnic.5.mmio_read_ns": "0x2bc",
		"hint.cqnic.5.port": "pair:w", "hint.cqnic.5.mac": "02:00:00:00:00:77", "hint.cqnic.5.at": "pci1:2:3:1",
	}})
	cfg.Drivers = []machine.DriverEntry{entry}
	m, err := machine.Boot(cfg)
	must(t, err)
	defer func() { must(t, m.Close()) }()
	if chip != "CQ-2" || got.Name != "cqnic5" || got.Engine != hw.EngineThread || got.MMIOWriteNs != 100 || got.MMIOReadNs != 700 ||
		got.Port.Name() != "pair:w" || got.MAC != [6]byte{2, 0, 0, 0, 0, 0x77} || got.Kernel != m.Kernel() || got.Work == nil {
		t.Errorf("chip %s, configuration %+v", chip, got)
	}
	if loc := m.Ctx("cqnic5").Function().Location().String(); loc != "pci1:2:3:1" {
		t.Errorf("location %s", loc)
	}
}

func TestBootAndCloseUnderManySeeds(t *testing.T) {
	for seed := range uint64(6) {
		b := boot(t, machine.Config{Seed: seed, Env: map[string]string{"hint.cqnic.0.port": "pair:w", "hint.em.0.port": "pair:w"}})
		for _, dev := range b.Devices() {
			must(t, b.Up(dev))
		}
		b.settle()
		for _, dev := range b.Devices() {
			if b.Ifnet(dev).LinkState() != ifnet.LinkStateUp {
				t.Errorf("seed %d: %s has no link", seed, dev)
			}
			must(t, b.Detach(dev))
		}
		must(t, b.Attach("em0"))
		must(t, b.Close())
	}
}
