package emhw

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

// Slots of contexts: a data descriptor with TSE uses the first, one without the second
// (spec 1g 3.1).
const (
	ctxTSO = iota
	ctxCsum
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
	ctx [2]txContext
}

func (s *sharedContexts) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = [2]txContext{}
}

// loadContext puts a context descriptor into its slot.
func (t *txQueue) loadContext(d01, d23 uint64) {
	slot := ctxCsum
	if uint32(d23)&emreg.CtxCmdTSE != 0 {
		slot = ctxTSO
	}
	t.ctx[slot] = txContext{d01: d01, d23: d23, valid: true}
	t.pkt.fresh |= 1 << slot
	if len(t.n.tx) > 1 {
		s := &t.n.shared
		s.mu.Lock()
		s.ctx[slot] = t.ctx[slot]
		s.mu.Unlock()
	}
}

// context returns the context in force for the packet.
func (t *txQueue) context(slot int) *txContext {
	if len(t.n.tx) > 1 && t.pkt.fresh&(1<<slot) == 0 {
		s := &t.n.shared
		s.mu.Lock()
		t.ctx[slot] = s.ctx[slot]
		s.mu.Unlock()
	}
	return &t.ctx[slot]
}

// request makes o what the packet of size bytes asks for: by its first data descriptor
// if that is an extended one, else by its EOP descriptor (spec 1g 3.1, 5.3). False if it
// cannot be.
func (t *txQueue) request(o *hw.Offload, size int, last uint64) bool {
	o.Flags = 0
	if t.psp {
		o.Flags = hw.TxPad
	}
	w := t.pkt.first
	legacy := uint32(w)&emreg.TxdCmdDEXT == 0
	if legacy {
		w = last
	}
	cmd, d3 := uint32(w), uint32(w>>statusShift)
	if cmd&emreg.TxdCmdVLE != 0 && t.vme {
		o.Flags |= hw.TxVLAN
		o.TPID = uint16(t.n.reg(emreg.VET))
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
		return t.segment(o, size, popts)
	}
	return popts == 0 || t.checksum(o, popts)
}

// checksum is IXSM and TXSM without segmentation.
func (t *txQueue) checksum(o *hw.Offload, popts uint32) bool {
	c := t.context(ctxCsum)
	if !c.valid {
		t.n.refuse(ruleNoContext, t.q, popts)
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
func (t *txQueue) segment(o *hw.Offload, size int, popts uint32) bool {
	c := t.context(ctxTSO)
	if !c.valid {
		t.n.refuse(ruleNoContext, t.q, popts)
		t.shard.Add(stat(emreg.TSCTFC), 1)
		return false
	}
	cmd, d3 := uint32(c.d23), uint32(c.d23>>statusShift)
	hdrLen := int(d3 >> emreg.CtxHdrLenShift & byteMask)
	if size != hdrLen+int(cmd&emreg.CtxPayLenMask) || size > maxTSOPacket {
		t.n.refuse(ruleTSOLen, t.q, uint32(size))
		t.shard.Add(stat(emreg.TSCTFC), 1)
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
