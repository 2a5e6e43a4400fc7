//go:build !race

package mpring

// clear empties a slot. Publishing cidx, a compare and swap, orders it before
// the slot's next use, so the store need not be atomic itself.
func (r *Ring) clear(i uint32) { r.slots[i] = nil }
