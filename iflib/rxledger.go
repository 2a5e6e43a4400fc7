package iflib

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
)

// rxLedger counts what became of the packets that a queue took from the
// hardware. Unlike FreeBSD's counters it survives stop.
type rxLedger struct {
	taken        uint64 // packets that the driver described
	handed       uint64 // given to the stack, or to receive coalescing
	noMbuf       uint64 // dropped: no mbuf to copy a short packet into
	badWriteback uint64 // dropped: what the device wrote does not fit the buffers
	zeroFrag     uint64 // dropped: the first fragment is empty
	pfil         uint64 // dropped or taken by a packet filter
	reset        uint64 // dropped: collected when the driver reported an error
}

func (l *rxLedger) publish(o *rxLedger) {
	physmem.StoreRelaxed64(&l.taken, o.taken)
	physmem.StoreRelaxed64(&l.handed, o.handed)
	physmem.StoreRelaxed64(&l.noMbuf, o.noMbuf)
	physmem.StoreRelaxed64(&l.badWriteback, o.badWriteback)
	physmem.StoreRelaxed64(&l.zeroFrag, o.zeroFrag)
	physmem.StoreRelaxed64(&l.pfil, o.pfil)
	physmem.StoreRelaxed64(&l.reset, o.reset)
}

// RxLedger is the account of an interface's incoming packets from the moment
// the driver described them. At a quiet moment Taken = Handed + Dropped().
//
// A famine of buffers is no drop here: it leaves the hardware without
// descriptors, which counts what it misses; Famines counts the refills that
// ended early. Packets that are ready when the interface stops are not taken;
// Inactive counts the passes that ended so.
type RxLedger struct {
	Taken, Handed, NoMbuf  uint64
	BadWriteback, ZeroFrag uint64
	Pfil, Reset            uint64
	Inactive, Famines      uint64 // events, not packets
}

// Dropped is the sum of the drops.
func (l RxLedger) Dropped() uint64 { return l.NoMbuf + l.BadWriteback + l.ZeroFrag + l.Pfil + l.Reset }

// Balanced reports whether every packet is accounted for. Meaningful only at a
// quiet moment.
func (l RxLedger) Balanced() bool { return l.Taken == l.Handed+l.Dropped() }

// String is the text of dev.X.N.ifsim.rx_ledger.
func (l RxLedger) String() string {
	return fmt.Sprintf("taken %d handed %d no_mbuf %d bad_writeback %d zero_frag %d pfil %d reset %d inactive %d famines %d",
		l.Taken, l.Handed, l.NoMbuf, l.BadWriteback, l.ZeroFrag, l.Pfil, l.Reset, l.Inactive, l.Famines)
}

// RxLedger sums the account over the queues; any goroutine.
func (ctx *Ctx) RxLedger() RxLedger {
	var l RxLedger
	for _, q := range ctx.rxqs {
		p := &q.pub
		l.Taken += atomic.LoadUint64(&p.ledger.taken)
		l.Handed += atomic.LoadUint64(&p.ledger.handed)
		l.NoMbuf += atomic.LoadUint64(&p.ledger.noMbuf)
		l.BadWriteback += atomic.LoadUint64(&p.ledger.badWriteback)
		l.ZeroFrag += atomic.LoadUint64(&p.ledger.zeroFrag)
		l.Pfil += atomic.LoadUint64(&p.ledger.pfil)
		l.Reset += atomic.LoadUint64(&p.ledger.reset)
		l.Inactive += atomic.LoadUint64(&p.stat.inactive)
		l.Famines += atomic.LoadUint64(&p.stat.famines)
	}
	return l
}
