package iflib

import (
	"math"
	"strings"
	"testing"
	"time"
)

// wdogRig is one queue whose published half a test writes, with its timer on
// the manual clock.
type wdogRig struct {
	*ctlCtx
	q     *Txq
	dev   *timerDev
	admin int // runs of the admin task
	tasks int // runs of the transmit task
}

// timerDev counts calls of the driver's timer.
type timerDev struct {
	ctlDev
	timers int
	held   bool // the queue mutex was held each time
}

func (d *timerDev) Timer(qid int) {
	d.timers++
	d.held = !d.ctx.txqs[qid].mtx.TryLock()
}

func newWdogRig(t *testing.T) *wdogRig {
	m := newCtlMachine(t, false)
	r := &wdogRig{dev: &timerDev{}}
	r.ctlCtx = m.newCtx(t, 0, r.dev, &r.dev.ctlDev)
	r.q = r.addTxq(t)
	r.q.task = m.k.NewTask("txq", func() { r.tasks++ })
	r.adminTask = m.k.NewTask("admin", func() { r.admin++ })
	r.admitNow(admitTx, 0)
	r.q.startTimer()
	return r
}

// post adds n descriptors, all of which ask for a report.
func (r *wdogRig) post(n uint32) {
	o := &r.q.own
	o.inUse += n
	o.pidx = (o.pidx + n) % r.q.size
	r.q.publish()
}

// complete credits n descriptors.
func (r *wdogRig) complete(n uint64) {
	r.q.own.processed += n
	r.q.publish()
}

// period runs the clock to just after the next timer.
func (r *wdogRig) period() { r.k.Advance(500 * time.Millisecond) }

const wdogText = "fk0: Watchdog timeout (TX: 0 desc avail: "

func TestWatchdog(t *testing.T) {
	never := 0
	tests := []struct {
		name   string
		before func(r *wdogRig, period int) // called ahead of each timer, from period 1
		hung   int                          // the period at which the interface is reset
		kicked int                          // runs of the transmit task in 10 periods
	}{
		{"new packets each period and no completions", func(r *wdogRig, _ int) { r.post(3) }, 4, 0},
		{"one burst and then silence", func(r *wdogRig, p int) {
			if p == 2 {
				r.post(10)
			}
		}, 5, 0},
		{"completions that come late", func(r *wdogRig, p int) {
			r.post(3)
			if p%3 == 0 {
				r.complete(3)
			}
		}, never, 0},
		{"pause frames", func(r *wdogRig, _ int) { r.post(3); r.scctx.PauseFrames.Store(true) }, never, 0},
		{"pause frames that end", func(r *wdogRig, p int) { r.post(3); r.scctx.PauseFrames.Store(p <= 3) }, 7, 0},
		{"link down", func(r *wdogRig, _ int) { r.post(3); r.admitNow(0, admitLinkUp) }, never, 0},
		{"idle", func(*wdogRig, int) {}, never, 0},
		{"an unreported tail", func(r *wdogRig, p int) {
			if p == 1 {
				r.q.own.rsPending = 5
				r.post(5)
			}
		}, never, 0},
		{"descriptors that were out before it froze", func(r *wdogRig, p int) {
			if p == 1 {
				r.post(20)
				r.complete(1)
			}
		}, never, 0},
		{"one growth inside a frozen period counts every later one", func(r *wdogRig, p int) {
			switch p {
			case 1:
				r.post(20)
				r.complete(1)
			case 5:
				r.post(1)
			}
		}, 8, 0},
		{"descriptors that wait for the doorbell", func(r *wdogRig, _ int) {
			r.q.own.dbPending += 3
			r.post(3)
		}, never, 10},
		{"a trickle that waits for the doorbell behind a burst", func(r *wdogRig, p int) {
			if p == 1 {
				r.post(20)
				return
			}
			r.q.own.dbPending = 1
			r.post(1)
		}, 4, 2},
		{"a ring that fills in the period in which it freezes", func(r *wdogRig, p int) {
			if p == 1 {
				r.post(ctlRing - defaultTxPad - 8)
				r.complete(1)
			}
		}, 5, 0},
		{"a ring with room that fills in the period in which it freezes", func(r *wdogRig, p int) {
			if p == 1 {
				r.post(ctlRing - defaultTxPad - 9)
				r.complete(1)
			}
		}, never, 0},
		{"a lost interrupt", func(r *wdogRig, _ int) { r.post(1); r.txrx.credits = 5 }, never, 7},
		{"a lost interrupt that is found", func(r *wdogRig, p int) {
			if p == 1 {
				r.post(10)
				r.txrx.credits = 10
			}
			if r.tasks == 1 && r.txrx.credits != 0 {
				r.txrx.credits = 0
				r.complete(10)
			}
		}, never, 1},
		{"never with 0 periods", func(r *wdogRig, _ int) { r.g.txWatchdogPeriods.Store(0); r.post(3) }, never, 0},
		{"never with negative periods", func(r *wdogRig, _ int) { r.g.txWatchdogPeriods.Store(-1); r.post(3) }, never, 0},
		{"at once with 1 period", func(r *wdogRig, _ int) { r.g.txWatchdogPeriods.Store(1); r.post(3) }, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newWdogRig(t)
			hung := never
			const periods = 10
			for p := 1; p <= periods; p++ {
				tt.before(r, p)
				r.period()
				if hung == never && r.admit.Load()&admitOActive != 0 {
					hung = p
				}
			}
			if hung != tt.hung {
				t.Errorf("hung at period %d, want %d", hung, tt.hung)
			}
			if r.tasks != tt.kicked {
				t.Errorf("transmit task ran %d times, want %d", r.tasks, tt.kicked)
			}
			wantAdmin, wantText, wantTimers := 0, 0, periods
			if tt.hung != never {
				wantAdmin, wantText, wantTimers = 1, 1, tt.hung
			}
			if r.admin != wantAdmin {
				t.Errorf("admin task ran %d times, want %d", r.admin, wantAdmin)
			}
			if n := strings.Count(r.m.takeConsole(), wdogText); n != wantText {
				t.Errorf("%d watchdog lines, want %d", n, wantText)
			}
			if r.dev.timers != wantTimers || !r.dev.held {
				t.Errorf("driver's timer ran %d times, want %d; mutex held: %v", r.dev.timers, wantTimers, r.dev.held)
			}
		})
	}
}

