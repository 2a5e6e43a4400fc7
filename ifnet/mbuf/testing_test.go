package mbuf

import (
	"testing"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

const testMem = 32 << 20

// machine is a kernel with zones that closes with the test, checking mode as asked.
func machine(t testing.TB, invariants bool, cfg Config) *Zones {
	t.Helper()
	k, err := kern.New(kern.Config{
		NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: invariants,
		Mem: physmem.Config{Size: testMem},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	z, err := Init(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// cache is a cache that closes with the test.
func cache(t testing.TB, z *Zones) *Cache {
	t.Helper()
	c := z.NewCache()
	t.Cleanup(c.Close)
	return c
}

// noLeak fails if anything is in use.
func noLeak(t testing.TB, z *Zones) {
	t.Helper()
	if u := z.Usage(); u.Any() {
		t.Fatalf("in use: %+v", u)
	}
}
