package iflib_test

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/codel"
	"github.com/ifsim/ifsim/altq/priq"
)

// altqRate shapes without being in the way: the packets of a load take some
// milliseconds.
const altqRate = 100e6

// snd is the send queue of the interface.
func (r *faultRig) snd() *altq.Queue {
	r.t.Helper()
	q, err := altq.Of(r.ifp)
	r.must(err)
	return q
}

// altqLimit is the limit of the one queue of the discipline.
const altqLimit = 1000

// priority makes a discipline of one queue.
func (r *faultRig) priority() altq.Discipline {
	r.t.Helper()
	d := priq.New(altq.Config{Bandwidth: altqRate})
	r.must(d.AddQueue(altq.QueueConfig{QID: 1, QLimit: altqLimit, Flags: altq.FlagDefault}))
	return d
}

// shape attaches and enables a discipline of one queue behind a regulator, rate 0 for
// none.
func (r *faultRig) shape(rate uint64) *altq.Queue {
	r.t.Helper()
	q := r.snd()
	r.must(q.Attach(r.priority()))
	r.must(q.Enable())
	if rate != 0 {
		r.must(q.SetTBR(altq.Profile{Rate: rate, Depth: faultFrameLen}))
	}
	return q
}

var altqScenarios = []faultScenario{
	{name: "nothing bad", shape: true},
	{name: "full ring", shape: true, depth: 4},
	{name: "stop and init", shape: true, lossy: true, control: faultRestarts},
	{name: "down and up with a full ring", shape: true, lossy: true, depth: 4, control: faultDownUp},
	{name: "link flaps with a full ring", shape: true, lossy: true, depth: 4, control: faultFlaps},
	{name: "flushes", shape: true, control: func(r *faultRig) {
		for range 4 {
			r.ifp.QFlush()
			r.k.SchedPoint()
		}
	}},
	{name: "abdicating", shape: true, depth: 4, control: func(r *faultRig) {
		r.must(r.k.Sysctl.SetText("dev."+r.cfg.part.drv+".0.iflib.tx_abdicate", "1"))
	}},
	{name: "switched off and on", shape: true, depth: 16, control: altqSwitches},
	{name: "switched on and off", depth: 4, control: func(r *faultRig) {
		r.reorders = true
		r.shape(altqRate)
		r.k.SchedPoint()
		altqSwitches(r)
		r.snd().Disable()
	}},
	{name: "lost interrupts", shape: true, faults: []string{"hw.NAME.lost_intr=50%return(1)"}},
}

// altqSwitches disables, replaces and enables the discipline while it is in use.
func altqSwitches(r *faultRig) {
	q := r.snd()
	r.reorders = true // what was on its way takes one path, what follows the other
	for i := range 4 {
		q.Disable()
		r.k.SchedPoint()
		d := r.priority()
		if i%2 == 1 {
			d = codel.New(altq.Config{QLimit: altqLimit})
		}
		r.must(q.Attach(d))
		r.must(q.Enable())
		r.k.SchedPoint()
		r.must(q.SetTBR(altq.Profile{Rate: altqRate, Depth: 1500}))
		r.k.SchedPoint()
	}
}

// Nothing is lost from the account and nothing is stranded while eight threads send
// through a discipline, in whatever order they run.
func TestALTQUnderInterleavedLoad(t *testing.T) {
	for i := range altqScenarios {
		s := &altqScenarios[i]
		t.Run(s.name, func(t *testing.T) {
			faultSeeded(t, func(t *testing.T, seed uint64, part faultPart, path string) {
				if testing.Short() && (int(seed)+i)%2 != 0 {
					return
				}
				r := newFaultRig(t, faultConfig{part: part, path: path, seed: seed, depth: s.depth, queues: 1 + int(seed>>2)&1})
				r.underLoad(s)
			})
		})
	}
}

// The same with goroutines.
func TestALTQUnderThreadedLoad(t *testing.T) {
	for i := range altqScenarios {
		s := &altqScenarios[i]
		t.Run(s.name, func(t *testing.T) {
			part, path := faultParts[i%len(faultParts)], faultPaths[i/2%len(faultPaths)]
			r := newFaultRig(t, faultConfig{part: part, path: path, threads: true, seed: uint64(i + 1), depth: s.depth})
			r.underLoad(s)
		})
	}
}

