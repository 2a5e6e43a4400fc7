package vlan

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// numVIDs is the number of VLAN identifiers, of which the first and the last are none.
const numVIDs = 4096

// trunk is the VLAN side of a parent (struct ifvlantrunk).
type trunk struct {
	slots [numVIDs]atomic.Pointer[vlan]
	refs  int // slots in use; guarded by the state's mu
}

// enter puts v into its slot of the parent's trunk; false if another one is there.
func (s *state) enter(v *vlan, c *config) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trunks[c.parent]
	if t == nil {
		t = &trunk{}
		s.trunks[c.parent] = t
		c.parent.SetTrunk(&ifnet.VLANTrunk{Input: t.input, Changed: t.changed})
	}
	if !t.slots[c.vid].CompareAndSwap(nil, v) {
		return false
	}
	t.refs++
	return true
}

// exit takes it out; the last one takes the trunk away.
func (s *state) exit(c *config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trunks[c.parent]
	t.slots[c.vid].Store(nil)
	if t.refs--; t.refs == 0 {
		c.parent.SetTrunk(nil)
		delete(s.trunks, c.parent)
	}
}

// each calls fn for the interfaces on a parent.
func (t *trunk) each(fn func(v *vlan)) {
	for i := range t.slots {
		if v := t.slots[i].Load(); v != nil {
			fn(v)
		}
	}
}

// input takes a tagged packet of the parent (vlan_input).
func (t *trunk) input(c *mbuf.Cache, parent *ifnet.Ifnet, m *mbuf.Mbuf) {
	v := t.slots[ifnet.VLANOfTag(m.Pkt.EtherVtag)].Load()
	if v == nil || !running(v.ifp) {
		parent.IncCounter(ifnet.CounterNoProto, 1)
		c.FreeChain(m)
		return
	}
	if !v.s.knobs.keep(c, m, ifnet.PriorityOfTag(m.Pkt.EtherVtag)) {
		parent.IncCounter(ifnet.CounterIErrors, 1)
		c.FreeChain(m)
		return
	}
	// whose the frame is was judged by the parent's address and is judged again
	m.Flags &^= mbuf.FlagVLANTag | mbuf.FlagPromisc
	m.Pkt.RcvIf = v.ifp
	v.ifp.IncCounter(ifnet.CounterIPackets, 1)
	v.ifp.InputCache(c, m)
}

// changed follows a change of the parent's capabilities (vlan_trunk_capabilities).
func (t *trunk) changed(*ifnet.Ifnet) { t.each((*vlan).capabilities) }

// running reports whether packets may pass an interface.
func running(ifp *ifnet.Ifnet) bool {
	return ifp.Flags()&ifnet.FlagUp != 0 && ifp.DrvFlags()&ifnet.FlagRunning != 0
}

// event follows parents.
func (s *state) event(ifp *ifnet.Ifnet, e ifnet.EventKind) {
	if ifp.Flags()&ifnet.FlagRenaming != 0 {
		return
	}
	s.mu.Lock()
	t := s.trunks[ifp]
	s.mu.Unlock()
	if t == nil {
		return
	}
	t.each(func(v *vlan) {
		switch e {
		case ifnet.EventDeparture:
			v.leave()
		case ifnet.EventLink:
			v.ifp.LinkStateChange(ifp.LinkState())
		case ifnet.EventLLAddr:
			mac := ifp.MAC()
			if err := v.ifp.Ioctl(ifnet.IoctlSetLLAddr, mac[:]); err != nil {
				v.ifp.Printf("taking over the address of %s: %v\n", ifp.Name(), err)
			}
		}
	})
}
