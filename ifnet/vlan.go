package ifnet

import (
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// VLANTrunk is the VLAN side of a parent interface (if_vlantrunk): it takes packets
// whose tag is out of band, id not 0.
type VLANTrunk struct {
	// Input takes m (vlan_input).
	Input func(c *mbuf.Cache, parent *Ifnet, m *mbuf.Mbuf)
	// Changed follows a change of the parent's capabilities (vlan_trunk_capabilities). The
	// parent's request lock is held. nil: nobody cares.
	Changed func(parent *Ifnet)
}

// SetTrunk attaches the VLAN side to a parent interface; nil takes it away.
func (ifp *Ifnet) SetTrunk(t *VLANTrunk) { ifp.trunk.Store(t) }

// Trunk is the VLAN side of the interface, nil without one.
func (ifp *Ifnet) Trunk() *VLANTrunk { return ifp.trunk.Load() }

// OnVLANConfig calls fn when a VLAN is put on any parent interface of the machine
// (the vlan_config event). The result ends it.
func OnVLANConfig(k *kern.Kernel, fn func(parent *Ifnet, vid uint16)) (cancel func()) {
	return stackOf(k).vlanOn.add(fn)
}

// OnVLANUnconfig calls fn when a VLAN leaves a parent interface (vlan_unconfig). The
// result ends it.
func OnVLANUnconfig(k *kern.Kernel, fn func(parent *Ifnet, vid uint16)) (cancel func()) {
	return stackOf(k).vlanOff.add(fn)
}

// VLANConfig tells the drivers that VLAN vid was put on the interface.
func (ifp *Ifnet) VLANConfig(vid uint16) { ifp.stack.vlanOn.call(ifp, vid) }

// VLANUnconfig tells the drivers that VLAN vid left the interface.
func (ifp *Ifnet) VLANUnconfig(vid uint16) { ifp.stack.vlanOff.call(ifp, vid) }

// VLANEncap inserts a tag of type proto behind the addresses (ether_vlanencap_proto).
// nil, with m freed, in a famine or when m has no Ethernet header.
func VLANEncap(c *mbuf.Cache, m *mbuf.Mbuf, tci, proto uint16) *mbuf.Mbuf {
	m = c.Prepend(m, EtherVLANEncapLen)
	if m == nil {
		return nil
	}
	if m.Len() < EtherVLANHdrLen {
		if m = c.Pullup(m, EtherVLANHdrLen); m == nil {
			return nil
		}
	}
	b := m.Bytes()
	copy(b, b[EtherVLANEncapLen:EtherVLANEncapLen+2*EtherAddrLen])
	putTag(b[2*EtherAddrLen:], proto, tci)
	return m
}

// vlanDecap moves an in-band tag out of band. nil, with m freed, when the frame is too
// short for the tag that its type announces or in a famine.
func vlanDecap(c *mbuf.Cache, m *mbuf.Mbuf) *mbuf.Mbuf {
	if m.Len() < EtherVLANHdrLen || !m.Writable() {
		if m = ownHeader(c, m, EtherVLANHdrLen); m == nil {
			return nil
		}
	}
	b := m.Bytes()
	m.Pkt.EtherVtag = tagOf(b)
	m.Flags |= mbuf.FlagVLANTag
	copy(b[EtherVLANEncapLen:], b[:2*EtherAddrLen])
	c.Adj(m, EtherVLANEncapLen)
	return m
}

// ownHeader makes the first n bytes contiguous and writable; nil, with m freed, if
// there are fewer or in a famine.
func ownHeader(c *mbuf.Cache, m *mbuf.Mbuf, n int) *mbuf.Mbuf {
	if m.Len() < n {
		if m = c.Pullup(m, n); m == nil {
			return nil
		}
	}
	if m.Writable() {
		return m
	}
	dup := c.Dup(m)
	c.FreeChain(m)
	if dup == nil {
		return nil
	}
	if dup.Len() < n {
		return c.Pullup(dup, n)
	}
	return dup
}
