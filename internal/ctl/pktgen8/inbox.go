package pktgen8

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// inboxLen is how many frames an inbox holds.
const inboxLen = 512

// letter is a received frame.
type letter struct {
	at     time.Duration // uptime when it was received
	frame  []byte
	tag    uint16 // VLAN tag that the hardware took out
	tagged bool
}

// inbox keeps copies of the frames that an interface receives for one goroutine. A tap
// fills it.
type inbox struct {
	k     *kern.Kernel
	ready chan struct{} // of one: there is something

	mu      sync.Mutex
	letters [inboxLen]letter
	head, n int
	lost    uint64 // for want of room
}

// newInbox is an inbox for frames of a length at most.
func newInbox(k *kern.Kernel, longest int) *inbox {
	b := &inbox{k: k, ready: make(chan struct{}, 1)}
	for i := range b.letters {
		b.letters[i].frame = make([]byte, 0, longest)
	}
	return b
}

func (b *inbox) tap(ifp mbuf.RcvIf, m *mbuf.Mbuf) {
	if m.Pkt.RcvIf != ifp {
		return
	}
	at := b.k.Uptime()
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &b.letters[(b.head+b.n)%inboxLen]
	if b.n == inboxLen || int(m.Pkt.Len) > cap(l.frame) {
		b.lost++
		return
	}
	l.at, l.tag, l.tagged = at, m.Pkt.EtherVtag, m.Flags&mbuf.FlagVLANTag != 0
	l.frame = l.frame[:m.Pkt.Len]
	m.CopyData(0, l.frame)
	b.n++
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take takes the oldest letter and leaves the memory of the last one for another.
func (b *inbox) take(l *letter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == 0 {
		return false
	}
	old := l.frame[:0]
	*l = b.letters[b.head]
	b.letters[b.head].frame = old
	b.head = (b.head + 1) % inboxLen
	b.n--
	return true
}

// dropped takes the count of frames that were lost.
func (b *inbox) dropped() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.lost
	b.lost = 0
	return n
}

// turn makes a received frame one back to its sender, from an interface with an address: it
// exchanges stations and IP addresses, as pkt-gen does (pong_body). Nobody can be a group, so
// what went to one comes from the interface itself. No checksum changes.
func (l *letter) turn(self [ifnet.EtherAddrLen]byte) {
	f := l.frame
	dst := [ifnet.EtherAddrLen]byte(f)
	if dst[0]&1 != 0 {
		dst = self
	}
	copy(f, f[macAt:typeAt])
	copy(f[macAt:], dst[:])
	if len(f) < ipAt {
		return
	}
	ip := f[ipAt:]
	switch binary.BigEndian.Uint16(f[typeAt:]) {
	case ifnet.EtherTypeIP:
		exchange(ip, ip4SrcAt, ip4DstAt, ip4DstAt+ipv4Len)
	case ifnet.EtherTypeIPv6:
		exchange(ip, ip6SrcAt, ip6DstAt, ip6DstAt+(ip6DstAt-ip6SrcAt))
	}
}

// exchange swaps two neighbouring fields of the same length, [a,b) and [b,end), if there are both.
func exchange(p []byte, a, b, end int) {
	if len(p) < end {
		return
	}
	for i := range b - a {
		p[a+i], p[b+i] = p[b+i], p[a+i]
	}
}
