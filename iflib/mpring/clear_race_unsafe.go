//go:build race

package mpring

import "sync/atomic"

// clear empties a slot, in a way that the race detector understands.
func (r *Ring) clear(i uint32) { atomic.StorePointer(r.slot(i), nil) }
