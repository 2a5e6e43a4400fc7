package e1000hw

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/internal/probe"
)

// Trace is the trace points of a model, what the datasheet says happens, step by step,
// and the words to show it in. It must not change.
type Trace struct {
	RegWrite, RegRead, Fetch, Gather, Head, WriteBack, Receive, Delay, Cause, Vector, Line probe.ID

	RegName    func(off uint64) string
	CauseNames func(v uint32) string
	DecodeTx   func([2]uint64) string
	DecodeRx   func([2]uint64) string // nil: not shown
}

// DefineTrace defines the points of the model called provider.
func DefineTrace(provider string) Trace {
	return Trace{
		RegWrite:  probe.Define(provider, "reg-write", "off", "value", "old", "new"),
		RegRead:   probe.Define(provider, "reg-read", "off", "value"),
		Fetch:     probe.Define(provider, "desc-fetch", "index", "word0", "word1"),
		Gather:    probe.Define(provider, "gather", "pieces", "len"),
		Head:      probe.Define(provider, "head", "old", "new"),
		WriteBack: probe.Define(provider, "write-back", "index", "old", "new"),
		Receive:   probe.Define(provider, "rx-write-back", "index", "word0", "word1"),
		Delay:     probe.Define(provider, "tx-delay", "causes", "tidv"),
		Cause:     probe.Define(provider, "cause", "fresh", "icr", "ims"),
		Vector:    probe.Define(provider, "msix-vector", "vector", "causes", "icr", "ims"),
		Line:      probe.Define(provider, "interrupt-line", "msi", "icr"),
	}
}

// What is below is only done while somebody watches, behind Set.On.

// TraceRead shows a register read.
func (c *Core) TraceRead(p *probe.Set, off uint64, v uint32) {
	p.FireNote(c.Points.RegRead, c.Cfg.Name, -1, c.Points.RegName(off), off, uint64(v))
}

// traceFetch shows the descriptors of a packet, up to end.
func (t *TxQueue) traceFetch(p *probe.Set, end uint32) {
	for i := t.fetch; i != end; i = (i + 1) % t.count {
		w := [2]uint64{atomic.LoadUint64(&t.words[2*i]), atomic.LoadUint64(&t.words[2*i+1])}
		p.FireNote(t.C.Points.Fetch, t.C.Cfg.Name, t.Q, t.C.Points.DecodeTx(w), uint64(i), w[0], w[1])
	}
}

// traceGather shows the packet that was collected, and what will be done to it.
func (t *TxQueue) traceGather(p *probe.Set, b *hw.TxBatch, o *hw.Offload) {
	p.FireNote(t.C.Points.Gather, t.C.Cfg.Name, t.Q, offloadText(o), uint64(len(b.Pieces())), uint64(b.Len()))
}

// traceWriteBack shows the status of descriptor i before and after.
func (t *TxQueue) traceWriteBack(p *probe.Set, i uint32, before uint64) {
	at, after := atomic.LoadUint64(&t.words[2*i]), atomic.LoadUint64(&t.words[2*i+1])
	p.FireNote(t.C.Points.WriteBack, t.C.Cfg.Name, t.Q, t.C.Points.DecodeTx([2]uint64{at, after}), uint64(i), before, after)
}

// traceReceived shows descriptor i of a receive ring as it was written back.
func (u *RxUnit) traceReceived(p *probe.Set, r *rxRing, i uint32) {
	w := [2]uint64{atomic.LoadUint64(&r.words[2*i]), atomic.LoadUint64(&r.words[2*i+1])}
	p.FireNote(u.c.Points.Receive, u.c.Cfg.Name, r.q, u.c.Points.DecodeRx(w), uint64(i), w[0], w[1])
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
