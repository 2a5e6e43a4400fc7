package kern

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// set writes an OID of a kernel.
func set(t *testing.T, k *Kernel, oid, value string) {
	t.Helper()
	if err := k.Sysctl.SetText(oid, value); err != nil {
		t.Fatal(err)
	}
}

// text reads one.
func text(t *testing.T, k *Kernel, oid string) string {
	t.Helper()
	s, err := k.Sysctl.Text(oid)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lines replaces the numbers of lines of this file by their order.
func lines(table string) string {
	place := regexp.MustCompile(`internal/kern/lockprof_test\.go:(\d+)`)
	first := 0
	return place.ReplaceAllStringFunc(table, func(s string) string {
		n, _ := strconv.Atoi(place.FindStringSubmatch(s)[1])
		if first == 0 {
			first = n
		}
		return fmt.Sprintf("test.go%+d", n-first)
	})
}

func TestLockProfileIsLaidOutAsFreeBSDs(t *testing.T) {
	k := newKernel(t, stepped(0))
	var m Mtx
	var x Sx
	m.Init(k, "em0:TX(0):callout")
	x.Init(k, "em0:CTX")
	m.Lock()
	set(t, k, "debug.lock.prof.enable", "1")
	k.clock.raise(k.Uptime() + 500*time.Microsecond)
	m.Unlock() // taken before profiling began: not counted
	holder := k.Spawn("holder", func() {
		m.Lock()
		k.sched.cur.suspend()
		k.clock.raise(k.Uptime() + 3*time.Microsecond)
		m.Unlock()
	})
	k.Step()
	if m.TryLock() {
		t.Fatal("TryLock of a held mutex")
	}
	for range 2 {
		m.Lock() // the first waits 3 us
		k.clock.raise(k.Uptime() + 2500*time.Nanosecond)
		m.Unlock()
	}
	holder.Join()
	x.Lock()
	k.clock.raise(k.Uptime() + 2*time.Hour)
	x.Unlock()
	x.Destroy()
	m.Destroy() // what was counted stays
	want := `
     max  wait_max       total  wait_total       count    avg wait_avg cnt_hold cnt_lock name
7200000000         0  7200000000           0           1 7200000000      0  0      0 test.go+0 (sx:em0:CTX)
       2         3           5           3           2      2      1  0      1 test.go-5 (sleep mutex:em0:TX(0):callout)
       3         0           3           0           1      3      0  0      0 test.go-15 (sleep mutex:em0:TX(0):callout)
`
	got := lines(strings.ReplaceAll(text(t, k, "debug.lock.prof.stats"), "       0         0           0           0           0      0      0  0      0 ", "try "))
	got = regexp.MustCompile("(?m)^try .*\n").ReplaceAllString(got, "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	want = "\n      count      failed name\n          0           1 test.go+0 (sleep mutex:em0:TX(0):callout)\n"
	if diff := cmp.Diff(want, lines(text(t, k, "debug.lock.prof.tries"))); diff != "" {
		t.Error(diff)
	}
	set(t, k, "debug.lock.prof.reset", "1")
	if len(k.LockStats()) != 0 {
		t.Errorf("after reset: %+v", k.LockStats())
	}
	set(t, k, "debug.lock.prof.reset", "0")
}

func TestHoldThatSpansTwoProfilingSessionsIsNotCounted(t *testing.T) {
	k := newKernel(t, Config{Clock: ManualClock})
	var m Mtx
	m.Init(k, "m")
	k.locks.setProfiling(true)
	m.Lock()
	k.locks.setProfiling(false)
	m.Unlock()
	m.Lock()
	k.Delay(time.Hour)
	k.locks.setProfiling(true)
	m.Unlock()
	m.Lock()
	k.locks.reset()
	m.Unlock()
	if s := k.LockStats(); len(s) != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestProfilingCanSampleAndSkip(t *testing.T) {
	k := newKernel(t, Config{Env: env(t, "debug.lock.prof.enable", "1")})
	set(t, k, "debug.lock.prof.skipcount", "10")
	taken := 0
	var sleeping, spinning Mtx
	sleeping.Init(k, "sleeping")
	set(t, k, "hw.ifsim.lock", "spin")
	spinning.Init(k, "spinning")
	take := func(n int, m *Mtx) uint64 {
		for range n {
			m.Lock()
			taken++
			m.Unlock()
		}
		acquired := uint64(0)
		for _, s := range k.LockStats() {
			if s.Name == m.Name() {
				acquired += s.Acquired
			}
		}
		return acquired
	}
	if got := take(100, &sleeping); got != 10 {
		t.Errorf("%d of 100 acquisitions, want each tenth", got)
	}
	set(t, k, "debug.lock.prof.skipcount", "0")
	if got := take(3, &spinning); got != 3 || !strings.Contains(text(t, k, "debug.lock.prof.stats"), " (spin mutex:spinning)\n") {
		t.Errorf("%d of 3 acquisitions", got)
	}
	set(t, k, "debug.lock.prof.skipspin", "1")
	if got := take(5, &spinning); got != 3 {
		t.Errorf("%d acquisitions, those of a spin mutex are to be skipped", got)
	}
	if got := take(5, &sleeping); got != 15 {
		t.Errorf("%d acquisitions, those of a sleep mutex are not", got)
	}
}

func TestRecordsWithoutRoomAreRejected(t *testing.T) {
	k := newKernel(t, Config{Env: env(t, "debug.lock.prof.enable", "1")})
	s := k.locks.session.Load()
	id := k.locks.id(classMtx, "m")
	made := 0
	var wg sync.WaitGroup
	var mu sync.Mutex
	for g := range 4 {
		wg.Go(func() {
			for i := range siteSlots {
				if s.site(uintptr(g*siteSlots+i+1), &id) != nil {
					mu.Lock()
					made++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if made > siteSlots || made < siteSlots*9/10 {
		t.Errorf("%d records of %d slots", made, siteSlots)
	}
	if got, want := text(t, k, "debug.lock.prof.rejected"), strconv.Itoa(4*siteSlots-made); got != want {
		t.Errorf("%s rejected, want %s", got, want)
	}
	set(t, k, "debug.lock.prof.reset", "1")
	if got := text(t, k, "debug.lock.prof.rejected"); got != "0" {
		t.Errorf("%s rejected after the reset", got)
	}
}

func TestPlacesNameThePackage(t *testing.T) {
	k := newKernel(t, Config{Env: env(t, "debug.lock.prof.enable", "1")})
	var m Mtx
	m.Init(k, "m")
	func() { m.Lock() }()
	m.Unlock()
	if !m.TryLock() {
		t.Fatal("held")
	}
	m.Unlock()
	for _, s := range k.LockSites() {
		if !strings.HasPrefix(s.Site, "internal/kern/lockprof_test.go:") {
			t.Errorf("acquired at %s", s.Site)
		}
	}
	if n := len(k.LockSites()); n != 2 {
		t.Errorf("%d places, want 2", n)
	}
	if s := k.LockStats(); len(s) != 1 || s[0].Acquired != 2 || s[0].Site != "" {
		t.Errorf("all places: %+v", s)
	}
	if got := siteText(0); got != "(unknown):0" {
		t.Errorf("no place is %s", got)
	}
}
