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
	note := emreg.RegName(off)
	old, after, causes := n.intr.causes.After(off, v)
	if !causes {
		old, after = n.Reg(off), v
	}
	if causes || off == emreg.EIAC {
		note += " " + emreg.CauseNames(v)
	}
	p.FireNote(points.RegWrite, n.Cfg.Name, -1, note, off, uint64(v), uint64(old), uint64(after))
}
