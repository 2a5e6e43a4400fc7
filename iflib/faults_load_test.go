package iflib_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
)

// faultScenario is something bad that happens while eight threads send.
type faultScenario struct {
	name    string
	faults  []string          // fail points, on from the start
	control func(r *faultRig) // what another thread does meanwhile
	lossy   bool              // packets that were handed over may not arrive
	depth   int
	shape   bool // the send queue shapes
}

var faultScenarios = []faultScenario{
	{name: "nothing bad"},
	{name: "full ring", depth: 4},
	{name: "stop and init", lossy: true, control: faultRestarts},
	{name: "stop and init of a stuck device", lossy: true, control: faultRestarts, faults: []string{"hw.NAME.stuck_head=return(1)"}},
	{name: "down and up with a full ring", lossy: true, depth: 4, control: faultDownUp},
	{name: "link flaps", lossy: true, control: faultFlaps},
	{name: "link flaps with a full ring", lossy: true, depth: 4, control: faultFlaps},
	{name: "flushes", control: func(r *faultRig) {
		for range 4 {
			r.ifp.QFlush()
			r.k.SchedPoint()
		}
	}},
	{name: "mbuf limit", faults: []string{"mbuf.get=10%return(1)", "mbuf.cluster=10%return(1)"}},
	{name: "DMA map failures", faults: []string{"busdma.load=20%return(12)->20%return(27)"}},
	{name: "DMA errors", lossy: true, faults: []string{"hw.NAME.dma_error=5%return(1)"}},
	{name: "lost interrupts", faults: []string{"hw.NAME.lost_intr=50%return(1)"}},
	{name: "stuck head", faults: []string{"hw.NAME.stuck_head=30%return(1)"}, lossy: true},
	{name: "missing completions", faults: []string{"hw.NAME.missing_completion=30%return(1)"}, lossy: true},
	{name: "late completions", faults: []string{"hw.NAME.late_completion=10%return(3)"}, lossy: true},
	{name: "repeated completions", faults: []string{"hw.NAME.repeated_completion=30%return(1)"}, lossy: true},
	{name: "garbage", faults: []string{"hw.NAME.corrupt_writeback=10%return(0x8000)->10%return(0)->10%return(0x70)"}, lossy: true},
	{name: "everything", lossy: true, depth: 32, control: faultRestarts, faults: []string{
		"hw.NAME.stuck_head=3%return(1)", "hw.NAME.missing_completion=3%return(1)", "hw.NAME.lost_intr=20%return(1)",
		"hw.NAME.dma_error=2%return(1)", "hw.NAME.corrupt_writeback=3%return(0x8000)", "busdma.load=5%return(12)",
		"hw.NAME.late_completion=3%return(2)", "mbuf.cluster=5%return(1)"}},
}

// faultRestarts stops and initialises the interface.
func faultRestarts(r *faultRig) {
	for range 3 {
		r.ifp.InitIf()
		r.k.SchedPoint()
	}
}

// faultDownUp takes the interface down and up again.
func faultDownUp(r *faultRig) {
	for range 2 {
		for _, flags := range []ifnet.Flags{r.ifp.Flags() &^ ifnet.FlagUp, r.ifp.Flags() | ifnet.FlagUp} {
			if err := r.ifp.Ioctl(ifnet.IoctlSetFlags, flags); err != nil {
				r.t.Error(err)
			}
			r.k.SchedPoint()
		}
	}
}

// faultFlaps pulls the cable and plugs it in again.
func faultFlaps(r *faultRig) {
	for range 3 {
		r.far.SetLink(false)
		r.k.SchedPoint()
		r.far.SetLink(true)
		r.k.SchedPoint()
	}
}

// faultLoad is how many packets each of the threads sends.
const faultLoad = 12

