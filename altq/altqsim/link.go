package altqsim

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Config of a link.
type Config struct {
	// Rate in bits a second and Depth in bytes of the regulator; Rate 0: none.
	Rate, Depth uint64
	// Hz of the tick, 0 for 1000.
	Hz int
	// TimerOnly: packets leave at ticks only. Otherwise each that is queued kicks too.
	TimerOnly bool
	// Bin is the width of Flow.Bins, 0 for 100 ms.
	Bin time.Duration
}

// What a Config has by default, and the uptime at which a link begins.
const (
	defaultHz  = 1000
	defaultBin = 100 * time.Millisecond
	bootTime   = 10 * time.Second
)

// Link is a queue under simulated time.
type Link struct {
	// Queue shapes. It is the caller's to reconfigure between runs.
	Queue *altq.Queue

	cfg    Config
	cache  *mbuf.Cache
	now    time.Duration // uptime
	mark   time.Duration
	events events
	seq    uint64
	flows  []*Flow
	// onSend sees each frame that leaves, nil for nobody.
	onSend func(f *Flow, at time.Duration)
}

// New makes a link that shapes by d. Errors are those of altq.Queue.
func New(k *kern.Kernel, d altq.Discipline, cfg Config) (*Link, error) {
	if cfg.Hz == 0 {
		cfg.Hz = defaultHz
	}
	if cfg.Bin == 0 {
		cfg.Bin = defaultBin
	}
	l := &Link{cfg: cfg, cache: mbuf.Of(k).NewCache(), now: bootTime, mark: bootTime}
	l.Queue = altq.NewQueue(altq.Env{
		Kernel: k, Name: "sim0", MaxLen: altq.DefaultQLimit, Start: l.start,
		Now: func() altq.Time { return altq.TimeOf(l.now) }, Arm: l.armTick,
	})
	if err := l.Queue.Attach(d); err != nil {
		l.Close()
		return nil, fmt.Errorf("link: %w", err)
	}
	if err := l.Queue.Enable(); err != nil {
		l.Close()
		return nil, fmt.Errorf("link: %w", err)
	}
	if cfg.Rate != 0 {
		if err := l.Queue.SetTBR(altq.Profile{Rate: cfg.Rate, Depth: cfg.Depth}); err != nil {
			l.Close()
			return nil, fmt.Errorf("link: %w", err)
		}
	}
	return l, nil
}

// Close frees what is queued.
func (l *Link) Close() {
	l.Queue.Close()
	l.cache.Close()
}

// Elapsed is the time since the link was made.
func (l *Link) Elapsed() time.Duration { return l.now - bootTime }

// OnSend calls fn for each frame that leaves, with the time since the link was made.
func (l *Link) OnSend(fn func(f *Flow, at time.Duration)) { l.onSend = fn }

// Mark begins a new measurement: rates and delays count from here.
func (l *Link) Mark() {
	l.mark = l.now
	for _, f := range l.flows {
		f.window = window{}
	}
}

// Run lets d pass.
func (l *Link) Run(d time.Duration) {
	end := l.now + d
	for len(l.events) > 0 && l.events[0].at <= end {
		e := heap.Pop(&l.events).(event)
		l.now = e.at
		e.fn()
	}
	l.now = end
}

// Jump moves the clock without anything happening meanwhile, as when a host stalls.
// What was due runs late, in the next Run.
func (l *Link) Jump(d time.Duration) {
	l.now += d
	for i := range l.events {
		l.events[i].at = max(l.events[i].at, l.now)
	}
}

// At calls fn when d has passed since the link was made.
func (l *Link) At(d time.Duration, fn func()) { l.at(bootTime+d, fn) }

func (l *Link) at(t time.Duration, fn func()) {
	l.seq++
	heap.Push(&l.events, event{max(t, l.now), l.seq, fn})
}

// armTick arranges the next tick: ticks fall on multiples of their length.
func (l *Link) armTick() {
	tick := time.Second / time.Duration(l.cfg.Hz)
	l.at(l.now-l.now%tick+tick, l.Queue.Tick)
}

// start is if_start: the wire takes everything.
func (l *Link) start() {
	for m := l.Queue.Dequeue(); m != nil; m = l.Queue.Dequeue() {
		f := l.flows[m.Pkt.FlowID]
		f.sent(m)
		if l.onSend != nil {
			l.onSend(f, l.now-bootTime)
		}
		l.cache.FreeChain(m)
	}
}

// Send gives one frame of the flow to the queue now and reports whether it was
// taken without a drop.
func (l *Link) Send(f *Flow) bool {
	m := l.cache.GetHdr()
	if m == nil {
		return false
	}
	m.QID, m.QIDHash = f.src.QID, f.src.Hash
	m.Pkt.Len = int32(f.src.Size)
	m.Pkt.FlowID = uint32(f.index)
	m.Pkt.CsumData = f.arrive(l.now)
	if l.Queue.Enqueue(m) != nil {
		f.refused()
		return false
	}
	if !l.cfg.TimerOnly {
		l.Queue.Kick()
	}
	return true
}

// event is something that happens at a time; equal times in order of seq.
type event struct {
	at  time.Duration
	seq uint64
	fn  func()
}

type events []event

func (h events) Len() int      { return len(h) }
func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h events) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].seq < h[j].seq
}
func (h *events) Push(x any) { *h = append(*h, x.(event)) }
func (h *events) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
