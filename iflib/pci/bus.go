package pci

import (
	"fmt"
	"math/bits"
	"sort"
	"sync"
	"syscall"

	"github.com/ifsim/ifsim/internal/kern"
)

// Bus holds the PCI functions of a machine, whatever their domain and bus number.
// Safe for concurrent use.
type Bus struct {
	k *kern.Kernel

	// What a test or a user breaks (debug.fail_point.pci.*). The value is the errno;
	// of limit_msix, how many vectors are granted at most.
	failMSIX, limitMSIX, failMSI, failMap, loseIntr *kern.FailPoint

	mu  sync.Mutex // guards fns; never held while calling a device
	fns []*Function

	irqMu sync.Mutex // after Function.mu
	irqs  map[int]*irq
}

// Init gives k its bus and returns it. The bus closes its devices when k is closed.
func Init(k *kern.Kernel) *Bus {
	b := &Bus{
		k:         k,
		irqs:      make(map[int]*irq),
		failMSIX:  k.FailPoint("pci.alloc_msix"),
		limitMSIX: k.FailPoint("pci.limit_msix"),
		failMSI:   k.FailPoint("pci.alloc_msi"),
		failMap:   k.FailPoint("pci.map_bar"),
		loseIntr:  k.FailPoint("pci.lose_intr"),
	}
	kern.Attach(k, b)
	k.OnClose(b.close)
	return b
}

// Of returns the bus of k; nil before Init.
func Of(k *kern.Kernel) *Bus {
	b, _ := kern.Lookup[*Bus](k)
	return b
}

// Option changes how a device is inserted.
type Option func(*Function)

// WithMMIOCost makes register accesses of the function cost time. Without it, or with
// a cost of 0, nothing is added to an access.
func WithMMIOCost(c MMIOCost) Option { return func(f *Function) { f.cost = c } }

// Insert puts a device into the slot at loc, gives its BARs addresses as firmware
// would, and plugs it in. Decoding and bus mastering are off, as after reset. EEXIST if
// the slot is taken, EINVAL if location or description is impossible, ENOSPC without
// address space. The bus owns the device from here on and closes it.
func (b *Bus) Insert(loc Location, dev Device, opts ...Option) (*Function, error) {
	f, err := newFunction(b, loc, dev)
	if err != nil {
		return nil, fmt.Errorf("inserting device at %v: %w", loc, err)
	}
	for _, o := range opts {
		o(f)
	}
	if err := b.place(f); err != nil {
		return nil, fmt.Errorf("inserting device at %v: %w", loc, err)
	}
	dev.Plug(f)
	return f, nil
}

// place gives f its addresses and puts it on the list.
func (b *Bus) place(f *Function) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := sort.Search(len(b.fns), func(i int) bool { return !b.fns[i].loc.less(f.loc) })
	if at < len(b.fns) && b.fns[at].loc == f.loc {
		return syscall.EEXIST
	}
	for i := range f.bars {
		addr, ok := b.address(f, f.bars[:i], f.bars[i].BARInfo)
		if !ok {
			return fmt.Errorf("no address space for BAR %d of %d bytes: %w", f.bars[i].Index, f.bars[i].Size, syscall.ENOSPC)
		}
		f.bars[i].addr = addr
	}
	f.buildConfig()
	b.fns = append(b.fns, nil)
	copy(b.fns[at+1:], b.fns[at:])
	b.fns[at] = f
	return nil
}

// Where firmware puts BARs: below the local APIC, above all memory, above legacy I/O.
var addressRanges = [...]struct{ start, end uint64 }{
	Mem32: {0xc0000000, 0xfec00000},
	Mem64: {1 << 38, 1 << 46},
	IO:    {0x2000, 0x10000},
}

// address returns the lowest free address for want. Called with mu held.
func (b *Bus) address(f *Function, placed []barSlot, want BARInfo) (uint64, bool) {
	r := addressRanges[want.Kind]
	used := append([]barSlot(nil), placed...)
	for _, o := range b.fns {
		if o.loc.Domain == f.loc.Domain {
			used = append(used, o.bars...)
		}
	}
	sort.Slice(used, func(i, j int) bool { return used[i].addr < used[j].addr })
	addr := r.start
	for _, u := range used {
		if u.Kind == want.Kind && addr < u.addr+u.Size && u.addr < addr+want.Size {
			addr = (u.addr + u.Size + want.Size - 1) &^ (want.Size - 1)
		}
	}
	addr = (addr + want.Size - 1) &^ (want.Size - 1)
	return addr, addr <= r.end && want.Size <= r.end-addr
}

// Functions returns the functions in the order in which a probe finds them.
func (b *Bus) Functions() []*Function {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*Function(nil), b.fns...)
}

// Remove takes f out of its slot and closes its device. EBUSY while the driver has
// interrupts set up, ENOENT if f is not on the bus.
func (b *Bus) Remove(f *Function) error {
	if f.handlers() {
		return fmt.Errorf("removing %v: interrupts are set up: %w", f.loc, syscall.EBUSY)
	}
	if !b.unlink(f) {
		return fmt.Errorf("removing %v: %w", f.loc, syscall.ENOENT)
	}
	return f.dev.Close()
}

func (b *Bus) unlink(f *Function) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.fns {
		if b.fns[i] == f {
			b.fns = append(b.fns[:i], b.fns[i+1:]...)
			return true
		}
	}
	return false
}

// close ends every device, the last in order first.
func (b *Bus) close() {
	fns := b.Functions()
	for i := len(fns) - 1; i >= 0; i-- {
		if !b.unlink(fns[i]) {
			continue
		}
		if err := fns[i].dev.Close(); err != nil {
			b.k.Printf("%v: closing device: %v\n", fns[i].loc, err)
		}
	}
}

// Least sizes of a BAR (PCI 3.0 section 6.2.5.1), and the largest.
const (
	minMemBAR = 16
	minIOBAR  = 4
	maxIOBAR  = 256
	maxBAR    = 1 << 30
)

// checkBARs says what is impossible about the BARs of a device.
func checkBARs(bars []BARInfo) error {
	var taken [barCount]bool
	for _, b := range bars {
		lo, hi, last := uint64(minMemBAR), uint64(maxBAR), b.Index
		switch b.Kind {
		case IO:
			lo, hi = minIOBAR, maxIOBAR
		case Mem64:
			last++
		case Mem32:
		default:
			return fmt.Errorf("BAR %d has unknown kind %d: %w", b.Index, b.Kind, syscall.EINVAL)
		}
		if b.Index < 0 || last >= barCount {
			return fmt.Errorf("BAR %d does not exist: %w", b.Index, syscall.EINVAL)
		}
		if bits.OnesCount64(b.Size) != 1 || b.Size < lo || b.Size > hi {
			return fmt.Errorf("BAR %d cannot have %d bytes: %w", b.Index, b.Size, syscall.EINVAL)
		}
		if (b.BAR == nil) != b.MSIXTable {
			return fmt.Errorf("BAR %d needs registers or the MSI-X table: %w", b.Index, syscall.EINVAL)
		}
		for i := b.Index; i <= last; i++ {
			if taken[i] {
				return fmt.Errorf("BAR %d is described twice: %w", i, syscall.EINVAL)
			}
			taken[i] = true
		}
	}
	return nil
}
