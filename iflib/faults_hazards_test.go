package iflib_test

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet"
)

// Packets that wait in a ring while the link goes are not stranded when it comes back,
// although no packet follows them and the hardware has nothing left to report (hazard 7).
func TestPacketsQueuedWhenTheLinkGoesAreSentWhenItComes(t *testing.T) {
	faultEach(t, faultConfig{depth: 16}, func(t *testing.T, r *faultRig) {
		r.send(0, 1000)
		r.settle()
		r.far.SetLink(false)
		r.drain() // what was on the wire arrives; the hardware gets rid of what it has, or keeps it
		r.k.Advance(2 * faultPeriod)
		if r.ifp.Transmit(r.packet(0, faultFrameLen)) == nil {
			t.Error("a packet was taken without a link")
		}
		waiting := r.balanced().Queued
		if (waiting != 0) != (r.cfg.path == "mp_ring") {
			t.Errorf("%d packets wait", waiting)
		}
		before := r.arrived
		r.far.SetLink(true)
		r.drain()
		l := r.balanced()
		if l.Queued != 0 {
			t.Errorf("stranded: %v", l)
		}
		if got := r.arrived - before; got < int(waiting) {
			t.Errorf("%d of %d packets arrived after the link came", got, waiting)
		}
		r.resumes()
	})
}

// A link that flaps behind the driver's back, as the hardware sees it, does the same.
func TestLinkFlapOfTheHardwareStrandsNothing(t *testing.T) {
	status := map[string]uint64{"em": 0x8, "cqnic": 0x4, "hwbnic": 0x4}
	faultEach(t, faultConfig{depth: 16}, func(t *testing.T, r *faultRig) {
		r.send(0, 1000)
		r.fault("hw.NAME.link_flap=1*return(50)")
		r.Hardware(r.dev).BARs()[0].BAR.Read32(status[r.cfg.part.drv])
		r.settle()
		if s := r.ifp.LinkState(); s != ifnet.LinkStateDown {
			t.Errorf("link state %v during the flap", s)
		}
		r.k.Advance(60 * faultTick)
		r.settle()
		if s := r.ifp.LinkState(); s != ifnet.LinkStateUp {
			t.Errorf("link state %v after the flap", s)
		}
		r.drain()
		if l := r.balanced(); l.Queued != 0 || l.Handed != uint64(r.arrived) {
			t.Errorf("%d arrived, ledger %v", r.arrived, l)
		}
		r.resumes()
		r.expect(map[string]int{"iflib.tx_watchdog_events": 0})
	})
}

// A device that goes, or stops, while it waits for buffers is not asked again (hazard 37).
func TestFamineEndsWithTheDevice(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		r.fault("mbuf.get=return(1)", "mbuf.cluster=return(1)")
		r.inject(400, 1000)
		famines := r.ctx().RxLedger().Famines
		if famines == 0 {
			t.Fatal("no famine")
		}
		r.k.Advance(faultTick)
		if r.ctx().RxLedger().Famines == famines {
			t.Error("buffers are not asked for again")
		}
		r.down()
		r.compare(r.idle, "after down in a famine")
		famines = r.ctx().RxLedger().Famines
		r.k.Advance(faultPeriod)
		if got := r.ctx().RxLedger().Famines; got != famines {
			t.Errorf("buffers are asked for %d times after down", got-famines)
		}
		r.must(r.Up(r.dev))
		r.settle()
		r.printed("setting up free list 0 failed - check cluster settings", 1)
		r.must(r.Detach(r.dev))
		r.k.Advance(faultPeriod)
		r.cure("mbuf.get", "mbuf.cluster")
		r.must(r.Attach(r.dev))
		r.ifp = r.Ifnet(r.dev)
		r.up()
		r.resumes()
	})
}

// faultShaper is a discipline that lets everything through.
type faultShaper struct{ ifnet.SendQueue }

func (faultShaper) Enabled() bool { return true }

// An interface that shapes uses the mp_ring, whatever simple_tx says: it shows 0, and a
// ring that stalled is emptied by completions alone, down to the last packet (hazard 27a).
func TestShapingInterfaceEmptiesItsRing(t *testing.T) {
	const limit = 1000
	faultEach(t, faultConfig{depth: 16}, func(t *testing.T, r *faultRig) {
		r.ifp.SetSendQueue(faultShaper{ifnet.NewFIFO(limit)})
		r.expect(map[string]int{"iflib.simple_tx": 0})
		if n := r.send(0, 1000); n != 0 {
			t.Errorf("%d refused", n)
		}
		r.settle()
		if l := r.balanced(); l.Queued == 0 {
			t.Errorf("the ring did not stall: %v", l)
		}
		if n := r.ifp.Snd().Len(); n == 0 {
			t.Error("nothing waits where the discipline can still choose")
		}
		if n := r.drain(); n != 1000 {
			t.Errorf("%d of 1000 arrived", n)
		}
		if n := r.number("iflib.txq0.r_enqueues"); n < 1000 {
			t.Errorf("%d enqueues, want 1000 and what kicks for doorbells", n)
		}
		r.send(0, 500)
		r.down()
		if l := r.balanced(); l.Queued != 0 || l.Stopped == 0 {
			t.Errorf("after down: %v", l)
		}
		r.drain()
		r.up()
		r.resumes()
	})
}
