package cqhw

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
)

// interrupts is section 6: the cause register, the mask, and the line.
type interrupts struct {
	mask    atomic.Uint32
	pending atomic.Uint32 // link event that is masked

	mu   sync.Mutex // guards icr and the order of changes of the line
	icr  uint32
	line bool // INTx is asserted, or would be
}

// reset forgets causes and masks and takes the line back.
func (s *interrupts) reset(n *nic) {
	s.mask.Store(0)
	s.pending.Store(0)
	s.mu.Lock()
	s.icr = 0
	s.mu.Unlock()
	s.update(n, 0)
}

// readICR returns and clears the causes.
func (s *interrupts) readICR(n *nic) uint32 {
	s.mu.Lock()
	v := s.icr
	s.icr = 0
	s.mu.Unlock()
	s.update(n, 0)
	return v
}

// update sets causes and drives INTx or MSI as they and the mask say.
func (s *interrupts) update(n *nic, causes uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.icr |= causes
	ctrl := n.ctrl.Load()
	due := s.icr&s.mask.Load() != 0 && ctrl&cqreg.CtrlMSIX == 0
	if n.fn == nil {
		return
	}
	if ctrl&cqreg.CtrlMSI != 0 {
		if due && causes&s.mask.Load() != 0 && !n.faults.LoseIntr() {
			n.fn.RaiseMSI(0)
		}
		due = false
	}
	if due != s.line {
		s.line = due
		n.fn.SetINTx(due)
	}
}

// event raises the link event, or keeps it while it is masked.
func (n *nic) event(cause uint32) {
	n.intr.pending.Or(cause)
	n.firePending()
}

// firePending signals a kept link event if it is unmasked.
func (n *nic) firePending() {
	if n.intr.mask.Load()&cqreg.CauseLink == 0 || n.intr.pending.And(^uint32(cqreg.CauseLink))&cqreg.CauseLink == 0 {
		return
	}
	n.signal(cqreg.CauseLink, cqreg.AdminVector)
}

// signal sends one event: by message, or as a cause.
func (n *nic) signal(cause, vector uint32) {
	if n.ctrl.Load()&cqreg.CtrlMSIX == 0 {
		n.intr.update(n, cause)
		return
	}
	if n.fn != nil && !n.faults.LoseIntr() {
		n.fn.RaiseMSIX(int(vector))
	}
}

// unmasked looks for events that were kept for the mask bits just set.
func (n *nic) unmasked(causes uint32) {
	n.intr.update(n, 0)
	n.firePending()
	for i := range cqreg.MaxQueues {
		if causes&(cqreg.CauseRx0<<i) != 0 {
			n.rx[i].cq.poll()
		}
		if causes&(cqreg.CauseTx0<<i) != 0 {
			n.tx[i].cq.poll()
		}
	}
}
