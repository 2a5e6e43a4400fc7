package hw

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/probe"
)

const descWordBytes = 8 // size of the words that rings are made of

var probeDMAFault = probe.Define("hw", "dma-fault", "desc")

// DMA is memory as one device sees it. Bus addresses come from the driver and may be
// anything: what is not the device's to touch is an error and never a panic. Any
// goroutine.
type DMA struct {
	k      *kern.Kernel
	view   *busdma.View
	name   string
	limit  uint64 // highest address the device can drive
	narrow bool   // some memory is beyond limit
	strict bool   // checking mode: views are not kept
	all    []byte // memory, if an address needs no check but that it is inside; else empty
	inject *kern.FailPoint
	faults atomic.Uint64
	logged atomic.Uint64 // queues a fault was logged of, by number modulo 64
}

// NewDMA returns the view of the device called name, which drives width address bits,
// 0 for all 64.
func NewDMA(k *kern.Kernel, name string, width int, f *Faults) *DMA {
	d := &DMA{k: k, view: busdma.NewView(k, name), name: name, limit: ^uint64(0),
		strict: busdma.Checking(k), inject: f.DMAError}
	if width > 0 && width < 64 {
		d.limit = 1<<width - 1
	}
	d.narrow = d.limit < k.Mem.Size()-1
	if !d.narrow && !d.strict {
		d.all = k.Mem.Bytes(0, k.Mem.Size())
	}
	return d
}

// Slice returns the n bytes at a for an access in direction dir. The error is a
// *busdma.Fault, or EIO from the fail point: the device gives up the descriptor and
// reports it with Fault.
func (d *DMA) Slice(a physmem.Addr, n uint64, dir busdma.Dir) ([]byte, error) {
	size := uint64(len(d.all))
	if uint64(a) > size || n > size-uint64(a) || d.inject.Armed() {
		return d.sliceChecked(a, n, dir)
	}
	return d.all[a : uint64(a)+n : uint64(a)+n], nil
}

// Direct returns all of memory if an access need only be inside it, else an empty slice:
// for a run of accesses that leaves every other case to Slice. A fail point that is set
// meanwhile is passed by the next run.
func (d *DMA) Direct() []byte {
	if d.inject.Armed() {
		return nil
	}
	return d.all
}

// sliceChecked is Slice for every other case, a fault among them.
func (d *DMA) sliceChecked(a physmem.Addr, n uint64, dir busdma.Dir) ([]byte, error) {
	if _, hit := d.inject.Eval(); hit || d.narrow {
		if err := d.refuse(a, n, dir, hit); err != nil {
			return nil, err
		}
	}
	return d.view.Slice(a, n, dir)
}

// check refuses what the device cannot address and what the fail point says.
func (d *DMA) check(a physmem.Addr, n uint64, dir busdma.Dir) error {
	_, hit := d.inject.Eval()
	return d.refuse(a, n, dir, hit)
}

// refuse is the error of an access that the fail point or the width of the device
// forbids.
func (d *DMA) refuse(a physmem.Addr, n uint64, dir busdma.Dir, hit bool) error {
	if hit {
		return fmt.Errorf("%s: DMA error injected at %#x: %w", d.name, uint64(a), syscall.EIO)
	}
	if d.narrow && (uint64(a) > d.limit || n > d.limit-uint64(a)+1) {
		return &busdma.Fault{Device: d.name, Addr: a, Len: n, Dir: dir, Reason: busdma.OutsideMemory}
	}
	return nil
}

// Ring returns the n descriptor words (64 bits, little endian) at a, a multiple of 8:
// the driver reads and writes them too, so they are accessed with atomic.LoadUint64,
// atomic.StoreUint64 and physmem.StoreRelaxed64. See Ring for keeping the view.
func (d *DMA) Ring(a physmem.Addr, n int) ([]uint64, error) {
	if err := d.check(a, uint64(max(n, 0))*descWordBytes, busdma.Bidirectional); err != nil {
		return nil, err
	}
	return d.view.Words64(a, n, busdma.Bidirectional)
}

// Load64 reads the aligned word at a.
func (d *DMA) Load64(a physmem.Addr) (uint64, error) {
	if err := d.check(a, descWordBytes, busdma.ToDevice); err != nil {
		return 0, err
	}
	w, err := d.view.Words64(a, 1, busdma.ToDevice)
	if err != nil {
		return 0, err
	}
	return atomic.LoadUint64(&w[0]), nil
}

// Store64 writes the aligned word at a.
func (d *DMA) Store64(a physmem.Addr, v uint64) error {
	if err := d.check(a, descWordBytes, busdma.FromDevice); err != nil {
		return err
	}
	w, err := d.view.Words64(a, 1, busdma.FromDevice)
	if err != nil {
		return err
	}
	atomic.StoreUint64(&w[0], v)
	return nil
}

// Store32 writes the aligned 32-bit word at a: head write-back.
func (d *DMA) Store32(a physmem.Addr, v uint32) error {
	const size = 4
	if err := d.check(a, size, busdma.FromDevice); err != nil {
		return err
	}
	w, err := d.view.Words32(a, 1, busdma.FromDevice)
	if err != nil {
		return err
	}
	atomic.StoreUint32(&w[0], v)
	return nil
}

// Fault counts an access that descriptor desc of queue q asked for in vain, and logs
// the first of each queue. q is negative for none.
func (d *DMA) Fault(q int, desc uint32, err error) {
	d.faults.Add(1)
	d.k.Probes.Fire1(probeDMAFault, d.name, q, uint64(desc))
	const queueBits = 63
	bit := uint64(1) << (uint(q) & queueBits)
	if d.logged.Or(bit)&bit == 0 {
		d.k.Printf("%s: queue %d descriptor %d: %v\n", d.name, q, desc, err)
	}
}

// Faults returns how many faults were counted.
func (d *DMA) Faults() uint64 { return d.faults.Load() }

// Ring is the view of a descriptor ring kept between runs of its queue's work. The zero
// value has none. One goroutine at a time.
type Ring struct {
	addr  physmem.Addr
	n     int
	words []uint64
	err   error
	valid bool
}

// Strict reports whether views must not be kept: checking mode.
func (d *DMA) Strict() bool { return d.strict }

// Words returns the n words at a, as DMA.Ring does: anew only if the registers have
// changed since the last call, so they may be written in any order (case 52). In
// checking mode every call checks: the driver may have freed the ring.
func (r *Ring) Words(d *DMA, a physmem.Addr, n int) ([]uint64, error) {
	if !r.valid || r.addr != a || r.n != n || d.strict {
		r.words, r.err = d.Ring(a, n)
		r.addr, r.n, r.valid = a, n, true
	}
	return r.words, r.err
}

// Forget drops the view: at a reset, after a fault, when the queue is enabled.
func (r *Ring) Forget() { *r = Ring{} }
