package hwbhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/offload"
)

// rxBudget is how many frames one run takes before it lets others go first.
const rxBudget = 256

// receiver is the receive work: it takes frames from the port, filters them and gives
// them to a queue.
type receiver struct {
	n       *nic
	sources [hwbreg.MaxQueues]*hw.RxSource
	ready   atomic.Uint32 // bit q: the port's queue q may have frames
	d       delivery
}

func (r *receiver) init(n *nic) {
	r.n = n
	for i := range r.sources {
		r.sources[i] = hw.NewRxSource(n.port, i)
	}
}

// arrived notes that queue q of the port has frames; any goroutine.
func (r *receiver) arrived(q int) {
	if q >= 0 && q < len(r.sources) {
		r.ready.Or(1 << q)
		r.n.engine.Defer(rxWorkQueue)
	}
}

// run takes what has arrived, up to the budget.
func (r *receiver) run() {
	ready := r.ready.Swap(0)
	for q, src := range r.sources {
		if ready&(1<<q) == 0 {
			continue
		}
		left := rxBudget
		for f := src.Peek(); f != nil && left > 0; f = src.Peek() {
			r.receive(f.Data)
			src.Next()
			left--
		}
		src.Flush()
		if lost := src.Counters.Truncated + src.Counters.Malformed; lost != 0 {
			r.count(hwbreg.StatRxErrors, lost)
			src.Counters = hw.RxCounters{}
		}
		if left == 0 {
			r.arrived(q)
		}
	}
}

// receive treats one frame.
func (r *receiver) receive(frame []byte) {
	c := r.n.recv.Load()
	switch c.Filter(frame) {
	case offload.Filtered:
		r.count(hwbreg.StatRxFilter, 1)
		return
	case offload.Faulty:
		r.failed()
		return
	}
	c.Classify(frame, &r.d.info, &r.d.data)
	n := r.d.data.Len()
	if r.n.pairs[r.d.info.Queue%hwbreg.MaxQueues].rx.deliver(&r.d) {
		r.count(hwbreg.StatRxFrames, 1)
		r.count(hwbreg.StatRxBytes, uint64(n))
	}
}

// failed counts a frame that was lost to an error.
func (r *receiver) failed() bool {
	r.count(hwbreg.StatRxErrors, 1)
	return false
}

func (r *receiver) count(stat uint64, v uint64) {
	r.n.stats.Shard(rxWorkQueue).Add(statID(stat), v)
}

// missed counts a frame for which there was no buffer.
func (r *receiver) missed() bool {
	r.count(hwbreg.StatRxMissed, 1)
	return false
}
