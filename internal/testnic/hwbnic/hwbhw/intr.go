package hwbhw

import (
	"sync"

	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
)

// interrupts is section 5: vectors, the cause register and the line.
type interrupts struct {
	mu   sync.Mutex // guards what follows and the order of changes of the line
	vecs [hwbreg.MSIXVectors]struct{ enabled, pending bool }
	icr  uint32
	line bool // the condition of INTx or MSI holds
}

// reset disables the vectors, forgets events and takes the line back.
func (s *interrupts) reset(n *nic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.vecs[:])
	s.icr = 0
	s.drive(n)
}

// event is an event of a vector, or of a cause without MSI-X; any goroutine.
func (n *nic) event(vector, cause uint32) {
	s := &n.intr
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.ctrl.Load()&hwbreg.CtrlMSIX == 0 {
		s.icr |= cause
		s.drive(n)
		return
	}
	s.vecs[vector].pending = true
	s.fire(n, vector)
}

// fire signals a pending event of an enabled vector. Called with mu held.
func (s *interrupts) fire(n *nic, vector uint32) {
	v := &s.vecs[vector]
	if !v.enabled || !v.pending || n.ctrl.Load()&hwbreg.CtrlMSIX == 0 {
		return
	}
	v.enabled, v.pending = false, false
	if n.fn != nil && !n.faults.LoseIntr() {
		n.fn.RaiseMSIX(int(vector))
	}
}

// drive makes INTx or MSI follow ICR and the enable bit of vector 0. Called with mu
// held.
func (s *interrupts) drive(n *nic) {
	ctrl := n.ctrl.Load()
	due := s.icr != 0 && s.vecs[0].enabled && ctrl&hwbreg.CtrlMSIX == 0
	if due == s.line || n.fn == nil {
		return
	}
	s.line = due
	switch {
	case ctrl&hwbreg.CtrlMSI == 0:
		n.fn.SetINTx(due)
	case due && !n.faults.LoseIntr():
		n.fn.RaiseMSI(0)
	}
}

// mode is called after a change of the mode bits in CTRL.
func (s *interrupts) mode(n *nic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.fn != nil && s.line {
		n.fn.SetINTx(false)
		s.line = false
	}
	s.drive(n)
	for i := range s.vecs {
		s.fire(n, uint32(i))
	}
}

// readICR returns and clears the causes.
func (s *interrupts) readICR(n *nic) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.icr
	if v != 0 {
		s.icr = 0
		s.vecs[0].enabled = false
		s.drive(n)
	}
	return v
}

// setVector is a write to a vector's control register.
func (s *interrupts) setVector(n *nic, vector, v uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vecs[vector].enabled = v&hwbreg.VctlEnable != 0
	s.fire(n, vector)
	s.drive(n)
}

func (s *interrupts) readVector(vector uint32) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.vecs[vector].enabled {
		return hwbreg.VctlEnable
	}
	return 0
}
