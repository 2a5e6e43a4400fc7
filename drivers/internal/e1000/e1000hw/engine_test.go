package e1000hw_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// With a thread as engine the frames of many queues arrive, each once, whatever the
// schedule, and the model survives resets meanwhile.
func TestThreadEngineSendsFromAllQueues(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b = newBoardMode(t, b.name, hw.EngineThread, kern.Stepped)
		const rounds = 20
		var rings [4]*ring
		for q := range rings {
			rings[q] = b.txOn(q)
		}
		got := 0
		for range rounds {
			for _, r := range rings {
				r.frame(rig.Ether(100))
				r.doorbell()
			}
			b.Settle()
			got += len(b.Sent())
		}
		if got != rounds*len(rings) {
			t.Errorf("%d frames, want %d", got, rounds*len(rings))
		}
		for q, r := range rings {
			if h := b.read(r.base + e1000reg.HEAD); h != r.next {
				t.Errorf("queue %d: head %d, want %d", q, h, r.next)
			}
		}
	})
}

// Real threads: one sends, one reads counters and causes, one resets; the race detector
// watches.
func TestResetsBesideTraffic(t *testing.T) {
	b := newBoardMode(t, "I225-V", hw.EngineThread, kern.Threads)
	deadline := time.Now().Add(10 * time.Second)
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			b.read(emreg.ICR)
			b.read(emreg.TPT)
			b.read(emreg.STATUS)
		}
	}()
	r := b.txOn(0)
	f := rig.Ether(100)
	a := b.Buffer(f)
	put := func() {
		atomic.StoreUint64(&r.words[2*r.next], uint64(a))
		atomic.StoreUint64(&r.words[2*r.next+1], 0x2b300000|100|100<<14<<32)
		r.next = (r.next + 1) % ringCount
		r.doorbell()
	}
	for i := range 300 {
		put()
		if i%20 == 19 {
			b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlRST)
			r = b.txOnAt(r)
		}
	}
	stop.Store(true)
	<-done
	put()
	for b.read(r.base+e1000reg.HEAD) != r.next && b.read(emreg.STATUS)&2 != 0 {
		if time.Now().After(deadline) {
			t.Fatalf("head %d, want %d", b.read(r.base+e1000reg.HEAD), r.next)
		}
	}
}

// txOnAt programs a ring again after a reset.
func (b *board) txOnAt(r *ring) *ring {
	b.write(r.base+e1000reg.BAL, uint32(r.addr))
	b.write(r.base+e1000reg.LEN, ringCount*e1000reg.DescSize)
	b.write(r.base+e1000reg.DCTL, 1<<25)
	b.write(emreg.TCTL, emreg.TCTLEN|emreg.TCTLPSP)
	r.next = 0
	return r
}

// Fail points of descriptors: what they break is visible to a driver, and over when they
// are off.
func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		name, setting string
		want          [2]uint32 // d3 7:0 of both descriptors
		head          uint32
		sent          int
	}{
		{"stuck_head", "return", [2]uint32{0, 0}, 0, 0},
		{"missing_completion", "1*return", [2]uint32{0, 1}, 2, 2},
		{"corrupt_writeback", "1*return(0)", [2]uint32{0xfe, 1}, 2, 2},
		{"repeated_completion", "1*return", [2]uint32{1, 1}, 2, 2},
		{"dma_error", "1*return", [2]uint32{1, 1}, 2, 1},
		{"late_completion", "1*return(50)", [2]uint32{0, 0}, 0, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			each(t, func(t *testing.T, b *board) {
				r := b.txOn(0)
				f := rig.Ether(64) // PAYLEN leaves the status byte alone
				r.frame(f)
				r.doorbell()
				b.Sent()
				b.fault(tc.name, tc.setting)
				r.frame(f)
				r.frame(f)
				r.doorbell()
				if got := [2]uint32{r.status(1) & 0xff, r.status(2) & 0xff}; got != tc.want {
					t.Errorf("status %x, want %x", got, tc.want)
				}
				if h := b.read(r.base+e1000reg.HEAD) - 1; h != tc.head {
					t.Errorf("head moved by %d, want %d", h, tc.head)
				}
				if n := len(b.Sent()); n != tc.sent {
					t.Errorf("%d frames, want %d", n, tc.sent)
				}
				b.fault(tc.name, "off")
				b.K.Advance(100 * time.Millisecond)
				r.frame(f)
				r.doorbell()
				if h := b.read(r.base + e1000reg.HEAD); h != 4 {
					t.Errorf("head %d, want 4: the fault stayed", h)
				}
			})
		})
	}
}
