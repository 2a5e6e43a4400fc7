package e1000hw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/port"
)

// discard sends plain packets to a port that wants none of their bytes: no lists are
// made and each packet is done before the next is looked at. It reports whether that is
// all there was; the rest is left in the ring for the ways that know more. That it may
// run is known from the run before (quick), as long as no register or link has changed,
// nobody watches and no fail point is set.
func (t *TxQueue) discard() bool {
	c, f := t.C, t.format
	if !t.quick || c.changes.Load() != t.seen || t.tail >= t.count || c.K.FailPointsArmed() || t.probes.On() {
		return false
	}
	words, limit, notPlain := t.words, uint64(len(t.mem)), f.NotPlain
	var all, size, first uint64
	for i := t.fetch; i != t.tail; {
		d := words[2*i:]
		w, addr := atomic.LoadUint64(&d[1]), atomic.LoadUint64(&d[0])
		if i++; i == t.count {
			i = 0
		}
		length, ok := f.length(w)
		if !ok {
			return false
		}
		if length != 0 {
			if size == 0 {
				if first = addr; length < hw.EtherAddrLen {
					return false
				}
			}
			if addr >= limit || limit-addr < length {
				return false
			}
			size += length
		}
		all |= w
		switch {
		case w&txEOP == 0:
			if w&txRS != 0 {
				return false
			}
			continue
		case all&notPlain != 0 || size-hw.MinFrame > port.MaxFrame-hw.MinFrame || f.PayLen && payLen(all) != size ||
			!t.port.Discard(t.Q, 1, int(size)):
			return false
		}
		if w&txRS != 0 {
			atomic.StoreUint64(&d[1], w&^txStatus|txDD)
			t.report(w&f.IDE != 0)
		}
		if t.mem[first]&1 != 0 {
			t.countCast(hw.CastOf(t.mem[first:]))
		}
		t.discarded(i, int(size))
		all, size = 0, 0
	}
	return true
}

// length is how many bytes the data descriptor whose second word is w has; false if it is
// of another type.
func (f *TxFormat) length(w uint64) (n uint64, ok bool) {
	if w&txDEXT == 0 {
		return w & emreg.TxdLenMask, f.Legacy
	}
	return w & f.LenMask, w&emreg.TxdDtypMask == f.Data
}

// payLen is the length that an advanced data descriptor says, or all of a packet's
// together.
func payLen(w uint64) uint64 { return w >> (statusShift + e1000reg.TxdPayLenShift) }

// discarded counts a packet of size bytes and moves the head behind it.
func (t *TxQueue) discarded(head uint32, size int) {
	sh := t.Shard
	sh.Add(Stat(emreg.PTC64)+hw.SizeBin(size), 1)
	sh.Add(Stat(emreg.TPT), 1)
	sh.Add(Stat(emreg.GPTC), 1)
	sh.Add(Stat(emreg.TOTL), uint64(size)+fcsLen)
	sh.Add(Stat(emreg.GOTCL), uint64(size)+fcsLen)
	t.fetch = head
	t.moved(head)
}
