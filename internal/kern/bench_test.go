package kern

import (
	"sync"
	"sync/atomic"
	"testing"
)

// benchSink keeps what a loop computes alive.
var benchSink atomic.Uint64

func BenchmarkSyncMutex(b *testing.B) {
	var m sync.Mutex
	n := uint64(0)
	for b.Loop() {
		m.Lock()
		n++
		m.Unlock()
	}
	benchSink.Store(n)
}

func BenchmarkMtx(b *testing.B) {
	for _, policy := range []string{"mutex", "adaptive", "spin"} {
		for _, prof := range []string{"0", "1"} {
			b.Run(policy+"/prof="+prof, func(b *testing.B) {
				k := newKernel(b, Config{Env: env(b, "hw.ifsim.lock", policy, "debug.lock.prof.enable", prof)})
				var m Mtx
				m.Init(k, "m")
				n := uint64(0)
				for b.Loop() {
					m.Lock()
					n++
					m.Unlock()
				}
				benchSink.Store(n)
			})
		}
	}
}

func BenchmarkMtxContended(b *testing.B) {
	for _, policy := range []string{"mutex", "adaptive", "spin"} {
		b.Run(policy, func(b *testing.B) {
			k := newKernel(b, Config{Env: env(b, "hw.ifsim.lock", policy)})
			var m Mtx
			m.Init(k, "m")
			n := uint64(0)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					m.Lock()
					n++
					m.Unlock()
				}
			})
			benchSink.Store(n)
		})
	}
}

func BenchmarkMtxInvariants(b *testing.B) {
	k := newKernel(b, Config{Invariants: true})
	var m Mtx
	m.Init(k, "m")
	for b.Loop() {
		m.Lock()
		benchSink.Load()
		m.Unlock()
	}
}

func BenchmarkTaskEnqueueQueued(b *testing.B) {
	k := newKernel(b, Config{Executor: Stepped})
	task := k.NewTask("t", func() {})
	task.Enqueue()
	b.ReportAllocs()
	for b.Loop() {
		task.Enqueue()
	}
}

func BenchmarkTaskEnqueueAndRun(b *testing.B) {
	k := newKernel(b, Config{Executor: Stepped})
	task := k.NewTask("t", func() {})
	b.ReportAllocs()
	for b.Loop() {
		task.Enqueue()
		k.cpus[0].pop().execute()
	}
}

func BenchmarkTaskStep(b *testing.B) {
	k := newKernel(b, Config{Executor: Stepped, Clock: ManualClock})
	task := k.NewTask("t", func() {})
	b.ReportAllocs()
	for b.Loop() {
		task.Enqueue()
		k.Step()
	}
}

func BenchmarkTaskWakeThread(b *testing.B) {
	k := newKernel(b, Config{})
	task := k.NewTask("t", func() {})
	b.ReportAllocs()
	for b.Loop() {
		task.Enqueue()
		task.Drain()
	}
}

func BenchmarkFailPointOff(b *testing.B) {
	k := newKernel(b, Config{Executor: Stepped})
	fp := k.FailPoint("bench")
	hits := 0
	for b.Loop() {
		if _, hit := fp.Eval(); hit {
			hits++
		}
	}
	if hits != 0 {
		b.Fatal("an off point hit")
	}
}

func BenchmarkFailPointOneIn100(b *testing.B) {
	k := newKernel(b, Config{Executor: Stepped})
	fp := k.FailPoint("bench")
	if err := fp.Set("1in100->return(5)"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		fp.Eval()
	}
}

func BenchmarkCritical(b *testing.B) {
	for b.Loop() {
		CriticalEnter()
		CriticalExit()
	}
}

func BenchmarkSchedPointThreads(b *testing.B) {
	k := newKernel(b, Config{})
	for b.Loop() {
		k.SchedPoint()
	}
}
