package bench

import "fmt"

// sharedLimit is how much slower than the best calibration a slice may run
// before the host counts as shared, and reruns how often such a slice is run
// again before it is taken as it is. Of silentRuns slices one must send.
const (
	sharedLimit = 1.2
	reruns      = 3
	silentRuns  = 10
)

// extraProcs is how many Ps a run has beyond one for every pinned thread
// (spec budget 6.4).
const extraProcs = 4

// slice is one measurement: one arm, one configuration, one short time.
type slice struct {
	offered, sent, dropped uint64
	missed                 uint64   // by the hardware that receives
	pps                    float64  // packets a second that reached the hardware
	share                  float64  // sent of offered
	cpuNs                  float64  // CPU nanoseconds per packet sent
	cal                    float64  // ns a calibration round
	crossing               float64  // ns for a cache line to change CPUs, 0 if not measured
	perQueue               []uint64 // packets of each transmit queue, if they are of interest
}

// series are the slices of one arm, and how many of them are kept although the host was
// shared.
type series struct {
	slices []slice
	shared int
}

// rounds runs slices in turns.
type rounds struct {
	o     *Options
	best  float64 // fastest calibration seen with these threads, which may share a core
	done  int
	total int
}

// run measures all arms, round by round. The one that goes first changes from round to
// round. Threads that outnumber the CPUs say nothing about the host.
func (t *rounds) run(arms []arm, outnumbered bool, measure func(arm int) (slice, error)) ([]series, error) {
	all := make([]series, len(arms))
	for round := range t.o.Runs {
		for i := range arms {
			at := (round + i) % len(arms)
			s, shared, err := t.slice(arms[at], outnumbered, func() (slice, error) { return measure(at) })
			if err != nil {
				return nil, err
			}
			all[at].slices = append(all[at].slices, s)
			if shared {
				all[at].shared++
			}
		}
	}
	return all, nil
}

// slice measures one slice, again if the host was shared meanwhile.
func (t *rounds) slice(a arm, outnumbered bool, measure func() (slice, error)) (s slice, shared bool, err error) {
	for range reruns {
		if s, err = t.loud(a, measure); err != nil {
			return s, false, err
		}
		if t.best == 0 || s.cal < t.best {
			t.best = s.cal
		}
		if shared = s.cal > sharedLimit*t.best && !outnumbered; !shared {
			break
		}
	}
	t.done++
	if t.o.Progress != nil {
		t.o.Progress(t.done, t.total)
	}
	return s, shared, nil
}

// loud measures one slice, again if nothing was sent: the host may keep a thread from a
// CPU for longer than a short slice, which has no ratio to another.
func (t *rounds) loud(a arm, measure func() (slice, error)) (slice, error) {
	for range silentRuns {
		if s, err := measure(); err != nil || s.pps > 0 {
			return s, err
		}
	}
	return slice{}, fmt.Errorf("%s: nothing was sent in %d slices of %v", a.name(), silentRuns, t.o.Duration)
}
