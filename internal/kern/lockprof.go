package kern

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/sysctl"
)

// LockStat is what profiling counted of the mutexes of one name while
// debug.lock.prof.enable was 1.
type LockStat struct {
	Name      string
	Acquired  uint64        // times taken
	Contended uint64        // of which had to wait
	TryFailed uint64        // TryLocks that did not get it
	Wait      time.Duration // total time waited
	WaitMax   time.Duration
	Hold      time.Duration // total time held
	HoldMax   time.Duration
}

// lockCounters are the counters in a mutex. All but tryFailed and wait are
// written by the owner only; anybody reads.
type lockCounters struct {
	acquired, contended, tryFailed atomic.Uint64
	wait, waitMax, hold, holdMax   atomic.Int64 // ns
}

func (c *lockCounters) waited(d time.Duration) {
	c.contended.Add(1)
	c.wait.Add(int64(d))
	raise(&c.waitMax, int64(d))
}

func (c *lockCounters) heldFor(d time.Duration) {
	c.hold.Add(int64(d))
	raise(&c.holdMax, int64(d))
}

func (c *lockCounters) reset() {
	for _, v := range []*atomic.Uint64{&c.acquired, &c.contended, &c.tryFailed} {
		v.Store(0)
	}
	for _, v := range []*atomic.Int64{&c.wait, &c.waitMax, &c.hold, &c.holdMax} {
		v.Store(0)
	}
}

// raise makes v at least to.
func raise(v *atomic.Int64, to int64) {
	for old := v.Load(); old < to && !v.CompareAndSwap(old, to); old = v.Load() {
	}
}

// addTo folds the counters into s.
func (c *lockCounters) addTo(s *LockStat) {
	s.Acquired += c.acquired.Load()
	s.Contended += c.contended.Load()
	s.TryFailed += c.tryFailed.Load()
	s.Wait += time.Duration(c.wait.Load())
	s.Hold += time.Duration(c.hold.Load())
	s.WaitMax = max(s.WaitMax, time.Duration(c.waitMax.Load()))
	s.HoldMax = max(s.HoldMax, time.Duration(c.holdMax.Load()))
}

// lockRegistry knows every Mtx of a kernel, to turn profiling on in each: the
// fast path then has one word of its own to look at.
type lockRegistry struct {
	mu     sync.Mutex
	live   map[*Mtx]struct{}
	gone   map[string]*LockStat // destroyed mutexes, by name
	on     bool
	policy atomic.Int32  // index into lockPolicies
	epoch  atomic.Uint64 // profiling session, to tell a hold that began in an older one
}

// lockPolicies are the values of hw.ifsim.lock and their rounds of spinning.
var lockPolicies = []struct {
	name   string
	rounds int32
}{{"mutex", 0}, {"adaptive", adaptiveRounds}, {"spin", spinRounds}}

// spins is the number of rounds of the policy in force: none where an owner
// cannot run while somebody spins.
func (r *lockRegistry) spins() int32 {
	if min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) == 1 {
		return 0
	}
	return lockPolicies[r.policy.Load()].rounds
}

func (r *lockRegistry) add(m *Mtx) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live = make(map[*Mtx]struct{})
		r.gone = make(map[string]*LockStat)
	}
	r.live[m] = struct{}{}
	if r.on {
		m.mode.Or(mtxProf)
	}
}

func (r *lockRegistry) remove(m *Mtx) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.live[m]; !ok {
		return
	}
	delete(r.live, m)
	if r.gone[m.name] == nil {
		r.gone[m.name] = &LockStat{Name: m.name}
	}
	m.prof.addTo(r.gone[m.name])
}

// setProfiling turns profiling of every mutex on or off.
func (r *lockRegistry) setProfiling(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = on
	r.epoch.Add(1)
	for m := range r.live {
		if on {
			m.mode.Or(mtxProf)
		} else {
			m.mode.And(^mtxProf)
		}
	}
}

func (r *lockRegistry) profiling() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.on
}

func (r *lockRegistry) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch.Add(1)
	clear(r.gone)
	for m := range r.live {
		m.prof.reset()
	}
}