// load has eight threads send at once while control runs, and returns how many packets
// were sent and how many of them refused.
func (r *faultRig) load(control func(*faultRig)) (sent, refused int64) {
	r.t.Helper()
	var nsent, nrefused atomic.Int64
	var threads []*kern.Thread
	for i := range faultSenders {
		threads = append(threads, r.k.Spawn(fmt.Sprintf("sender %d", i), func() {
			for range faultLoad {
				m := r.packet(i, faultFrameLen)
				if m == nil {
					continue // a famine
				}
				nsent.Add(1)
				switch err := r.ifp.Transmit(m); {
				case errors.Is(err, syscall.ENXIO):
					nsent.Add(-1) // the interface has gone: not its packet
				case err != nil:
					nrefused.Add(1)
				}
				r.k.SchedPoint()
			}
		}))
	}
	if control != nil {
		threads = append(threads, r.k.Spawn("control", func() { control(r) }))
	}
	for _, th := range threads {
		th.Join()
	}
	return nsent.Load(), nrefused.Load()
}

// underLoad plays a scenario to its end: everything is accounted for, nothing leaks, and
// when it is over traffic flows.
func (r *faultRig) underLoad(s *faultScenario) {
	r.t.Helper()
	r.up()
	if s.shape {
		r.shape(altqRate)
	}
	r.fault(s.faults...)
	sent, refused := r.load(s.control)
	r.settle()
	r.invariants()
	l := r.balanced()
	if l.In != uint64(sent) {
		r.t.Errorf("%d packets sent, ledger %v", sent, l)
	}
	if l.Dropped() < uint64(refused) {
		r.t.Errorf("%d refused, ledger %v", refused, l)
	}
	r.drain()
	r.invariants()
	r.cure(s.faults...)
	if !s.lossy {
		r.k.Advance(faultPeriod)
		r.drain()
		if l := r.balanced(); l.Handed != uint64(r.arrived) || l.Queued != 0 {
			r.t.Errorf("%d frames arrived, ledger %v", r.arrived, l)
		}
		r.quiet()
	}
	r.up()
	r.recover()
	r.resumes()
	r.quiet()
	if s.shape {
		r.snd().Disable()
	}
	r.finish()
}

// invariants checks what holds of each queue at any moment (spec iflib 8, 1 and 3).
func (r *faultRig) invariants() {
	r.t.Helper()
	for i := range r.ctx().NTxqs() {
		s := r.ctx().TxqState(i)
		if s.Processed < s.Cleaned || int(s.InUse) > faultRing || s.DBPending > s.InUse || s.Processed-s.Cleaned > uint64(s.InUse) {
			r.t.Errorf("queue %d: %+v", i, s)
		}
	}
}

// quiet checks what holds when nothing is left to do (spec iflib 8, 4): a period has
// passed.
func (r *faultRig) quiet() {
	r.t.Helper()
	r.k.Advance(faultPeriod)
	r.drain()
	for i := range r.ctx().NTxqs() {
		if s := r.ctx().TxqState(i); s.DBPending != 0 {
			r.t.Errorf("queue %d: %d descriptors wait for a doorbell", i, s.DBPending)
		}
		if s := r.text(fmt.Sprintf("iflib.txq%d.ring_state", i)); r.cfg.path == "mp_ring" && s[len(s)-4:] != "IDLE" {
			r.t.Errorf("queue %d: %s", i, s)
		}
	}
	if l := r.balanced(); l.Queued != 0 {
		r.t.Errorf("packets are stranded: %v", l)
	}
}

// Whatever goes wrong while eight threads send, in whatever order they run.
func TestFaultsUnderInterleavedLoad(t *testing.T) {
	for i := range faultScenarios {
		s := &faultScenarios[i]
		t.Run(s.name, func(t *testing.T) {
			faultSeeded(t, func(t *testing.T, seed uint64, part faultPart, path string) {
				r := newFaultRig(t, faultConfig{part: part, path: path, seed: seed, depth: s.depth, queues: 1 + int(seed>>2)&1})
				r.underLoad(s)
			})
		})
	}
}

// The same with goroutines.
func TestFaultsUnderThreadedLoad(t *testing.T) {
	for i := range faultScenarios {
		s := &faultScenarios[i]
		t.Run(s.name, func(t *testing.T) {
			for n, part := range faultParts {
				if testing.Short() && n%2 != i%2 {
					continue
				}
				path := faultPaths[(n/2+i/2)%len(faultPaths)]
				t.Run(part.chip+"/"+path, func(t *testing.T) {
					r := newFaultRig(t, faultConfig{part: part, path: path, threads: true, seed: uint64(i + 1), depth: s.depth})
					r.underLoad(s)
				})
			}
		})
	}
}

