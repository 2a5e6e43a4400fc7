package offload

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
)

// rxBudget is how many frames one run takes before it lets others go first.
const rxBudget = 256

// ReceiverConfig says what a receiver works with.
type ReceiverConfig struct {
	Port   port.Port
	Queues int // receive queues of the port that are served, at most 32
	Stats  *Stats
	Work   int    // engine queue of the receive work
	Wake   func() // defers that work; any goroutine

	// Deliver gives a frame to the queue that in.Queue names, and reports whether
	// the queue took it. If not, it has called Missed or Failed.
	Deliver func(in *Info, data *hw.Gather) bool
}

// Receiver is the receive work of a part, one for all queues: it takes frames from the
// port, filters them and gives them to a queue. What it is set up with is replaced by
// [Receiver.Set]; the rest belongs to the engine's work.
type Receiver struct {
	cfg     ReceiverConfig
	sources []*hw.RxSource
	ready   atomic.Uint32 // bit q: the port's queue q may have frames
	setup   atomic.Pointer[Receive]

	// The frame at hand.
	info Info
	data hw.Gather
}

// NewReceiver makes a receiver that takes nothing until it is set up.
func NewReceiver(cfg ReceiverConfig) *Receiver {
	r := &Receiver{cfg: cfg, sources: make([]*hw.RxSource, cfg.Queues)}
	for q := range r.sources {
		r.sources[q] = hw.NewRxSource(cfg.Port, q)
	}
	r.setup.Store(&Receive{})
	return r
}

// Set sets the receiver up anew; any goroutine.
func (r *Receiver) Set(c *Receive) { r.setup.Store(c) }

// Arrived notes that queue q of the port has frames; any goroutine.
func (r *Receiver) Arrived(q int) {
	if q >= 0 && q < len(r.sources) {
		r.ready.Or(1 << q)
		r.cfg.Wake()
	}
}

// Run takes what has arrived, up to the budget.
func (r *Receiver) Run() {
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
			r.count(nicreg.StatRxErrors, lost)
			src.Counters = hw.RxCounters{}
		}
		if left == 0 {
			r.Arrived(q)
		}
	}
}

// receive treats one frame.
func (r *Receiver) receive(frame []byte) {
	c := r.setup.Load()
	switch c.Filter(frame) {
	case Filtered:
		r.count(nicreg.StatRxFilter, 1)
		return
	case Faulty:
		r.Failed()
		return
	}
	c.Classify(frame, &r.info, &r.data)
	n := r.data.Len()
	if r.cfg.Deliver(&r.info, &r.data) {
		r.count(nicreg.StatRxFrames, 1)
		r.count(nicreg.StatRxBytes, uint64(n))
	}
}

// Failed counts a frame that was lost to an error. False, for Deliver to return.
func (r *Receiver) Failed() bool {
	r.count(nicreg.StatRxErrors, 1)
	return false
}

// Missed counts a frame for which there was no room. False, for Deliver to return.
func (r *Receiver) Missed() bool {
	r.count(nicreg.StatRxMissed, 1)
	return false
}

func (r *Receiver) count(stat, v uint64) { r.cfg.Stats.Count(r.cfg.Work, stat, v) }
