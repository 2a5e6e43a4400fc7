package kern

import "reflect"

// Attach puts v into the kernel's slot for the type T, replacing what was
// there. Floors above keep what a machine has one of in a slot of their own
// type. Any goroutine; the packet path keeps the value it looked up.
func Attach[T any](k *Kernel, v T) {
	k.slotMu.Lock()
	defer k.slotMu.Unlock()
	k.slots[reflect.TypeFor[T]()] = v
}

// Lookup returns what Attach put into the slot for T, and whether anything did.
func Lookup[T any](k *Kernel) (T, bool) {
	k.slotMu.Lock()
	defer k.slotMu.Unlock()
	v, ok := k.slots[reflect.TypeFor[T]()].(T)
	return v, ok
}
