package kern

import (
	"fmt"
	"strings"
)

// DeadlockError is the panic value of a stepped kernel whose threads wait for
// each other, or for something that nothing runnable can bring about.
type DeadlockError struct {
	// Waits has one line for each thread that waits.
	Waits []string
}

// Error lists who waits for what.
func (e *DeadlockError) Error() string {
	return "kern: deadlock: " + strings.Join(e.Waits, "; ")
}

// checkDeadlock panics if some thread can never run again. What the driver holds
// it can still let go, so waiting for the driver is no deadlock. Called when
// nothing is runnable.
func (s *stepper) checkDeadlock() {
	stuck := false
	s.eachThread(func(t *Thread) {
		if t.ready != nil && !s.reachesDriver(t) {
			stuck = true
		}
	})
	if stuck {
		panic(s.deadlock())
	}
}

// reachesDriver follows who waits for whom from t.
func (s *stepper) reachesDriver(t *Thread) bool {
	for seen := map[*Thread]bool{}; t != nil && !seen[t]; t = t.owner() {
		if t == &s.driver {
			return true
		}
		seen[t] = true
		if t.ready == nil {
			return false
		}
	}
	return false
}

// deadlock describes every wait, the driver's included.
func (s *stepper) deadlock() *DeadlockError {
	e := new(DeadlockError)
	add := func(t *Thread) {
		if t.ready == nil {
			return
		}
		owner := "nobody"
		if o := t.owner(); o != nil {
			owner = o.name
		}
		e.Waits = append(e.Waits, fmt.Sprintf("%s waits for %s, up to %s", t.name, t.waitsFor, owner))
	}
	s.eachThread(add)
	add(&s.driver)
	return e
}
