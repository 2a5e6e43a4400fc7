package kern

import (
	"sync"
	"testing"
	"time"
)

// TestSxIsHeldAcrossDelay: the ctx lock's holder sleeps, the others wait for it, in
// every order the seeds give.
func TestSxIsHeldAcrossDelay(t *testing.T) {
	for seed := range uint64(manySeeds) {
		k := mustNew(t, stepped(seed))
		var x Sx
		x.Init(k, "ctx")
		inside, done := 0, 0
		for range 3 {
			k.Spawn("ioctl", func() {
				x.Lock()
				if inside++; inside != 1 {
					t.Errorf("seed %d: %d inside", seed, inside)
				}
				k.Delay(time.Millisecond)
				inside--
				x.Unlock()
				done++
			})
		}
		k.RunUntilIdle()
		if done != 3 || k.Uptime() != bootUptime+3*time.Millisecond {
			t.Errorf("seed %d: %d done at %v, want 3 one after the other", seed, done, k.Uptime())
		}
		if r := k.WitnessReports(); len(r) != 0 {
			t.Errorf("seed %d: %q", seed, r)
		}
		k.Close()
	}
}

// TestCheckedLocksAmongGoroutines is for the race detector.
func TestCheckedLocksAmongGoroutines(t *testing.T) {
	k := newKernel(t, Config{Invariants: true, Env: env(t, "debug.lock.prof.enable", "1", "hw.ifsim.lock", "adaptive")})
	var x Sx
	var m Mtx
	x.Init(k, "ctx")
	m.Init(k, "q")
	n := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				if i%5 == 0 {
					nest(&x, &m)
				}
				m.Lock()
				m.AssertOwned()
				n++
				m.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 2000 || len(k.WitnessReports()) != 0 || len(k.witness.held) != 0 {
		t.Errorf("n %d, reports %q, %d holders", n, k.WitnessReports(), len(k.witness.held))
	}
	taken := map[string]uint64{}
	for _, s := range k.LockStats() {
		taken[s.Class+":"+s.Name] += s.Acquired
	}
	if taken["sleep mutex:q"] != 2400 || taken["sx:ctx"] != 400 || len(taken) != 2 {
		t.Errorf("acquired %v", taken)
	}
}
