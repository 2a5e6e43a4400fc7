package kern

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// seedStream separates the scheduler's random numbers from others of the seed.
	seedStream = 0x7363686564
	// delayPatience is how many steps a coroutine in Delay waits for the others to
	// become idle before the clock moves anyway: work that queues itself for ever
	// must not stop time.
	delayPatience = 10_000
)

// stepper is the stepped executor. Its caller, the driver, is the only goroutine
// that runs, except while it has switched to a coroutine and waits for it.
type stepper struct {
	k       *Kernel
	rng     *rand.Rand // nil with seed 0: round robin, no preemption
	threads []*Thread  // spawned and not ended
	cur     *Thread    // nil: the driver runs
	driver  Thread     // holds what the driver has locked; never scheduled
	lastID  uintptr
	turn    int    // seed 0: place after the last one picked
	restive int    // steps since the last idle moment with a Delay going on
	closing bool   // coroutines are unwound: nothing is scheduled any more
	picks   []pick // scratch
}

// pick is something that Step may run: a thread, or a queue whose coroutine is
// not made yet.
type pick struct {
	place int
	t     *Thread
	q     *runq
}

func newStepper(k *Kernel, seed uint64) *stepper {
	s := &stepper{k: k}
	s.driver.name, s.driver.id = "driver", s.newID()
	if seed != 0 {
		s.rng = rand.New(rand.NewPCG(seed, seedStream))
	}
	return s
}

// newID numbers threads from 1: 0 owns nothing.
func (s *stepper) newID() uintptr {
	s.lastID++
	return s.lastID
}

// self is the thread that runs now.
func (s *stepper) self() *Thread {
	if s.cur != nil {
		return s.cur
	}
	return &s.driver
}

// point may let another coroutine run. The driver is never preempted.
func (s *stepper) point() {
	if s.cur == nil || s.rng == nil || s.closing || s.rng.Uint64()&1 == 0 {
		return
	}
	s.cur.suspend()
}

// wait suspends the caller until ready. The driver steps the others meanwhile; if
// none can run, nothing can end the wait, and that is a deadlock.
func (s *stepper) wait(what string, ready func() bool, owner func() *Thread) {
	t := s.self()
	if ready() {
		return
	}
	if s.closing {
		panic(unwinding{}) // a deferred call waits for what will not come
	}
	t.waitsFor, t.ready, t.owner = what, ready, owner
	defer func() { t.waitsFor, t.ready, t.owner = "", nil, nil }()
	if s.cur != nil {
		for !ready() {
			t.suspend()
		}
		return
	}
	for !ready() {
		if !s.step() {
			panic(s.deadlock())
		}
	}
}

// yieldOrStep lets others run while the caller waits for something that this
// executor does not see.
func (s *stepper) yieldOrStep() {
	if s.cur != nil {
		s.cur.suspend()
		return
	}
	if !s.step() {
		panic(s.deadlock())
	}
}

// delay is Delay for this executor.
func (s *stepper) delay(d time.Duration) {
	if s.cur == nil {
		s.advance(d)
		return
	}
	t := s.cur
	t.wakeAt = s.k.Uptime() + d
	for s.k.Uptime() < t.wakeAt {
		t.suspend()
	}
	t.wakeAt = 0
}

// step runs one thing; false when nothing is runnable.
func (s *stepper) step() bool {
	if s.cur != nil {
		panic("kern: Step, RunUntilIdle or Advance called from " + s.cur.name)
	}
	for {
		s.k.callouts.fire(s.k.Uptime())
		p, ok := s.choose()
		wake, sleeping := s.earliestDelay()
		if ok && (!sleeping || s.restive < delayPatience) {
			if s.restive++; !sleeping {
				s.restive = 0
			}
			s.run(p)
			return true
		}
		s.restive = 0
		if !sleeping {
			s.checkDeadlock()
			return false
		}
		s.passTime(wake)
	}
}

// earliestDelay is the time at which the first Delay ends.
func (s *stepper) earliestDelay() (wake time.Duration, any bool) {
	s.eachThread(func(t *Thread) {
		if t.wakeAt > s.k.Uptime() && (!any || t.wakeAt < wake) {
			wake, any = t.wakeAt, true
		}
	})
	return wake, any
}

