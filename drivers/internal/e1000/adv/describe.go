package adv

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
)

var _ iflib.Describer = (*Softc)(nil)

// Registers implements iflib.Describer.
func (sc *Softc) Registers() []iflib.Register {
	table := e1000reg.Dumped(emreg.DumpedControl(), sc.Ctx.NRxqs(), sc.Ctx.NTxqs(), len(sc.vectors))
	return iflib.ReadRegisters(table, sc.Regs.Read32)
}

// Descriptor implements iflib.Describer.
func (sc *Softc) Descriptor(r iflib.RingID, words []uint64) string {
	return e1000.Describe(r, words, e1000reg.DecodeTxDesc, e1000reg.DescribeRxDesc)
}
