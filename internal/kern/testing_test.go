package kern

import (
	"sync"
	"testing"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
	"go.uber.org/goleak"
)

// testMem keeps the kernels of tests small.
var testMem = physmem.Config{Size: 1<<20 + 4096, Backing: physmem.Heap}

// newKernel makes a kernel that is closed at the end of the test, after which no
// goroutine may be left.
func newKernel(t testing.TB, cfg Config) *Kernel {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	k := mustNew(t, cfg)
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if err := goleak.Find(ignore); err != nil {
			t.Error(err)
		}
	})
	return k
}

// mustNew makes a kernel with little memory; the caller closes it.
func mustNew(t testing.TB, cfg Config) *Kernel {
	t.Helper()
	cfg.Mem = testMem
	if cfg.NCPU == 0 {
		cfg.NCPU = 2
	}
	k, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// stepped is a stepped kernel on the manual clock with the given seed.
func stepped(seed uint64) Config {
	return Config{Executor: Stepped, Clock: ManualClock, Seed: seed, Invariants: true}
}

// mustPanic calls fn and returns what it panics with.
func mustPanic(t testing.TB, fn func()) (value any) {
	t.Helper()
	defer func() {
		if value = recover(); value == nil {
			t.Fatal("no panic")
		}
	}()
	fn()
	return nil
}

// env is an environment of name, value pairs.
func env(t testing.TB, pairs ...string) *sysctl.Kenv {
	t.Helper()
	e := sysctl.NewKenv()
	for i := 0; i < len(pairs); i += 2 {
		if err := e.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// nest takes outer, then inner, and lets both go.
func nest(outer, inner sync.Locker) {
	outer.Lock()
	defer outer.Unlock()
	inner.Lock()
	defer inner.Unlock()
}
