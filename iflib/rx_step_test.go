package iflib

import (
	"bytes"
	"testing"
)

// steppingRx is a device that lets others run wherever the driver touches it.
type steppingRx struct{ *fakeRx }

func (hw steppingRx) RxdAvailable(qid int, cidx QIdx, budget int) int {
	hw.r.k.SchedPoint()
	return hw.fakeRx.RxdAvailable(qid, cidx, budget)
}

func (hw steppingRx) RxdPktGet(ri *RxdInfo) error {
	err := hw.fakeRx.RxdPktGet(ri)
	hw.r.k.SchedPoint()
	return err
}

func (hw steppingRx) RxdRefill(iru *RxdUpdate) {
	hw.r.k.SchedPoint()
	hw.fakeRx.RxdRefill(iru)
}

// TestStopInTheMiddleOfAPass stops and inits at every point of a pass where
// another thread may run. The device keeps its completions until the task is
// gone.
func TestStopInTheMiddleOfAPass(t *testing.T) {
	const seeds, restarts, frames = 150, 4, 60
	inactive := uint64(0)
	for seed := uint64(1); seed <= seeds; seed++ {
		r := startedRig(t, rxConfig{size: 16, seed: seed})
		r.q.txrx = steppingRx{r.hw}
		var sent [][]byte
		r.k.Spawn("wire", func() {
			for range frames {
				if f := r.hw.receive(0, RxdInfo{}, fakeFrag{0, 100 + len(sent)}); f != nil {
					sent = append(sent, f)
				}
				r.k.SchedPoint()
			}
		})
		ctl := r.k.Spawn("control", func() {
			for range restarts {
				r.ctx.admit.Store(0)
				r.k.SchedPoint()
				r.stop()
				r.k.SchedPoint()
				if err := r.init(); err != nil {
					t.Error(err)
				}
			}
		})
		ctl.Join()
		r.k.RunUntilIdle()
		r.verify()
		subsequence(t, r.got, sent)
		inactive += r.ctx.RxLedger().Inactive
		r.finish()
	}
	if inactive == 0 {
		t.Error("no seed stopped a pass in its middle")
	}
}

// subsequence checks that what came up are frames that were received, in order
// and each once.
func subsequence(t *testing.T, got []rxGotten, sent [][]byte) {
	t.Helper()
	i := 0
	for n, g := range got {
		for i < len(sent) && !bytes.Equal(sent[i], g.data) {
			i++
		}
		if i == len(sent) {
			t.Fatalf("packet %d of %d bytes was not received, or not in this order", n, len(g.data))
		}
		i++
	}
}
