package inet

import (
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// flowCount counts a Flow. Any goroutine.
type flowCount struct{ packets, bytes *kern.Counter }

func newFlowCount() flowCount { return flowCount{kern.NewCounter(), kern.NewCounter()} }

func (f flowCount) load() Flow { return Flow{f.packets.Load(), f.bytes.Load()} }

func (f flowCount) add(m *mbuf.Mbuf) {
	f.packets.Add(1)
	f.bytes.Add(uint64(m.Pkt.Len))
}

// received counts a packet on the address of this machine that it is for.
func (r *route) received(m *mbuf.Mbuf) {
	if r.own != nil {
		r.own.in.add(m)
	}
}

// sent counts a packet of this machine on the address that it comes from, if that is one
// of this machine's.
func (f *fib) sent(from key, m *mbuf.Mbuf) {
	if r := f.lookup(from); r != nil && r.own != nil {
		r.own.out.add(m)
	}
}
