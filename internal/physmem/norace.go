//go:build !race

package physmem

const defaultBacking = Memfd

// StoreRelaxed64 stores an aligned word so that another CPU sees the old value or
// the new one, never a mixture, and orders it with nothing. The atomic store that
// follows (status word, tail register) publishes it. It is a plain store, which
// is single-copy atomic on every host the package builds for; a race-enabled
// build stores atomically.
func StoreRelaxed64(p *uint64, v uint64) { *p = v }

// StoreRelaxed32 is StoreRelaxed64 for a 32-bit word.
func StoreRelaxed32(p *uint32, v uint32) { *p = v }
