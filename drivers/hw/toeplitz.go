package hw

import "encoding/binary"

// Sizes of the hash (spec ifnet 11.2).
const (
	RSSKeyLen    = 40                 // bytes of key that matter
	maxHashInput = 2*ipv6AddrSz + 2*2 // IPv6 4-tuple
	nibble       = 4
	nibbleValues = 1 << nibble
	nibbleMask   = nibbleValues - 1
	windowBits   = 32
)

// Toeplitz computes RSS hashes with one key: for each half byte of the input the 16
// values it can add are tabled (4.6 KiB). Immutable, safe for concurrent use: a model
// replaces it when the key registers change.
type Toeplitz struct {
	table [2 * maxHashInput][nibbleValues]uint32
}

// NewToeplitz makes the tables of a key. A shorter key goes on with zeros; bytes after
// RSSKeyLen are not used.
func NewToeplitz(key []byte) *Toeplitz {
	var k [RSSKeyLen + wordBytes]byte
	copy(k[:RSSKeyLen], key)
	t := new(Toeplitz)
	for i := range t.table {
		bit := i * nibble
		w := binary.BigEndian.Uint64(k[bit/8:]) << (bit % 8) // the key from bit on
		row := &t.table[i]
		for b := range nibble {
			window := uint32(w << b >> windowBits)
			mask := 1 << (nibble - 1 - b)
			for v := range row {
				if v&mask != 0 {
					row[v] ^= window
				}
			}
		}
	}
	return t
}

// Sum hashes input, of which at most 36 bytes count (an IPv6 4-tuple).
func (t *Toeplitz) Sum(input []byte) uint32 {
	var h uint32
	for i, b := range input[:min(len(input), maxHashInput)] {
		h ^= t.table[2*i][b>>nibble] ^ t.table[2*i+1][b&nibbleMask]
	}
	return h
}

// sumAt goes on with a hash: input stands at byte pos of the whole.
func (t *Toeplitz) sumAt(pos int, input []byte) uint32 {
	var h uint32
	rows := t.table[2*pos:]
	for i, b := range input[:min(len(input), len(rows)/2)] {
		h ^= rows[2*i][b>>nibble] ^ rows[2*i+1][b&nibbleMask]
	}
	return h
}
