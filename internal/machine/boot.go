package machine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/ifnet/vlan"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/sight"
	"github.com/ifsim/ifsim/sysctl"
)

// defaultMemory is the physical memory of a machine in bytes.
const defaultMemory = 256 << 20

// Boot makes a machine and brings it up: loader, kernel, NICs, drivers, then the
// rc scripts, in FreeBSD's order. A device that does not attach leaves the machine
// up without it, as FreeBSD does. Errors are what the machine cannot be made with:
// a configuration out of range, a file that cannot be read, a hint that describes
// no possible NIC or a port that cannot be opened; they name file and line.
func Boot(cfg Config) (*Machine, error) {
	m, loader, err := load(cfg)
	if err != nil {
		return nil, fmt.Errorf("booting: %w", err)
	}
	if err := m.boot(loader); err != nil {
		return nil, fmt.Errorf("booting: %w", errors.Join(err, m.Close()))
	}
	return m, nil
}

// load does what the boot loader does: it reads tunables and hints and makes the
// kernel.
func load(cfg Config) (*Machine, *sysctl.Loader, error) {
	env := sysctl.NewKenv()
	loader := sysctl.NewLoader(env)
	if cfg.Files != nil {
		loader.Load(cfg.Files)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Env)) {
		if err := env.Set(name, cfg.Env[name]); err != nil {
			return nil, nil, fmt.Errorf("setting %s: %w", name, err)
		}
	}
	if cfg.MemSize == 0 {
		cfg.MemSize = defaultMemory
	}
	k, err := kern.New(kern.Config{
		NCPU: cfg.NCPU, ThreadsPerCore: cfg.ThreadsPerCore, Executor: cfg.Executor, Clock: cfg.Clock, Seed: cfg.Seed,
		Mem: physmem.Config{Size: cfg.MemSize}, Env: env, Console: cfg.Console,
		Verbose: cfg.Verbose, Invariants: cfg.Invariants,
	})
	if err != nil {
		return nil, nil, err
	}
	m := &Machine{
		k: k, fabric: cfg.Fabric, work: cfg.Work, drivers: driverTable(cfg.Drivers), dry: cfg.DryRun, crashDir: cfg.CrashDir,
		files: files{fsys: cfg.Files, env: cfg.Env, loader: loader.Settings()}, inet6: make(map[string][]string),
	}
	m.topology.Init(k, "newbus")
	if m.fabric == nil {
		m.fabric = allPorts()
	}
	if m.work == nil {
		m.work = hw.NewWorkList()
	}
	return m, loader, nil
}

// initPackages has each package register what it keeps in a kernel. The order is
// written here and nowhere else. It follows from two rules: a package comes after
// those that it uses when it attaches something, and before those whose closing
// still needs it, since a kernel closes in reverse. So packet buffers come first
// and outlive all; DMA state comes before the bus, which closes NICs that may be
// in the middle of a transfer; interfaces come before iflib, which makes them.
// The numbers of OIDs, and with them the order of listings, follow the same order.
func initPackages(k *kern.Kernel) error {
	for _, init := range []func(*kern.Kernel) error{
		func(k *kern.Kernel) error { _, err := mbuf.Init(k, mbuf.Config{}); return err },
		busdma.Init,
		func(k *kern.Kernel) error { pci.Init(k); return nil },
		ifnet.Init,
		func(k *kern.Kernel) error { bpf.Init(k); return nil },
		inet.Init,
		vlan.Init,
		altq.Init,
		pf.Init,
		iflib.Init,
	} {
		if err := init(k); err != nil {
			return fmt.Errorf("initialising the kernel: %w", err)
		}
	}
	return nil
}

// boot is what follows the loader.
func (m *Machine) boot(loader *sysctl.Loader) error {
	m.loaderMessages(loader)
	m.banner()
	if err := initPackages(m.k); err != nil {
		return err
	}
	if _, err := sight.StartCrash(m.k, m.crashDir, m.attached); err != nil {
		return err
	}
	for _, line := range m.k.Env.InvalidHints() {
		m.warnf("%s", line)
	}
	if err := m.readRC(); err != nil {
		return err
	}
	if err := m.plan(); err != nil {
		return err
	}
	for _, n := range m.nics {
		if err := m.insert(n); err != nil {
			return err
		}
	}
	m.sortNICs()
	for _, n := range m.nics {
		// The console says why; the machine goes on without the device.
		_ = m.attach(n)
	}
	m.unknownTunables()
	return m.startRC()
}

// banner prints the first lines of a kernel.
func (m *Machine) banner() {
	const mega = 1 << 20
	k := m.k
	cores := k.PhysicalCPUs().Count()
	k.Printf("---<<BOOT>>---\n")
	k.Printf("real memory  = %d (%d MB)\n", k.Mem.Size(), k.Mem.Size()/mega)
	if k.NCPU() == 1 {
		return
	}
	k.Printf("FreeBSD/SMP: Multiprocessor System Detected: %d CPUs\n", k.NCPU())
	threads := ""
	if n := k.NCPU() / cores; n > 1 {
		threads = fmt.Sprintf(" x %d hardware threads", n)
	}
	k.Printf("FreeBSD/SMP: 1 package(s) x %d core(s)%s\n", cores, threads)
}
