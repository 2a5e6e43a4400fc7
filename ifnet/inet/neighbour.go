package inet

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// NeighbourState is the state of a neighbour. ARP and neighbour discovery share the machine:
//
//	incomplete  asked, no answer yet          an answer: reachable; the wait ends: gone
//	reachable   known, not doubted            its time ends: stale
//	stale       known, usable                 used: delay; its time ends: gone
//	delay       used while stale              its time ends: probe
//	probe       asked at its address          an answer: reachable; probes used up: gone
//	permanent   own or static                 only removed
type NeighbourState uint8

// States of a neighbour.
const (
	NeighbourIncomplete NeighbourState = iota
	NeighbourReachable
	NeighbourStale
	NeighbourDelay
	NeighbourProbe
	NeighbourPermanent
)

// nbProtocol is how a family finds and keeps its neighbours.
type nbProtocol struct {
	etype  uint16
	params func() nbParams
	// ask sends a question, to mac if the neighbour is thought to be there.
	ask func(c *mbuf.Cache, i *iface, target netip.Addr, mac *[ifnet.EtherAddrLen]byte)
	// giveUp takes a packet that waited in vain.
	giveUp func(c *mbuf.Cache, i *iface, m *mbuf.Mbuf)
}

// nbParams are the timers of a family in ticks and its limits, as the sysctls say now.
type nbParams struct {
	wait      int  // an incomplete entry's time, from the last question
	reachable int  // without doubt
	stale     int  // unused in doubt
	delay     int  // between use and first probe
	rexmit    int  // between probes
	probes    int  // questions to a neighbour in doubt
	tries     int  // questions before senders get an error
	hold      int  // packets that wait for an answer
	repeat    bool // questions are repeated by the timer, not by senders
}

// maxNeighbours bounds a table, so that a scan of a large network cannot use up memory.
const maxNeighbours = 16384

// neighbour is an entry of a table (struct llentry). The first two fields are what a
// packet reads; the rest is guarded by the stack's mu.
type neighbour struct {
	link     atomic.Uint64 // linkKnown and the address, 0 while incomplete
	feedback atomic.Bool   // the next user tells (r_skip_req)

	key   key
	addr  netip.Addr
	state NeighbourState
	own   bool // of this machine
	gone  bool

	published bool // others' questions for it are answered (LLE_PUB)
	router    bool // it said so

	asked   int   // questions since the state began
	askedAt int64 // tick of the last
	expires int64 // tick at which the timer runs
	timer   *kern.Callout

	hold, holdTail *mbuf.Mbuf
	held           int
}

const (
	linkKnown    = 1 << 63
	linkHighBits = 32
)

func packLink(mac [ifnet.EtherAddrLen]byte) uint64 {
	return linkKnown | uint64(binary.BigEndian.Uint16(mac[:]))<<linkHighBits | uint64(binary.BigEndian.Uint32(mac[2:]))
}

func unpackLink(w uint64) (mac [ifnet.EtherAddrLen]byte) {
	binary.BigEndian.PutUint16(mac[:], uint16(w>>linkHighBits))
	binary.BigEndian.PutUint32(mac[2:], uint32(w))
	return mac
}

const nbBuckets = 256

// nbTable is an interface's neighbours of one family (struct lltable): buckets that
// change by copy, so that readers need no lock.
type nbTable struct {
	buckets [nbBuckets]atomic.Pointer[[]*neighbour]
	n       int // guarded by mu
}

func bucketOf(k key) int {
	const (
		golden = 0x9e3779b97f4a7c15
		top    = 56
	)
	return int((k.hi ^ k.lo) * golden >> top)
}

// find is the entry of an address; nil if there is none.
func (t *nbTable) find(k key) *neighbour {
	p := t.buckets[bucketOf(k)].Load()
	if p == nil {
		return nil
	}
	for _, e := range *p {
		if e.key == k {
			return e
		}
	}
	return nil
}

// insert adds an entry. mu is held.
func (t *nbTable) insert(e *neighbour) {
	b := &t.buckets[bucketOf(e.key)]
	var list []*neighbour
	if p := b.Load(); p != nil {
		list = slices.Clone(*p)
	}
	list = append(list, e)
	b.Store(&list)
	t.n++
}

// remove takes an entry out and returns the packets that waited. mu is held.
func (t *nbTable) remove(e *neighbour) *mbuf.Mbuf {
	b := &t.buckets[bucketOf(e.key)]
	if p := b.Load(); p != nil {
		list := slices.DeleteFunc(slices.Clone(*p), func(o *neighbour) bool { return o == e })
		if len(list) == len(*p) {
			return nil
		}
		b.Store(&list)
	}
	t.n--
	e.gone = true
	e.timer.Stop()
	return e.takeHeld()
}

