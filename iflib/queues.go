package iflib

import (
	"fmt"

	"github.com/ifsim/ifsim/iflib/bufring"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/mpring"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// resetQvalues puts the queue counts and ring sizes that the user or the driver
// wants into the softc ctx, before AttachPre (iflib_reset_qvalues, spec iflib
// 2.3).
func (ctx *Ctx) resetQvalues() {
	s, sc, k := &ctx.scctx, ctx.sctx, &ctx.knobs
	if n := int(k.overrideNTxQs.Load()); n != 0 {
		s.NTxQSets = n
	}
	if n := int(k.overrideNRxQs.Load()); n != 0 {
		s.NRxQSets = n
	}
	s.TxPad = defaultTxPad
	for i := range sc.NRxQs {
		s.NRxd[i] = ctx.ringSize("nrxd", i, int(k.overrideNRxds[i].Load()), sc.NRxdMin[i], sc.NRxdDefault[i], sc.NRxdMax[i])
	}
	for i := range sc.NTxQs {
		s.NTxd[i] = ctx.ringSize("ntxd", i, int(k.overrideNTxds[i].Load()), sc.NTxdMin[i], sc.NTxdDefault[i], sc.NTxdMax[i])
	}
}

// ringSize is one ring's size: want if it is any, brought into the driver's
// bounds; what is no power of two becomes the default.
func (ctx *Ctx) ringSize(what string, ring, want, low, def, high int) int {
	n := want
	if n == 0 {
		n = def
	}
	if n < low {
		ctx.printf("%s%d: %d less than %s_min %d - resetting to min\n", what, ring, n, what, low)
		n = low
	}
	if n > high {
		ctx.printf("%s%d: %d greater than %s_max %d - resetting to max\n", what, ring, n, what, high)
		n = high
	}
	if !powerOfTwo(n) {
		ctx.printf("%s%d: %d is not a power of 2 - using default value of %d\n", what, ring, n, def)
		n = def
	}
	return n
}

// makeTags makes the DMA tags of packets and receive buffers.
func (ctx *Ctx) makeTags() error {
	s, sc := &ctx.scctx, ctx.sctx
	var err error
	ctx.txTag, err = busdma.NewTag(ctx.k, busdma.TagConfig{
		Name: ctx.name + " tx", Width: s.DMAWidth,
		MaxSize: sc.TxMaxSize, NSegments: s.TxNSegments, MaxSegSize: sc.TxMaxSegSize,
	})
	if err != nil {
		return err
	}
	if s.Capabilities&ifnet.CapTSO != 0 {
		size := uint64(s.TSOSizeMax)
		if s.Capabilities&ifnet.CapVLANMTU != 0 {
			size += ifnet.EtherVLANHdrLen
		}
		ctx.tsoTag, err = busdma.NewTag(ctx.k, busdma.TagConfig{
			Name: ctx.name + " tso", Width: s.DMAWidth,
			MaxSize: size, NSegments: s.TSOSegmentsMax, MaxSegSize: sc.TSOMaxSegSize,
		})
		if err != nil {
			return err
		}
	}
	ctx.rxTag, err = busdma.NewTag(ctx.k, busdma.TagConfig{
		Name: ctx.name + " rx", Width: s.DMAWidth,
		MaxSize: sc.RxMaxSize, NSegments: sc.RxNSegments, MaxSegSize: sc.RxMaxSegSize,
	})
	return err
}

// freeTags ends the tags; no map of theirs is left.
func (ctx *Ctx) freeTags() {
	for _, t := range []**busdma.Tag{&ctx.txTag, &ctx.tsoTag, &ctx.rxTag} {
		if *t == nil {
			continue
		}
		if err := (*t).Destroy(); err != nil {
			ctx.printf("%v\n", err)
		}
		*t = nil
	}
}

// allocQueues makes all queues and shows the driver their memory
// (iflib_queues_alloc, spec iflib 2.7). On error everything is freed again.
func (ctx *Ctx) allocQueues() error {
	err := ctx.fail("queues_alloc")
	if err == nil {
		err = ctx.makeQueues()
	}
	if err != nil {
		ctx.printf("Unable to allocate queue memory\n")
		ctx.freeQueues()
		return err
	}
	if err := ctx.tellQueues(); err != nil {
		ctx.freeQueues()
		return err
	}
	return nil
}

func (ctx *Ctx) makeQueues() error {
	s := &ctx.scctx
	if err := ctx.makeTags(); err != nil {
		return err
	}
	for i := range s.NTxQSets {
		q, err := newTxq(ctx, i)
		if err != nil {
			return err
		}
		ctx.txqs = append(ctx.txqs, q)
	}
	for i := range s.NRxQSets {
		mem, err := ctx.allocRings(s.RxQSizes[:ctx.sctx.NRxQs])
		if err != nil {
			return err
		}
		ctx.rxRings = append(ctx.rxRings, mem)
		rxq := newRxq(ctx, i)
		ctx.rxqs = append(ctx.rxqs, rxq)
	}
	return nil
}

// tellQueues gives the driver the rings, set by set.
func (ctx *Ctx) tellQueues() error {
	var tx, rx []QueueMem
	for _, q := range ctx.txqs {
		tx = append(tx, q.mem.rings...)
	}
	for i := range ctx.rxRings {
		rx = append(rx, ctx.rxRings[i].rings...)
	}
	if err := ctx.dev.TxQueuesAlloc(tx, ctx.sctx.NTxQs, len(ctx.txqs)); err != nil {
		ctx.printf("Unable to allocate device TX queue\n")
		return fmt.Errorf("%s: device TX queues: %w", ctx.name, err)
	}
	if err := ctx.dev.RxQueuesAlloc(rx, ctx.sctx.NRxQs, len(ctx.rxqs)); err != nil {
		ctx.printf("Unable to allocate device RX queue\n")
		ctx.dev.QueuesFree()
		return fmt.Errorf("%s: device RX queues: %w", ctx.name, err)
	}
	return nil
}

// setupQueues finishes the queues and has the driver set up its own
// (iflib_tx_structures_setup, iflib_rx_structures_setup, IFDI_TXQ_SETUP and
// IFDI_RXQ_SETUP).
func (ctx *Ctx) setupQueues() error {
	setupper, _ := Method[QueueSetupper](ctx.dev)
	for i, q := range ctx.txqs {
		q.setup()
		err := ctx.fail("tx_structures_setup")
		if err == nil && setupper != nil {
			err = setupper.TxqSetup(i)
		}
		if err != nil {
			ctx.printf("iflib_tx_structures_setup failed: %d\n", sysctl.Number(err))
			return fmt.Errorf("%s: setting up TX queue %d: %w", ctx.name, i, err)
		}
	}
	for i, q := range ctx.rxqs {
		err := ctx.fail("rx_structures_setup")
		if err == nil {
			err = q.setup(ctx.rxRings[i].rings)
		}
		if err == nil && setupper != nil {
			err = setupper.RxqSetup(i)
		}
		if err != nil {
			ctx.printf("iflib_rx_structures_setup failed: %d\n", sysctl.Number(err))
			return fmt.Errorf("%s: setting up RX queue %d: %w", ctx.name, i, err)
		}
	}
	return nil
}

// freeQueues ends the queues and gives their memory back
// (iflib_tx_structures_free, iflib_rx_structures_free). No interrupt of theirs
// is left. The senders' path keeps its queues: a late packet finds them closed.
func (ctx *Ctx) freeQueues() {
	for _, q := range ctx.txqs {
		q.destroy()
	}
	for _, q := range ctx.rxqs {
		q.destroy()
	}
	for i := range ctx.rxRings {
		ctx.rxRings[i].free()
	}
	ctx.rxRings = nil
	ctx.freeTags()
	ctx.selectors.close()
}

// newTxq makes transmit queue id with its memory. On error nothing is left.
func newTxq(ctx *Ctx, id int) (*Txq, error) {
	s, sc := &ctx.scctx, ctx.sctx
	q := &Txq{
		ctx: ctx, id: id, txrx: ctx.txrx, ifp: ctx.ifp, g: ctx.g, dbg: ctx.g.dbg,
		probes: ctx.k.Probes, stepped: ctx.k.Stepped(), keepMaps: busdma.Checking(ctx.k),
		size: uint32(s.NTxd[sc.txRing()]), pad: uint32(s.TxPad), reserve: uint32(s.TxNSegments),
		maxDesc: uint32(max(s.TSOSegmentsMax, s.TxNSegments)),
	}
	q.notify = q.size/txUpdateFreq - 1
	if sc.Flags&FlagNeedEtherPad != 0 {
		q.padTo = s.MinFrameSize
	}
	q.ledger.in, q.ledger.ringFull = kern.NewCounter(), kern.NewCounter()
	var err error
	if q.mem, err = ctx.allocRings(s.TxQSizes[:sc.NTxQs]); err != nil {
		return nil, err
	}
	if q.br, err = mpring.New(ctx.k, mpringSize, txDrain{q}); err == nil && ctx.simple {
		q.sbr, err = bufring.New(int(ctx.g.simpleTxbrSize.Load()))
	}
	if err != nil {
		q.mem.free()
		return nil, fmt.Errorf("%s: TX queue %d: %w", ctx.name, id, err)
	}
	q.br.SetTrace(ctx.name, id)
	q.slots = make([]txSlot, q.size)
	q.cache = mbuf.Of(ctx.k).NewCache()
	q.maps[mapsNormal] = newTxMaps(ctx.txTag, s.TxNSegments)
	if ctx.tsoTag != nil {
		q.maps[mapsTSO] = newTxMaps(ctx.tsoTag, s.TSOSegmentsMax)
	}
	if ctx.simple {
		batch := make([]*mbuf.Mbuf, 0, q.size)
		q.mDefer.Store(&batch)
	}
	q.mtx.Init(ctx.k, fmt.Sprintf("%s:TX(%d):callout", ctx.name, id))
	q.timer = ctx.k.NewCallout(fmt.Sprintf("%s:TX(%d)", ctx.name, id), &q.mtx, q.timerFn)
	q.task = ctx.k.NewTask(fmt.Sprintf("%s:txq%d", ctx.name, id), q.txTask)
	return q, nil
}

// setup gives the queue its initial state; timers go round the CPUs.
func (q *Txq) setup() {
	q.own.pi = PktInfo{QSIdx: q.id}
	q.timerCPU = q.id % q.ctx.k.NCPU()
	q.reclaimThresh.Store(uint32(q.ctx.knobs.txReclaimThresh.Load()))
	q.reclaimTicks.Store(uint32(q.ctx.knobs.txReclaimTicks.Load()))
	q.deferMfree.Store(q.ctx.knobs.txDeferMfree.Load())
	q.publish()
}

// startTimer arms the queue's timer on its CPU.
func (q *Txq) startTimer() { q.timer.Reset(q.ctx.g.timerTicks(), q.timerCPU) }

// stopLocked takes every packet back and resets the queue (spec iflib 2.9 step
// 2). The hardware has stopped and RUNNING is clear; the ctx lock is held.
//
// A sender that looked before RUNNING was cleared may still own the ring: the
// purge waits for it (hazard 30), and the queue mutex keeps senders of simple_tx
// out while slots are freed (hazard 29). Packets in slots were handed to the
// hardware, so the ledger has them.
func (q *Txq) stopLocked() {
	q.stopTimer()
	q.br.Purge(txPurge{q})
	q.mtx.Lock()
	q.freeSlots()
	q.reset()
	q.br.ResetStats()
	for _, r := range q.mem.rings {
		r.zero()
	}
	q.publish()
	q.mtx.Unlock()
	// Senders that found the mutex taken leave their packets to the holder. Who
	// is still on the way into the ring tries the mutex after it, and finds that
	// nothing is sent any more.
	for q.sbr != nil && q.sbr.Ready() && q.mtx.TryLock() {
		q.purgeDeferred()
		q.mtx.Unlock()
	}
}

// freeSlots frees the packets that the hardware had; the caller holds the queue
// mutex.
func (q *Txq) freeSlots() {
	for i := range q.slots {
		s := &q.slots[i]
		if s.m != nil {
			q.unload(s, s.m)
			q.cache.FreeChain(s.m)
			s.m = nil
		}
	}
}

// reset puts indices and counters back to the start; packet totals survive.
func (q *Txq) reset() {
	o := &q.own
	next := uint32(0)
	if q.ctx.sctx.Flags&FlagPreserveTxIndices != 0 {
		next = o.pidx
	}
	o.pidx, o.cidx, o.cidxProcessed, o.gen = next, next, 0, 0
	o.inUse, o.npending, o.dbPending, o.rsPending = 0, 0, 0, 0
	o.processed, o.cleaned, o.lastReclaim = 0, 0, 0
	q.kick.Store(false)
	q.wdog = txWatchdog{lastTick: q.wdog.lastTick}
	q.stat.reset()
}

// reset zeroes the counters of rare events.
func (s *txStats) reset() {
	s.noTxDMASetup.Store(0)
	s.noDescAvail.Store(0)
	s.mbufDefrag.Store(0)
	s.mbufDefragFailed.Store(0)
	s.mapFailed.Store(0)
	s.encapEFBIG.Store(0)
	s.pullups.Store(0)
}

// destroy ends the queue; it has been stopped, or never carried a packet.
func (q *Txq) destroy() {
	q.timer.Drain()
	q.task.Close()
	q.mtx.Lock() // a sender that came late to stop has left
	for i := range q.maps {
		q.maps[i].destroy()
	}
	q.cache.Close()
	q.mtx.DestroyLocked()
	q.mem.free()
}
