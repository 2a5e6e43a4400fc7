package iflibtest

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/sight"
)

// ringWatch compares a ring's memory before and after a call of the driver.
type ringWatch struct {
	Ring
	words  []uint64 // nil once the memory is gone
	size   int      // descriptors
	per    int      // words of a descriptor
	before []uint64
	decode func(r Ring, words []uint64) string
}

const wordBytes = 8

func (p *pathSpy) ring(r Ring, mem iflib.QueueMem, size, descSize int) ringWatch {
	w := ringWatch{Ring: r, words: mem.Words64(), size: size, per: descSize / wordBytes, decode: p.s.n.b.dev.Decode}
	if w.decode == nil {
		w.decode = p.s.ctx.Describe
	}
	if w.per == 0 {
		w.per = max(len(w.words)/max(size, 1), 1)
	}
	w.words = w.words[:min(len(w.words), w.size*w.per)]
	w.before = make([]uint64, len(w.words))
	return w
}

// String names the ring.
func (r *ringWatch) String() string {
	if r.Tx {
		return fmt.Sprintf("transmit queue %d", r.Queue)
	}
	return fmt.Sprintf("receive queue %d, ring %d", r.Queue, r.Index)
}

// keep remembers the ring as it is.
func (r *ringWatch) keep() { copy(r.before, r.words) }

// changed yields the descriptors that differ from what keep saw.
func (r *ringWatch) changed() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range r.words {
			if r.words[i] != r.before[i] && !yield(i/r.per) {
				return
			}
		}
	}
}

// distance is how many descriptors it is from one index to another.
func (r *ringWatch) distance(from, to int) int { return (to - from + r.size) % r.size }

// dump shows the ring around a descriptor.
func (r *ringWatch) dump(at int) string {
	const around = 4
	if r.words == nil || at < 0 {
		return ""
	}
	var b strings.Builder
	for i := at - around; i <= at+around; i++ {
		d := (i%r.size + r.size) % r.size
		words := r.words[d*r.per : min((d+1)*r.per, len(r.words))]
		mark := ' '
		if i == at {
			mark = '>'
		}
		b.WriteByte('\n')
		sight.WriteDesc(&b, mark, d, "", words, r.decode(r.Ring, words))
	}
	return b.String()
}

// txWatch is a transmit queue as the spy counts it.
type txWatch struct {
	ringWatch
	next   int         // where the next packet begins; -1: not known
	out    int         // descriptors written and not credited
	flight []txPacket  // not credited, oldest first
	starts map[int]int // indices where packets began, how often
	wraps  int         // packets that went round the end
	inside string      // the owner's method that runs
	rung   bool
	due    int // while the gate is shut: descriptors of before, which may be credited
}

// txPacket is a packet that was not credited.
type txPacket struct {
	descs int
	asked bool // for a report
}

// add notes a packet of n descriptors that ends at next.
func (q *txWatch) add(n int, asked bool) {
	at := q.distance(n, q.next)
	q.starts[at]++
	if at+n > q.size {
		q.wraps++
	}
	q.out += n
	q.flight = append(q.flight, txPacket{n, asked})
}

// credit takes n descriptors off.
func (q *txWatch) credit(n int) {
	q.out -= n
	for n > 0 {
		p := &q.flight[0]
		d := min(n, p.descs)
		p.descs -= d
		n -= d
		if p.descs == 0 {
			q.flight = q.flight[1:]
		}
	}
}

// restart is an empty ring that begins wherever iflib says.
func (q *txWatch) restart() { q.next, q.out, q.flight, q.rung, q.due = -1, 0, nil, false, 0 }

// flWatch is a free list as the spy counts it.
type flWatch struct {
	ringWatch
	posted []bool
	count  int
}

// post notes that the hardware has a buffer; false if it had it, or would have all.
func (f *flWatch) post(idx int) bool {
	if idx >= f.size || f.posted[idx] || f.count == f.size-1 {
		return false
	}
	f.posted[idx] = true
	f.count++
	return true
}

// take notes that the hardware gave a buffer back; false if it did not have it.
func (f *flWatch) take(idx int) bool {
	if idx >= f.size || !f.posted[idx] {
		return false
	}
	f.posted[idx] = false
	f.count--
	return true
}

func (f *flWatch) restart() {
	clear(f.posted)
	f.count = 0
}

// addTx watches the transmit rings.
func (p *pathSpy) addTx(rings []iflib.QueueMem, nqs, nsets int) {
	sc, at := p.s.ctx.Softc(), 0
	if p.s.ctx.Shared().Flags&iflib.FlagHasTxCQ != 0 {
		at = 1
	}
	p.tx = nil
	for set := range nsets {
		q := &txWatch{starts: make(map[int]int),
			ringWatch: p.ring(Ring{Tx: true, Queue: set, Index: at}, rings[set*nqs+at], sc.NTxd[at], sc.TxdSize[at])}
		q.restart()
		p.tx = append(p.tx, q)
	}
}

// addRx watches the free lists.
func (p *pathSpy) addRx(rings []iflib.QueueMem, nqs, nsets int) {
	sc, sh := p.s.ctx.Softc(), p.s.ctx.Shared()
	first := 0
	if sh.Flags&iflib.FlagHasRxCQ != 0 {
		first = 1
	}
	p.rx = nil
	for set := range nsets {
		var lists []*flWatch
		for i := range sh.NFL {
			at := first + i
			lists = append(lists, &flWatch{posted: make([]bool, sc.NRxd[at]),
				ringWatch: p.ring(Ring{Queue: set, Index: at}, rings[set*nqs+at], sc.NRxd[at], sc.RxdSize[at])})
		}
		p.rx = append(p.rx, lists)
	}
}

// forget lets go of rings whose memory is given back.
func (p *pathSpy) forget() {
	for _, q := range p.tx {
		q.words, q.before = nil, nil
	}
	for _, lists := range p.rx {
		for _, fl := range lists {
			fl.words, fl.before = nil, nil
		}
	}
}

// restart begins with empty rings.
func (p *pathSpy) restart() {
	p.frames, p.before, p.lossy = 0, p.s.n.gate.frames(), !p.s.n.gate.Link().Up
	for _, q := range p.tx {
		q.restart()
	}
	for _, lists := range p.rx {
		for _, fl := range lists {
			fl.restart()
		}
	}
}

// busiest is the queue with most descriptors that are not completed.
func (p *pathSpy) busiest() *txWatch {
	return slices.MaxFunc(p.tx, func(a, b *txWatch) int { return a.out - b.out })
}

// quiet looks for packets that the hardware did not send, and for those whose completion
// was asked for and is not seen.
func (p *pathSpy) quiet() {
	if !p.s.ctx.IsRunning() || p.s.n.gate.isShut() || !p.s.n.gate.Link().Up || p.lossy || len(p.tx) == 0 || p.tx[0].words == nil {
		return
	}
	if sent := p.s.n.gate.frames() - p.before; sent < p.frames {
		q := p.busiest()
		p.breach(ruleDoorbell, &q.ringWatch, q.distance(1, q.next), "the hardware was given %d frames and has sent %d", p.frames, sent)
		return
	}
	for qid, q := range p.tx {
		for _, pkt := range q.flight {
			if pkt.asked && q.rung && p.inner.TxdCreditsUpdate(qid, false) == 0 {
				p.breach(ruleComplete, &q.ringWatch, q.distance(q.out, q.next),
					"%d descriptors are not completed with nothing on its way, and a report was asked for", q.out)
				return
			}
		}
	}
}
