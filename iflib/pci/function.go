package pci

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/internal/kern"
)

// Bits of Function.mode: what the configuration space says, for the fast paths.
const (
	modeMem      = 1 << iota // decodes memory
	modeIO                   // decodes I/O
	modeMaster               // may write to memory, so may send messages
	modeINTxOff              // may not assert INTx
	modeMSI                  // MSI enabled
	modeMSIX                 // MSI-X enabled
	modeMSIXMask             // all MSI-X vectors masked

	modeGrantShift = 8 // granted MSI messages, log2, above
)

// barSlot is a BAR with its address.
type barSlot struct {
	BARInfo
	addr   uint64
	mapped bool // guarded by Function.mu
}

// intrKind says which interrupts a driver has allocated.
type intrKind uint8

const (
	intrINTx intrKind = iota // none allocated: rid 0
	intrMSI
	intrMSIX
)

// Function is one PCI function: what a driver calls device_t and pci_*, and what the
// hardware behind it raises interrupts with. Safe for concurrent use; a driver sets up
// and tears down from one goroutine at a time.
type Function struct {
	bus  *Bus
	k    *kern.Kernel
	loc  Location
	dev  Device
	id   Identity
	caps Caps
	cost MMIOCost
	bars []barSlot

	mode atomic.Uint32 // written with mu held
	lost atomic.Uint64 // messages that nobody could receive

	intx     vector
	intxLine atomic.Bool // the hardware asserts INTx
	msi      []vector
	msix     msixTable

	mu      sync.Mutex // guards what follows and set-up; never held while calling device or filter
	cfg     space
	initial [ConfigSize]byte // values after reset
	kind    intrKind
	granted int   // messages allocated
	irqs    []int // their interrupt numbers
}

func newFunction(b *Bus, loc Location, dev Device) (*Function, error) {
	if !loc.valid() {
		return nil, fmt.Errorf("no such location: %w", syscall.EINVAL)
	}
	f := &Function{bus: b, k: b.k, loc: loc, dev: dev, id: dev.Identity()}
	msix, msi := dev.Vectors()
	if msix < 0 || msix > maxMSIX || msi < 0 || msi > maxMSI || msi&(msi-1) != 0 {
		return nil, fmt.Errorf("no capability holds %d MSI-X and %d MSI vectors: %w", msix, msi, syscall.EINVAL)
	}
	infos, err := withTable(dev.BARs(), msix)
	if err != nil {
		return nil, err
	}
	f.caps = CapsOf(dev)
	if err := f.caps.check(msix, msi); err != nil {
		return nil, err
	}
	f.msi = make([]vector, msi)
	f.msix.init(f, msix)
	for _, info := range infos {
		if info.MSIXTable {
			info.BAR = Regs32{&f.msix}
			f.msix.bir = info.Index
		}
		f.bars = append(f.bars, barSlot{BARInfo: info})
	}
	return f, nil
}

// defaultTableBAR is where the table goes if the device does not say (82574, igb, igc, ixl).
const defaultTableBAR = 3

// withTable checks the BARs and adds the one for the MSI-X table if it is missing.
func withTable(bars []BARInfo, msix int) ([]BARInfo, error) {
	bars = append([]BARInfo(nil), bars...)
	tables := 0
	for _, b := range bars {
		if !b.MSIXTable {
			continue
		}
		tables++
		if b.Kind == IO || b.Size < tableBytes(msix) {
			return nil, fmt.Errorf("BAR %d cannot hold %d MSI-X vectors: %w", b.Index, msix, syscall.EINVAL)
		}
	}
	if tables > 1 || (tables == 1 && msix == 0) {
		return nil, fmt.Errorf("%d MSI-X tables for %d vectors: %w", tables, msix, syscall.EINVAL)
	}
	if tables == 0 && msix > 0 {
		size := max(minTableBAR, uint64(1)<<bits.Len64(tableBytes(msix)-1))
		bars = append(bars, BARInfo{Index: defaultTableBAR, Size: size, Kind: Mem32, MSIXTable: true})
	}
	return bars, checkBARs(bars)
}

