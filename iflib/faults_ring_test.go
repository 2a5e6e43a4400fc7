package iflib_test

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
)

// faultDrops checks that every refused packet is in the ledger and in the interface's
// queue drops, and returns how many there are.
func faultDrops(r *faultRig, refused int) {
	r.t.Helper()
	l := r.balanced()
	drops := l.RingFull + l.NoDesc
	if drops != uint64(refused) || l.Dropped() != drops {
		r.t.Errorf("%d refused, ledger %v", refused, l)
	}
	if got := r.ifp.GetCounter(ifnet.CounterOQDrops); got != drops {
		r.t.Errorf("%d queue drops, want %d", got, drops)
	}
	if r.cfg.path == "mp_ring" {
		r.expect(map[string]int{"iflib.txq0.r_drops": refused, "iflib.txq0.no_desc_avail": 0})
		return
	}
	r.expect(map[string]int{"iflib.txq0.r_drops": 0, "iflib.txq0.no_desc_avail": refused})
}

// A wire that takes nothing fills the hardware ring. When it moves again every packet
// that was accepted leaves, in order, without another one coming (hazard 8).
func TestFullDescriptorRingLosesOnlyWhatWasRefused(t *testing.T) {
	faultEach(t, faultConfig{depth: 16}, func(t *testing.T, r *faultRig) {
		const more = 100
		refused := r.send(0, faultRing+faultMpRing+more)
		if refused == 0 {
			t.Fatal("nothing refused")
		}
		r.settle()
		if r.cfg.path == "mp_ring" {
			if s := r.text("iflib.txq0.ring_state"); !strings.HasSuffix(s, "state: STALLED") {
				t.Errorf("ring state %q", s)
			}
		}
		faultDrops(r, refused)
		if got, want := r.drain(), faultRing+faultMpRing+more-refused; got != want {
			t.Errorf("%d frames arrived, want %d", got, want)
		}
		if l := r.balanced(); l.Queued != 0 || l.Handed != uint64(r.arrived) {
			t.Errorf("ledger %v, %d arrived", l, r.arrived)
		}
		if r.cfg.path == "mp_ring" {
			if s := r.text("iflib.txq0.ring_state"); !strings.HasSuffix(s, "state: IDLE") {
				t.Errorf("ring state %q", s)
			}
		}
		r.resumes()
	})
}

// A device that stops taking packets fills the rings, is reset by the watchdog, and goes
// on when it is well again.
func TestStuckHeadFillsTheRingAndIsReset(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		r.fault("hw.NAME.stuck_head=return(1)")
		refused := r.send(0, faultRing+faultMpRing)
		if refused == 0 {
			t.Fatal("nothing refused")
		}
		faultDrops(r, refused)
		for range faultPeriods + 1 {
			r.period()
		}
		r.printed("Watchdog timeout (TX: 0 desc avail: ", 1)
		r.expect(map[string]int{"iflib.tx_watchdog_events": 1})
		if n := r.drain(); n != 0 {
			t.Errorf("%d frames left a device that is stuck", n)
		}
		r.cure("hw.NAME.stuck_head")
		r.resumes()
		r.printed("Watchdog timeout", 1)
	})
}

// faultPieces is more than any of the parts takes.
const faultPieces = 42

// A packet with more pieces than fit is no reason to lose the ones before it, and a
// famine of mbufs while it is put together costs that packet only.
func TestMbufLimitCostsOnlyTheTransmitsThatNeedOne(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		long := r.fragmented(0, faultPieces) // above any limit of segments
		r.fault("mbuf.get=return(1)", "mbuf.cluster=return(1)")
		err := r.ifp.Transmit(long)
		if (err != nil) != (r.cfg.path == "simple_tx") {
			t.Errorf("transmit: %v", err)
		}
		r.expect(map[string]int{"iflib.txq0.mbuf_defrag": 1, "iflib.txq0.mbuf_defrag_failed": 1, "iflib.txq0.tx_map_failed": 1})
		r.cure("mbuf.get", "mbuf.cluster")
		if l := r.balanced(); l.Encap != 1 || l.Dropped() != 1 {
			t.Errorf("ledger %v", l)
		}
		r.resumes()
		r.must(r.ifp.Transmit(r.fragmented(0, faultPieces)))
		if n := r.drain(); n != 1 {
			t.Errorf("%d long packets arrived, want 1", n)
		}
		r.expect(map[string]int{"iflib.txq0.mbuf_defrag_failed": 1})
	})
}

