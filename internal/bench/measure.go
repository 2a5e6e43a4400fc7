package bench

import (
	"fmt"
	"time"
)

// measure runs one slice on the producers.
func measure(r *rig, ps []*producer, onDrop OnDrop, d time.Duration) (slice, error) {
	before, err := r.quiesce()
	if err != nil {
		return slice{}, err
	}
	j := &job{
		rig: r, onDrop: onDrop,
		ready: make(chan report, len(ps)), reports: make(chan report, len(ps)),
		start: make(chan struct{}),
	}
	if len(ps) > 1 {
		j.line = new(line)
	}
	cpu := processCPU()
	for _, p := range ps {
		p.jobs <- j
	}
	for range ps {
		<-j.ready
	}
	hw := r.port.Stats().TxFrames
	begin := time.Now()
	close(j.start)
	time.Sleep(d)
	elapsed := time.Since(begin)
	hw = r.port.Stats().TxFrames - hw
	j.stop.Store(true)

	var s slice
	var refused uint64
	var loopCPU, totalCPU time.Duration
	for range ps {
		rep := <-j.reports
		s.offered += rep.offered
		refused += rep.refused
		loopCPU += rep.loopCPU
		totalCPU += rep.totalCPU
		s.cal = max(s.cal, rep.cal)
		s.crossing = max(s.crossing, rep.crossing)
	}
	after, err := r.quiesce()
	if err != nil {
		return slice{}, err
	}
	others := max(0, processCPU()-cpu-totalCPU) // tasks and engines
	s.sent = after.Handed - before.Handed
	s.dropped = after.Dropped() - before.Dropped() - refused
	if s.sent+s.dropped != s.offered {
		return slice{}, fmt.Errorf("%s: sent %d + dropped %d is not the offered %d", r.arm.name(), s.sent, s.dropped, s.offered)
	}
	s.pps = float64(hw) / elapsed.Seconds()
	if s.offered != 0 {
		s.share = float64(s.sent) / float64(s.offered)
	}
	if s.sent != 0 {
		s.cpuNs = float64((loopCPU + others).Nanoseconds()) / float64(s.sent)
	}
	return s, nil
}
