package iflibtest

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// deadline bounds one rule on one way, in real time: a driver that hangs fails. One that
// goes round is stopped at its next call.
const deadline = 2 * time.Minute

// patience is d, or five times as much in a whole run with the race detector, which makes
// a busy machine as slow as one that hangs.
func patience(d time.Duration) time.Duration {
	const slow = 5
	if raceEnabled && !testing.Short() {
		return slow * d
	}
	return d
}

// finding is a breach of a rule.
type finding struct {
	rule string
	way  way
	text string // what, at which queue and descriptor, with the ring
}

// Run judges the driver that newDevice describes by all rules, each as a subtest.
func Run(t *testing.T, newDevice func() Device, opts ...Option) {
	t.Helper()
	o := collect(opts)
	o.short = o.short || testing.Short()
	for at, r := range Rules() {
		if o.only != nil && !o.only[r.Name] {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			for _, w := range r.ways(o, at) {
				f, skip := r.judge(newDevice, o, w)
				switch {
				case f != nil:
					report(t, r, f)
					return
				case skip != "":
					t.Logf("%v: nothing to judge: %s", w, skip)
				}
			}
		})
	}
}

// report tells of a finding.
func report(t *testing.T, ran Rule, f *finding) {
	t.Helper()
	for _, r := range Rules() {
		if r.Name == f.rule {
			t.Errorf("rule %s: %s\n(%s)\n%v: %s", r.Name, r.Sentence, r.Doc, f.way, f.text)
		}
	}
	if f.rule != ran.Name {
		t.Logf("found by the scenario of %s", ran.Name)
	}
}

// findings judges by all rules and returns what was found, in order.
func findings(newDevice func() Device, o options) (all []finding) {
	for at, r := range Rules() {
		if o.only != nil && !o.only[r.Name] {
			continue
		}
		for _, w := range r.ways(o, at) {
			if f, _ := r.judge(newDevice, o, w); f != nil {
				all = append(all, *f)
				break
			}
		}
	}
	return all
}

// check is one run of a rule's scenario.
type check struct {
	newDevice func() Device
	options
	rule string
	way  way

	beds []*bed

	late    atomic.Bool    // the deadline has passed
	besides sync.WaitGroup // goroutines beside the scenario
	calmed  chan struct{}  // closed to end them; nil without any

	mu    sync.Mutex
	skip  string   // why there is nothing to judge; guarded by mu
	first *finding // guarded by mu
	own   bool     // first is of the scenario, not of a watched rule; guarded by mu
}

// stop is the panic value that ends a scenario.
type stop struct{}

// judge runs the rule's scenario on one way. skip says why the driver gives it nothing to
// judge.
func (r Rule) judge(newDevice func() Device, o options, w way) (f *finding, skip string) {
	c := &check{newDevice: newDevice, options: o, rule: r.Name, way: w}
	f = c.within(patience(deadline), r.check)
	c.mu.Lock()
	defer c.mu.Unlock()
	return f, c.skip
}

// within runs a scenario for so long at most, in real time.
func (c *check) within(most time.Duration, scenario func(c *check)) *finding {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.guard(func() { scenario(c) })
		c.guard(c.finish)
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		c.note(true, c.rule, "the driver did not come back within %v", most)
		c.late.Store(true)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

// guard runs a part of the scenario; a panic of the driver or of an assertion in the
// framework is a finding.
func (c *check) guard(f func()) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil, stop:
		default:
			c.note(true, c.rule, "panic: %v\n%s", p, stack())
		}
	}()
	f()
}

// stack is the part of the stack that led to a panic.
func stack() string {
	const most = 24 // lines
	_, after, ok := strings.Cut(string(debug.Stack()), "panic(")
	if !ok {
		return ""
	}
	lines := strings.Split(after, "\n")
	return strings.Join(lines[:min(len(lines), most)], "\n")
}

// note keeps a finding. The first breach of a watched rule takes the place of what the
// scenario itself found, which is a consequence.
func (c *check) note(own bool, rule, format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil || c.own && !own {
		c.first, c.own = &finding{rule: rule, way: c.way, text: fmt.Sprintf(format, a...)}, own
	}
}

// breach notes that a watched rule was broken; the run goes on.
func (c *check) breach(rule, format string, a ...any) { c.note(false, rule, format, a...) }

// failf notes that the scenario's rule does not hold, and ends the scenario. The cause may
// be that of a watched rule.
func (c *check) failf(format string, a ...any) {
	c.note(true, c.rule, format, a...)
	for _, b := range c.beds {
		b.quiet()
	}
	panic(stop{})
}

// must ends the scenario unless err is nil.
func (c *check) must(err error) {
	if err != nil {
		c.failf("%v", err)
	}
}

// none ends a scenario that the driver gives nothing to judge.
func (c *check) none(why string) {
	c.mu.Lock()
	c.skip = why
	c.mu.Unlock()
	panic(stop{})
}

// failed reports whether anything was found.
func (c *check) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first != nil
}

// stopIfFailed ends the scenario once a watched rule was broken.
func (c *check) stopIfFailed() {
	if c.failed() {
		panic(stop{})
	}
}

// closing bounds the end of a machine that has failed.
const closing = 5 * time.Second

// finish ends the scenario's machines. One that has failed is closed as well as it goes.
func (c *check) finish() {
	c.calm()
	for _, b := range c.beds {
		if !c.failed() {
			b.finish()
			continue
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }() // the machine is broken; the finding stands
			_ = b.k.Close()
		}()
		select {
		case <-done:
		case <-time.After(closing):
		}
	}
}