// LockStats is what profiling counted, one entry a name that was taken or tried,
// the longest held first.
func (k *Kernel) LockStats() []LockStat {
	r := &k.locks
	r.mu.Lock()
	defer r.mu.Unlock()
	byName := make(map[string]*LockStat)
	for name, s := range r.gone {
		c := *s
		byName[name] = &c
	}
	for m := range r.live {
		if byName[m.name] == nil {
			byName[m.name] = &LockStat{Name: m.name}
		}
		m.prof.addTo(byName[m.name])
	}
	var stats []LockStat
	for _, s := range byName {
		if s.Acquired+s.TryFailed > 0 {
			stats = append(stats, *s)
		}
	}
	slices.SortFunc(stats, func(a, b LockStat) int {
		return cmp.Or(cmp.Compare(b.Hold, a.Hold), cmp.Compare(a.Name, b.Name))
	})
	return stats
}

// lockTable is debug.lock.prof.stats: FreeBSD's columns in microseconds, the
// averages with three decimals, and the failed trylocks.
func (k *Kernel) lockTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%8s %9s %11s %11s %11s %9s %9s %8s %8s %s\n", "max", "wait_max", "total",
		"wait_total", "count", "avg", "wait_avg", "cnt_lock", "try_fail", "name")
	for _, s := range k.LockStats() {
		fmt.Fprintf(&b, "%8d %9d %11d %11d %11d %9.3f %9.3f %8d %8d %s\n",
			s.HoldMax.Microseconds(), s.WaitMax.Microseconds(), s.Hold.Microseconds(), s.Wait.Microseconds(),
			s.Acquired, average(s.Hold, s.Acquired), average(s.Wait, s.Contended),
			s.Contended, s.TryFailed, s.Name)
	}
	return b.String()
}

// average is total over n in microseconds.
func average(total time.Duration, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(total) / float64(time.Microsecond) / float64(n)
}

// policyLimit bounds the text of hw.ifsim.lock.
const policyLimit = 16

// registerLockSysctls adds hw.ifsim.lock and debug.lock.prof.
func (k *Kernel) registerLockSysctls(c *sysctl.Ctx, hw, debug *sysctl.OID) {
	ifsim := c.Node(hw, "ifsim", sysctl.RW, "Simulator")
	c.Proc(ifsim, "lock", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindString, "A", k.handlePolicy,
		"How mutexes initialized from now on wait: mutex, adaptive or spin")
	prof := c.Node(c.Node(debug, "lock", sysctl.RD, "lock debugging"), "prof", sysctl.RD, "lock profiling")
	c.Proc(prof, "enable", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindInt, "I", k.handleProfEnable,
		"Enable lock profiling")
	c.Proc(prof, "reset", sysctl.RW|sysctl.MPSafe, sysctl.KindInt, "I", k.handleProfReset,
		"Reset lock profiling statistics")
	c.FuncString(prof, "stats", sysctl.RD|sysctl.Skip, k.lockTable, "Lock profiling statistics")
}

func (k *Kernel) handlePolicy(r *sysctl.Request) error {
	cur := lockPolicies[k.locks.policy.Load()].name
	val, written, err := r.HandleString(cur, policyLimit)
	if err != nil || !written {
		return err
	}
	for i, p := range lockPolicies {
		if p.name == val {
			k.locks.policy.Store(int32(i))
			return nil
		}
	}
	return fmt.Errorf("hw.ifsim.lock is mutex, adaptive or spin, not %q: %w", val, syscall.EINVAL)
}

func (k *Kernel) handleProfEnable(r *sysctl.Request) error {
	cur := int64(0)
	if k.locks.profiling() {
		cur = 1
	}
	val, written, err := r.HandleInt(cur)
	if err == nil && written && (val != 0) != (cur != 0) {
		k.locks.setProfiling(val != 0)
	}
	return err
}

func (k *Kernel) handleProfReset(r *sysctl.Request) error {
	val, written, err := r.HandleInt(0)
	if err == nil && written && val != 0 {
		k.locks.reset()
	}
	return err
}
