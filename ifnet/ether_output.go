package ifnet

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// ResolveFunc finds the link address of a unicast neighbour (arpresolve, nd6_resolve).
// ok: m stays the caller's. Otherwise m is the resolver's: nil error while the answer
// is awaited, else refused and freed.
type ResolveFunc = func(c *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf, dst netip.Addr) (mac [EtherAddrLen]byte, ok bool, err error)

type resolver struct {
	af AF
	fn ResolveFunc
}

// RegisterResolver makes fn find the neighbours of a family, AFInet or AFInet6; it
// replaces an earlier one. The result ends it.
func RegisterResolver(k *kern.Kernel, af AF, fn ResolveFunc) (cancel func()) {
	s := stackOf(k)
	s.setResolver(af, fn)
	return func() { s.setResolver(af, nil) }
}

func (s *stack) setResolver(af AF, fn ResolveFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []resolver
	if p := s.resolvers.Load(); p != nil {
		list = slices.DeleteFunc(slices.Clone(*p), func(r resolver) bool { return r.af == af })
	}
	if fn != nil {
		list = append(list, resolver{af, fn})
	}
	s.resolvers.Store(&list)
}

func (s *stack) resolve(c *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf, dst netip.Addr, af AF) (mac [EtherAddrLen]byte, ok bool, err error) {
	if p := s.resolvers.Load(); p != nil {
		for _, r := range *p {
			if r.af == af {
				return r.fn(c, ifp, m, dst)
			}
		}
	}
	c.FreeChain(m)
	return mac, false, fmt.Errorf("resolving %s on %s: %w", dst, ifp.Name(), syscall.EHOSTUNREACH)
}

// Output sends a network packet to a neighbour (ether_output, spec ifnet 7.1): FlagBcast
// goes to everybody, FlagMcast to the mapped group, the rest to who the resolver names.
// m is taken in any case. ENETDOWN: not up and running, or MONITOR; EAFNOSUPPORT; ENOBUFS:
// no memory; EACCES: the link filter dropped it; else what resolver or driver say.
func (ifp *Ifnet) Output(c *mbuf.Cache, m *mbuf.Mbuf, dst netip.Addr, af AF) error {
	if err := ifp.sendable(c, m); err != nil {
		return err
	}
	etype := EtherTypeIP
	switch af {
	case AFInet:
	case AFInet6:
		etype = EtherTypeIPv6
	default:
		ifp.Printf("can't handle af%d\n", af)
		c.FreeChain(m)
		return fmt.Errorf("output on %s: %w", ifp.Name(), syscall.EAFNOSUPPORT)
	}
	var mac [EtherAddrLen]byte
	switch {
	case m.Flags&mbuf.FlagBcast != 0:
		mac = EtherBroadcast
	case m.Flags&mbuf.FlagMcast != 0:
		mac = mapMulticast(dst)
	default:
		var ok bool
		var err error
		if mac, ok, err = ifp.stack.resolve(c, ifp, m, dst, af); !ok {
			return err
		}
	}
	if mac == ifp.MAC() {
		markVerified(m, m.Pkt.CsumFlags)
		return ifp.simloop(c, m, etype, 0)
	}
	return ifp.encapsulate(c, m, mac, etype, true)
}

// OutputTo sends a packet whose link address is known: a route's precomputed header,
// ARP. A broadcast is not looped back. Errors as Output.
func (ifp *Ifnet) OutputTo(c *mbuf.Cache, m *mbuf.Mbuf, mac [EtherAddrLen]byte, etype uint16) error {
	if err := ifp.sendable(c, m); err != nil {
		return err
	}
	if mac == ifp.MAC() && (etype == EtherTypeIP || etype == EtherTypeIPv6) {
		markVerified(m, m.Pkt.CsumFlags)
		return ifp.simloop(c, m, etype, 0)
	}
	return ifp.encapsulate(c, m, mac, etype, false)
}

// sendable frees m with ENETDOWN unless the interface may send.
func (ifp *Ifnet) sendable(c *mbuf.Cache, m *mbuf.Mbuf) error {
	f := ifp.Flags()
	if f&FlagMonitor == 0 && f&FlagUp != 0 && ifp.DrvFlags()&FlagRunning != 0 {
		return nil
	}
	c.FreeChain(m)
	return syscall.ENETDOWN
}

