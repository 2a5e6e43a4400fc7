package kern

import "testing"

func TestAPanicOfTheKernelIsToldOnceAndGoesOn(t *testing.T) {
	for name, start := range map[string]func(k *Kernel, fn func()){
		"task":   func(k *Kernel, fn func()) { k.NewTask("bad", fn).Enqueue() },
		"thread": func(k *Kernel, fn func()) { k.Spawn("bad", fn) },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKernel(t, stepped(3))
			var told []any
			var m Mtx
			m.Init(k, "held")
			k.OnPanic(func(reason any) {
				if m.TryLock() {
					t.Error("the mutex of the goroutine that panics was free")
				}
				told = append(told, reason)
			})
			start(k, func() {
				m.Lock()
				panic("broken")
			})
			if got := mustPanic(t, func() { k.RunUntilIdle() }); got != "broken" {
				t.Errorf("panic %v", got)
			}
			k.Panicking("again")
			if len(told) != 1 || told[0] != "broken" {
				t.Errorf("told %v", told)
			}
		})
	}
}

func TestAPanicOnAGoroutineGoesOn(t *testing.T) {
	k := newKernel(t, Config{})
	var told any
	k.OnPanic(func(reason any) { told = reason })
	if got := mustPanic(t, func() { k.run(func() { panic("broken") }) }); got != "broken" || told != "broken" {
		t.Errorf("panic %v, told %v", got, told)
	}
}