// Without mbufs the device runs out of receive buffers. They come back within a tick of
// the end of the famine, without an interrupt (hazard 17).
func TestMbufLimitStopsReceiveUntilBuffersComeBack(t *testing.T) {
	faultFamine(t, "mbuf.get=return(1)", "mbuf.cluster=return(1)")
}

// So it is when buffers cannot be mapped.
func TestReceiveMapFailureStopsReceiveUntilItEnds(t *testing.T) {
	faultFamine(t, "busdma.load=return(12)")
}

func faultFamine(t *testing.T, faults ...string) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		got := r.listen()
		r.inject(8, 1000)
		if *got != 8 {
			t.Fatalf("%d frames before the fault", *got)
		}
		r.fault(faults...)
		const flood = 600 // more than the device has buffers
		r.inject(flood, 1000)
		rx := r.ctx().RxLedger()
		if rx.Famines == 0 || *got >= 8+flood {
			t.Errorf("%d frames came through, receive ledger %v", *got, rx)
		}
		missed := r.missed()
		if *got+missed != 8+flood {
			t.Errorf("%d came through and %d were missed of %d", *got, missed, 8+flood)
		}
		r.cure(faults...)
		r.k.Advance(faultTick)
		before := *got
		r.inject(20, 1000)
		if *got != before+20 {
			t.Errorf("%d of 20 frames after the famine", *got-before)
		}
		r.resumes()
	})
}

// A DMA map failure costs the packet, which is counted where FreeBSD counts it.
func TestTransmitMapFailure(t *testing.T) {
	for _, errno := range []struct {
		name, prog string
		want       map[string]int
	}{
		{"ENOMEM", "busdma.load=return(12)", map[string]int{"no_tx_dma_setup": 10, "tx_map_failed": 10, "mbuf_defrag": 0}},
		{"EINVAL", "busdma.load=return(22)", map[string]int{"no_tx_dma_setup": 10, "tx_map_failed": 10, "mbuf_defrag": 0}},
		{"EFBIG", "busdma.load=return(27)", map[string]int{"no_tx_dma_setup": 0, "tx_map_failed": 10, "mbuf_defrag": 10,
			"mbuf_defrag_failed": 10}},
		{"EFBIG once", "busdma.load=1*return(27)", map[string]int{"no_tx_dma_setup": 0, "tx_map_failed": 0, "mbuf_defrag": 1}},
	} {
		t.Run(errno.name, func(t *testing.T) {
			faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
				r.fault(errno.prog)
				refused := r.send(0, 10)
				lost := errno.want["tx_map_failed"]
				if want := lost; r.cfg.path == "simple_tx" && refused != want || r.cfg.path == "mp_ring" && refused != 0 {
					t.Errorf("%d refused", refused)
				}
				for leaf, n := range errno.want {
					r.expect(map[string]int{"iflib.txq0." + leaf: n})
				}
				if l := r.balanced(); l.Encap != uint64(lost) || l.Dropped() != uint64(lost) {
					t.Errorf("ledger %v", l)
				}
				r.cure("busdma.load")
				if n := r.drain(); n != 10-lost {
					t.Errorf("%d frames arrived, want %d", n, 10-lost)
				}
				r.resumes()
			})
		})
	}
}

// An access that the device is refused costs the packet; it says so once and goes on.
func TestDMAErrorsOfTheDeviceAreLoggedOnce(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		r.fault("hw.NAME.dma_error=return(1)")
		r.send(0, 10)
		r.settle()
		if n := r.take(); n != 0 {
			t.Errorf("%d frames were read without access", n)
		}
		r.printed(r.dev+": queue 0 descriptor ", 1)
		r.cure("hw.NAME.dma_error")
		r.recover()
		r.resumes()
		r.printed(r.dev+": queue 0 descriptor ", 1)
	})
}
