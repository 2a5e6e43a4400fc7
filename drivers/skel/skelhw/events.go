package skelhw

import (
	"math/bits"
	"sync"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/pci"
)

// events is section 5: what happened, what of it software wants to hear of, and the wire
// that tells it.
type events struct {
	faults *hw.Faults

	mu      sync.Mutex // guards what follows, and has the line follow it in order
	fn      *pci.Function
	pending uint32
	enabled uint32
	line    bool // without MSI-X: an event is due
}

// plug takes the slot that interrupts go out through.
func (e *events) plug(fn *pci.Function) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fn = fn
}

// happen is the beginning of events; any goroutine.
func (e *events) happen(set uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending |= set
	e.deliver()
}

func (e *events) enable(set uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enabled |= set
	e.deliver()
}

func (e *events) disable(set uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enabled &^= set
	e.deliver()
}

func (e *events) enabledBits() uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.enabled
}

// take is a read of ICAUSE.
func (e *events) take() uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.claim()
}

func (e *events) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending, e.enabled = 0, 0
	e.deliver()
}

// claim returns the due events, which are then not due any more. Called with mu held.
func (e *events) claim() uint32 {
	due := e.pending & e.enabled
	e.pending &^= due
	e.enabled &^= due
	e.deliver()
	return due
}

// deliver tells software what is due, in the way that the slot is set to. A message
// whose fail point is set is lost. Called with mu held.
func (e *events) deliver() {
	if e.fn == nil {
		return // not in a slot yet
	}
	due := e.pending & e.enabled
	if e.fn.MSIXEnabled() {
		e.pending &^= due
		e.enabled &^= due
		for ; due != 0; due &= due - 1 {
			if !e.faults.LoseIntr() {
				e.fn.RaiseMSIX(bits.TrailingZeros32(due))
			}
		}
		return
	}
	line := due != 0
	if line == e.line {
		return
	}
	e.line = line
	if !e.fn.MSIEnabled() {
		e.fn.SetINTx(line)
	} else if line && !e.faults.LoseIntr() {
		e.fn.RaiseMSI(0)
	}
}
