package vlan

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// knobs are net.link.vlan (spec ifnet 6.11).
type knobs struct {
	softPad atomic.Int32 // soft_pad: short frames are padded before they are tagged
	mtagPCP atomic.Int32 // mtag_pcp: priorities travel with packets in tags
}

// Tags of packets that carry a priority in Val[0] while net.link.vlan.mtag_pcp is on
// (MTAG_8021Q).
const (
	TagCookie = 1326104895
	TagPCPIn  = 0 // received (MTAG_8021Q_PCP_IN)
	TagPCPOut = 1 // to be sent (MTAG_8021Q_PCP_OUT)
)

// register adds the leaves of net.link.vlan.
func (n *knobs) register(k *kern.Kernel) error {
	node, err := k.Sysctl.Lookup("net.link.vlan")
	if err != nil {
		return fmt.Errorf("starting vlan: %w", err)
	}
	c := k.Sysctl.StaticCtx()
	c.Int(node, "soft_pad", sysctl.RW, &n.softPad, "pad short frames before tagging")
	c.Int(node, "mtag_pcp", sysctl.RW, &n.mtagPCP, "Retain VLAN PCP information as packets are passed up the stack")
	return nil
}

// pad appends zeros to a frame that is too short to be sent without a tag; false if there
// is no memory.
func (n *knobs) pad(parent *ifnet.Ifnet, m *mbuf.Mbuf) bool {
	short := minEtherPayload + ifnet.EtherHdrLen - int(m.Pkt.Len)
	if n.softPad.Load() == 0 || short <= 0 || parent.Type() != ifnet.TypeEther {
		return true
	}
	z := mbuf.Of(parent.Kernel())
	c := z.Borrow()
	defer z.Return(c)
	var zeros [minEtherPayload + ifnet.EtherHdrLen]byte
	return c.Append(m, zeros[:short])
}

// priority is the one that a packet's tag gives it; ok is false without.
func (n *knobs) priority(m *mbuf.Mbuf) (pcp uint8, ok bool) {
	if n.mtagPCP.Load() == 0 {
		return 0, false
	}
	t := m.TagFind(TagCookie, TagPCPOut)
	if t == nil {
		return 0, false
	}
	return uint8(t.Val[0]), true
}

// keep puts the priority of a received packet into a tag; false if there is no memory.
func (n *knobs) keep(c *mbuf.Cache, m *mbuf.Mbuf, pcp uint8) bool {
	if n.mtagPCP.Load() == 0 {
		return true
	}
	t := m.TagFind(TagCookie, TagPCPIn)
	if t == nil {
		if t = c.TagAlloc(TagCookie, TagPCPIn); t == nil {
			return false
		}
		m.TagPrepend(t)
	}
	t.Val[0] = uint64(pcp)
	return true
}