// all is every entry. mu is held.
func (t *nbTable) all() []*neighbour {
	var list []*neighbour
	for i := range t.buckets {
		if p := t.buckets[i].Load(); p != nil {
			list = append(list, *p...)
		}
	}
	return list
}

// flush removes every entry and returns the packets that waited. mu is held.
func (t *nbTable) flush() *mbuf.Mbuf {
	var held *mbuf.Mbuf
	for _, e := range t.all() {
		held = joinPackets(held, t.remove(e))
	}
	return held
}

func (e *neighbour) takeHeld() *mbuf.Mbuf {
	m := e.hold
	e.hold, e.holdTail, e.held = nil, nil, 0
	return m
}

// keep queues a packet; above the limit the oldest comes back to be dropped.
func (e *neighbour) keep(m *mbuf.Mbuf, limit int) (dropped *mbuf.Mbuf) {
	if e.holdTail == nil {
		e.hold = m
	} else {
		e.holdTail.NextPkt = m
	}
	e.holdTail = m
	if e.held++; e.held <= max(limit, 1) {
		return nil
	}
	dropped = e.hold
	e.hold = dropped.NextPkt
	dropped.NextPkt = nil
	e.held--
	return dropped
}

func (i *iface) table(p *nbProtocol) *nbTable {
	if p.etype == ifnet.EtherTypeIP {
		return &i.nb4
	}
	return &i.nb6
}

// newNeighbour enters an incomplete entry. mu is held.
func (s *stack) newNeighbour(i *iface, p *nbProtocol, addr netip.Addr) *neighbour {
	e := &neighbour{key: keyOf(addr, 0), addr: addr}
	e.timer = s.k.NewCallout("neighbour", nil, func() { s.nbTimer(i, p, e) })
	i.table(p).insert(e)
	return e
}

// setOwn makes addr, one of this machine's, a permanent entry and returns the packets that
// waited for it. mu is held.
func (s *stack) setOwn(i *iface, p *nbProtocol, addr netip.Addr) *mbuf.Mbuf {
	e := s.permanent(i, p, addr, i.ifp.MAC())
	e.own, e.published = true, false
	return e.takeHeld()
}

// permanent makes addr a permanent entry. mu is held.
func (s *stack) permanent(i *iface, p *nbProtocol, addr netip.Addr, mac [ifnet.EtherAddrLen]byte) *neighbour {
	e := i.table(p).find(keyOf(addr, 0))
	if e == nil {
		e = s.newNeighbour(i, p, addr)
	}
	e.timer.Stop()
	e.state = NeighbourPermanent
	e.feedback.Store(false)
	e.link.Store(packLink(mac))
	return e
}

// arm starts the entry's timer. mu is held.
func (s *stack) arm(e *neighbour, ticks int) {
	e.expires = s.k.Ticks() + int64(ticks)
	e.timer.Reset(ticks, -1)
}

// learn stores what a neighbour said: reachable if it answered, else stale. It returns
// the packets that waited. mu is held.
func (s *stack) learn(p *nbProtocol, e *neighbour, mac [ifnet.EtherAddrLen]byte, answered bool) *mbuf.Mbuf {
	prm := p.params()
	e.asked = 0
	e.link.Store(packLink(mac))
	if answered {
		e.state = NeighbourReachable
		e.feedback.Store(false)
		s.arm(e, prm.reachable)
	} else {
		s.doubt(e, prm)
	}
	return e.takeHeld()
}

// doubt makes the entry stale: its next user tells. mu is held.
func (s *stack) doubt(e *neighbour, prm nbParams) {
	e.state = NeighbourStale
	s.arm(e, prm.stale)
	e.feedback.Store(true)
}

// used is told by a packet that took a stale entry.
func (s *stack) used(p *nbProtocol, e *neighbour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.feedback.Store(false)
	if e.gone || e.state != NeighbourStale {
		return
	}
	e.state, e.asked = NeighbourDelay, 0
	s.arm(e, max(p.params().delay, 1))
}

