package cqhw

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
)

// States of a queue.
const (
	queueOff uint32 = iota
	queueOn
	queueHalted // transmit only
)

// block is the register storage of one direction of a queue; r0 is its first register.
type block struct {
	r0   uint64
	regs [(cqreg.RXCQLO) / 4]atomic.Uint32
}

func (b *block) at(r uint64) *atomic.Uint32 { return &b.regs[(r-b.r0)/4] }

func (b *block) load(r uint64) uint32 { return b.at(r).Load() }

// addr joins the two halves of an address register.
func (b *block) addr(lo uint64) physmem.Addr {
	return physmem.Addr(uint64(b.load(lo+4))<<32 | uint64(b.load(lo)))
}

// clear is what reset does.
func (b *block) clear() {
	for i := range b.regs {
		b.regs[i].Store(0)
	}
}

// ring returns the words of the ring that the registers describe, or why it cannot be
// (datasheet 3).
func (n *nic) ring(b *block, lo, length uint64) ([]uint64, error) {
	a, size := b.addr(lo), b.load(length)
	if size < cqreg.MinRing || size > cqreg.MaxRing || size&(size-1) != 0 {
		return nil, fmt.Errorf("ring of %d entries", size)
	}
	if a%cqreg.RingAlign != 0 {
		return nil, fmt.Errorf("ring at %#x", uint64(a))
	}
	return n.dma.Ring(a, int(size)*cqreg.Words)
}
