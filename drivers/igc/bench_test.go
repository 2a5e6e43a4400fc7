package igc

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/igc/igcreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
)

// BenchmarkTransmit is to be compared with em's: make no packet cost more than one and a
// half times as much.
func BenchmarkTransmit(b *testing.B) {
	m := newBench(b, newCard(igcreg.DevI225V), nil)
	m.up()
	e1000test.Transmit(b, m.Ctx.Softc().TxRx, m.Rings(m.card.Board)[0])
}
