package iflib

import "math"

// timerTicks is the period of the queue timers; timer_default is not validated,
// so it may be anything.
func (g *globals) timerTicks() int { return max(int(g.timerDefault.Load()), 1) }

// stopTimer disarms the queue's timer; a callback that has begun has ended.
func (q *Txq) stopTimer() {
	q.mtx.Lock()
	q.timer.Stop()
	q.mtx.Unlock()
}

// timerFn is iflib_timer, the queue timer's callback (spec iflib 2.15). The
// queue mutex is held; the queue itself may be at work in its owner's hands, so
// only the published half is read.
func (q *Txq) timerFn() {
	ctx := q.ctx
	if ctx.admit.Load()&admitRunning == 0 {
		return
	}
	now := ctx.k.Ticks()
	if now-q.wdog.lastTick >= int64(ctx.g.timerDefault.Load()) {
		q.wdog.lastTick = now
		if t, ok := Method[Timer](ctx.dev); ok {
			t.Timer(q.id)
		}
		if q.watchdog() {
			q.hung()
			return
		}
	}
	q.serveLaggards()
	ctx.scctx.PauseFrames.Store(false)
	if ctx.admit.Load()&admitRunning != 0 {
		q.startTimer()
	}
}

// watchdog looks for a queue whose hardware takes descriptors and gives none
// back, and reports whether it is hung. A queue is frozen while more
// descriptors are out than the last packets, of which no report was asked,
// account for, and none came back since the last period. It arms only on work
// that came after it froze. Indices are 16 bits wide, so is the arithmetic.
//
// FreeBSD's misses two hangs. To it a queue with a doorbell to come is never
// frozen, so that a trickle of packets, each of which waits for the timer to ring,
// hides one; here only what the hardware was told of is out. And while the ring
// fills nothing arms, and once it is full no work can come; here a ring without
// room for a packet counts as work that came.
func (q *Txq) watchdog() bool {
	ctx, w, s := q.ctx, &q.wdog, q.State()
	outstanding := s.InUse - uint16(s.Processed-s.Cleaned)
	outstanding -= min(outstanding, s.DBPending)
	frozen := outstanding > s.RSPending && s.Processed == w.processedPrev &&
		!ctx.scctx.PauseFrames.Load() && ctx.admit.Load()&admitLinkUp != 0
	switch {
	case !frozen:
		w.armed = 0
	case w.armed > 0 || outstanding > w.outstandingPrev || q.publishedAvail() <= int(q.maxDesc):
		if w.armed < math.MaxUint16 {
			w.armed++
		}
	}
	if periods := ctx.g.txWatchdogPeriods.Load(); periods > 0 && int32(w.armed) >= periods {
		if q.txrx.TxdCreditsUpdate(q.id, false) == 0 {
			return true
		}
		// An interrupt was lost: the work it announced is there.
		q.task.Enqueue()
	}
	w.outstandingPrev, w.processedPrev = outstanding, s.Processed
	return false
}

// hung gives the interface to the admin task for a reset. The timer stays off:
// init starts it.
func (q *Txq) hung() {
	ctx := q.ctx
	ctx.printf("Watchdog timeout (TX: %d desc avail: %d pidx: %d) -- resetting\n",
		q.id, q.publishedAvail(), q.State().Pidx)
	ctx.stateLock.Lock()
	ctx.setAdmit(admitOActive, admitRunning)
	ctx.flags.Or(uint32(ctxDoWatchdog | ctxDoReset))
	ctx.stateLock.Unlock()
	ctx.adminTask.Enqueue()
}

// serveLaggards sees to it that nothing waits longer than a period: descriptors
// for their doorbell, whose thresholds the kick overrides (hazard 2), and, with
// simple_tx, packets in the ring whose sender left just before the last holder
// of the mutex did (spec iflib 3.11c step 7).
func (q *Txq) serveLaggards() {
	if q.ctx.simple {
		if q.own.dbPending != 0 || q.sbr.Ready() {
			q.timerTenure()
		}
		return
	}
	if q.State().DBPending != 0 {
		q.kick.Store(true)
		q.task.Enqueue()
	}
}

// timerTenure is a simple_tx tenure of a caller that keeps the queue mutex.
func (q *Txq) timerTenure() {
	q.watch()
	q.drainDeferred(q.ctx.g.simpleDrainQuota.Load())
	if q.own.dbPending != 0 {
		q.doorbell(true)
	}
	q.reclaim()
	q.publish()
}