// With ALTQ every packet leaves on queue 0, and the knob reads 0, whatever the path;
// without it the flows are spread again (spec altq 6.3, 4 and 5).
func TestALTQUsesQueueZeroUntilItIsSwitchedOff(t *testing.T) {
	faultEach(t, faultConfig{queues: 2}, func(t *testing.T, r *faultRig) {
		if r.ctx().NTxqs() < 2 {
			return // a part with one queue
		}
		simple := 0
		if r.cfg.path == "simple_tx" {
			simple = 1
		}
		const frames = 40
		sent := func(what string, want [2]int) {
			t.Helper()
			before := [2]uint16{r.ctx().TxqState(0).Pidx, r.ctx().TxqState(1).Pidx}
			for sender := range 2 {
				r.send(sender, frames)
			}
			r.drain()
			for i := range want {
				// A descriptor a packet, more with parts that need contexts.
				if n := r.ctx().TxqState(i).Pidx - before[i]; (n == 0) != (want[i] == 0) || int(n) < want[i] {
					t.Errorf("%s: queue %d used %d descriptors, want those of %d packets", what, i, n, want[i])
				}
			}
		}
		sent("before", [2]int{frames, frames})
		r.expect(map[string]int{"iflib.simple_tx": simple})
		q := r.shape(0)
		r.expect(map[string]int{"iflib.simple_tx": 0})
		sent("shaping", [2]int{2 * frames, 0})
		q.Disable()
		r.expect(map[string]int{"iflib.simple_tx": simple})
		sent("after", [2]int{frames, frames})
		r.must(q.Enable())
		sent("shaping again", [2]int{2 * frames, 0})
		q.Disable()
		r.printed("ALTQ prevents using simple if_transmit", 2*simple)
		r.printed("using simple if_transmit", 5*simple)
		if s, err := q.Stats(altq.TypePRIQ, 1); err != nil || s.Xmit.Packets != 4*frames || s.Drop.Packets != 0 {
			t.Errorf("the discipline sent %+v, %v", s, err)
		}
	})
}

// A full descriptor ring loses nothing that the discipline was asked to hold: the
// packets stay where it can choose, and completions fetch them.
func TestFullRingLeavesPacketsToTheDiscipline(t *testing.T) {
	faultEach(t, faultConfig{depth: 16}, func(t *testing.T, r *faultRig) {
		q := r.shape(0)
		const frames = altqLimit + 400 // the ring takes those above the limit
		if n := r.send(0, frames); n != 0 {
			t.Errorf("%d refused", n)
		}
		r.settle()
		if s, n := r.text("iflib.txq0.ring_state"), q.Len(); n < altqLimit-100 {
			t.Errorf("%d packets with the discipline, ring %s", n, s)
		}
		r.expect(map[string]int{"iflib.txq0.r_drops": 0})
		r.balanced()
		if n := r.drain(); n != frames {
			t.Errorf("%d of %d arrived", n, frames)
		}
		if l := r.balanced(); l.Dropped() != 0 || l.Queued != 0 || q.Dropped() != 0 {
			t.Errorf("ledger %v", l)
		}
		q.Disable()
	})
}

// The tick sends what the regulator held back: a frame of 64 bytes a millisecond.
func TestTickSendsWhatTheRegulatorHeldBack(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		q := r.shape(faultFrameLen * 8 * 1000)
		const frames, burst = 20, 1
		if n := r.send(0, frames); n != 0 {
			t.Errorf("%d refused", n)
		}
		r.k.RunUntilIdle()
		if n := q.Len(); n != frames-burst {
			t.Fatalf("%d packets wait, want %d", n, frames-burst)
		}
		for left := frames - burst - 1; left >= 0; left-- {
			r.k.Advance(faultTick)
			if n := q.Len(); n != left {
				t.Fatalf("%d packets wait, want %d", n, left)
			}
		}
		if n := r.drain(); n != frames {
			t.Errorf("%d of %d arrived", n, frames)
		}
		q.Disable()
	})
}

// Without link the discipline drains at the regulator's rate into nothing, and senders
// are told that all is well (spec altq 6.3, 6).
func TestShapingWithoutLinkDrainsIntoNothing(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		r.drain()
		r.far.SetLink(false)
		r.k.Advance(4 * faultPeriod)
		r.settle()
		q := r.shape(faultFrameLen * 8 * 1000)
		const frames = 20
		if n := r.send(0, frames); n != 0 {
			t.Errorf("%d refused", n)
		}
		r.k.Advance(10 * faultTick)
		s, err := q.Stats(altq.TypePRIQ, 1)
		r.must(err)
		if s.Xmit.Packets != 11 || s.QLen != frames-11 {
			t.Errorf("%d packets sent in 10 ms, %d left, want 11 and 9", s.Xmit.Packets, s.QLen)
		}
		r.k.Advance(10 * faultTick)
		if l := r.balanced(); l.Down != frames || l.Handed != 0 || l.Queued != 0 {
			t.Errorf("ledger %v", l)
		}
		q.Disable()
		r.far.SetLink(true)
		r.k.Advance(4 * faultPeriod)
		r.up()
		r.resumes()
	})
}

// A device that goes while eight threads send through a discipline leaves nothing.
func TestDetachWhileShapingLeavesNothing(t *testing.T) {
	faultSeeded(t, func(t *testing.T, seed uint64, part faultPart, path string) {
		r := newFaultRig(t, faultConfig{part: part, path: path, seed: seed, depth: 8 << (seed % 6)})
		r.must(r.Detach(r.dev))
		r.settle()
		r.reorders = true // an interface that goes does not shape any more
		base := r.holdings()
		for range 2 {
			r.must(r.Attach(r.dev))
			r.ifp = r.Ifnet(r.dev)
			r.up()
			r.shape(altqRate)
			r.detachUnderLoad(false)
			r.compare(base, "after detach")
		}
		r.must(r.Attach(r.dev))
		r.ifp = r.Ifnet(r.dev)
		r.up()
		if q := r.snd(); q.Enabled() {
			t.Error("a new interface shapes")
		}
		r.finish()
	})
}