// A device that goes away while eight threads send leaves nothing behind.
func TestDetachUnderLoadLeavesNothing(t *testing.T) {
	faultSeeded(t, faultDetach)
}

func faultDetach(t *testing.T, seed uint64, part faultPart, path string) {
	r := newFaultRig(t, faultConfig{part: part, path: path, seed: seed, queues: 1 + int(seed>>2)&1, depth: 8 << (seed % 6)})
	r.must(r.Detach(r.dev))
	r.settle()
	base, maps := r.holdings(), faultMaps(r)
	r.must(r.Attach(r.dev))
	r.ifp = r.Ifnet(r.dev)
	r.up()
	r.detachUnderLoad(seed%3 == 0)
	r.compare(base, "after detach")
	if n := faultMaps(r); n != maps {
		t.Errorf("%d DMA maps, want %d", n, maps)
	}
	r.must(r.Attach(r.dev))
	r.ifp = r.Ifnet(r.dev)
	r.up()
	r.resumes()
	r.finish()
}

// detachUnderLoad detaches the device, perhaps after a start, while others send, and
// looks at the account.
func (r *faultRig) detachUnderLoad(start bool) {
	r.t.Helper()
	ctx := r.ctx()
	sent, _ := r.load(func(r *faultRig) {
		if start {
			r.ifp.InitIf()
		}
		if err := r.Detach(r.dev); err != nil {
			r.t.Error(err)
		}
	})
	r.settle()
	if l := ctx.Ledger(); l.In != uint64(sent) || !l.Balanced() || l.Queued != 0 {
		r.t.Errorf("%d sent, ledger %v", sent, l)
	}
	r.take()
}

// The same with goroutines.
func TestDetachUnderThreadedLoadLeavesNothing(t *testing.T) {
	for i, part := range faultParts {
		for j, path := range faultPaths {
			if testing.Short() && (i+j)%len(faultPaths) == 0 {
				continue
			}
			t.Run(part.chip+"/"+path, func(t *testing.T) {
				r := newFaultRig(t, faultConfig{part: part, path: path, threads: true})
				r.must(r.Detach(r.dev))
				base, maps := r.holdings(), faultMaps(r)
				for range 3 {
					r.must(r.Attach(r.dev))
					r.ifp = r.Ifnet(r.dev)
					r.up()
					r.detachUnderLoad(false)
					r.compare(base, "after detach")
					if n := faultMaps(r); n != maps {
						t.Errorf("%d DMA maps, want %d", n, maps)
					}
				}
			})
		}
	}
}

// Twenty stops while eight threads send as fast as they can.
func TestStopDuringTransmitFromEightThreads(t *testing.T) {
	for i, part := range faultParts {
		for j, path := range faultPaths {
			if testing.Short() && (i+j)%len(faultPaths) != 0 {
				continue
			}
			t.Run(part.chip+"/"+path, func(t *testing.T) {
				r := newFaultRig(t, faultConfig{part: part, path: path, threads: true})
				r.up()
				stops, most := 20, 4000
				if testing.Short() {
					stops, most = 6, 600
				}
				var done atomic.Bool
				var sent atomic.Int64
				var wg sync.WaitGroup
				for i := range faultSenders {
					wg.Go(func() {
						for n := 0; n < most && !done.Load(); n++ {
							if m := r.packet(i, faultFrameLen); m != nil {
								sent.Add(1)
								_ = r.ifp.Transmit(m) // refused while it is stopped
							}
						}
					})
				}
				for range stops {
					r.ifp.InitIf()
					r.discard()
				}
				done.Store(true)
				wg.Wait()
				r.settle()
				if l := r.balanced(); l.In != uint64(sent.Load()) {
					t.Errorf("%d sent, ledger %v", sent.Load(), l)
				}
				r.up()
				r.recover()
				r.resumes()
				r.finish()
			})
		}
	}
}
