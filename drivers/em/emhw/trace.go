package emhw

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/internal/probe"
)

// Trace points of the model: what the datasheet says happens, step by step.
var (
	probeRegWrite  = probe.Define("emhw", "reg-write", "off", "value", "old", "new")
	probeRead      = probe.Define("emhw", "reg-read", "off", "value")
	probeFetch     = probe.Define("emhw", "desc-fetch", "index", "word0", "word1")
	probeGather    = probe.Define("emhw", "gather", "pieces", "len")
	probeHead      = probe.Define("emhw", "head", "old", "new")
	probeWriteBack = probe.Define("emhw", "write-back", "index", "old", "new")
	probeDelay     = probe.Define("emhw", "tx-delay", "causes", "tidv")
	probeCause     = probe.Define("emhw", "cause", "fresh", "icr", "ims")
	probeVector    = probe.Define("emhw", "msix-vector", "vector", "causes", "icr", "ims")
	probeLine      = probe.Define("emhw", "interrupt-line", "msi", "icr")
)

// What is below is only done while somebody watches, behind Set.On.

// traceWrite shows a register write and what the register will be.
func (n *nic) traceWrite(p *probe.Set, off uint64, v uint32) {
	old, after := n.reg(off), v
	switch off {
	case emreg.ICR:
		old = n.intr.icr.Load()
		after = old &^ v
	case emreg.ICS:
		old = n.intr.icr.Load()
		after = old | v&causeMask
	case emreg.IMS:
		old = n.intr.ims.Load()
		after = old | v&causeMask
	case emreg.IMC:
		old = n.intr.ims.Load()
		after = old &^ v
	}
	note := emreg.RegName(off)
	switch off {
	case emreg.ICR, emreg.ICS, emreg.IMS, emreg.IMC, emreg.EIAC:
		note += " " + emreg.CauseNames(v)
	}
	p.FireNote(probeRegWrite, n.cfg.Name, -1, note, off, uint64(v), uint64(old), uint64(after))
}

// traceFetch shows the descriptors of a packet, up to end.
func (t *txQueue) traceFetch(p *probe.Set, end uint32) {
	for i := t.fetch; i != end; i = (i + 1) % t.count {
		w := [2]uint64{atomic.LoadUint64(&t.words[2*i]), atomic.LoadUint64(&t.words[2*i+1])}
		p.FireNote(probeFetch, t.n.cfg.Name, t.q, emreg.DecodeTxDesc(w), uint64(i), w[0], w[1])
	}
}

// traceGather shows the packet that was collected, and what will be done to it.
func (t *txQueue) traceGather(p *probe.Set, b *hw.TxBatch, o *hw.Offload) {
	p.FireNote(probeGather, t.n.cfg.Name, t.q, offloadText(o), uint64(len(b.Pieces())), uint64(b.Len()))
}

// offloadText lists what a packet asks for.
func offloadText(o *hw.Offload) string {
	var out []string
	for i, c := range o.Csum {
		if o.Flags&(hw.TxCsum0<<i) != 0 {
			out = append(out, fmt.Sprintf("checksum from byte %d at byte %d", c.Start, c.Field))
		}
	}
	if o.Flags&hw.TxTSO != 0 {
		out = append(out, fmt.Sprintf("segments of %d bytes behind %d of headers", o.TSO.MSS, o.TSO.HdrLen))
	}
	if o.Flags&hw.TxVLAN != 0 {
		out = append(out, fmt.Sprintf("VLAN tag %#04x", o.TCI))
	}
	if o.Flags&hw.TxPad != 0 {
		out = append(out, fmt.Sprintf("padding if it is shorter than %d bytes", hw.MinFrame))
	}
	if len(out) == 0 {
		return "no offload"
	}
	return strings.Join(out, ", ")
}

// traceWriteBack shows the status of descriptor i before and after.
func (t *txQueue) traceWriteBack(p *probe.Set, i uint32, before uint64) {
	at, after := atomic.LoadUint64(&t.words[2*i]), atomic.LoadUint64(&t.words[2*i+1])
	p.FireNote(probeWriteBack, t.n.cfg.Name, t.q, emreg.DecodeTxDesc([2]uint64{at, after}), uint64(i), before, after)
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
