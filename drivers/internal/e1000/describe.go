package e1000

import "github.com/ifsim/ifsim/iflib"

// Describe explains a descriptor with the decoder of its ring.
func Describe(r iflib.RingID, words []uint64, tx, rx func([DescWords]uint64) string) string {
	if len(words) != DescWords {
		return ""
	}
	w := [DescWords]uint64(words)
	if r.Tx {
		return tx(w)
	}
	return rx(w)
}