// encapsulate prepends the header, loops a copy of a broadcast that the hardware will
// not receive itself, and sends the frame.
func (ifp *Ifnet) encapsulate(c *mbuf.Cache, m *mbuf.Mbuf, mac [EtherAddrLen]byte, etype uint16, loop bool) error {
	if m = c.Prepend(m, EtherHdrLen); m == nil {
		return fmt.Errorf("output on %s: %w", ifp.Name(), syscall.ENOBUFS)
	}
	if m.Len() < EtherHdrLen {
		if m = c.Pullup(m, EtherHdrLen); m == nil {
			return fmt.Errorf("output on %s: %w", ifp.Name(), syscall.ENOBUFS)
		}
	}
	b, src := m.Bytes(), ifp.MAC()
	copy(b, mac[:])
	copy(b[EtherAddrLen:], src[:])
	binary.BigEndian.PutUint16(b[etherTypeOff:], etype)
	if loop && m.Flags&mbuf.FlagBcast != 0 && ifp.Flags()&FlagSimplex != 0 {
		ifp.loopBroadcast(c, m, etype)
	}
	return ifp.OutputFrame(c, m)
}

// loopBroadcast delivers a deep copy of a broadcast to this machine.
func (ifp *Ifnet) loopBroadcast(c *mbuf.Cache, m *mbuf.Mbuf, etype uint16) {
	n := c.Dup(m)
	if n == nil {
		ifp.IncCounter(CounterIQDrops, 1)
		return
	}
	markVerified(n, m.Pkt.CsumFlags)
	// the drop of a full queue is counted there
	_ = ifp.simloop(c, n, etype, EtherHdrLen)
}

// OutputFrame sends a complete frame (ether_output_frame): priority tag, link filter,
// Transmit. m is taken in any case. A tag that cannot be inserted counts OERRORS and is
// no error to the sender, as in FreeBSD.
func (ifp *Ifnet) OutputFrame(c *mbuf.Cache, m *mbuf.Mbuf) error {
	if ifp.typ != TypeVLAN && (ifp.PCP() != PCPNone || m.Flags&mbuf.FlagVLANTag != 0) {
		if m = ifp.setPCP(c, m); m == nil {
			ifp.IncCounter(CounterOErrors, 1)
			return nil
		}
	}
	if ifp.linkPfil.Hooked() {
		var r PfilResult
		switch m, r = ifp.linkPfil.Run(c, ifp, PfilOut, AFLink, m); r {
		case PfilDropped:
			return fmt.Errorf("output on %s: %w", ifp.Name(), syscall.EACCES)
		case PfilConsumed:
			return nil
		}
	}
	return ifp.Transmit(m)
}

// setPCP gives a frame without a tag of its own a priority tag, VLAN 0 (ether_set_pcp):
// out of band if the hardware inserts tags, else in band. nil: no memory, m freed.
func (ifp *Ifnet) setPCP(c *mbuf.Cache, m *mbuf.Mbuf) *mbuf.Mbuf {
	if m.Len() < EtherHdrLen {
		if m = c.Pullup(m, EtherHdrLen); m == nil {
			return nil
		}
	}
	if isTagType(etherType(m.Bytes())) {
		m.Flags &^= mbuf.FlagVLANTag
		return m
	}
	pcp := ifp.PCP()
	if m.Flags&mbuf.FlagVLANTag != 0 {
		pcp = PriorityOfTag(m.Pkt.EtherVtag)
	}
	tci := MakeTag(0, pcp)
	if ifp.Capenable()&CapVLANHWTag != 0 {
		m.Pkt.EtherVtag = tci
		m.Flags |= mbuf.FlagVLANTag
		return m
	}
	if m = VLANEncap(c, m, tci, EtherTypeVLAN); m == nil {
		ifp.Printf("unable to prepend 802.1Q header\n")
		return nil
	}
	m.Flags &^= mbuf.FlagVLANTag
	return m
}

// markVerified turns requests for checksums, which nobody will compute for a packet
// that stays here, into results (update_mbuf_csumflags).
func markVerified(m *mbuf.Mbuf, requests mbuf.CsumFlags) {
	if requests&mbuf.CsumIP != 0 {
		m.Pkt.CsumFlags |= mbuf.CsumL3Calc | mbuf.CsumL3Valid
	}
	if requests&(mbuf.CsumDelayData|mbuf.CsumDelayDataIPv6) != 0 {
		m.Pkt.CsumFlags |= mbuf.CsumL4Calc | mbuf.CsumL4Valid
		m.Pkt.CsumData = mbuf.CsumDataGood
	}
	if requests&(mbuf.CsumIPSCTP|mbuf.CsumIP6SCTP) != 0 {
		m.Pkt.CsumFlags |= mbuf.CsumL4Valid
	}
}
