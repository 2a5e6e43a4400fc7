package emhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
)

// rxRing is a receive ring in the state of one frame.
type rxRing struct {
	q          int
	off        uint64 // of its registers from queue 0's
	words      []uint64
	count      uint32
	head, tail uint32
}

// openRing takes what the registers say; false when the ring can take nothing.
func (u *rxUnit) openRing(q int) (r rxRing, ok bool) {
	n := u.n
	r.q, r.off = q, uint64(q)*emreg.RingStride
	r.head, r.tail = n.reg(emreg.RDH+r.off), n.reg(emreg.RDT+r.off)
	r.count = n.reg(emreg.RDLEN+r.off) / emreg.DescSize
	switch {
	case r.head == r.tail:
		return r, false
	case r.count == 0:
		n.refuse(ruleRingLen, q, 0)
		return r, false
	case r.tail >= r.count:
		n.refuse(ruleRxTail, q, r.tail)
		return r, false
	case r.head >= r.count:
		n.refuse(ruleRxHead, q, r.head)
		return r, false
	}
	base := physmem.Addr(n.reg(emreg.RDBAL+r.off)) | physmem.Addr(n.reg(emreg.RDBAH+r.off))<<32
	words, err := u.rings[q].Words(n.dma, base, int(2*r.count))
	if err != nil {
		n.dma.Fault(q, r.head, err)
		return r, false
	}
	r.words = words
	return r, true
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
func (r *rxRing) room(total, bufSize int) bool {
	for i := r.head; i != r.tail; i = r.next(i) {
		if atomic.LoadUint64(&r.words[2*i]) == 0 {
			continue
		}
		if total -= bufSize; total <= 0 {
			return true
		}
	}
	return false
}

// deliver puts the frame into the buffers of its queue's ring, or counts it as missed
// (spec 1g 5.3, Receive engine 6 to 9).
func (u *rxUnit) deliver() bool {
	r, ok := u.openRing(u.meta.queue)
	if !ok || !r.room(u.gather.Len(), u.bufSize) {
		u.shard.Add(stat(emreg.MPC), 1)
		u.shard.Add(stat(emreg.RNBC), 1)
		u.now |= emreg.ICRRXO
		return false
	}
	good := u.fill(&r)
	atomic.StoreUint32(&u.n.regs[(emreg.RDH+r.off)/4], r.head)
	u.causes |= emreg.ICRRXT0
	if len(u.n.tx) > 1 {
		u.causes |= emreg.ICRRXQ0 << r.q
	}
	free := (r.tail + r.count - r.head) % r.count
	threshold := r.count >> (1 + u.rctl&emreg.RCTLRDMTSMask>>emreg.RCTLRDMTSShift)
	if free <= threshold {
		u.now |= emreg.ICRRXDMT0
	}
	return good
}

// fill copies the frame and writes its descriptors back. After a DMA fault the rest of
// the frame is lost and its last descriptor says so.
func (u *rxUnit) fill(r *rxRing) bool {
	for left := u.gather.Len(); left > 0; {
		i := r.head
		r.head = r.next(i)
		addr := atomic.LoadUint64(&r.words[2*i])
		if addr == 0 {
			u.writeBack(r, i, 0, false)
			continue
		}
		size := min(left, u.bufSize)
		buf, err := u.n.dma.Slice(physmem.Addr(addr), uint64(size), busdma.FromDevice)
		if err != nil {
			u.n.dma.Fault(r.q, i, err)
			u.meta.errors |= emreg.RxdErrRXE
			u.shard.Add(stat(emreg.RXERRC), 1)
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
func (u *rxUnit) writeBack(r *rxRing, i uint32, size int, last bool) {
	status, errors, vlan := uint64(emreg.RxdStatDD), uint64(0), uint64(0)
	m := &u.meta
	if last {
		status |= emreg.RxdStatEOP | uint64(m.status)
		errors, vlan = uint64(m.errors), uint64(m.vlan)
	}
	p := &r.words[2*i+1]
	var w uint64
	if u.extended {
		mrq := uint64(r.q)<<emreg.RxdMRQQueueShift | uint64(m.hashType)
		physmem.StoreRelaxed64(&r.words[2*i], mrq|uint64(m.hash)<<statusShift)
		w = status | errors<<emreg.RxdExtErrShift | (uint64(size)|vlan<<emreg.RxdExtVLANShift)<<statusShift
	} else {
		d3 := status | errors<<emreg.RxdLegacyErrShift | vlan<<emreg.RxdLegacyVLANShift
		w = uint64(size) | d3<<statusShift
	}
	atomic.StoreUint64(p, u.n.faults.Writeback(w))
}