func TestHungQueueClosesTheInterfaceAndAsksForAReset(t *testing.T) {
	r := newWdogRig(t)
	for range 4 {
		r.post(3)
		r.period()
	}
	// 1024 descriptors, 2 of them pad, 12 in the ring.
	if got, want := r.m.takeConsole(), wdogText+"1010 pidx: 12) -- resetting\n"; got != want {
		t.Errorf("console %q, want %q", got, want)
	}
	if got, want := r.admit.Load(), admitLinkUp|admitOActive; got != want {
		t.Errorf("admit %#x, want %#x", got, want)
	}
	if got, want := ctxFlags(r.flags.Load()), ctxDoWatchdog|ctxDoReset; got != want {
		t.Errorf("flags %#x, want %#x", got, want)
	}
	if r.q.timer.Pending() {
		t.Error("the timer of a hung queue is armed")
	}
}

func TestWatchdogCountsInSixteenBits(t *testing.T) {
	r := newWdogRig(t)
	o := &r.q.own
	// After a wrap of the difference 100 in use less 65536+90 credited are 10.
	o.inUse, o.processed, o.cleaned = 100, 1<<16+90, 0
	r.q.publish()
	r.q.wdog.processedPrev = o.processed
	r.period()
	if got := r.q.wdog.outstandingPrev; got != 10 {
		t.Errorf("outstanding %d, want 10", got)
	}
	if got := r.q.wdog.armed; got != 1 {
		t.Errorf("armed %d, want 1", got)
	}
}

func TestWatchdogCountSaturates(t *testing.T) {
	r := newWdogRig(t)
	r.g.txWatchdogPeriods.Store(0)
	r.post(3)
	r.period()
	r.q.wdog.armed = math.MaxUint16 - 1
	for range 3 {
		r.period()
	}
	if got := r.q.wdog.armed; got != math.MaxUint16 {
		t.Errorf("armed %d, want %d", got, math.MaxUint16)
	}
	// A limit above what can be reached never fires.
	r.g.txWatchdogPeriods.Store(math.MaxUint16 + 1)
	r.period()
	if r.admin != 0 {
		t.Error("reset at a count that cannot be reached")
	}
}

func TestPauseFramesAreClearedByTheTimer(t *testing.T) {
	r := newWdogRig(t)
	r.scctx.PauseFrames.Store(true)
	r.period()
	if r.scctx.PauseFrames.Load() {
		t.Error("pause_frames is still set")
	}
}

func TestTimerStopsWhenTheInterfaceDoes(t *testing.T) {
	r := newWdogRig(t)
	r.admitNow(0, admitRunning)
	r.period()
	if r.q.timer.Pending() || r.dev.timers != 0 {
		t.Errorf("pending %v, %d driver timers", r.q.timer.Pending(), r.dev.timers)
	}
}

