package kern

import "sync"

// panicHooks are told of the first panic in a kernel.
type panicHooks struct {
	mu   sync.Mutex
	fns  []func(reason any) // guarded by mu
	told bool               // guarded by mu
}

// OnPanic has fn called when work or a thread of the kernel panics, before the panic goes
// on: once in a kernel's life, on the goroutine that panics, with whatever locks it holds.
// fn must not wait for anything. (The list that kern_reboot runs before a dump,
// shutdown_pre_sync.)
func (k *Kernel) OnPanic(fn func(reason any)) {
	k.panics.mu.Lock()
	defer k.panics.mu.Unlock()
	k.panics.fns = append(k.panics.fns, fn)
}

// Panicking tells those who asked with OnPanic that the caller is about to panic. For code
// that runs on other goroutines than the kernel's.
func (k *Kernel) Panicking(reason any) {
	k.panics.mu.Lock()
	fns := k.panics.fns
	if k.panics.told {
		fns = nil
	}
	k.panics.told = true
	k.panics.mu.Unlock()
	for _, fn := range fns {
		fn(reason)
	}
}

// run runs a goroutine of the kernel and tells of its panic, which goes on.
func (k *Kernel) run(fn func()) {
	defer func() {
		if r := recover(); r != nil {
			k.Panicking(r)
			panic(r)
		}
	}()
	fn()
}