// nbTimer moves an entry on when the time of its state has passed.
func (s *stack) nbTimer(i *iface, p *nbProtocol, e *neighbour) {
	s.mu.Lock()
	if e.gone || e.timer.Pending() { // gone, or given a new time meanwhile
		s.mu.Unlock()
		return
	}
	prm := p.params()
	var lost *mbuf.Mbuf
	var to *[ifnet.EtherAddrLen]byte
	ask := false
	switch e.state {
	case NeighbourIncomplete:
		if ask = prm.repeat && e.asked < prm.tries; ask {
			e.asked++
			s.arm(e, prm.wait)
		}
	case NeighbourReachable:
		s.doubt(e, prm)
		s.mu.Unlock()
		return
	case NeighbourDelay, NeighbourProbe:
		if ask = e.asked < prm.probes; ask {
			e.state = NeighbourProbe
			e.asked++
			mac := unpackLink(e.link.Load())
			to = &mac
			s.arm(e, prm.rexmit)
		}
	case NeighbourPermanent:
		s.mu.Unlock()
		return
	}
	if !ask {
		lost = i.table(p).remove(e)
		s.countTimeout(p)
	}
	s.mu.Unlock()
	c := s.zones.Borrow()
	defer s.zones.Return(c)
	if ask {
		p.ask(c, i, e.addr, to)
	}
	for lost != nil {
		next := lost.NextPkt
		lost.NextPkt = nil
		p.giveUp(c, i, lost)
		lost = next
	}
}

// resolveSlow takes a packet whose neighbour is not known: it waits and the neighbour is
// asked (arpresolve_full, nd6_resolve_slow). ENETUNREACH: the interface has no address of
// the family; EHOSTDOWN: asked in vain (the packet waits all the same).
func (s *stack) resolveSlow(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, dst netip.Addr, p *nbProtocol) (mac [ifnet.EtherAddrLen]byte, ok bool, err error) {
	s.mu.Lock()
	i := s.iface(ifp)
	if i == nil || s.closed {
		s.mu.Unlock()
		c.FreeChain(m)
		return mac, false, fmt.Errorf("resolving %s on %s: %w", dst, ifp.Name(), syscall.ENETUNREACH)
	}
	prm := p.params()
	t := i.table(p)
	e := t.find(keyOf(dst, 0))
	if e == nil {
		if err := s.mayCreate(ifp, t, p); err != nil {
			s.mu.Unlock()
			s.countHoldDrop(p)
			c.FreeChain(m)
			return mac, false, fmt.Errorf("resolving %s on %s: %w", dst, ifp.Name(), err)
		}
		e = s.newNeighbour(i, p, dst)
	} else if w := e.link.Load(); w != 0 {
		s.mu.Unlock()
		return unpackLink(w), true, nil
	}
	m.NextPkt = nil
	dropped := e.keep(m, prm.hold)
	if e.asked >= prm.tries {
		err = fmt.Errorf("resolving %s on %s: %w", dst, ifp.Name(), syscall.EHOSTDOWN)
	}
	now := s.k.Ticks()
	ask := e.asked == 0 || !prm.repeat && now-e.askedAt >= int64(s.k.Hz())
	if ask {
		e.asked++
		e.askedAt = now
		s.arm(e, prm.wait)
	}
	s.mu.Unlock()
	if dropped != nil {
		s.countHoldDrop(p)
		c.FreeChain(dropped)
	}
	if ask {
		p.ask(c, i, dst, nil)
	}
	return mac, false, err
}

// mayCreate refuses new entries on an interface that does not ask and in a full table.
func (s *stack) mayCreate(ifp *ifnet.Ifnet, t *nbTable, p *nbProtocol) error {
	if p == &s.arp && ifp.Flags()&(ifnet.FlagNoARP|ifnet.FlagStaticARP) != 0 {
		return syscall.EINVAL
	}
	if t.n >= maxNeighbours {
		return syscall.ENOBUFS
	}
	return nil
}

// countTimeout counts an entry that ended for want of an answer or of use.
func (s *stack) countTimeout(p *nbProtocol) {
	if p == &s.arp {
		s.stats.arp.add(arpTimeouts)
	}
}

// countHoldDrop counts a packet that could not wait.
func (s *stack) countHoldDrop(p *nbProtocol) {
	if p == &s.arp {
		s.stats.arp.add(arpDropped)
		return
	}
	s.stats.icmp6.add(icmp6NDDropped)
}

// sendHeld sends the packets that waited for mac.
func (s *stack) sendHeld(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf, mac [ifnet.EtherAddrLen]byte, etype uint16) {
	for m != nil {
		next := m.NextPkt
		m.NextPkt = nil
		// an error is the interface's to count
		_ = ifp.OutputTo(c, m, mac, etype)
		m = next
	}
}
