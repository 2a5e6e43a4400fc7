package ifnet

import (
	"slices"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// TapFunc looks at a packet that passes an interface: one in the receive direction has
// Pkt.RcvIf equal to ifp. It must neither change nor keep the packet. Any goroutine,
// several at once.
type TapFunc = func(ifp mbuf.RcvIf, m *mbuf.Mbuf)

type tapEntry struct{ fn TapFunc }

// AttachTap adds a listener in front of the others (bpf_attachd). The result removes
// it; a packet that is being shown may still reach it afterwards. Listeners go away
// with EtherDetach.
func (ifp *Ifnet) AttachTap(fn TapFunc) (detach func()) {
	e := &tapEntry{fn}
	ifp.taps.change(func(list []*tapEntry) []*tapEntry { return slices.Insert(list, 0, e) })
	return func() {
		ifp.taps.change(func(list []*tapEntry) []*tapEntry {
			return slices.DeleteFunc(list, func(o *tapEntry) bool { return o == e })
		})
	}
}

// TapOn reports whether anybody listens (bpf_peers_present), in one atomic load.
func (ifp *Ifnet) TapOn() bool { return ifp.taps.Load() != nil }

// Tap shows a packet to the listeners (ETHER_BPF_MTAP, spec ifnet 7.3). The first
// mbuf holds the Ethernet header. An outgoing duplicate (M_PROMISC without a receiving
// interface) loses the flag and is not shown.
func (ifp *Ifnet) Tap(m *mbuf.Mbuf) {
	list := ifp.taps.Load()
	if list == nil {
		return
	}
	if m.Flags&mbuf.FlagPromisc != 0 && receivedOn(m) == nil {
		m.Flags &^= mbuf.FlagPromisc
		return
	}
	for _, e := range *list {
		e.fn(ifp, m)
	}
}

// receivedOn is the interface a packet came from; a packet with a send tag has none.
func receivedOn(m *mbuf.Mbuf) mbuf.RcvIf {
	if m.Pkt.CsumFlags&mbuf.CsumSndTag != 0 {
		return nil
	}
	return m.Pkt.RcvIf
}
