package iflib

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Sight is a device as Look found it.
type Sight struct {
	Name string
	// Gone: the device is being detached, or not attached yet; the rest is not known.
	Gone bool

	Running, LinkUp, OActive bool
	Simple                   bool // simple_tx was chosen at attach
	Shaping                  bool // the send queue shapes: simple_tx rests
	Broken                   uint64
	Ledger                   Ledger
	LedgerKnown              bool // false: without what the send queue dropped, which was busy
	RxLedger                 RxLedger
	Tx                       []TxqSight
	Rx                       []RxqSight
	Registers                []Register // nil: the driver does not describe them
}

// TxqSight is a transmit queue.
type TxqSight struct {
	// Busy: somebody was at work. State is as last published, and the packets were not
	// looked at; Rings were.
	Busy     bool
	State    TxqState
	Size     int
	Soft     string // state of the mp_ring, as its sysctl shows it
	Deferred int    // packets in the ring of simple_tx
	Rings    []RingSight
}

// RxqSight is a receive queue. Busy is as for a transmit queue.
type RxqSight struct {
	Busy  bool
	State RxqState
	Rings []RingSight
}

// RingSight is a descriptor ring: its memory when it was looked at.
type RingSight struct {
	RingID
	Addr  Addr
	Size  int      // descriptors
	Per   int      // words of a descriptor
	Words []uint64 // of all descriptors; words are whole, descriptors may be torn
	// Text explains descriptors; "" where the driver does not.
	Text func(words []uint64) string

	out outstanding
}

// Desc is the memory of descriptor i.
func (r *RingSight) Desc(i int) []uint64 { return r.Words[i*r.Per : (i+1)*r.Per] }

// outstanding tells whose the descriptors from cidx on are: done of them are completed,
// then given are the hardware's, then held wait for a doorbell.
type outstanding struct {
	cidx, done, given, held int
	completions             bool // a completion ring, which only the hardware writes
}

// DescOwner says whose a descriptor is.
type DescOwner uint8

// Owners of descriptors.
const (
	DescFree     DescOwner = iota // the driver's, and empty
	DescDone                      // the driver's: completed and not taken back yet
	DescHardware                  // the hardware's
	DescHeld                      // written, and waiting for a doorbell
)

// String is a word for a dump.
func (o DescOwner) String() string {
	return [...]string{"driver", "done", "hardware", "unrung"}[o]
}

// Owner says whose descriptor i is, as iflib sees it. What the hardware has finished and
// iflib has not looked at is the hardware's.
func (r *RingSight) Owner(i int) DescOwner {
	o := &r.out
	if o.completions {
		return DescHardware
	}
	n := (i - o.cidx + r.Size) % r.Size
	switch {
	case n < o.done:
		return DescDone
	case n < o.done+o.given:
		return DescHardware
	case n < o.done+o.given+o.held:
		return DescHeld
	}
	return DescFree
}

// Completions reports whether the ring is a completion ring, which only the hardware
// writes.
func (r *RingSight) Completions() bool { return r.out.completions }

// ring reads the memory of ring index of a queue set.
func (ctx *Ctx) ring(id RingID, mem QueueMem, size, descSize int, out outstanding) RingSight {
	const wordBytes = 8
	w := mem.Words64()
	per := descSize / wordBytes
	if per == 0 {
		per = max(len(w)/max(size, 1), 1)
	}
	r := RingSight{RingID: id, Addr: mem.Addr, Size: min(size, len(w)/per), Per: per, out: out}
	r.Text = func(words []uint64) string { return ctx.Describe(id, words) }
	r.Words = make([]uint64, r.Size*per)
	for i := range r.Words {
		r.Words[i] = atomic.LoadUint64(&w[i])
	}
	return r
}

// sight is what a Ctx keeps for Look.
type sight struct {
	lock   kern.Sx // before the ctx lock
	open   bool    // guarded by lock: queues and registers are there
	remove func()  // guarded by lock
}

// openSight lets Look in, at the end of attach.
func (ctx *Ctx) openSight() {
	ctx.sight.lock.Lock()
	ctx.sight.open = true
	ctx.sight.remove = mbuf.Of(ctx.k).AddHolder(ctx)
	ctx.sight.lock.Unlock()
}

// closeSight waits for who looks; nobody does afterwards. No lock of the device is held.
func (ctx *Ctx) closeSight() {
	ctx.sight.lock.Lock()
	if ctx.sight.open {
		ctx.sight.open = false
		ctx.sight.remove()
	}
	ctx.sight.lock.Unlock()
}

var _ mbuf.Holder = (*Ctx)(nil)

// Holding implements [mbuf.Holder]: what is in the rings of the device.
func (ctx *Ctx) Holding(v mbuf.Visit) { ctx.Look(v) }

// Look looks at everything the device has: its counters, the memory of its rings, its
// registers, and, where nobody is at work, the packets that it holds, which v is shown. It
// becomes the owner of one queue after the other meanwhile, as a sender or the receive
// task would, if that is possible at once, or for a patient visit within a while; else the
// queue is Busy. Any goroutine with any locks held; for a patient one none, and no work of
// the device.
func (ctx *Ctx) Look(v mbuf.Visit) Sight { return ctx.look(v, nil) }

// look is Look by somebody who owns the queue mine, a *Txq or *Rxq, or none.
func (ctx *Ctx) look(v mbuf.Visit, mine any) Sight {
	s := Sight{Name: ctx.name, Gone: true}
	if !v.Try(ctx.sight.lock.TryLock) {
		v.Busy(ctx.name)
		return s
	}
	defer ctx.sight.lock.Unlock()
	if !ctx.sight.open {
		return s
	}
	s.Gone = false
	admit := ctx.admit.Load()
	s.Running, s.LinkUp, s.OActive = admit&admitRunning != 0, admit&admitLinkUp != 0, admit&admitOActive != 0
	s.Simple, s.Shaping = ctx.simple, ctx.snd.Enabled()
	for _, q := range ctx.txqs {
		s.Tx = append(s.Tx, q.look(v, mine == q))
	}
	// Init and stop are the only ones beside the task who touch a receive queue.
	locked := v.Try(ctx.ctxLock.TryLock)
	for _, q := range ctx.rxqs {
		s.Rx = append(s.Rx, q.look(v, mine == q, locked))
	}
	if locked {
		ctx.ctxLock.Unlock()
	}
	dropped, known := uint64(0), false
	v.Try(func() bool {
		dropped, known = ctx.snd.TryDropped()
		return known
	})
	s.Ledger, s.LedgerKnown = ctx.ledger(dropped), known
	s.Broken, s.RxLedger = ctx.brokenCount.Load(), ctx.RxLedger()
	if d, ok := Method[Describer](ctx.dev); ok {
		s.Registers = d.Registers()
	}
	return s
}
