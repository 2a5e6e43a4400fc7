package iflib

import (
	"sync"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// txTask is _task_fn_tx, the work of a transmit interrupt (spec iflib 3.8).
func (q *Txq) txTask() {
	ctx := q.ctx
	if ctx.admit.Load()&admitRunning == 0 {
		return // the interrupt stays masked; init enables it again
	}
	if p := ctx.k.Probes; p.On() {
		p.Fire1(probeTask, ctx.name, q.id, uint64(q.State().DBPending))
	}
	if ctx.simple {
		q.taskSimple()
	}
	if ctx.ifp.SndEnabled() {
		ctx.startALTQ()
	}
	// With simple_tx the ring holds what came while the send queue shaped.
	if !ctx.simple || ctx.ifp.SndEnabled() || !q.br.IsIdle() {
		q.taskMPRing()
	}
	if ctx.flags.Load()&uint32(ctxLegacy) != 0 {
		ctx.dev.IntrEnable()
		return
	}
	ctx.txQueueIntrEnable(q.id)
}

// driverTxq asks the driver for the packet's queue. A choice outside the
// device's queues is a broken contract and becomes queue 0.
func (ctx *Ctx) driverTxq(m *mbuf.Mbuf) (*Txq, *mbuf.Mbuf, error) {
	if !ctx.selectParsed {
		return ctx.txqs[ctx.checkTxq(ctx.txqSelect(m, nil))], m, nil
	}
	s := ctx.selectors.get()
	s.pi = PktInfo{Len: int(m.Pkt.Len), CsumFlags: m.Pkt.CsumFlags}
	m, pulls, err := parsePartial(s.cache, m, &s.pi)
	if err != nil {
		ctx.selectors.put(s)
		q := ctx.txqs[0]
		q.stat.pullups.Add(uint64(pulls))
		q.ledger.in.Add(1)
		return nil, nil, q.dropEncap(nil, err)
	}
	q := ctx.txqs[ctx.checkTxq(ctx.txqSelect(m, &s.pi))]
	ctx.selectors.put(s)
	q.stat.pullups.Add(uint64(pulls))
	return q, m, nil
}

func (ctx *Ctx) checkTxq(id int) int {
	if id < 0 || id >= len(ctx.txqs) {
		ctx.broken("txq_select: queue %d of %d", id, len(ctx.txqs))
		return 0
	}
	return id
}

// selector is what a sender needs to parse a packet before it owns a queue.
type selector struct {
	pi    PktInfo
	cache *mbuf.Cache
}

// selectorPool lends selectors to senders. Only drivers that choose queues by
// parsed headers use it.
type selectorPool struct {
	mu    sync.Mutex
	zones *mbuf.Zones
	all   []*selector
	free  []*selector
}

func (p *selectorPool) get() *selector {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	s := &selector{cache: p.zones.NewCache()}
	p.all = append(p.all, s)
	return s
}

func (p *selectorPool) put(s *selector) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, s)
}

// close returns the caches; no sender is left.
func (p *selectorPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.all {
		s.cache.Close()
	}
	p.all, p.free = nil, nil
}

// KickTx schedules the task of every transmit queue, so that what waits in soft
// rings or for a doorbell goes on. Any goroutine.
func (ctx *Ctx) KickTx() {
	for _, q := range ctx.txqs {
		q.task.Enqueue()
	}
}