// passTime lets the clock reach t or the next callout, whichever is earlier.
func (s *stepper) passTime(t time.Duration) {
	if next, ok := s.k.callouts.next(); ok && next < t {
		t = next
	}
	if s.k.clock.manual {
		s.k.clock.raise(t)
		return
	}
	time.Sleep(t - s.k.Uptime())
}

// eachQueue calls fn for CPUs in order, then for task queues by age.
func (s *stepper) eachQueue(fn func(*runq)) {
	for _, q := range s.k.cpus {
		fn(q)
	}
	for _, q := range s.k.taskqs {
		fn(q)
	}
}

// eachThread calls fn for every coroutine that has not ended.
func (s *stepper) eachThread(fn func(*Thread)) {
	s.eachQueue(func(q *runq) {
		if q.worker != nil {
			fn(q.worker)
		}
	})
	for _, t := range s.threads {
		fn(t)
	}
}

// choose picks what runs next: by the seed, or round robin.
func (s *stepper) choose() (pick, bool) {
	now := s.k.Uptime()
	s.picks = s.picks[:0]
	place := 0
	s.eachQueue(func(q *runq) {
		w := q.worker
		if w != nil && w.midItem {
			if w.runnable(now) {
				s.picks = append(s.picks, pick{place: place, t: w})
			}
		} else if !q.empty() && (w == nil || !w.ended) {
			s.picks = append(s.picks, pick{place: place, t: w, q: q})
		}
		place++
	})
	for _, t := range s.threads {
		if t.runnable(now) {
			s.picks = append(s.picks, pick{place: place, t: t})
		}
		place++
	}
	if len(s.picks) == 0 {
		return pick{}, false
	}
	if s.rng != nil {
		return s.picks[s.rng.IntN(len(s.picks))], true
	}
	i := max(0, slices.IndexFunc(s.picks, func(p pick) bool { return p.place >= s.turn }))
	s.turn = s.picks[i].place + 1
	return s.picks[i], true
}

// run switches to what was picked until it suspends or ends. A panic in it
// arrives here and goes on to the driver's caller.
func (s *stepper) run(p pick) {
	if p.t == nil {
		p.t = s.newWorker(p.q)
	}
	s.cur = p.t
	defer s.stopped(p)
	p.t.resume()
}

func (s *stepper) stopped(p pick) {
	s.cur = nil
	if i := slices.Index(s.threads, p.t); i >= 0 && p.t.ended {
		s.threads = slices.Delete(s.threads, i, i+1)
		s.turn = p.place // where the next one has moved to
	}
}

// newWorker makes the coroutine that runs the items of q, one each time it is
// picked.
func (s *stepper) newWorker(q *runq) *Thread {
	t := &Thread{k: s.k, name: q.name, done: make(chan struct{})}
	t.makeCoroutine(func() {
		for {
			if w := q.pop(); w != nil {
				t.midItem = true
				q.work(w)
				t.midItem = false
				q.ran.Add(1)
			}
			t.suspend()
		}
	})
	q.worker = t
	return t
}

// panicking tells of the panic of the running coroutine, which is not switched meanwhile:
// what runs counts as the driver.
func (s *stepper) panicking(reason any) {
	cur := s.cur
	s.cur = nil
	defer func() { s.cur = cur }()
	s.k.Panicking(reason)
}

// retire ends the coroutine of a queue and drops what is queued there.
func (s *stepper) retire(q *runq) {
	q.closed.Store(true)
	if q.worker != nil {
		s.unwind(q.worker)
	}
	q.discard()
}

// unwind ends a coroutine where it is suspended. Its deferred calls run as it.
func (s *stepper) unwind(t *Thread) {
	caller := s.cur
	s.cur = t
	defer func() { s.cur = caller }()
	t.unwind()
	t.end()
}

// advance moves time by d, running everything that becomes runnable on the way.
func (s *stepper) advance(d time.Duration) {
	end := s.k.Uptime() + d
	for {
		s.runUntilIdle()
		next, ok := s.k.callouts.next()
		if s.k.Uptime() >= end && (!ok || next > s.k.Uptime()) {
			return
		}
		s.passTime(max(end, s.k.Uptime()))
	}
}

func (s *stepper) runUntilIdle() int {
	n := 0
	for s.step() {
		n++
	}
	return n
}

// close unwinds every coroutine.
func (s *stepper) close() {
	s.closing = true
	for _, q := range s.k.endQueues() {
		s.retire(q)
	}
	for _, t := range s.threads {
		s.unwind(t)
	}
	s.threads = nil
}
