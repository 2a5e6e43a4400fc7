package em

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/iflib"
)

var _ iflib.Describer = (*softc)(nil)

// Registers implements iflib.Describer.
func (sc *softc) Registers() []iflib.Register {
	return iflib.ReadRegisters(emreg.Dumped(sc.chip.queues(), sc.msix), sc.hw.Read32)
}

// Descriptor implements iflib.Describer.
func (sc *softc) Descriptor(r iflib.RingID, words []uint64) string {
	rx := emreg.DecodeRxDesc
	if sc.chip.lem() {
		rx = emreg.DecodeRxLegacy
	}
	return e1000.Describe(r, words, emreg.DecodeTxDesc, rx)
}
