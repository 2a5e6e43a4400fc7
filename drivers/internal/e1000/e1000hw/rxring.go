package e1000hw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
)

// rxRing is a receive ring: its view, and its registers in the state of one frame.
type rxRing struct {
	q          int
	off        uint64 // of its registers
	ring       hw.Ring
	words      []uint64
	count      uint32
	head, tail uint32
	bufSize    int
	srrctl     uint32 // advanced
}

// openRing takes what the registers say; nil when the ring can take nothing.
func (u *RxUnit) openRing(q int) *rxRing {
	c, r := u.c, &u.rings[q]
	r.head, r.tail = c.Reg(r.off+e1000reg.HEAD), c.Reg(r.off+e1000reg.TAIL)
	r.count = c.Reg(r.off+e1000reg.LEN) / e1000reg.DescSize
	switch {
	case r.head == r.tail:
		return nil
	case r.count == 0:
		c.Refuse(RuleRingLen, q, 0)
		return nil
	case r.tail >= r.count:
		c.Refuse(RuleRxTail, q, r.tail)
		return nil
	case r.head >= r.count:
		c.Refuse(RuleRxHead, q, r.head)
		return nil
	case !u.sizeBuffers(r):
		return nil
	}
	base := physmem.Addr(c.Reg(r.off+e1000reg.BAL)) | physmem.Addr(c.Reg(r.off+e1000reg.BAH))<<32
	words, err := r.ring.Words(c.DMA, base, int(2*r.count))
	if err != nil {
		c.DMA.Fault(q, r.head, err)
		return nil
	}
	r.words = words
	return r
}

// sizeBuffers finds the size of the ring's buffers; false if its descriptors are of a
// type that is not there.
func (u *RxUnit) sizeBuffers(r *rxRing) bool {
	r.bufSize = bufferSize(u.rctl)
	if !u.cfg.Advanced {
		return true
	}
	r.srrctl = u.c.Reg(r.off + e1000reg.SRRCTL)
	if kib := r.srrctl & e1000reg.SRRCTLPktMask; kib != 0 {
		r.bufSize = int(kib) * e1000reg.SRRCTLPktUnit
	}
	if r.srrctl&e1000reg.SRRCTLDescMask != e1000reg.SRRCTLDescOneBuf {
		u.c.Refuse(RuleRxType, r.q, r.srrctl)
		return false
	}
	return true
}

// next is the index behind i.
func (r *rxRing) next(i uint32) uint32 {
	if i++; i == r.count {
		return 0
	}
	return i
}

// room reports whether the free descriptors hold total bytes. Null addresses hold none:
// they are skipped.
func (r *rxRing) room(total int) bool {
	for i := r.head; i != r.tail; i = r.next(i) {
		if atomic.LoadUint64(&r.words[2*i]) == 0 {
			continue
		}
		if total -= r.bufSize; total <= 0 {
			return true
		}
	}
	return false
}

// deliver puts the frame into the buffers of its queue's ring, or counts it as missed
// (spec 1g 5.3, Receive engine 6 to 9).
func (u *RxUnit) deliver() bool {
	q := u.meta.queue
	if u.cfg.Advanced && u.c.Reg(u.rings[q].off+e1000reg.DCTL)&e1000reg.DCTLEnable == 0 {
		u.c.lost[lossDisabled].Add(1)
		return false
	}
	r := u.openRing(q)
	if r == nil || !r.room(u.gather.Len()) {
		u.miss(q)
		return false
	}
	good := u.fill(r)
	u.c.SetReg(r.off+e1000reg.HEAD, r.head)
	u.queues |= 1 << q
	free := (r.tail + r.count - r.head) % r.count
	if free <= u.threshold(r) {
		u.now |= emreg.ICRRXDMT0
	}
	return good
}

// miss counts a frame for which there are no buffers. A queue with DROP_EN counts it
// too.
func (u *RxUnit) miss(q int) {
	u.shard.Add(Stat(emreg.MPC), 1)
	u.shard.Add(Stat(emreg.RNBC), 1)
	u.now |= emreg.ICRRXO
	if off := u.rings[q].off; u.cfg.Advanced && u.c.Reg(off+e1000reg.SRRCTL)&e1000reg.SRRCTLDropEn != 0 {
		atomic.AddUint32(&u.c.regs[(off+e1000reg.RQDPC)/emreg.RegStride], 1)
	}
}

// threshold is how many free descriptors are few.
func (u *RxUnit) threshold(r *rxRing) uint32 {
	if u.cfg.Advanced {
		return r.srrctl & e1000reg.SRRCTLRDMTSMask >> e1000reg.SRRCTLRDMTSShift * e1000reg.SRRCTLRDMTSUnit
	}
	return r.count >> (1 + u.rctl&emreg.RCTLRDMTSMask>>emreg.RCTLRDMTSShift)
}

// fill copies the frame and writes its descriptors back. After a DMA fault the rest of
// the frame is lost and its last descriptor says so.
func (u *RxUnit) fill(r *rxRing) bool {
	for left := u.gather.Len(); left > 0; {
		i := r.head
		r.head = r.next(i)
		addr := atomic.LoadUint64(&r.words[2*i])
		if addr == 0 {
			u.writeBack(r, i, 0, false)
			continue
		}
		size := min(left, r.bufSize)
		buf, err := u.c.DMA.Slice(physmem.Addr(addr), uint64(size), busdma.FromDevice)
		if err != nil {
			u.c.DMA.Fault(r.q, i, err)
			u.meta.errors |= emreg.RxdErrRXE
			u.shard.Add(Stat(emreg.RXERRC), 1)
			u.writeBack(r, i, 0, true)
			return false
		}
		u.gather.Copy(buf)
		left -= size
		u.writeBack(r, i, size, left == 0)
	}
	return true
}

// writeBack writes descriptor i: the word that holds DD last.
func (u *RxUnit) writeBack(r *rxRing, i uint32, size int, last bool) {
	status, errors, vlan := uint64(emreg.RxdStatDD), uint64(0), uint64(0)
	m := &u.meta
	if last {
		status |= emreg.RxdStatEOP | uint64(m.status)
		errors, vlan = uint64(m.errors), uint64(m.vlan)
	}
	w := status | errors<<emreg.RxdExtErrShift | (uint64(size)|vlan<<emreg.RxdExtVLANShift)<<statusShift
	switch {
	case u.cfg.Advanced:
		physmem.StoreRelaxed64(&r.words[2*i], uint64(m.packet)|uint64(m.hashType)|uint64(m.hash)<<statusShift)
	case u.extended:
		mrq := uint64(r.q)<<emreg.RxdMRQQueueShift | uint64(m.hashType)
		physmem.StoreRelaxed64(&r.words[2*i], mrq|uint64(m.hash)<<statusShift)
	default:
		d3 := status | errors<<emreg.RxdLegacyErrShift | vlan<<emreg.RxdLegacyVLANShift
		w = uint64(size) | d3<<statusShift
	}
	atomic.StoreUint64(&r.words[2*i+1], u.c.Faults.Writeback(w))
	if p := u.c.Probes; p.On() && u.c.Points.DecodeRx != nil {
		u.traceReceived(p, r, i)
	}
}

// takeDropped is a read of RQDPC, which clears. Any goroutine.
func (u *RxUnit) takeDropped(q int) uint32 {
	return atomic.SwapUint32(&u.c.regs[(u.rings[q].off+e1000reg.RQDPC)/emreg.RegStride], 0)
}
