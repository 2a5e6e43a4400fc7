package iflib

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// TestPeeksAgainstABusyOwner has the timer, sysctl and the counters read queues
// while their owner works. It is meant for the race detector.
func TestPeeksAgainstABusyOwner(t *testing.T) {
	m := bootCtl(t, kern.Config{NCPU: 1, Executor: kern.Threads, Clock: kern.RealClock, Env: sysctl.NewKenv()})
	d := &ctlDev{}
	c := m.newCtx(t, 0, d, d)
	c.ifp.AddCounterSource(c.txCounterSource)
	q := c.addTxq(t)
	c.addDeviceNode("")
	c.addSysctlsPre()
	c.addSysctlsPost()
	c.admitNow(admitTx, 0)
	const rounds = 2000
	owner := m.k.Spawn("owner", func() {
		for i := uint32(0); i < rounds && !m.k.Closing(); i++ {
			o := &q.own
			o.pidx = (o.pidx + 1) % ctlRing
			o.cidx = o.pidx
			o.processed++
			o.cleaned++
			o.opackets++
			o.obytes += 60
			q.publish()
			if i%64 == 0 {
				runtime.Gosched()
			}
		}
	})
	for range 50 {
		q.mtx.Lock()
		q.wdog.lastTick = 0
		q.timerFn()
		q.mtx.Unlock()
		m.list(t, "dev.fk.0")
		if p, b := c.txCounterSource(ifnet.CounterOPackets), c.txCounterSource(ifnet.CounterOBytes); p > rounds || b > 60*rounds {
			t.Errorf("%d packets, %d bytes", p, b)
		}
	}
	owner.Join()
	q.stopTimer()
	if got := c.txCounterSource(ifnet.CounterOPackets); got != rounds {
		t.Errorf("%d packets, want %d", got, rounds)
	}
}

// TestSimpleTxLeavesNothingBehindAPeriod is invariant 4: whatever the
// interleaving of contending senders, a period after the last one the ring is
// empty, every doorbell was rung and the ledger closes.
func TestSimpleTxLeavesNothingBehindAPeriod(t *testing.T) {
	for seed := uint64(1); seed <= 25; seed++ {
		for _, quota := range []int32{1, 3, defaultSimpleDrainQuota} {
			t.Run(fmt.Sprintf("seed %d quota %d", seed, quota), func(t *testing.T) {
				m := bootCtl(t, kern.Config{NCPU: 2, Executor: kern.Stepped, Clock: kern.ManualClock, Seed: seed, Env: sysctl.NewKenv()})
				r := &wdogRig{dev: &timerDev{}}
				r.ctlCtx = m.newCtx(t, 0, r.dev, &r.dev.ctlDev)
				r.q = r.addTxq(t)
				r.simple = true
				r.g.simpleDrainQuota.Store(quota)
				r.g.txWatchdogPeriods.Store(0) // the hardware never completes
				r.admitNow(admitTx, 0)
				r.q.startTimer()
				const senders, each = 4, 5
				for range senders {
					m.k.Spawn("sender", func() {
						for range each {
							_ = r.transmitSimple(r.packet(t, 60)) // drops are in the ledger
							m.k.SchedPoint()
						}
					})
				}
				m.k.RunUntilIdle()
				// A quota below what waits takes a period for each of its size.
				for range senders * each {
					r.period()
				}
				r.q.stopTimer()
				if l := r.Ledger(); !l.Balanced() || l.Queued != 0 || l.Handed != senders*each {
					t.Errorf("ledger: %v", l)
				}
				if s := r.q.State(); s.DBPending != 0 || s.Pidx != senders*each {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}
