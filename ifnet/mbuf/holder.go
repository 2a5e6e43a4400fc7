package mbuf

import (
	"slices"
	"time"
)

// Visit is how a [Holder] shows what it holds.
type Visit struct {
	// Chain is called for each chain while the holder keeps it from changing: m, and what hangs on it through
	// Next. place names where it is, slot the place in a ring, -1 where there are no slots. m is not valid later.
	Chain func(place string, slot int, m *Mbuf)
	// Busy is called for each place that could not be looked at, as somebody was at work there.
	Busy func(place string)
	// Patient has holders try for a while to look where somebody is at work. Not where that may be the caller.
	Patient bool
}

// How often and how far apart a patient visit tries.
const (
	visitTries = 500
	visitPause = 50 * time.Microsecond
)

// Try locks something with a function that tries once; a patient visit tries for some 25 ms of the host's time.
func (v Visit) Try(lock func() bool) bool {
	for n := 1; !lock(); n++ {
		if !v.Patient || n == visitTries {
			return false
		}
		time.Sleep(visitPause)
	}
	return true
}

// Below is a visit to a part of the holder, whose name goes before its places.
func (v Visit) Below(name string) Visit {
	chain, busy := v.Chain, v.Busy
	v.Chain = func(place string, slot int, m *Mbuf) { chain(name+" "+place, slot, m) }
	v.Busy = func(place string) { busy(name + " " + place) }
	return v
}

// List shows a list of packets through NextPkt.
func (v Visit) List(place string, m *Mbuf) {
	for ; m != nil; m = m.NextPkt {
		v.Chain(place, -1, m)
	}
}

// Holder keeps packets while no call is under way: a ring, a queue, a table.
type Holder interface {
	// Holding shows all packets that are held. It waits for nobody, or for a bounded time. Any goroutine, whatever
	// locks it holds.
	Holding(v Visit)
}

// AddHolder makes a holder known until remove is called. Any goroutine.
func (z *Zones) AddHolder(h Holder) (remove func()) {
	e := &h
	z.holderMu.Lock()
	defer z.holderMu.Unlock()
	z.holders = append(z.holders, e)
	return func() {
		z.holderMu.Lock()
		defer z.holderMu.Unlock()
		z.holders = slices.DeleteFunc(z.holders, func(o *Holder) bool { return o == e })
	}
}

// Holders are those known, in the order of AddHolder. Any goroutine.
func (z *Zones) Holders() []Holder {
	z.holderMu.Lock()
	defer z.holderMu.Unlock()
	list := make([]Holder, len(z.holders))
	for i, h := range z.holders {
		list[i] = *h
	}
	return list
}

// Account adds up packets by the zones that their parts come from; what several share counts once. The zero value is
// empty. Not for concurrent use.
type Account struct {
	seen map[any]struct{} // *Mbuf, *cluster, *Tag, *SndTag
	held Usage
}

// Held is the sum. Usage of the zones less that is what nobody has shown.
func (a *Account) Held() Usage { return a.held }

// Add counts a chain and returns what it adds. The caller owns m, or keeps its owner from it.
func (a *Account) Add(m *Mbuf) Usage {
	before := a.held
	for ; m != nil; m = m.Next {
		a.addMbuf(m)
	}
	return a.held.Minus(before)
}

func (a *Account) addMbuf(m *Mbuf) {
	if m.Flags&FlagPktHdr != 0 {
		for t := m.Pkt.Tags; t != nil; t = t.Next {
			a.once(t, &a.held.Tags)
		}
		if t := m.Pkt.SndTag(); t != nil {
			a.once(t, &a.held.SndTags)
		}
	}
	if m.Flags&FlagExt == 0 {
		a.once(m, &a.held.Mbufs)
		return
	}
	cl, owner := m.cl, m.cl.owner
	switch kindOfType(cl.typ) {
	case kindCluster:
		a.once(cl, &a.held.Clusters)
	case kindJumboP:
		a.once(cl, &a.held.JumboPages)
	case kindJumbo9:
		a.once(cl, &a.held.Jumbo9)
	case kindJumbo16:
		a.once(cl, &a.held.Jumbo16)
	default:
		if cl.typ == ExtPacket {
			a.once(owner, &a.held.Packets)
		} else {
			a.once(cl, &a.held.ExtRefs)
		}
	}
	// The mbuf with the count stays as long as the storage.
	for _, part := range [...]*Mbuf{owner, m} {
		if part != nil {
			a.once(part, &a.held.Mbufs)
		}
	}
}

// once counts x in n unless it was counted.
func (a *Account) once(x any, n *int64) {
	if _, was := a.seen[x]; was {
		return
	}
	if a.seen == nil {
		a.seen = make(map[any]struct{})
	}
	a.seen[x] = struct{}{}
	*n++
}

// Plus is the sum.
func (u Usage) Plus(v Usage) Usage { return u.Minus(Usage{}.Minus(v)) }

// Minus is the difference.
func (u Usage) Minus(v Usage) Usage {
	return Usage{
		Mbufs: u.Mbufs - v.Mbufs, Packets: u.Packets - v.Packets, Clusters: u.Clusters - v.Clusters,
		JumboPages: u.JumboPages - v.JumboPages, Jumbo9: u.Jumbo9 - v.Jumbo9, Jumbo16: u.Jumbo16 - v.Jumbo16,
		ExtRefs: u.ExtRefs - v.ExtRefs, Tags: u.Tags - v.Tags, SndTags: u.SndTags - v.SndTags,
	}
}
