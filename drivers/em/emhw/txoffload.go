package emhw

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
)

// txFormat is how this part takes packets: legacy and extended descriptors (spec 1g 3.1).
func (n *nic) txFormat() *e1000hw.TxFormat {
	f := &e1000hw.TxFormat{Data: emreg.TxdDtypD, LenMask: emreg.TxdDataLenMask, Legacy: true, IDE: emreg.TxdCmdIDE,
		NotPlain: notPlain, Context: n.loadContext, Request: n.request, Raise: n.txEvents, Empty: n.chip.lem}
	if n.chip.pch != nil {
		f.Begin = n.sink
	}
	return f
}

const statusShift = 32 // d3 in the second word of a descriptor

// notPlain are the bits of a descriptor's second word that ask for work on the packet,
// legacy or extended. In a legacy descriptor those of POPTS are CSS, which says nothing
// without IC: then the packet takes the long way for nothing.
const notPlain = emreg.TxdCmdVLE | emreg.TxdCmdIC | emreg.TxdCmdTSE |
	(emreg.TxdPoptsIXSM|emreg.TxdPoptsTXSM)<<(emreg.TxdPoptsShift+statusShift)

// Slots of contexts: a data descriptor with TSE uses the first, one without the second
// (spec 1g 3.1).
const (
	ctxTSO = iota
	ctxCsum
	contextSlots
)

const (
	// maxTSOPacket bounds what is segmented: PAYLEN has 20 bits, but the part's packet
	// memory is read once for each segment and its documentation speaks of 256 KiB.
	maxTSOPacket = 256 << 10

	// Segmentation clears FIN and PSH on all segments but the last and touches no other
	// flag (spec 1g 5.3).
	segmentFlags = 0xfff &^ (hw.TCPFin | hw.TCPPsh)
	lastFlags    = 0xfff

	byteMask = 0xff
	halfMask = 0xffff
)

// txContext is a TCP/IP context as its descriptor has it.
type txContext struct {
	d01   uint64 // IP and TCP/UDP offsets
	d23   uint64 // PAYLEN, TUCMD, HDRLEN, MSS
	valid bool
}

// sharedContexts are the contexts of 82574, of which the last one loaded by either queue
// counts.
type sharedContexts struct {
	mu  sync.Mutex // guards ctx; held to copy it
	ctx [contextSlots]txContext
}

func (s *sharedContexts) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = [contextSlots]txContext{}
}

// loadContext puts a context descriptor into its slot; false if it is none.
func (n *nic) loadContext(t *e1000hw.TxQueue, d01, d23 uint64) bool {
	if uint32(d23)&emreg.TxdDtypMask != emreg.TxdDtypC {
		return false
	}
	slot := ctxCsum
	if uint32(d23)&emreg.CtxCmdTSE != 0 {
		slot = ctxTSO
	}
	n.ctx[t.Q][slot] = txContext{d01: d01, d23: d23, valid: true}
	t.Fresh |= 1 << slot
	if len(n.tx) > 1 {
		s := &n.shared
		s.mu.Lock()
		s.ctx[slot] = n.ctx[t.Q][slot]
		s.mu.Unlock()
	}
	return true
}

// context returns the context in force for the packet.
func (n *nic) context(t *e1000hw.TxQueue, slot int) *txContext {
	c := &n.ctx[t.Q][slot]
	if len(n.tx) > 1 && t.Fresh&(1<<slot) == 0 {
		s := &n.shared
		s.mu.Lock()
		*c = s.ctx[slot]
		s.mu.Unlock()
	}
	return c
}

