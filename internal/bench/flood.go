package bench

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/quiet"
	"golang.org/x/sys/unix"
)

// The flood's flows are those of the call for testers: UDP from 20 addresses to 100, all
// from and to port 2000.
const (
	flowSources      = 20
	flowDestinations = 100
	flowPort         = 2000
	flowHeaders      = 42 // Ethernet, IPv4 and UDP
)

// floodBatch is how many frames arrive at once.
const floodBatch = 32

// flowFrames are a frame of each flow, of size bytes, for the NIC of the given address.
func flowFrames(to [ifnet.EtherAddrLen]byte, size int) []port.RxFrame {
	frames := make([]port.RxFrame, 0, flowSources*flowDestinations)
	for d := range flowDestinations {
		for s := range flowSources {
			f := make([]byte, size)
			copy(f, to[:])
			copy(f[6:], []byte{2, 0, 0, 0, 0, 1})
			binary.BigEndian.PutUint16(f[12:], 0x0800)
			ip := f[14:34]
			ip[0] = 0x45
			binary.BigEndian.PutUint16(ip[2:], uint16(size-14))
			ip[8], ip[9] = 64, 17
			copy(ip[12:], []byte{198, 18, 10, byte(s + 1)})
			copy(ip[16:], []byte{198, 19, 10, byte(d + 1)})
			binary.BigEndian.PutUint16(ip[10:], ipChecksum(ip))
			udp := f[34:] // without checksum
			binary.BigEndian.PutUint16(udp[0:], flowPort)
			binary.BigEndian.PutUint16(udp[2:], flowPort)
			binary.BigEndian.PutUint16(udp[4:], uint16(size-34))
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

// startFlood starts the thread. Closing waves ends it.
func startFlood() *flood {
	f := &flood{waves: make(chan *wave)}
	go f.run()
	return f
}

func (f *flood) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	var set unix.CPUSet
	set.Set(runtime.NumCPU() - 1)
	// A CPU that this process may not use leaves the thread where it is.
	_ = unix.SchedSetaffinity(0, &set)
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
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
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
