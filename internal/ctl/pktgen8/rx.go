package pktgen8

import (
	"context"
	"sync"
	"time"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// idleTime is the silence that ends a run that receives, with UntilIdle.
const idleTime = time.Second

// receiver counts what an interface receives, for one goroutine that looks.
type receiver struct {
	limit uint64        // of frames, 0 for none
	wake  chan struct{} // of one

	mu            sync.Mutex
	frames, bytes uint64
	asleep        bool // who looks waits for wake
}

// tap counts a packet: exactly limit of them, whatever comes.
func (r *receiver) tap(ifp mbuf.RcvIf, m *mbuf.Mbuf) {
	if m.Pkt.RcvIf != ifp {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit != 0 && r.frames == r.limit {
		return
	}
	r.frames++
	r.bytes += uint64(m.Pkt.Len)
	if r.asleep {
		r.asleep = false
		r.wake <- struct{}{}
	}
}

// look returns the counts. If there are no more frames than seen, the next one wakes.
func (r *receiver) look(seen uint64) (frames, bytes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asleep = r.frames == seen
	return r.frames, r.bytes
}

// receive counts until there are enough, or nothing more comes (receiver_body).
func (j *job) receive(ctx context.Context) error {
	r := &receiver{limit: j.p.Frames, wake: make(chan struct{}, 1)}
	idle := newAlarm(j.k)
	defer idle.callout.Drain()
	defer j.ifp.AttachTap(r.tap)()
	for seen := uint64(0); ; {
		frames, bytes := r.look(seen)
		if frames == seen {
			select {
			case <-r.wake:
				continue
			case <-ctx.Done():
				return ctx.Err()
			case <-j.gone:
				return errGone
			case <-idle.c:
				return nil
			}
		}
		seen = frames
		j.received(frames, bytes)
		if frames == r.limit {
			return nil
		}
		if j.p.UntilIdle {
			idle.set(idleTime)
		}
	}
}

// received publishes counts after a look that found something.
func (j *job) received(frames, bytes uint64) {
	now := j.k.Uptime()
	j.mu.Lock()
	if j.last = now; j.first == 0 {
		j.first = now
	}
	j.mu.Unlock()
	j.count.frames.Store(frames)
	j.count.bytes.Store(bytes)
	j.count.batches.Add(1)
}
