package kern

import (
	"cmp"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/sysctl"
)

// LockStat is what profiling counted of the locks of one name since
// debug.lock.prof.enable became 1, or since the last reset.
type LockStat struct {
	Class     string        // "sleep mutex", "spin mutex" or "sx"
	Name      string        // of the lock
	Site      string        // where it was acquired, as "iflib/tx.go:120"; "": anywhere
	Acquired  uint64        // times taken and released
	Contended uint64        // of which had to wait
	TryFailed uint64        // tries that did not get it
	Wait      time.Duration // total time waited
	WaitMax   time.Duration
	Hold      time.Duration // total time held
	HoldMax   time.Duration
}

// stat is what was counted so far.
func (s *lockSite) stat() LockStat {
	return LockStat{Class: s.class, Name: s.name, Site: siteText(s.pc),
		Acquired: s.count.Load(), Contended: s.contended.Load(), TryFailed: s.tryFailed.Load(),
		Wait: time.Duration(s.wait.Load()), WaitMax: time.Duration(s.waitMax.Load()),
		Hold: time.Duration(s.hold.Load()), HoldMax: time.Duration(s.holdMax.Load())}
}

// modulePrefix is what the paths of the project's packages begin with.
const modulePrefix = "github.com/ifsim/ifsim/"

// siteText is file and line of a place, the file by its package.
func siteText(pc uintptr) string {
	if pc == 0 {
		return "(unknown):0"
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	dir, local := path.Split(strings.TrimPrefix(f.Function, modulePrefix))
	pkg, _, _ := strings.Cut(local, ".")
	return fmt.Sprintf("%s:%d", path.Join(dir, pkg, path.Base(f.File)), f.Line)
}

// add adds what was counted elsewhere.
func (s *LockStat) add(o *LockStat) {
	s.Acquired += o.Acquired
	s.Contended += o.Contended
	s.TryFailed += o.TryFailed
	s.Wait += o.Wait
	s.Hold += o.Hold
	s.WaitMax = max(s.WaitMax, o.WaitMax)
	s.HoldMax = max(s.HoldMax, o.HoldMax)
}

// LockStats is what profiling counted of the locks of each name, wherever they were
// acquired, those held longest in total first. Where locks of several classes share a name
// the class is that of the place with the longest hold. Any goroutine.
func (k *Kernel) LockStats() []LockStat {
	at := make(map[string]int)
	var stats []LockStat
	for _, s := range k.LockSites() {
		i, ok := at[s.Name]
		if !ok {
			i = len(stats)
			at[s.Name] = i
			stats = append(stats, LockStat{Class: s.Class, Name: s.Name})
		}
		stats[i].add(&s)
	}
	sortLocks(stats)
	return stats
}

// sortLocks puts the locks held longest in total first.
func sortLocks(stats []LockStat) {
	slices.SortFunc(stats, func(a, b LockStat) int {
		return cmp.Or(cmp.Compare(b.Hold, a.Hold), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Site, b.Site))
	})
}

// LockSites is what profiling counted of each lock and place, sorted as LockStats; nil if
// profiling was never on. Any goroutine.
func (k *Kernel) LockSites() []LockStat {
	s := k.locks.session.Load()
	if s == nil {
		return nil
	}
	var stats []LockStat
	for i := range s.sites {
		if site := s.sites[i].Load(); site != nil {
			if st := site.stat(); st.Acquired+st.TryFailed > 0 {
				stats = append(stats, st)
			}
		}
	}
	sortLocks(stats)
	return stats
}

// lockTable is debug.lock.prof.stats, in microseconds (dump_lock_prof_stats). As in
// FreeBSD nothing counts into cnt_hold.
func (k *Kernel) lockTable() string {
	const cntHold = 0
	var b strings.Builder
	fmt.Fprintf(&b, "\n%8s %9s %11s %11s %11s %6s %6s %2s %6s %s\n", "max", "wait_max", "total",
		"wait_total", "count", "avg", "wait_avg", "cnt_hold", "cnt_lock", "name")
	for _, s := range k.LockSites() {
		fmt.Fprintf(&b, "%8d %9d %11d %11d %11d %6d %6d %2d %6d %s (%s:%s)\n",
			s.HoldMax.Microseconds(), s.WaitMax.Microseconds(), s.Hold.Microseconds(), s.Wait.Microseconds(),
			s.Acquired, average(s.Hold, s.Acquired), average(s.Wait, s.Acquired),
			cntHold, s.Contended, s.Site, s.Class, s.Name)
	}
	return b.String()
}

// average is total over n in whole microseconds, 0 of none.
func average(total time.Duration, n uint64) int64 {
	if n == 0 {
		return 0
	}
	return total.Microseconds() / int64(n)
}

// triesTable is debug.lock.prof.tries: what FreeBSD does not count, tries of locks that
// somebody held.
func (k *Kernel) triesTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%11s %11s %s\n", "count", "failed", "name")
	for _, s := range k.LockSites() {
		if s.TryFailed > 0 {
			fmt.Fprintf(&b, "%11d %11d %s (%s:%s)\n", s.Acquired, s.TryFailed, s.Site, s.Class, s.Name)
		}
	}
	return b.String()
}

// policyLimit bounds the text of hw.ifsim.lock.
const policyLimit = 16

// registerLockSysctls adds hw.ifsim.lock and debug.lock.prof.
func (k *Kernel) registerLockSysctls(c *sysctl.Ctx, hw, debug *sysctl.OID) {
	ifsim := c.Node(hw, "ifsim", sysctl.RW, "Simulator")
	c.Proc(ifsim, "lock", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindString, "A", k.handlePolicy,
		"How mutexes initialized from now on wait: mutex, adaptive or spin")
	prof := c.Node(c.Node(debug, "lock", sysctl.RD, "lock debugging"), "prof", sysctl.RD, "lock profiling")
	c.Int(prof, "skipspin", sysctl.RW, &k.locks.skipSpin, "Skip profiling on spinlocks.")
	c.Int(prof, "skipcount", sysctl.RW, &k.locks.skipCount, "Sample approximately every N lock acquisitions.")
	c.Func(prof, "rejected", sysctl.RD, sysctl.KindInt, k.rejectedRecords, "Number of rejected profiling records")
	c.FuncString(prof, "stats", sysctl.RD, k.lockTable, "Lock profiling statistics")
	c.Proc(prof, "reset", sysctl.RW|sysctl.MPSafe, sysctl.KindInt, "I", k.handleProfReset,
		"Reset lock profiling statistics")
	c.Proc(prof, "enable", sysctl.RWTUN|sysctl.MPSafe, sysctl.KindInt, "I", k.handleProfEnable,
		"Enable lock profiling")
	c.FuncString(prof, "tries", sysctl.RD, k.triesTable, "Tries of locks that somebody held")
}

func (k *Kernel) rejectedRecords() uint64 {
	if s := k.locks.session.Load(); s != nil {
		return s.rejected.Load()
	}
	return 0
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
	if k.locks.on.Load() {
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
