//go:build race

package physmem

import "sync/atomic"

const defaultBacking = Heap

// StoreRelaxed64 stores an aligned word single-copy atomically. In a build without
// the race detector it is a plain store.
func StoreRelaxed64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// StoreRelaxed32 is StoreRelaxed64 for a 32-bit word.
func StoreRelaxed32(p *uint32, v uint32) { atomic.StoreUint32(p, v) }
