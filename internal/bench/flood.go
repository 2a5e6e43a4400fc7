package bench

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/quiet"
)

// The flood's flows are those of the call for testers: UDP from 20 addresses to 100, all
// from and to port 2000.
const (
	flowSources      = 20
	flowDestinations = 100
	flowPort         = 2000
)

// floodBatch is how many frames arrive at once.
const floodBatch = 32

// flowFrames are a frame of each flow, of size bytes, for the NIC of the given address.
func flowFrames(to [ifnet.EtherAddrLen]byte, size int) []port.RxFrame {
	frames := make([]port.RxFrame, 0, flowSources*flowDestinations)
	for d := range flowDestinations {
		for s := range flowSources {
			f := make([]byte, size)
			putHeaders(f, size, headers{to: to, src: [4]byte{198, 18, 10, byte(s + 1)}, dst: [4]byte{198, 19, 10, byte(d + 1)}, sport: flowPort, dport: flowPort})
			frames = append(frames, port.RxFrame{Data: f})
		}
	}
	return frames
}

// flood is a thread, bound to the last CPU, that has frames arrive at a router as fast as
// it takes them from the NIC. With the inline engine it does the receiving hardware's work,
// too. It does not offer more: hardware that is busy with frames that it misses would take
// the CPUs' time that a real one does not take.
type flood struct {
	waves chan *wave
	ended chan struct{}
	sink  uint64
}

// window is how many frames may wait in a receive queue, of some thousand descriptors: more
// than come while interrupts are held back.
const window = 512

// wave is one slice as the flood sees it.
type wave struct {
	to    *router
	ready chan struct{}
	start chan struct{}
	stop  atomic.Bool
	done  chan waveReport
}

// waveReport is what the flood did in a slice.
type waveReport struct {
	offered uint64        // frames
	cpu     time.Duration // of the flood, and of hardware that it drives
	cal     float64       // ns a calibration round, the slower of before and after
}

// startFlood starts the thread, which stop ends.
func startFlood() *flood {
	f := &flood{waves: make(chan *wave), ended: make(chan struct{})}
	go f.run()
	return f
}

func (f *flood) stop() {
	close(f.waves)
	<-f.ended
}

func (f *flood) run() {
	defer close(f.ended)
	bind(runtime.NumCPU() - 1)
	for w := range f.waves {
		f.serve(w)
	}
}

func (f *flood) serve(w *wave) {
	begin := threadCPU()
	r := waveReport{cal: quiet.Loop(&f.sink, quiet.Rounds)}
	w.ready <- struct{}{}
	<-w.start
	frames, port := w.to.frames, w.to.in.port
	way := newRoom(w.to)
	for next := 0; !w.stop.Load(); {
		if !way.open() {
			pause()
			continue
		}
		batch := frames[next:min(next+floodBatch, len(frames))]
		n := port.Inject(batch...)
		way.fill(n)
		r.offered += uint64(n)
		next = (next + n) % len(frames)
	}
	r.cal = max(r.cal, quiet.Loop(&f.sink, quiet.Rounds))
	r.cpu = threadCPU() - begin
	w.done <- r
}

// pause waits a moment, and lets a thread of the router have the CPU if they share it.
func pause() {
	const spins = 32
	for range spins {
		kern.SpinWait()
	}
	yield()
}

// room tells how much room a router has for frames.
type room struct {
	ctx    *iflib.Ctx
	most   uint64
	taken  uint64    // by the driver, when last looked at
	since  time.Time // when it was another number
	behind uint64    // frames that arrived and are not taken
}

func newRoom(r *router) *room {
	return &room{ctx: r.in.ctx, most: uint64(window * r.in.ctx.NRxqs()), taken: r.in.ctx.RxLedger().Taken, since: time.Now()}
}

// fill books frames that arrived.
func (w *room) fill(n int) { w.behind += uint64(n) }

// open reports whether more may arrive. Frames that nobody takes for so long are missed.
func (w *room) open() bool {
	const missed = 2 * time.Millisecond
	if w.behind < w.most {
		return true
	}
	if taken := w.ctx.RxLedger().Taken; taken != w.taken {
		w.behind -= min(taken-w.taken, w.behind)
		w.taken, w.since = taken, time.Now()
	} else if time.Since(w.since) > missed {
		w.behind, w.since = 0, time.Now()
	}
	return w.behind < w.most
}
