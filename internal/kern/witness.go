package kern

import (
	"fmt"
	"sync"
)

// lockKind is a class of lock by what waiting for it means.
type lockKind uint8

const (
	lockMtx lockKind = iota // not held across a sleep
	lockSx                  // may be
)

func (c lockKind) String() string {
	if c == lockMtx {
		return "sleep mutex"
	}
	return "sx"
}

// lockRef is a lock that somebody holds.
type lockRef struct {
	name string
	kind lockKind
}

// holder is what one thread of execution holds, in order of acquisition. Only that
// thread touches it.
type holder struct{ locks []lockRef }

func (h *holder) push(name string, kind lockKind) { h.locks = append(h.locks, lockRef{name, kind}) }

// pop removes the newest lock of that name.
func (h *holder) pop(name string, kind lockKind) {
	for i := len(h.locks) - 1; i >= 0; i-- {
		if h.locks[i] == (lockRef{name, kind}) {
			h.locks = append(h.locks[:i], h.locks[i+1:]...)
			return
		}
	}
}

// mtx is the name of the newest Mtx held, "" when there is none.
func (h *holder) mtx() string {
	for i := len(h.locks) - 1; i >= 0; i-- {
		if h.locks[i].kind == lockMtx {
			return h.locks[i].name
		}
	}
	return ""
}

// witness checks the order in which locks are taken (witness(4)). Locks of one
// name are one class. It looks at Lock only: a TryLock cannot deadlock.
type witness struct {
	mu      sync.Mutex
	on      bool
	held    map[uintptr]*holder        // threaded executor, by goroutine
	after   map[string]map[string]bool // locks that were taken while the key was held
	told    map[[2]string]bool         // pairs reported
	reports []string
	printf  func(string, ...any)
}

func (w *witness) init(on bool, printf func(string, ...any)) {
	w.on, w.printf = on, printf
	w.held = make(map[uintptr]*holder)
	w.after = make(map[string]map[string]bool)
	w.told = make(map[[2]string]bool)
}

// check compares taking name, with h held, to what was seen before.
func (w *witness) check(h *holder, name string, kind lockKind) {
	if !w.on || len(h.locks) == 0 {
		return
	}
	w.mu.Lock()
	var reports []string
	for _, l := range h.locks {
		if msg := w.pair(l, lockRef{name, kind}); msg != "" {
			reports = append(reports, msg)
		}
	}
	w.reports = append(w.reports, reports...)
	w.mu.Unlock()
	for _, msg := range reports {
		w.printf("%s\n", msg)
	}
}

// pair learns or refuses "second taken with first held" and returns a report the
// first time it is refused.
func (w *witness) pair(first, second lockRef) string {
	key := [2]string{first.name, second.name}
	if w.told[key] {
		return ""
	}
	msg := ""
	switch {
	case first.kind == lockMtx && second.kind == lockSx:
		msg = fmt.Sprintf("acquiring sx %q with the following non-sleepable locks held: sleep mutex %q",
			second.name, first.name)
	case first.name == second.name:
		msg = fmt.Sprintf("acquiring duplicate lock of same type: %q", first.name)
	case w.reaches(second.name, first.name, map[string]bool{}):
		msg = fmt.Sprintf("lock order reversal: 1st %s (%v), 2nd %s (%v)",
			first.name, first.kind, second.name, second.kind)
	default:
		if w.after[first.name] == nil {
			w.after[first.name] = make(map[string]bool)
		}
		w.after[first.name][second.name] = true
		return ""
	}
	w.told[key] = true
	return msg
}

// reaches reports whether to was ever taken, over any chain, after from.
func (w *witness) reaches(from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for next := range w.after[from] {
		if !seen[next] && w.reaches(next, to, seen) {
			return true
		}
	}
	return false
}

// WitnessReports lists what the lock-order check has found, each pair of locks
// once; empty without Invariants. The console has them too.
func (k *Kernel) WitnessReports() []string {
	k.witness.mu.Lock()
	defer k.witness.mu.Unlock()
	return append([]string(nil), k.witness.reports...)
}

// LocksHeld names the locks that the caller holds, in the order in which they were taken;
// nil when nobody
// keeps account, in the threaded executor without Invariants.
func (k *Kernel) LocksHeld() []string {
	if k.sched == nil && !k.invariants {
		return nil
	}
	var names []string
	for _, l := range k.holder().locks {
		names = append(names, l.name)
	}
	return names
}

// holder is what the caller holds; checking modes only.
func (k *Kernel) holder() *holder {
	if k.sched != nil {
		return &k.sched.self().held
	}
	w := &k.witness
	w.mu.Lock()
	defer w.mu.Unlock()
	g := curg()
	h := w.held[g]
	if h == nil {
		h = new(holder)
		w.held[g] = h
	}
	return h
}

// release takes a lock off what the caller holds.
func (k *Kernel) release(name string, kind lockKind) {
	h := k.holder()
	h.pop(name, kind)
	if k.sched == nil && len(h.locks) == 0 {
		k.witness.mu.Lock()
		delete(k.witness.held, curg())
		k.witness.mu.Unlock()
	}
}

// heldMtx is the name of a Mtx that the caller holds, as far as is known.
func (k *Kernel) heldMtx() string {
	if k.sched != nil {
		return k.sched.self().held.mtx()
	}
	if !k.invariants {
		return ""
	}
	k.witness.mu.Lock()
	defer k.witness.mu.Unlock()
	if h := k.witness.held[curg()]; h != nil {
		return h.mtx()
	}
	return ""
}

// self identifies the caller as the owner of a lock; never 0.
func (k *Kernel) self() uintptr {
	if k.sched != nil {
		return k.sched.self().id
	}
	return curg()
}