// request makes o what the packet of size bytes asks for: by its first data descriptor
// if that is an extended one, else by its EOP descriptor (spec 1g 3.1, 5.3). False if it
// cannot be.
func (n *nic) request(t *e1000hw.TxQueue, o *hw.Offload, size int, w, last uint64) bool {
	o.Flags = 0
	if t.PSP {
		o.Flags = hw.TxPad
	}
	legacy := uint32(w)&emreg.TxdCmdDEXT == 0
	if legacy {
		w = last
	}
	cmd, d3 := uint32(w), uint32(w>>statusShift)
	if cmd&emreg.TxdCmdVLE != 0 && n.Reg(emreg.CTRL)&emreg.CtrlVME != 0 {
		o.Flags |= hw.TxVLAN
		o.TPID = uint16(n.Reg(emreg.VET))
		o.TCI = uint16(d3 >> emreg.TxdVLANShift)
	}
	if legacy {
		if cmd&emreg.TxdCmdIC != 0 {
			o.Flags |= hw.TxCsum1
			o.Csum[1] = hw.Csum{Start: int(d3 >> emreg.TxdCSSShift & byteMask), Field: int(cmd >> emreg.TxdCSOShift & byteMask)}
		}
		return true
	}
	popts := d3 >> emreg.TxdPoptsShift & (emreg.TxdPoptsIXSM | emreg.TxdPoptsTXSM)
	if cmd&emreg.TxdCmdTSE != 0 {
		return n.segment(t, o, size, popts)
	}
	return popts == 0 || n.checksum(t, o, popts)
}

// checksum is IXSM and TXSM without segmentation.
func (n *nic) checksum(t *e1000hw.TxQueue, o *hw.Offload, popts uint32) bool {
	c := n.context(t, ctxCsum)
	if !c.valid {
		n.Refuse(e1000hw.RuleNoContext, t.Q, popts)
		return false
	}
	if popts&emreg.TxdPoptsIXSM != 0 {
		o.Flags |= hw.TxCsum0
		o.Csum[0] = csumOf(uint32(c.d01))
	}
	if popts&emreg.TxdPoptsTXSM != 0 {
		o.Flags |= hw.TxCsum1
		o.Csum[1] = csumOf(uint32(c.d01 >> statusShift))
		if uint32(c.d23)&emreg.CtxCmdTCP == 0 {
			o.Csum[1].Kind = hw.CsumUDP
		}
	}
	return true
}

// csumOf reads start, field and inclusive end; end 0 is the end of the packet.
func csumOf(d uint32) hw.Csum {
	c := hw.Csum{Start: int(d & emreg.CtxCSSMask), Field: int(d >> emreg.CtxCSOShift & byteMask)}
	if end := d >> emreg.CtxCSEShift; end != 0 {
		c.End = int(end) + 1
	}
	return c
}

// segment is TSE.
func (n *nic) segment(t *e1000hw.TxQueue, o *hw.Offload, size int, popts uint32) bool {
	c := n.context(t, ctxTSO)
	if !c.valid {
		n.Refuse(e1000hw.RuleNoContext, t.Q, popts)
		t.Shard.Add(e1000hw.Stat(emreg.TSCTFC), 1)
		return false
	}
	cmd, d3 := uint32(c.d23), uint32(c.d23>>statusShift)
	hdrLen := int(d3 >> emreg.CtxHdrLenShift & byteMask)
	if size != hdrLen+int(cmd&emreg.CtxPayLenMask) || size > maxTSOPacket {
		n.Refuse(e1000hw.RuleTSOLen, t.Q, uint32(size))
		t.Shard.Add(e1000hw.Stat(emreg.TSCTFC), 1)
		return false
	}
	o.Flags |= hw.TxTSO
	o.TSO = hw.TSO{
		HdrLen: hdrLen, L3: int(uint32(c.d01) & emreg.CtxCSSMask), L4: int(uint32(c.d01>>statusShift) & emreg.CtxCSSMask),
		MSS:    int(d3 >> emreg.CtxMSSShift & halfMask),
		IPv6:   cmd&emreg.CtxCmdIP == 0,
		UDP:    cmd&emreg.CtxCmdTCP == 0,
		IPCsum: popts&emreg.TxdPoptsIXSM != 0,
		L4Csum: popts&emreg.TxdPoptsTXSM != 0, Seeded: true,
		FirstFlags: segmentFlags, MiddleFlags: segmentFlags, LastFlags: lastFlags,
	}
	return true
}
