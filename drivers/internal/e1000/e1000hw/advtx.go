package e1000hw

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

// contextSlots are the contexts of a queue (spec 1g 3.4).
const contextSlots = 2

// advNotPlain are the bits of a data descriptor's second word that ask for work.
const advNotPlain = e1000reg.TxdVLE | e1000reg.TxdTSE | (e1000reg.TxdIXSM|e1000reg.TxdTXSM|e1000reg.TxdIPSec)<<statusShift

// txContext is an advanced context as its descriptor has it.
type txContext struct {
	d0, d2, d3 uint32
	valid      bool
}

func (c *txContext) macLen() int {
	return int(c.d0 >> e1000reg.CtxMACLenShift & e1000reg.CtxMACLenMask)
}
func (c *txContext) ipLen() int { return int(c.d0 & e1000reg.CtxIPLenMask) }
func (c *txContext) l4Len() int { return int(c.d3 >> e1000reg.CtxL4LenShift & e1000reg.CtxL4LenMask) }
func (c *txContext) ipv4() bool { return c.d2&e1000reg.CtxIPv4 != 0 }
func (c *txContext) l4() uint32 { return c.d2 & e1000reg.CtxL4Mask }

// slotOf is the context slot that d3 of a descriptor names: of IDX one bit is there.
func slotOf(d3 uint32) int { return int(d3 >> e1000reg.TxdIdxShift & (contextSlots - 1)) }

// queueEnabled reports whether TXDCTL lets a queue work.
func queueEnabled(t *TxQueue) bool { return t.C.Reg(t.Off+e1000reg.DCTL)&e1000reg.DCTLEnable != 0 }

// context loads a context descriptor into its slot.
func (a *advanced) context(t *TxQueue, d01, d23 uint64) bool {
	d2, d3 := uint32(d23), uint32(d23>>statusShift)
	if d2&e1000reg.TxdDEXT == 0 || d2&e1000reg.TxdDtypMask != e1000reg.TxdDtypCtxt {
		return false
	}
	a.ctx[t.Q][slotOf(d3)] = txContext{d0: uint32(d01), d2: d2, d3: d3, valid: true}
	return true
}

// request makes o what a packet asks for (spec 1g 3.4, 5.3): its first data descriptor
// says so.
func (a *advanced) request(t *TxQueue, o *hw.Offload, size int, first, _ uint64) bool {
	o.Flags = 0
	if t.PSP {
		o.Flags = hw.TxPad
	}
	d2, d3 := uint32(first), uint32(first>>statusShift)
	if n := payLen(t.All); d2&e1000reg.TxdTSE == 0 && n != uint64(size) {
		a.Refuse(RulePayLen, t.Q, uint32(n))
		return false
	}
	if first&advNotPlain == 0 {
		return true
	}
	c := &a.ctx[t.Q][slotOf(d3)]
	if !c.valid {
		a.Refuse(RuleNoContext, t.Q, d3)
		return false
	}
	if d2&e1000reg.TxdVLE != 0 {
		o.Flags |= hw.TxVLAN
		o.TPID, o.TCI = uint16(a.Reg(emreg.VET)), uint16(c.d0>>e1000reg.CtxVLANShift)
	}
	switch {
	case d2&e1000reg.TxdTSE != 0:
		return a.segment(t, o, c, size, d3)
	case d3&(e1000reg.TxdIXSM|e1000reg.TxdTXSM) != 0:
		return a.checksum(t, o, c, d3)
	}
	return true
}

// headersFit refuses a context whose headers are shorter than those that it says there
// are.
func (a *advanced) headersFit(t *TxQueue, c *txContext) bool {
	ip := hw.IPv6HdrLen
	if c.ipv4() {
		ip = hw.IPv4HdrLen
	}
	if c.macLen() < hw.EtherHdrLen || c.ipLen() < ip {
		a.Refuse(RuleHdrLen, t.Q, c.d0)
		return false
	}
	return true
}

// checksum is IXSM and TXSM without segmentation.
func (a *advanced) checksum(t *TxQueue, o *hw.Offload, c *txContext, d3 uint32) bool {
	if !a.headersFit(t, c) {
		return false
	}
	l3, l4 := c.macLen(), c.macLen()+c.ipLen()
	if d3&e1000reg.TxdIXSM != 0 {
		if !c.ipv4() {
			a.Refuse(RuleOffload, t.Q, c.d2)
			return false
		}
		o.Flags |= hw.TxCsum0
		o.Csum[0] = hw.IPv4Csum(l3, c.ipLen(), false)
	}
	if d3&e1000reg.TxdTXSM == 0 {
		return true
	}
	o.Flags |= hw.TxCsum1
	switch c.l4() {
	case e1000reg.CtxL4UDP:
		o.Csum[1] = hw.UDPCsum(l4)
	case e1000reg.CtxL4TCP:
		o.Csum[1] = hw.TCPCsum(l4)
	case e1000reg.CtxL4SCTP:
		o.Csum[1] = hw.SCTPCsum(l4)
	default:
		a.Refuse(RuleL4Type, t.Q, c.d2)
		return false
	}
	return true
}

// segment is TSE: TCP only.
func (a *advanced) segment(t *TxQueue, o *hw.Offload, c *txContext, size int, d3 uint32) bool {
	if c.l4() != e1000reg.CtxL4TCP {
		a.Refuse(RuleL4Type, t.Q, c.d2)
		return false
	}
	if !a.headersFit(t, c) {
		return false
	}
	if c.l4Len() < hw.TCPHdrLen {
		a.Refuse(RuleHdrLen, t.Q, c.d3)
		return false
	}
	l4 := c.macLen() + c.ipLen()
	hdrLen := l4 + c.l4Len()
	if size != hdrLen+int(d3>>e1000reg.TxdPayLenShift) {
		a.Refuse(RuleTSOLen, t.Q, uint32(size))
		return false
	}
	low := a.Reg(e1000reg.DTXTCPFLGL)
	o.Flags |= hw.TxTSO
	o.TSO = hw.TSO{
		HdrLen: hdrLen, L3: c.macLen(), L4: l4, MSS: int(c.d3 >> e1000reg.CtxMSSShift),
		IPv6:   !c.ipv4(),
		IPCsum: d3&e1000reg.TxdIXSM != 0,
		L4Csum: d3&e1000reg.TxdTXSM != 0, Seeded: true,
		FirstFlags:  uint16(low & e1000reg.DTXFlagsMask),
		MiddleFlags: uint16(low >> e1000reg.DTXMiddleShift & e1000reg.DTXFlagsMask),
		LastFlags:   uint16(a.Reg(e1000reg.DTXTCPFLGH) & e1000reg.DTXFlagsMask),
	}
	return true
}
