package pci_test

import (
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const barSize = 256

// nic is hardware with 64 plain registers in BAR 0.
type nic struct {
	id        pci.Identity
	bars      []pci.BARInfo
	msix, msi int

	mu     sync.Mutex
	regs   [barSize / 4]uint32
	reads  []uint64 // offsets read
	fn     *pci.Function
	resets int
	closed int
}

func (n *nic) Identity() pci.Identity { return n.id }
func (n *nic) BARs() []pci.BARInfo    { return n.bars }
func (n *nic) Vectors() (int, int)    { return n.msix, n.msi }
func (n *nic) Plug(fn *pci.Function)  { n.fn = fn }
func (n *nic) Reset()                 { n.resets++ }
func (n *nic) Close() error           { n.closed++; return nil }

func (n *nic) Read32(off uint64) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reads = append(n.reads[:min(len(n.reads), 64)], off)
	return n.regs[off/4]
}

func (n *nic) Write32(off uint64, v uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.regs[off/4] = v
}

func newNIC() *nic {
	n := &nic{
		id:   pci.Identity{Vendor: 0x8086, Device: 0x1533, SubVendor: 0x8086, SubDevice: 0x0001, Revision: 3, Class: pci.ClassEthernet},
		msix: 5, msi: 4,
	}
	n.bars = []pci.BARInfo{
		{Index: 0, Size: barSize, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: n}},
		{Index: 2, Size: 32, Kind: pci.IO, BAR: pci.Regs32{Registers32: n}},
		{Index: 4, Size: 1 << 20, Kind: pci.Mem64, BAR: pci.Regs32{Registers32: n}},
	}
	return n
}

func newKernel(t testing.TB, cfg kern.Config) *kern.Kernel {
	t.Helper()
	cfg.Mem = physmem.Config{Size: 2 << 20, Backing: physmem.Heap}
	if cfg.NCPU == 0 {
		cfg.NCPU = 2
	}
	k, err := kern.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	pci.Init(k)
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func stepped(seed uint64) kern.Config {
	return kern.Config{Executor: kern.Stepped, Clock: kern.ManualClock, Seed: seed, Invariants: true}
}

var slot = pci.Location{Bus: 2}

// plugged inserts n into a machine of the configuration.
func plugged(t testing.TB, cfg kern.Config, n pci.Device, opts ...pci.Option) (*kern.Kernel, *pci.Function) {
	t.Helper()
	k := newKernel(t, cfg)
	f, err := pci.Of(k).Insert(slot, n, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return k, f
}

func mapBAR(t testing.TB, f *pci.Function, rid int) pci.BAR {
	t.Helper()
	b, err := f.MapBAR(rid)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// msixReady brings a function to the point where n MSI-X vectors can be set up.
func msixReady(t testing.TB, f *pci.Function, n int) {
	t.Helper()
	mapBAR(t, f, f.MSIXTableBAR())
	f.EnableBusMaster()
	if got, err := f.AllocMSIX(n); err != nil || got != n {
		t.Fatalf("got %d vectors, %v; want %d", got, err, n)
	}
}

// setup sets up rid and returns where its runs are counted.
func setup(t testing.TB, f *pci.Function, rid int, cpu int) *kern.Intr {
	t.Helper()
	i, err := f.SetupIntr(rid, "nic0:irq", cpu, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func failpoint(t testing.TB, k *kern.Kernel, name, prog string) {
	t.Helper()
	if err := k.Sysctl.SetText("debug.fail_point."+name, prog); err != nil {
		t.Fatal(err)
	}
}
