package em

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
)

// BenchmarkTransmit is what igb's and igc's are compared with.
func BenchmarkTransmit(b *testing.B) {
	r := newRings(b, 1)
	e1000test.Transmit(b, &r.dataPath, r.tx[0].Desc)
}
