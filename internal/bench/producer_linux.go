package bench

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/quiet"
)

// producer is a sending thread, bound to a CPU.
type producer struct {
	id   int
	gens map[*rig]*generator
	jobs chan *job
	sink uint64
}

// job is one slice as the producers see it.
type job struct {
	rig     *rig
	onDrop  OnDrop
	line    *line // to measure the crossing between producers 0 and 1; nil for none
	ready   chan report
	start   chan struct{}
	stop    atomic.Bool
	reports chan report
}

// report is what one producer did in a slice.
type report struct {
	offered  uint64 // packets
	refused  uint64 // attempts of the closed loop that were refused and repeated
	loopCPU  time.Duration
	totalCPU time.Duration
	cal      float64 // ns a calibration round, the slower of before and after
	crossing float64 // ns, 0 if not measured
}

// startProducers starts n producers. Closing their jobs channel ends them and
// returns their caches.
func startProducers(n int, rigs []*rig) []*producer {
	ps := make([]*producer, n)
	for i := range ps {
		p := &producer{id: i, gens: map[*rig]*generator{}, jobs: make(chan *job)}
		for _, r := range rigs {
			p.gens[r] = newGenerator(r.zones, uint16(1024+i))
		}
		ps[i] = p
	}
	return ps
}

// run serves jobs until there are no more.
func (p *producer) run() {
	bind(p.id % runtime.NumCPU())
	for j := range p.jobs {
		p.serve(j)
	}
	for _, g := range p.gens {
		g.cache.Close()
	}
}

func (p *producer) serve(j *job) {
	begin := threadCPU()
	r := report{cal: quiet.Loop(&p.sink, quiet.Rounds)}
	switch {
	case j.line == nil:
	case p.id == 0:
		r.crossing = j.line.time()
	case p.id == 1:
		j.line.serve(1)
	}
	j.ready <- report{}
	<-j.start
	loop := threadCPU()
	if j.onDrop == RetryPacket {
		p.closedLoop(j, &r)
	} else {
		p.openLoop(j, &r)
	}
	r.loopCPU = threadCPU() - loop
	r.cal = max(r.cal, quiet.Loop(&p.sink, quiet.Rounds))
	r.totalCPU = threadCPU() - begin
	j.reports <- r
}

// openLoop sends packet after packet, whatever becomes of them.
func (p *producer) openLoop(j *job, r *report) {
	g, ifp := p.gens[j.rig], j.rig.ifp
	for !j.stop.Load() {
		m := g.packet()
		if m == nil {
			kern.SpinWait() // the memory is in the rings
			continue
		}
		r.offered++
		// A refused packet is in the interface's own account.
		_ = ifp.Transmit(m)
	}
}

// closedLoop sends every packet until it is taken. Transmit frees what it
// refuses, so another attempt is another copy. The packet at which the slice
// ends is withdrawn if it was not taken.
func (p *producer) closedLoop(j *job, r *report) {
	g, ifp := p.gens[j.rig], j.rig.ifp
	for !j.stop.Load() {
		for taken := false; !taken && !j.stop.Load(); {
			m := g.packet()
			if m == nil {
				kern.SpinWait()
				continue
			}
			if ifp.Transmit(m) == nil {
				taken = true
				r.offered++
			} else {
				r.refused++
			}
		}
	}
}
