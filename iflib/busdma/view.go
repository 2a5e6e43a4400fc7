package busdma

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Sizes of the words that a device and its driver share.
const (
	wordSize64 = 8
	wordSize32 = 4
)

// View is memory as one device sees it. Addresses come from descriptors and
// registers, so every one is checked. It may be used from any goroutine.
type View struct {
	mem   *physmem.Memory
	table *table
	st    *state
	name  string
}

// NewView returns the view of the device called name.
func NewView(k *kern.Kernel, name string) *View {
	st := stateOf(k)
	return &View{mem: k.Mem, table: st.table, st: st, name: name}
}

// Name returns the name of the device.
func (v *View) Name() string { return v.name }

// Slice returns the n bytes at a for an access in direction dir. The error is a
// *Fault for an address outside memory and, in checking mode, for memory that is
// not loaded for that direction; the device must not go on with the descriptor.
func (v *View) Slice(a physmem.Addr, n uint64, dir Dir) ([]byte, error) {
	b, ok := v.mem.Slice(a, n)
	if !ok {
		return nil, v.fault(a, n, dir, OutsideMemory)
	}
	if v.table != nil && !v.table.allows(a, n, dir) {
		return nil, v.fault(a, n, dir, NotLoaded)
	}
	return b, nil
}

// Words64 returns n 64-bit little-endian words at a, as Slice does. An address
// that is not a multiple of 8 is a fault.
func (v *View) Words64(a physmem.Addr, n int, dir Dir) ([]uint64, error) {
	if err := v.words(a, n, wordSize64, dir); err != nil {
		return nil, err
	}
	return v.mem.Words64(a, n), nil
}

// Words32 returns n 32-bit little-endian words at a, a multiple of 4; see Words64.
func (v *View) Words32(a physmem.Addr, n int, dir Dir) ([]uint32, error) {
	if err := v.words(a, n, wordSize32, dir); err != nil {
		return nil, err
	}
	return v.mem.Words32(a, n), nil
}

// words checks an access to n words of the given size.
func (v *View) words(a physmem.Addr, n, size int, dir Dir) error {
	bytes := uint64(max(n, 0)) * uint64(size)
	switch {
	case n < 0 || n > physmem.MaxSize:
		return v.fault(a, bytes, dir, OutsideMemory)
	case uint64(a)%uint64(size) != 0:
		return v.fault(a, bytes, dir, Misaligned)
	}
	_, err := v.Slice(a, bytes, dir)
	return err
}

// fault counts an access that is refused and says what it was.
func (v *View) fault(a physmem.Addr, n uint64, dir Dir, why Reason) error {
	v.st.faults.Add(1)
	v.st.k.Probes.Fire3(probeFault, v.name, -1, uint64(a), n, uint64(dir))
	return &Fault{Device: v.name, Addr: a, Len: n, Dir: dir, Reason: why}
}

// Fault is a device access that was refused: what an IOMMU reports.
type Fault struct {
	Device string
	Addr   physmem.Addr
	Len    uint64 // bytes
	Dir    Dir
	Reason Reason
}

// Reason says why a device access is refused.
type Reason string

// The reasons, as they end the text of a fault.
const (
	OutsideMemory Reason = "outside memory"
	NotLoaded     Reason = "not in a map loaded for it"
	Misaligned    Reason = "misaligned words"
)

// Error names the device, what it tried, and why it may not.
func (f *Fault) Error() string {
	return fmt.Sprintf("%s: DMA fault: %v of %d bytes at %#x: %s", f.Device, f.Dir, f.Len, uint64(f.Addr), f.Reason)
}
