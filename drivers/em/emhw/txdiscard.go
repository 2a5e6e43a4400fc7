package emhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
)

// discard sends plain packets to a port that wants none of their bytes: no lists are
// made and each packet is done before the next is looked at. It reports whether that is
// all there was; the rest is left in the ring for the ways that know more. That it may
// run is known from the run before (quick), as long as no register or link has changed,
// nobody watches and no fail point is set.
func (t *txQueue) discard() bool {
	n := t.n
	if !t.quick || n.changes.Load() != t.seen || t.tail >= t.count || n.k.FailPointsArmed() || t.probes.On() {
		return false
	}
	words, limit := t.words, uint64(len(t.mem))
	var all, size, first uint64
	for i := t.fetch; i != t.tail; {
		d := words[2*i:]
		w, addr := atomic.LoadUint64(&d[1]), atomic.LoadUint64(&d[0])
		if i++; i == t.count {
			i = 0
		}
		length := w & emreg.TxdLenMask
		if w&emreg.TxdCmdDEXT != 0 {
			if w&emreg.TxdDtypMask != emreg.TxdDtypD {
				return false
			}
			length = w & emreg.TxdDataLenMask
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
		case w&emreg.TxdCmdEOP == 0:
			if w&emreg.TxdCmdRS != 0 {
				return false
			}
			continue
		case all&notPlain != 0 || size-hw.MinFrame > port.MaxFrame-hw.MinFrame || !t.port.Discard(t.q, 1, int(size)):
			return false
		}
		if w&emreg.TxdCmdRS != 0 {
			atomic.StoreUint64(&d[1], w&^(emreg.TxdStatMask<<statusShift)|emreg.TxdStatDD<<statusShift)
			t.report(w&emreg.TxdCmdIDE != 0)
		}
		if t.mem[first]&1 != 0 {
			t.countCast(hw.CastOf(t.mem[first:]))
		}
		t.discarded(i, int(size))
		all, size = 0, 0
	}
	return true
}

// discarded counts a packet of size bytes and moves the head behind it.
func (t *txQueue) discarded(head uint32, size int) {
	sh := t.shard
	sh.Add(stat(emreg.PTC64)+hw.SizeBin(size), 1)
	sh.Add(stat(emreg.TPT), 1)
	sh.Add(stat(emreg.GPTC), 1)
	sh.Add(stat(emreg.TOTL), uint64(size)+fcsLen)
	sh.Add(stat(emreg.GOTCL), uint64(size)+fcsLen)
	t.fetch = head
	t.moved(head)
}
