package hwbhw

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
)

// States of a queue.
const (
	queueOff uint32 = iota
	queueOn
	queueHalted // transmit only
)

// pair is one queue pair: its registers and the two queues.
type pair struct {
	n    *nic
	id   int
	regs [hwbreg.QueueRegs / 4]atomic.Uint32
	tx   txQueue
	rx   rxQueue
}

func (p *pair) init(n *nic, id int) {
	p.n, p.id = n, id
	p.tx.init(p)
	p.rx.p = p
}

func (p *pair) load(r uint64) uint32 { return p.regs[r/4].Load() }

func (p *pair) store(r uint64, v uint32) { p.regs[r/4].Store(v) }

// addr joins the two halves of an address register.
func (p *pair) addr(lo uint64) physmem.Addr {
	return physmem.Addr(uint64(p.load(lo+4))<<32 | uint64(p.load(lo)))
}

func (p *pair) read(r uint64) uint32 {
	switch r {
	case hwbreg.TXCTL:
		if p.tx.state.Load() == queueHalted {
			return hwbreg.QCtlEnable | hwbreg.QCtlHalted
		}
	case hwbreg.TXTAIL:
		return p.tx.tail.Load()
	case hwbreg.TXHEAD:
		return p.tx.shown.Load()
	case hwbreg.RXTAIL:
		return p.rx.tail.Load()
	case hwbreg.RXHEAD:
		return p.rx.shown.Load()
	}
	return p.load(r)
}

// write is a write to register r; false if it is refused.
func (p *pair) write(r uint64, v uint32) bool {
	switch r {
	case hwbreg.TXTAIL:
		return p.tx.setTail(v)
	case hwbreg.RXTAIL:
		return p.rx.setTail(v)
	case hwbreg.TXHEAD, hwbreg.RXHEAD:
		return false
	case hwbreg.QVEC:
		if v >= hwbreg.MSIXVectors {
			return false
		}
		p.store(r, v)
		return true
	}
	p.n.ctl.Lock()
	defer p.n.ctl.Unlock()
	switch {
	case r == hwbreg.TXCTL:
		return p.control(r, v&hwbreg.QCtlEnable, p.id, p.tx.start, p.tx.halt)
	case r == hwbreg.RXCTL:
		return p.control(r, v&hwbreg.QCtlEnable, rxWorkQueue, p.rx.start, p.rx.halt)
	case r < hwbreg.RXBASELO && p.load(hwbreg.TXCTL) != 0, r >= hwbreg.RXBASELO && p.load(hwbreg.RXCTL) != 0:
		return false
	}
	p.store(r, v)
	return true
}

// control starts or stops a direction while its work is paused. Called with ctl held.
func (p *pair) control(r uint64, v uint32, work int, start func() error, halt func()) bool {
	if v == p.load(r) {
		return true
	}
	n := p.n
	n.engine.Pause(work)
	defer n.engine.Resume(work)
	if v == 0 {
		p.store(r, 0)
		halt()
		return true
	}
	if err := start(); err != nil {
		n.k.Printf("%s: queue %d: %v\n", n.name, p.id, err)
		return false
	}
	p.store(r, v)
	return true
}

// stop is what reset does to both directions. Called with ctl held.
func (p *pair) stop() {
	p.control(hwbreg.TXCTL, 0, p.id, p.tx.start, p.tx.halt)
	p.control(hwbreg.RXCTL, 0, rxWorkQueue, p.rx.start, p.rx.halt)
	for i := range p.regs {
		p.regs[i].Store(0)
	}
}

// ring returns the words of the ring that the registers describe, or why it cannot be
// (datasheet 3).
func (p *pair) ring(lo, length uint64) ([]uint64, error) {
	a, size := p.addr(lo), p.load(length)
	if size < hwbreg.MinRing || size > hwbreg.MaxRing || size&(size-1) != 0 {
		return nil, fmt.Errorf("ring of %d entries", size)
	}
	if a%hwbreg.RingAlign != 0 {
		return nil, fmt.Errorf("ring at %#x", uint64(a))
	}
	return p.n.dma.Ring(a, int(size)*hwbreg.Words)
}

// event signals the pair's vector.
func (p *pair) event() {
	p.n.event(p.load(hwbreg.QVEC), 1<<p.id)
}