// buildConfig makes the configuration space as it is after reset.
func (f *Function) buildConfig() {
	link := defaultLink
	if d, ok := f.dev.(PCIeDevice); ok {
		link = d.PCIeLink()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cfg.header(f.id)
	for i := range f.bars {
		f.cfg.bar(f.bars[i].BARInfo, f.bars[i].addr)
	}
	f.cfg.capabilities(&f.caps, f.loc, len(f.msix.entries), len(f.msi), f.msix.bir, f.msix.pba, link)
	f.initial = f.cfg.val
	f.apply()
}

// Location returns where the function is.
func (f *Function) Location() Location { return f.loc }

// Identity returns the ids of the configuration space.
func (f *Function) Identity() Identity { return f.id }

// Device returns the hardware in the slot. A driver has no business with it.
func (f *Function) Device() Device { return f.dev }

// Kernel returns the machine that the function belongs to.
func (f *Function) Kernel() *kern.Kernel { return f.k }

// LocationText is the text of the %location leaf (spec ifnet 3).
func (f *Function) LocationText() string {
	return fmt.Sprintf("slot=%d function=%d dbsf=%v", f.loc.Slot, f.loc.Func, f.loc)
}

// PnpInfo is the text of the %pnpinfo leaf (spec ifnet 3).
func (f *Function) PnpInfo() string { return f.id.PnpInfo() }

// MapBAR maps the BAR whose register is rid (see BARReg) and turns its decoding on, as
// activating the resource does. It may be mapped more than once. The value stays valid;
// while decoding is off reads are all ones and writes are lost. ENXIO without such a
// BAR, or the errno of the failpoint pci.map_bar.
func (f *Function) MapBAR(rid int) (BAR, error) {
	if err := f.bus.failMap.Error(); err != nil {
		return nil, fmt.Errorf("mapping BAR %#x of %v: %w", rid, f.loc, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.slot(rid)
	if b == nil {
		return nil, fmt.Errorf("mapping BAR %#x of %v: %w", rid, f.loc, syscall.ENXIO)
	}
	b.mapped = true
	w := newWindow(f, b.BARInfo)
	cmd := uint16(CmdMem)
	if b.Kind == IO {
		cmd = CmdIO
	}
	f.setCommand(cmd, 0)
	if f.cost != (MMIOCost{}) {
		return &costlyWindow{window: w, cost: f.cost}, nil
	}
	return &w, nil
}

// UnmapBAR gives back a mapping; decoding stays on. ENXIO if it is not mapped.
func (f *Function) UnmapBAR(rid int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.slot(rid)
	if b == nil || !b.mapped {
		return fmt.Errorf("unmapping BAR %#x of %v: %w", rid, f.loc, syscall.ENXIO)
	}
	b.mapped = false
	return nil
}

// slot returns the BAR at register rid. Called with mu held.
func (f *Function) slot(rid int) *barSlot {
	for i := range f.bars {
		if BARReg(f.bars[i].Index) == rid {
			return &f.bars[i]
		}
	}
	return nil
}

// EnableBusMaster lets the function read and write memory, and so send MSI and MSI-X
// messages (pci_enable_busmaster).
func (f *Function) EnableBusMaster() { f.command(CmdBusMaster, 0) }

// DisableBusMaster takes that away (pci_disable_busmaster). Messages become pending.
func (f *Function) DisableBusMaster() { f.command(0, CmdBusMaster) }

// BusMaster reports to the hardware whether it may access memory.
func (f *Function) BusMaster() bool { return f.mode.Load()&modeMaster != 0 }

func (f *Function) command(set, clear uint16) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setCommand(set, clear)
}

// setCommand changes bits of the command register. Called with mu held.
func (f *Function) setCommand(set, clear uint16) {
	f.cfg.set16(RegCommand, f.cfg.get16(RegCommand)&^clear|set, cmdWritable)
	f.apply()
}
