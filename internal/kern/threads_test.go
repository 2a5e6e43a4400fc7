package kern

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestEnqueueIsNeverLost: a producer makes work known and enqueues; whatever it made
// known before its Enqueue, even a refused one, is seen by a later run.
func TestEnqueueIsNeverLost(t *testing.T) {
	k := newKernel(t, Config{})
	const producers, rounds = 3, 3000
	var made, seen, inside atomic.Int64
	task := k.NewTask("drain", func() {
		if inside.Add(1) != 1 {
			t.Error("task runs twice at once")
		}
		seen.Store(made.Load())
		inside.Add(-1)
	})
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range rounds {
				made.Add(1)
				task.Enqueue()
				if i%64 == p {
					task.Bind(i / 64 % k.NCPU())
				}
			}
		})
	}
	wg.Wait()
	task.Drain()
	if seen.Load() != producers*rounds {
		t.Errorf("the last run saw %d of %d", seen.Load(), producers*rounds)
	}
}

func TestParkSeesWhatWasPushedBeforeIt(t *testing.T) {
	q := newRunq("q")
	w := new(work)
	w.init(nil, "w", q, func() {})
	w.enqueue()
	q.park() // would sleep for ever
	if q.pop() != w || q.parked.Load() {
		t.Error("the item is gone or the queue still announces sleep")
	}
}

func TestPostCoalescesAndRunsOnTheVectorsCPU(t *testing.T) {
	k := newKernel(t, stepped(0))
	cpu := ""
	i := k.NewIntr("em0:rxq0", 1, func() { cpu = k.sched.cur.name })
	for range 3 {
		i.Post()
	}
	if !i.Pending() || i.Count() != 0 {
		t.Fatal("the filter ran inside Post")
	}
	k.RunUntilIdle()
	if i.Count() != 1 || cpu != "cpu1" {
		t.Errorf("%d runs, on %s", i.Count(), cpu)
	}
	i.Bind(0)
	i.Post()
	k.RunUntilIdle()
	if i.Count() != 2 || cpu != "cpu0" || i.CPU() != 0 {
		t.Errorf("%d runs, on %s", i.Count(), cpu)
	}
	i.Post()
	i.Close()
	i.Post()
	k.RunUntilIdle()
	if i.Count() != 2 || i.Pending() {
		t.Errorf("%d runs after Close", i.Count())
	}
}

func TestPostInsideTheFilterRunsItAgain(t *testing.T) {
	k := newKernel(t, stepped(0))
	var i *Intr
	i = k.NewIntr("level", 0, func() {
		if i.Count() < 3 {
			i.Post()
		}
	})
	i.Post()
	k.RunUntilIdle()
	if i.Count() != 3 {
		t.Errorf("%d runs, want 3", i.Count())
	}
}

func TestInterruptsFromManyGoroutines(t *testing.T) {
	k := newKernel(t, Config{})
	var handled atomic.Int64
	var pending atomic.Int64
	i := k.NewIntr("irq", 0, func() { handled.Add(pending.Swap(0)) })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				pending.Add(1)
				i.Post()
			}
		})
	}
	wg.Wait()
	k.RunUntilIdle()
	if handled.Load() != 8000 {
		t.Errorf("handled %d of 8000 in %d runs", handled.Load(), i.Count())
	}
}

func TestTaskQueueDrainsInOrderAndCloses(t *testing.T) {
	for _, exec := range []Executor{Threads, Stepped} {
		k := newKernel(t, Config{Executor: exec})
		tq := k.NewTaskQueue("admin")
		var order []int
		var tasks []*Task
		for i := range 5 {
			task := tq.NewTask("t", func() { order = append(order, i) })
			if task.CPU() != -1 {
				t.Errorf("CPU %d", task.CPU())
			}
			mustPanic(t, func() { task.Bind(0) })
			task.Enqueue()
			tasks = append(tasks, task)
		}
		tq.Drain()
		if len(order) != 5 || order[0] != 0 || order[4] != 4 {
			t.Errorf("order %v", order)
		}
		tasks[0].Enqueue()
		tq.Close()
		if len(order) != 6 {
			t.Errorf("Close does not drain: %v", order)
		}
		tasks[1].Enqueue()
		tasks[1].Drain()
		tq.Drain()
		tq.Close()
		if len(order) != 6 || tasks[1].Enqueue() {
			t.Errorf("a task of a closed queue ran: %v", order)
		}
	}
}

func TestCloseOfATaskCancelsWhatIsQueued(t *testing.T) {
	k := newKernel(t, stepped(0))
	task := k.NewTask("t", func() { t.Error("ran") })
	task.Enqueue()
	task.Close()
	k.RunUntilIdle()
	if task.Enqueue() || task.Queued() {
		t.Error("a closed task is queued")
	}
}

func TestDrainsDoNotOutliveTheKernel(t *testing.T) {
	k := mustNew(t, Config{NCPU: 1})
	block, started := make(chan struct{}), make(chan struct{})
	k.NewTask("block", func() { close(started); <-block }).Enqueue()
	<-started
	behind := k.NewTask("behind", func() {})
	behind.Enqueue()
	drained := make(chan struct{})
	go func() {
		behind.Drain()
		close(drained)
	}()
	k.OnClose(func() { close(block) })
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	<-drained
	behind.Drain()
	late := k.NewTaskQueue("late")
	late.NewTask("t", func() { t.Error("a closed kernel runs a queue") }).Enqueue()
	late.Drain()
	late.Close()
}

func TestEnqueueAndPostDoNotAllocate(t *testing.T) {
	k := newKernel(t, Config{Executor: Stepped})
	task := k.NewTask("t", func() {})
	intr := k.NewIntr("i", 0, func() {})
	fp := k.FailPoint("x")
	if err := fp.Set("50%return(1)"); err != nil {
		t.Fatal(err)
	}
	var m Mtx
	m.Init(k, "m")
	k.RunUntilIdle()
	if n := testing.AllocsPerRun(100, func() {
		task.Enqueue()
		intr.Post()
		fp.Eval()
		k.cpus[0].pop().execute()
		k.cpus[0].pop().execute()
		CriticalEnter()
		CriticalExit()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSpawnedThreadsAreJoined(t *testing.T) {
	for _, exec := range []Executor{Threads, Stepped} {
		k := newKernel(t, Config{Executor: exec})
		done := false
		th := k.Spawn("worker", func() { k.SchedPoint(); done = true })
		th.Join()
		th.Join()
		if !done || th.Name() != "worker" {
			t.Errorf("executor %d: done %v", exec, done)
		}
	}
}

func TestThreadsHaveNothingToStep(t *testing.T) {
	k := newKernel(t, Config{})
	var n atomic.Int32
	task := k.NewTask("t", func() { n.Add(1) })
	task.Enqueue()
	k.RunUntilIdle()
	if k.Step() || n.Load() != 1 || k.Stepped() {
		t.Errorf("ran %d times", n.Load())
	}
}
