package iflib_test

import (
	"fmt"
	"strings"
	"testing"
)

// faultUntilReset moves the clock tick by tick until the watchdog fires, at most limit
// ticks, and returns how many that took; work is called before each tick.
func (r *faultRig) faultUntilReset(limit int, work func(tick int)) int {
	r.t.Helper()
	for tick := 1; tick <= limit; tick++ {
		work(tick)
		r.k.Advance(faultTick)
		if strings.Contains(r.console.String(), "Watchdog timeout") {
			return tick
		}
	}
	return -1
}

// faultAlign moves the clock just past the firing of the queue's timer and returns
// the length of its period in ticks.
func (r *faultRig) faultAlign() int {
	const ticks = int(faultPeriod / faultTick)
	// Everything that sets the timer anew happened when the link came up, at upTick.
	past := int(r.k.Ticks() - r.upTick)
	for range ticks - past%ticks {
		r.k.Advance(faultTick)
	}
	return ticks
}

// Hardware that takes packets and never reports them is reset in the fourth period after
// it froze, to the tick, says so once, and then works.
func TestHardwareThatNeverCompletesIsResetAfterFourPeriods(t *testing.T) {
	for _, load := range []struct {
		name string
		each int // ticks between packets; 0: one burst
	}{{"new packets each period", 100}, {"one burst and then silence", 0}} {
		t.Run(load.name, func(t *testing.T) {
			faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
				period := r.faultAlign()
				r.fault("hw.NAME.missing_completion=return(1)")
				r.send(0, 40)
				at := r.faultUntilReset(6*period, func(tick int) {
					if load.each != 0 && tick%load.each == 0 {
						r.send(0, 1)
					}
				})
				if at != faultPeriods*period {
					t.Errorf("reset after %d ticks, want %d", at, faultPeriods*period)
				}
				r.printed(fmt.Sprintf("%s: Watchdog timeout (TX: 0 desc avail: ", r.dev), 1)
				r.printed("-- resetting\n", 1)
				r.expect(map[string]int{"iflib.tx_watchdog_events": 1})
				r.cure("hw.NAME.missing_completion")
				r.resumes()
				r.k.Advance(10 * faultPeriod)
				r.expect(map[string]int{"iflib.tx_watchdog_events": 1})
			})
		})
	}
}

// The watchdog line has what FreeBSD's has.
func TestWatchdogLine(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		r.fault("hw.NAME.missing_completion=return(1)")
		r.send(0, 40)
		r.k.Advance(5 * faultPeriod)
		// 2 descriptors are pad, one a packet is out.
		r.printed(fmt.Sprintf("%s: Watchdog timeout (TX: 0 desc avail: %d pidx: 40) -- resetting\n", r.dev, faultRing-2-40), 1)
	})
}

// A device that hangs while it is busy fills its ring in the same period. A full ring
// does not grow, so nothing new ever comes out of it; it is reset all the same.
func TestHangUnderLoadIsReset(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		period := r.faultAlign()
		r.send(0, 100)
		r.drain()
		r.fault("hw.NAME.stuck_head=return(1)")
		if r.send(0, faultRing+faultMpRing) == 0 {
			t.Fatal("the ring is not full")
		}
		rest := period - int(r.k.Ticks()-r.upTick)%period // the period in which it froze
		if at := r.faultUntilReset(6*period, func(int) {}); at != rest+faultPeriods*period {
			t.Errorf("reset after %d ticks, want %d", at, rest+faultPeriods*period)
		}
		r.expect(map[string]int{"iflib.tx_watchdog_events": 1})
		r.cure("hw.NAME.stuck_head")
		r.resumes()
	})
}

// Periods of 0 turn the watchdog off, another number is obeyed.
func TestWatchdogPeriodsAreObeyed(t *testing.T) {
	for periods, want := range map[string]int{"0": -1, "1": 1, "7": 7} {
		t.Run(periods, func(t *testing.T) {
			faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
				r.must(r.k.Sysctl.SetText("net.iflib.tx_watchdog_periods", periods))
				period := r.faultAlign()
				r.fault("hw.NAME.missing_completion=return(1)")
				r.send(0, 40)
				at := r.faultUntilReset(9*period, func(int) {})
				if want > 0 && at != want*period || want < 0 && at != want {
					t.Errorf("reset after %d ticks, want period %d", at, want)
				}
				r.cure("hw.NAME.missing_completion")
			})
		})
	}
}

