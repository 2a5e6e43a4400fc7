// Package pair is a wire between two NICs of one process, in one machine or in two:
// whoever opens "pair:NAME" first has one end, the second has the other, a third gets
// EBUSY. FreeBSD's nearest relative is epair(4).
//
// Each direction is a bounded queue of copied frames. Its storage is allocated when the
// wire is made; after that nothing is. A full queue makes Send short, and the sender
// hears TxReady when a quarter of the queue is free again. The link is up while both
// ends are bound and the cable is plugged. While it is down frames are refused and
// counted; frames that had arrived before can still be received, unless the receiver
// itself has gone (spec ports 9.2, rule 3: no stale frame goes out later).
package pair

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/port"
)

// wire joins two ports. Lock order: wire.mu, then a direction's mu.
type wire struct {
	name  string
	depth int

	mu      sync.Mutex // guards what follows; never held while calling a client
	ends    [2]*Port
	carrier bool

	dirs [2]direction // dirs[e] carries what end e sends
}

// Port is one end of a wire.
type Port struct {
	name    string
	wires   *wires
	w       *wire
	out, in *direction
	done    port.Completions
	linkUp  atomic.Bool

	client port.Client    // written with w.mu, out.mu and in.mu held: any of them reads
	closed bool           // guarded by w.mu
	calls  sync.WaitGroup // client calls in progress; Add with client set and a lock of it held

	tx txCounters // guarded by out.mu
	rx rxCounters // guarded by in.mu
}

type txCounters struct {
	frames, bytes, full uint64
	errors              [port.NumCauses]uint64
}

type rxCounters struct {
	frames, bytes uint64
	drops         [port.NumCauses]uint64
}

var _ port.Immediate = (*Port)(nil)

// Name returns the specification of the wire, "pair:NAME".
func (p *Port) Name() string { return p.name }

// Bind gives the port its client. When the other end is bound too the link comes up,
// and both clients are told before Bind returns.
func (p *Port) Bind(c port.Client) error {
	w := p.w
	w.mu.Lock()
	switch {
	case p.closed:
		w.mu.Unlock()
		return fmt.Errorf("binding %s: %w", p.name, syscall.ENXIO)
	case p.client != nil:
		w.mu.Unlock()
		return fmt.Errorf("binding %s: %w", p.name, syscall.EBUSY)
	}
	p.out.mu.Lock()
	p.in.mu.Lock()
	p.client = c
	p.out.tx, p.in.rx = p, p
	p.in.mu.Unlock()
	p.out.mu.Unlock()
	w.updateLink()
	return nil
}

// SetLink pulls (false) or plugs (true) the cable for both ends.
func (p *Port) SetLink(up bool) {
	p.w.mu.Lock()
	p.w.carrier = up
	p.w.updateLink()
}

// updateLink derives the link from carrier and clients, and tells both ends of a
// change. Called with mu held, unlocks it.
func (w *wire) updateLink() {
	up := w.carrier
	for _, p := range w.ends {
		up = up && p != nil && p.client != nil
	}
	var kicks [2]kick
	for i := range w.dirs {
		kicks[i] = w.dirs[i].setLink(up)
	}
	var told [2]port.Client
	ends := w.ends
	for i, p := range ends {
		if p != nil && p.linkUp.Swap(up) != up && p.client != nil {
			p.calls.Add(1)
			told[i] = p.client
		}
	}
	w.mu.Unlock()
	for i, c := range told {
		if c != nil {
			c.LinkChanged(ends[i].Link())
			ends[i].calls.Done()
		}
		kicks[i].call()
	}
}

// Send copies frames into the wire. The receiver hears RxReady before Send returns.
func (p *Port) Send(q int, frames []port.Frame) int {
	taken, bad := p.SendNow(q, frames)
	p.done.Add(q, taken, bad)
	return taken
}

