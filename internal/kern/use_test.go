package kern

import (
	"testing"
	"time"
)

func TestACPUIsBusyWhileItsWorkTakesTime(t *testing.T) {
	k := newKernel(t, stepped(0))
	task := k.NewTask("worker", func() { k.Delay(30 * time.Millisecond) })
	defer task.Close()
	task.Bind(1)
	task.Enqueue()
	k.RunUntilIdle()
	k.Advance(70 * time.Millisecond)
	for cpu, want := range []time.Duration{0, 30 * time.Millisecond} {
		if busy, at := k.CPUBusy(cpu); busy != want || at != bootUptime+100*time.Millisecond {
			t.Errorf("CPU %d: %v busy at %v, want %v", cpu, busy, at, want)
		}
	}
}

func TestAParkedCPUIsIdle(t *testing.T) {
	k := newKernel(t, Config{Clock: ManualClock})
	k.RunUntilIdle()
	const long = time.Hour
	k.Advance(long)
	for cpu := range k.NCPU() {
		if busy, at := k.CPUBusy(cpu); busy != 0 || at != bootUptime+long {
			t.Errorf("CPU %d: %v busy at %v", cpu, busy, at)
		}
	}
	// Time that passes while a task runs is the CPU's.
	task := k.NewTask("clock", func() { k.Delay(time.Second) })
	defer task.Close()
	task.Enqueue()
	task.Drain()
	k.RunUntilIdle()
	if busy, _ := k.CPUBusy(0); busy != time.Second {
		t.Errorf("CPU 0: %v busy, want a second", busy)
	}
}

func TestCPUUseIsReadWhileItChanges(t *testing.T) {
	k := newKernel(t, Config{})
	task := k.NewTask("often", func() {})
	defer task.Close()
	last := time.Duration(0)
	for range 1000 {
		task.Enqueue()
		busy, at := k.CPUBusy(0)
		if busy < last || busy > at-bootUptime {
			t.Fatalf("%v busy at %v, before %v", busy, at, last)
		}
		last = busy
	}
}
