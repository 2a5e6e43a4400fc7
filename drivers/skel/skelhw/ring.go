package skelhw

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
)

// ring is a descriptor ring as the part sees it. It belongs to the work of its queue.
type ring struct {
	addr  iflib.Addr
	size  uint32 // entries, 0 while the queue is stopped
	at    uint32 // next descriptor
	view  hw.Ring
	words []uint64 // during a run
}

// begin checks what the registers say and starts at entry 0.
func (r *ring) begin(addr iflib.Addr, entries uint32) error {
	switch {
	case entries < skelreg.MinRing || entries > skelreg.MaxRing || entries&(entries-1) != 0:
		return fmt.Errorf("a ring cannot have %d entries", entries)
	case addr%skelreg.RingAlign != 0:
		return fmt.Errorf("the ring at %#x is not aligned", uint64(addr))
	}
	*r = ring{addr: addr, size: entries}
	return nil
}

func (r *ring) end() { *r = ring{} }

// open gets hold of the memory; false if the queue is stopped or the memory is not the
// part's to touch.
func (r *ring) open(dma *hw.DMA, q int) bool {
	if r.size == 0 {
		return false
	}
	words, err := r.view.Words(dma, r.addr, int(r.size)*skelreg.DescWords)
	if err != nil {
		dma.Fault(q, r.at, err)
		return false
	}
	r.words = words
	return true
}

// wrap is index i modulo the ring.
func (r *ring) wrap(i uint32) uint32 { return i & (r.size - 1) }

// word loads word w of descriptor i, which may be beyond the end.
func (r *ring) word(i uint32, w uint32) uint64 {
	return atomic.LoadUint64(&r.words[r.wrap(i)*skelreg.DescWords+w])
}

// buffer is where descriptor i says that its buffer is.
func (r *ring) buffer(i uint32) iflib.Addr { return iflib.Addr(r.word(i, 0)) }

// state is word 1 of descriptor i.
func (r *ring) state(i uint32) uint64 { return r.word(i, 1) }

// giveBack writes descriptor i, word 1 last.
func (r *ring) giveBack(i uint32, word0, state uint64) {
	w := r.words[r.wrap(i)*skelreg.DescWords:]
	atomic.StoreUint64(&w[0], word0)
	atomic.StoreUint64(&w[1], state)
}