// A lost interrupt looks like a hang; the work is found and nothing is reset (hazard 6).
func TestLostInterruptsAreNoHang(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		// Nothing reclaims on the way: only the interrupt's task does.
		r.fault("hw.NAME.lost_intr=return(1)")
		total := 0
		for range 10 {
			r.send(0, 60)
			r.period()
			total += 60
		}
		if got := r.drain(); got != total {
			t.Errorf("%d of %d frames arrived", got, total)
		}
		r.expect(map[string]int{"iflib.tx_watchdog_events": 0})
		r.printed("Watchdog", 0)
		// One burst and then silence: the timer finds what the interrupt announced.
		r.send(0, 60)
		r.k.Advance(6 * faultPeriod)
		r.drain()
		if s := r.ctx().TxqState(0); int(s.Processed) < 600 {
			t.Errorf("%d of %d descriptors credited", s.Processed, 660)
		}
		r.expect(map[string]int{"iflib.tx_watchdog_events": 0})
		r.cure("hw.NAME.lost_intr")
		r.resumes()
	})
}

// Completions that come late, but within the periods, are no hang.
func TestLateCompletionsAreNoHang(t *testing.T) {
	for ms, events := range map[string]int{"1400": 0, "2600": 1} {
		t.Run(ms, func(t *testing.T) {
			faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
				r.faultAlign()
				r.fault("hw.NAME.late_completion=1*return(" + ms + ")")
				r.send(0, 40)
				for range 8 {
					r.period()
				}
				r.drain()
				r.expect(map[string]int{"iflib.tx_watchdog_events": events})
				r.resumes()
			})
		})
	}
}

// Without a link nothing is a hang.
func TestHardwareWithoutLinkIsNotReset(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		r.fault("hw.NAME.missing_completion=return(1)")
		r.send(0, 40)
		r.settle()
		r.far.SetLink(false)
		r.settle()
		for range 10 {
			r.period()
		}
		r.expect(map[string]int{"iflib.tx_watchdog_events": 0})
		r.cure("hw.NAME.missing_completion")
		r.far.SetLink(true)
		r.recover()
		r.resumes()
	})
}

// Descriptors that wait for a doorbell do not wait longer than a period, whatever the
// thresholds say (hazard 2).
func TestDoorbellLaggardsAreRungWithinAPeriod(t *testing.T) {
	faultEach(t, faultConfig{depth: 64}, func(t *testing.T, r *faultRig) {
		// A wire that is full keeps descriptors in use, so that doorbells are deferred.
		r.send(0, 64+150)
		r.settle()
		r.send(0, 9)
		waiting := r.ctx().TxqState(0).DBPending
		if r.cfg.path == "mp_ring" && waiting == 0 {
			t.Error("no doorbell is deferred")
		}
		r.period()
		if s := r.ctx().TxqState(0); s.DBPending != 0 {
			t.Errorf("%d descriptors wait for a doorbell", s.DBPending)
		}
		want := int(r.balanced().Handed)
		if got := r.drain(); got != want {
			t.Errorf("%d of %d frames arrived", got, want)
		}
		r.resumes()
	})
}

// Stop forgets what waited for a doorbell: the first doorbell after a reset is for what
// was written since (hazard 20).
func TestNoGhostDoorbellAfterAReset(t *testing.T) {
	faultEach(t, faultConfig{depth: 64}, func(t *testing.T, r *faultRig) {
		r.send(0, 64+150)
		r.settle()
		r.send(0, 9)
		r.ifp.InitIf()
		if s := r.ctx().TxqState(0); s.DBPending != 0 || s.RSPending != 0 || s.InUse != 0 || s.Pidx != 0 {
			t.Errorf("after init: %+v", s)
		}
		r.drain()
		r.resumes()
		if r.cfg.part.drv == "cqnic" {
			r.expect(map[string]int{"doorbell_faults": 0})
		}
		r.printed("refused", 0)
	})
}
