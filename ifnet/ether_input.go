package ifnet

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// ProtocolFunc takes a packet without its Ethernet header. Workers call it at the same
// time, each with its own cache.
type ProtocolFunc = func(c *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf)

type protocol struct {
	etype uint16
	fn    ProtocolFunc
}

// RegisterProtocol gives packets of an EtherType to fn (netisr_register); one handler
// a type. The result ends it.
func RegisterProtocol(k *kern.Kernel, etype uint16, fn ProtocolFunc) (cancel func()) {
	s := stackOf(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.protocolList()
	if slices.ContainsFunc(list, func(p protocol) bool { return p.etype == etype }) {
		panic(fmt.Sprintf("netisr_register: EtherType %#04x is already registered", etype))
	}
	list = append(slices.Clone(list), protocol{etype, fn})
	s.protocols.Store(&list)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		list := slices.DeleteFunc(slices.Clone(s.protocolList()), func(p protocol) bool { return p.etype == etype })
		s.protocols.Store(&list)
	}
}

func (s *stack) protocolList() []protocol {
	if p := s.protocols.Load(); p != nil {
		return *p
	}
	return nil
}

// dispatch gives a packet to its protocol; without one it is freed.
func (s *stack) dispatch(c *mbuf.Cache, ifp *Ifnet, etype uint16, m *mbuf.Mbuf) {
	for _, p := range s.protocolList() {
		if p.etype == etype {
			p.fn(c, ifp, m)
			return
		}
	}
	c.FreeChain(m)
}

// etherInput is ether_input: a list of packets, each handled to the end.
func etherInput(c *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf) {
	for m != nil {
		next := m.NextPkt
		m.NextPkt = nil
		ifp.inputFrame(c, m)
		m = next
	}
}

// inputFrame is ether_input_internal, in the order of spec ifnet 7.2.
func (ifp *Ifnet) inputFrame(c *mbuf.Cache, m *mbuf.Mbuf) {
	if ifp.Flags()&FlagUp == 0 {
		c.FreeChain(m)
		return
	}
	if m.Len() < EtherHdrLen {
		ifp.Printf("discard frame w/o leading ethernet header (len %d pkt len %d)\n", m.Len(), m.Pkt.Len)
		ifp.IncCounter(CounterIErrors, 1)
		c.FreeChain(m)
		return
	}
	if ifp.stack.check {
		ifp.checkReceived(m)
	}
	dst := packMAC(m.Bytes())
	if dst&packedGroup != 0 {
		if dst == packedBcast {
			m.Flags |= mbuf.FlagBcast
		} else {
			m.Flags |= mbuf.FlagMcast
		}
		ifp.IncCounter(CounterIMcasts, 1)
	}
	if ifp.TapOn() {
		ifp.Tap(m)
	}
	if ifp.Capenable()&CapHWStats == 0 {
		ifp.IncCounter(CounterIBytes, uint64(m.Pkt.Len))
	}
	if ifp.Flags()&FlagMonitor != 0 {
		c.FreeChain(m)
		return
	}
	if m.Flags&mbuf.FlagVLANTag == 0 && isTagType(etherType(m.Bytes())) {
		if m = vlanDecap(c, m); m == nil {
			ifp.IncCounter(CounterIErrors, 1)
			return
		}
	}
	m.Pkt.FIB = uint16(ifp.FIB())
	if m.Flags&(mbuf.FlagBcast|mbuf.FlagMcast) == 0 && dst != ifp.mac.Load() {
		m.Flags |= mbuf.FlagPromisc
	}
	ifp.demux(c, m)
}

// demux is ether_demux: filter, VLAN, the rule for frames of others, protocols.
func (ifp *Ifnet) demux(c *mbuf.Cache, m *mbuf.Mbuf) {
	if ifp.linkPfil.Hooked() && m.Flags&mbuf.FlagPromisc == 0 {
		var r PfilResult
		if m, r = ifp.linkPfil.Run(c, ifp, PfilIn, AFLink, m); r != PfilPass {
			return
		}
	}
	if m.Flags&mbuf.FlagVLANTag != 0 && VLANOfTag(m.Pkt.EtherVtag) != 0 {
		t := ifp.trunk.Load()
		if t == nil {
			ifp.IncCounter(CounterNoProto, 1)
			c.FreeChain(m)
			return
		}
		t.Input(c, ifp, m)
		return
	}
	if m.Flags&mbuf.FlagPromisc != 0 && ifp.Flags()&FlagPPromisc == 0 {
		c.FreeChain(m)
		return
	}
	m.Flags &^= mbuf.FlagVLANTag | mbuf.ProtoFlags
	etype := etherType(m.Bytes())
	if etype == EtherTypeARP && ifp.Flags()&FlagNoARP != 0 {
		c.FreeChain(m)
		return
	}
	c.Adj(m, EtherHdrLen)
	ifp.stack.dispatch(c, ifp, etype, m)
}

// Demux is what a VLAN or bridge calls to enter a packet behind the input steps
// (ether_demux).
func (ifp *Ifnet) Demux(c *mbuf.Cache, m *mbuf.Mbuf) { ifp.demux(c, m) }

// checkReceived is the assertion of ether_input on what the driver hands over.
func (ifp *Ifnet) checkReceived(m *mbuf.Mbuf) {
	if m.Flags&mbuf.FlagPktHdr == 0 {
		panic(fmt.Sprintf("ether_input: no packet header on an mbuf of %s", ifp.Name()))
	}
	if m.Pkt.RcvIf != mbuf.RcvIf(ifp) {
		panic(fmt.Sprintf("ether_input: ifnet mismatch m %p rcvif %v ifp %s", m, m.Pkt.RcvIf, ifp.Name()))
	}
}

const etherTypeOff = 2 * EtherAddrLen

func etherType(b []byte) uint16 { return binary.BigEndian.Uint16(b[etherTypeOff:]) }

// isTagType reports whether a frame of this type begins with a VLAN tag.
func isTagType(etype uint16) bool { return etype == EtherTypeVLAN || etype == EtherTypeQinQ }

// tagOf is the TCI of a frame with an in-band tag.
func tagOf(b []byte) uint16 { return binary.BigEndian.Uint16(b[EtherHdrLen:]) }

// putTag writes a tag's type and TCI.
func putTag(b []byte, proto, tci uint16) {
	binary.BigEndian.PutUint16(b, proto)
	binary.BigEndian.PutUint16(b[EtherTypeLen:], tci)
}
