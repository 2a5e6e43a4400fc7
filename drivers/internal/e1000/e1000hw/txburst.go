package e1000hw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/internal/physmem"
)

// txBurst are plain packets on their way to a port that is done with them at once.
type txBurst struct {
	frames [hw.TxSlots]port.Frame
	sizes  [hw.TxSlots]uint32
	heads  [hw.TxSlots]uint32 // the head behind the packet, cookieRS, cookieIDE
	segs   [hw.MaxTxSegs][]byte
}

// express sends the plain packets from the head on, without the batch, as long as
// nothing of the batch is under way and nobody watches. What it does not know it leaves
// in the ring for the batch; false if there is such a packet.
func (t *TxQueue) express() bool {
	if t.on || t.wb != 0 {
		return false
	}
	p := t.Batch.Direct()
	if p == nil {
		return false
	}
	for sent := 0; t.fetch != t.tail; {
		if sent >= txFrameBudget {
			t.more = true
			return true
		}
		n := t.gather()
		if n == 0 {
			return false
		}
		taken, bad := p.SendNow(t.Q, t.burst.frames[:n])
		if taken > 0 {
			t.finish(taken, bad)
		}
		if taken < n {
			return true // the port's TxReady has the queue run again
		}
		sent += n
	}
	return true
}

// gather collects plain packets and returns how many.
func (t *TxQueue) gather() (n int) {
	u, words, mem := &t.burst, t.words, t.mem
	f := t.format
	i, tail := int(2*t.fetch), int(2*t.tail)
	for end := 0; n < len(u.frames); n++ {
		var all, size uint64
		start := end
		for all&txEOP == 0 {
			if i == tail || end == len(u.segs) || all&txRS != 0 {
				return n
			}
			d := words[i : i+2 : i+2]
			addr, w := atomic.LoadUint64(&d[0]), atomic.LoadUint64(&d[1])
			if i += 2; i == len(words) {
				i = 0
			}
			length, ok := f.length(w)
			if !ok {
				return n
			}
			if length != 0 {
				behind := addr + length
				if behind < addr || behind > uint64(len(mem)) {
					return n
				}
				u.segs[end] = mem[addr:behind:behind]
				end++
				size += length
			}
			all |= w
		}
		if all&f.NotPlain != 0 || size < hw.MinFrame || len(u.segs[start]) < hw.EtherAddrLen {
			return n
		}
		if f.PayLen && payLen(all) != size {
			return n
		}
		u.frames[n].Segs = u.segs[start:end]
		u.sizes[n] = uint32(size)
		u.heads[n] = uint32(i/2) | t.cookieFlags(all)
	}
	return n
}

// cookieFlags are RS and IDE of an EOP descriptor as a cookie has them.
func (t *TxQueue) cookieFlags(w uint64) uint32 {
	var flags uint32
	if w&txRS != 0 {
		flags = cookieRS
		if w&t.format.IDE != 0 {
			flags |= cookieIDE
		}
	}
	return flags
}

// finish counts and reports the first n packets, bad of which the port has refused, and
// moves the head behind them.
func (t *TxQueue) finish(n, bad int) {
	u, sh := &t.burst, t.Shard
	octets := uint64(n) * fcsLen
	for k := range u.frames[:n] {
		size := int(u.sizes[k])
		octets += uint64(size)
		sh.Add(Stat(emreg.PTC64)+hw.SizeBin(size), 1)
		if cast := hw.CastOf(u.frames[k].Segs[0]); cast != hw.Unicast {
			t.countCast(cast)
		}
		if h := u.heads[k]; h&cookieRS != 0 {
			t.writeBack(t.before(h & cookieHead))
			t.report(h&cookieIDE != 0)
		}
	}
	t.fetch = u.heads[n-1] & cookieHead
	sh.Add(Stat(emreg.TPT), uint64(n))
	sh.Add(Stat(emreg.GPTC), uint64(n-bad))
	sh.Add(Stat(emreg.TOTL), octets)
	sh.Add(Stat(emreg.GOTCL), octets)
	if bad != 0 {
		sh.Add(Stat(emreg.ECOL), uint64(bad))
	}
	t.moved(t.fetch)
}

func (t *TxQueue) countCast(c hw.Cast) {
	counter := Stat(emreg.MPTC)
	if c == hw.Broadcast {
		counter = Stat(emreg.BPTC)
	}
	t.Shard.Add(counter, 1)
}

// report gathers the event of a packet that was written back.
func (t *TxQueue) report(delayed bool) {
	if delayed {
		t.events |= TxDelayed
	} else {
		t.events |= TxDone
	}
}

// moved puts the head register behind what is done.
func (t *TxQueue) moved(head uint32) {
	physmem.StoreRelaxed32(t.tdh, head)
	if t.format.Empty && head == atomic.LoadUint32(t.tdt) {
		t.events |= TxEmpty
	}
}
