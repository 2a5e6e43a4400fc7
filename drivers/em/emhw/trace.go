package emhw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/internal/probe"
)

// points are the trace points of the model.
var points = func() *e1000hw.Trace {
	t := e1000hw.DefineTrace("emhw")
	t.RegName, t.CauseNames, t.DecodeTx = emreg.RegName, emreg.CauseNames, emreg.DecodeTxDesc
	return &t
}()

// traceWrite shows a register write and what the register will be. Behind Set.On.
func (n *nic) traceWrite(p *probe.Set, off uint64, v uint32) {
	old, after := n.Reg(off), v
	switch off {
	case emreg.ICR:
		old = n.intr.causes.ICR.Load()
		after = old &^ v
	case emreg.ICS:
		old = n.intr.causes.ICR.Load()
		after = old | v&e1000hw.CauseMask
	case emreg.IMS:
		old = n.intr.causes.IMS.Load()
		after = old | v&e1000hw.CauseMask
	case emreg.IMC:
		old = n.intr.causes.IMS.Load()
		after = old &^ v
	}
	note := emreg.RegName(off)
	switch off {
	case emreg.ICR, emreg.ICS, emreg.IMS, emreg.IMC, emreg.EIAC:
		note += " " + emreg.CauseNames(v)
	}
	p.FireNote(points.RegWrite, n.Cfg.Name, -1, note, off, uint64(v), uint64(old), uint64(after))
}