func TestTimerBodyWaitsForItsPeriod(t *testing.T) {
	r := newWdogRig(t)
	r.period()
	// Re-armed early, as after an admin task, the body does not run twice in a period.
	r.q.startTimer()
	r.g.timerDefault.Store(100)
	r.k.Advance(50 * time.Millisecond)
	r.q.stopTimer()
	r.g.timerDefault.Store(500)
	r.k.Advance(time.Millisecond)
	r.q.timer.Reset(1, -1)
	r.k.Advance(2 * time.Millisecond)
	if r.dev.timers != 1 {
		t.Errorf("driver's timer ran %d times, want 1", r.dev.timers)
	}
	if !r.q.timer.Pending() {
		t.Error("timer is not armed")
	}
}

func TestTimerPeriodOfNonsenseIsOneTick(t *testing.T) {
	r := newWdogRig(t)
	r.period()
	for _, v := range []int32{0, -5} {
		r.g.timerDefault.Store(v)
		if got := r.g.timerTicks(); got != 1 {
			t.Errorf("timer_default %d: %d ticks, want 1", v, got)
		}
	}
	before := r.dev.timers
	r.q.startTimer()
	r.k.Advance(10 * time.Millisecond)
	if got := r.dev.timers - before; got != 10 {
		t.Errorf("%d timers in 10 ms, want 10", got)
	}
}

func TestLaggardsAreKickedPastTheDoorbellThresholds(t *testing.T) {
	r := newWdogRig(t)
	r.post(3)
	r.q.own.dbPending = 3
	r.q.publish()
	r.period()
	if !r.q.kick.Load() || r.tasks != 1 {
		t.Errorf("kick %v, %d tasks", r.q.kick.Load(), r.tasks)
	}
}

// newSimpleRig makes a wdogRig whose queue runs simple_tx.
func newSimpleRig(t *testing.T) *wdogRig {
	r := newWdogRig(t)
	r.simple = true
	return r
}

// deferred puts n packets into the ring, as senders that met a held mutex do.
func (r *wdogRig) deferred(t *testing.T, n int) {
	for range n {
		r.q.ledger.in.Add(1)
		if !r.q.sbr.TryEnqueue(r.packet(t, 60)) {
			t.Fatal("ring full")
		}
	}
}

func TestSimpleTxStrandedPacketsAreDrainedByTimer(t *testing.T) {
	r := newSimpleRig(t)
	r.deferred(t, 3)
	r.period()
	if !r.q.sbr.Empty() {
		t.Errorf("%d packets still in the ring", r.q.sbr.Len())
	}
	if got := r.q.State(); got.Pidx != 3 || got.DBPending != 0 {
		t.Errorf("pidx %d, db_pending %d, want 3, 0", got.Pidx, got.DBPending)
	}
	if got := r.txrx.doorbells; len(got) != 1 || got[0] != 3 {
		t.Errorf("doorbells %v, want [3]", got)
	}
	if l := r.Ledger(); !l.Balanced() || l.Handed != 3 {
		t.Errorf("ledger: %v", l)
	}
	r.period()
	if got := r.txrx.doorbells; len(got) != 1 {
		t.Errorf("doorbells %v after an idle period", got)
	}
	if r.tasks != 0 {
		t.Error("a task was scheduled to drain")
	}
}

func TestSimpleTxTimerDrainsAtMostTheQuota(t *testing.T) {
	r := newSimpleRig(t)
	r.g.simpleDrainQuota.Store(2)
	r.deferred(t, 5)
	for _, want := range []QIdx{2, 4, 5, 5} {
		r.period()
		if got := r.q.State().Pidx; got != want {
			t.Errorf("pidx %d, want %d", got, want)
		}
	}
	if got := len(r.txrx.doorbells); got != 3 {
		t.Errorf("%d doorbells, want 3", got)
	}
}

func TestSimpleTxTimerDropsWhatWaitsForADeadLink(t *testing.T) {
	r := newSimpleRig(t)
	r.deferred(t, 2)
	r.admitNow(0, admitLinkUp)
	r.period()
	if l := r.Ledger(); !l.Balanced() || l.Down != 2 || l.Queued != 0 {
		t.Errorf("ledger: %v", l)
	}
}

func TestSimpleTxTimerReclaims(t *testing.T) {
	r := newSimpleRig(t)
	for range 12 {
		r.deferred(t, 1)
		r.period()
		r.txrx.credits = 1
	}
	// 11 of 12 are credited when the last timer looks, 8 stay in reserve.
	if got := r.q.State(); got.Processed != 11 || got.Cleaned != 3 || got.InUse != 9 {
		t.Errorf("processed %d cleaned %d in_use %d, want 11, 3, 9", got.Processed, got.Cleaned, got.InUse)
	}
}