// SendNow implements port.Immediate.
func (p *Port) SendNow(q int, frames []port.Frame) (taken, bad int) {
	d := p.out
	d.mu.Lock()
	taken, bad = d.put(p, frames)
	if taken < len(frames) {
		d.blocked[q/wordBits] |= 1 << (q % wordBits)
		p.tx.full++
	}
	r := d.rx
	if taken == bad || r == nil {
		d.mu.Unlock()
		return taken, bad
	}
	c := r.client
	r.calls.Add(1)
	d.mu.Unlock()
	c.RxReady(0)
	r.calls.Done()
	return taken, bad
}

// Completed returns the frames of queue q finished since the last call.
func (p *Port) Completed(q int) int { return p.done.Take(q) }

// TakeErrors returns the frames of queue q refused since the last call.
func (p *Port) TakeErrors(q int) int { return p.done.TakeErrors(q) }

// Recv lends the oldest frames that are not lent yet; there is only queue 0.
func (p *Port) Recv(q int, frames []port.RxFrame) int {
	if q != 0 {
		return 0
	}
	d := p.in
	d.mu.Lock()
	n := 0
	if d.rx == p {
		n = d.lendTo(p, frames)
	}
	d.mu.Unlock()
	return n
}

// Release gives back the n oldest frames lent. The peer hears TxReady if it waits and
// enough of the queue has become free. After Close it does nothing: nothing is lent.
func (p *Port) Release(q, n int) {
	d := p.in
	d.mu.Lock()
	if d.rx != p {
		d.mu.Unlock()
		return
	}
	if lent := int(d.lend - d.tail); q != 0 || n < 0 || n > lent {
		d.mu.Unlock()
		panic(fmt.Sprintf("pair: release of %d frames of queue %d, %d lent", n, q, lent))
	}
	d.release(n)
	k := d.wake(false)
	d.mu.Unlock()
	k.call()
}

// Link returns the state of the wire, which has no speed of its own.
func (p *Port) Link() port.Link {
	return port.Link{Up: p.linkUp.Load(), FullDuplex: true}
}

// Stats returns the counters of this end.
func (p *Port) Stats() port.Stats {
	p.out.mu.Lock()
	tx := p.tx
	p.out.mu.Unlock()
	p.in.mu.Lock()
	rx := p.rx
	p.in.mu.Unlock()
	return port.Stats{
		TxFrames: tx.frames, TxBytes: tx.bytes, TxErrors: tx.errors, TxFull: tx.full,
		RxFrames: rx.frames, RxBytes: rx.bytes, RxDrops: rx.drops,
	}
}

// Close takes this end off the wire; the peer's link goes down and the end may be
// opened anew. Frames that were on the way to this end count as its drops.
func (p *Port) Close() error {
	w := p.w
	w.mu.Lock()
	if p.closed {
		w.mu.Unlock()
		p.calls.Wait()
		return nil
	}
	p.closed = true
	p.out.mu.Lock()
	p.in.mu.Lock()
	p.client = nil
	p.out.tx, p.in.rx = nil, nil
	p.out.up, p.in.up = false, false // nothing is taken that clear would not see
	p.out.blocked = queueSet{}
	p.rx.drops[port.LinkDown] += uint64(p.in.clear())
	p.in.mu.Unlock()
	p.out.mu.Unlock()
	p.linkUp.Store(false)
	for i := range w.ends {
		if w.ends[i] == p {
			w.ends[i] = nil
		}
	}
	w.updateLink()
	p.wires.leave(w)
	p.calls.Wait()
	return nil
}

const wordBits = 64

// queueSet is a set of transmit queue numbers.
type queueSet [port.MaxQueues / wordBits]uint64

// kick is a set of queues of a port that are to hear TxReady, taken under a lock and
// called without.
type kick struct {
	p      *Port
	c      port.Client
	queues queueSet
}

func (k *kick) call() {
	if k.p == nil {
		return
	}
	for i, word := range k.queues {
		for ; word != 0; word &= word - 1 {
			k.c.TxReady(i*wordBits + bits.TrailingZeros64(word))
		}
	}
	k.p.calls.Done()
}
