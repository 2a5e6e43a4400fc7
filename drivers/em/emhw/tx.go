package emhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/probe"
)

const (
	// txFrameBudget is how many frames one run of a queue starts before it lets others
	// go first.
	txFrameBudget = 4096

	statusShift = 32 // d3 in the second word of a descriptor
)

// Fields of a packet's cookie: the head behind it, and what to report.
const (
	cookieHead  = 0xffff
	cookieRS    = 1 << 16 // its last descriptor has RS
	cookieIDE   = 1 << 17 // and IDE
	cookieMany  = 1 << 18 // other descriptors of it have RS
	cookieEmpty = 1 << 19 // contexts only: no packet
)

// txQueue is a transmit queue (spec 1g 5.3, Transmit engine). Everything is its engine
// run's; head and tail are registers.
type txQueue struct {
	n      *nic
	q      int
	off    uint64 // of its registers from queue 0's
	tdh    *uint32
	tdt    *uint32
	batch  *hw.TxBatch
	probes *probe.Set
	ring   hw.Ring
	shard  hw.StatShard
	lem    bool
	done   uint32 // the causes of a packet that is reported

	seen  uint32         // nic.changes that words to psp are from; 0: to be looked at again
	words []uint64       // the ring in this run
	count uint32         // descriptors in it
	vme   bool           // CTRL.VME in this run
	psp   bool           // TCTL.PSP
	on    bool           // probes fire in this run
	tail  uint32         // TDT in this run
	fetch uint32         // next descriptor to fetch; TDH follows when the packet is done
	mem   []byte         // memory, see hw.DMA.Direct
	port  port.Discarder // the port, if it is one
	quick bool           // discard may run if what seen stands for has not changed

	pkt    txPacket
	ctx    [2]txContext // slots
	causes uint32       // to be raised at the end of the run
	later  uint32       // to be raised after TIDV
	more   bool         // the budget ended the run

	offload hw.Offload // of the packet being ended
	burst   txBurst
}

// txPacket is what is known of the packet that is fetched.
type txPacket struct {
	first   uint64 // second word of its first data descriptor
	fresh   uint8  // slots that a context of its own has loaded
	data    bool   // a data descriptor was seen
	refused bool   // a rule was broken: not sent
	cookie  uint64
}

func newTxQueue(n *nic, q int) *txQueue {
	t := &txQueue{n: n, q: q, off: uint64(q) * emreg.RingStride, shard: n.stats.Shard(q), probes: n.k.Probes, done: emreg.ICRTXDW, lem: n.chip.lem}
	t.tdh, t.tdt = &n.regs[(emreg.TDH+t.off)/4], &n.regs[(emreg.TDT+t.off)/4]
	if n.chip.queues > 1 {
		t.done |= emreg.ICRTXQ0 << q
	}
	t.port, _ = n.cfg.Port.(port.Discarder)
	t.batch = hw.NewTxBatch(hw.TxConfig{Kernel: n.k, Name: n.cfg.Name, Port: n.cfg.Port, Queue: q,
		Faults: n.faults, Kick: func() { n.engine.Doorbell(q) }})
	return t
}

// reset drops what is in flight. The engine is paused.
func (t *txQueue) reset() {
	t.batch.Reset()
	t.ring.Forget()
	t.words, t.count, t.fetch, t.seen, t.quick = nil, 0, 0, 0, false
	t.ctx = [2]txContext{}
	t.causes, t.later = 0, 0
}

// moveHead is a write of TDH; the engine is paused.
func (t *txQueue) moveHead(v uint32) {
	head := t.n.reg(emreg.TDH + t.off)
	if v == head {
		return
	}
	enabled := t.n.reg(emreg.TCTL)&emreg.TCTLEN != 0
	if t.batch.InFlight() != 0 || enabled && head != t.n.reg(emreg.TDT+t.off) {
		t.n.refuse(ruleTxBusyHead, t.q, v)
		return
	}
	t.fetch, t.seen = v, 0
	t.n.setReg(emreg.TDH+t.off, v)
}

// run is the queue's work: send from head to tail, report what is done.
func (t *txQueue) run() {
	n := t.n
	if n.chip.pch != nil {
		t.sink()
	}
	t.tail = atomic.LoadUint32(t.tdt)
	if !t.discard() {
		if !t.begin() {
			return
		}
		if !t.express() {
			t.batch.Run(t)
			if t.batch.Tally.Frames != 0 || t.batch.Malformed != 0 {
				t.publish()
			}
		}
		t.quick = t.port != nil && t.seen != 0 && t.batch.Direct() != nil
	}
	if t.causes == 0 && t.n.delays.tx.waits(t.later) {
		t.later = 0 // also if it was
	} else {
		t.interrupt()
	}
	if n.pch.lpi.Load() && t.fetch == t.tail {
		t.shard.Add(stat(emreg.TLPIC), 1)
	}
	if t.more {
		t.more = false
		n.engine.Defer(t.q)
	}
}

// begin takes what the registers say; false when there is nothing that may be done.
func (t *txQueue) begin() bool {
	if t.tail == t.fetch && t.batch.InFlight() == 0 {
		return false
	}
	n := t.n
	t.on, t.mem, t.quick = t.probes.On(), n.dma.Direct(), false
	changes := n.changes.Load()
	if changes == t.seen && t.tail < t.count && n.link.Up() {
		return true
	}
	t.seen = 0
	if !t.look() {
		return false
	}
	if n.reg(emreg.TCTL)&emreg.TCTLEN != 0 && !n.dma.Strict() {
		t.seen = changes
	}
	return true
}

// look is begin from the registers themselves.
func (t *txQueue) look() bool {
	n := t.n
	if n.pch.hung.Load() {
		return false
	}
	tctl := n.reg(emreg.TCTL)
	if tctl&emreg.TCTLEN == 0 || !n.link.Up() {
		if tctl&emreg.TCTLEN == 0 && t.tail != t.fetch {
			n.refuse(ruleTxDisabled, t.q, t.tail)
		}
		// The MAC holds what it has until there is a link; what the port has goes on.
		if t.tail = t.fetch; t.batch.InFlight() == 0 {
			return false
		}
	}
	t.psp = tctl&emreg.TCTLPSP != 0
	t.vme = n.reg(emreg.CTRL)&emreg.CtrlVME != 0
	size := n.reg(emreg.TDLEN + t.off)
	t.count = size / emreg.DescSize
	switch {
	case t.count == 0:
		n.refuse(ruleRingLen, t.q, size)
		return false
	case t.tail >= t.count:
		n.refuse(ruleTxTail, t.q, t.tail)
		return false
	case t.fetch >= t.count:
		n.refuse(ruleTxHead, t.q, t.fetch)
		return false
	}
	base := physmem.Addr(n.reg(emreg.TDBAL+t.off)) | physmem.Addr(n.reg(emreg.TDBAH+t.off))<<32
	words, err := t.ring.Words(n.dma, base, int(2*t.count))
	if err != nil {
		n.dma.Fault(t.q, t.fetch, err)
		return false
	}
	t.words = words
	return true
}

// FetchTx implements hw.TxSource.
func (t *txQueue) FetchTx(b *hw.TxBatch) bool {
	i := t.fetch
	if i == t.tail {
		return false
	}
	if b.Tally.Frames >= txFrameBudget {
		t.more = true
		return false
	}
	t.pkt = txPacket{}
	for i != t.tail {
		addr, w := atomic.LoadUint64(&t.words[2*i]), atomic.LoadUint64(&t.words[2*i+1])
		at := i
		if i++; i == t.count {
			i = 0
		}
		cmd := uint32(w)
		size := cmd & emreg.TxdLenMask
		if cmd&emreg.TxdCmdDEXT != 0 {
			size = cmd & emreg.TxdDataLenMask
			if cmd&emreg.TxdDtypMask != emreg.TxdDtypD {
				t.special(addr, w)
				continue
			}
		}
		t.data(b, at, addr, uint64(size))
		if !t.pkt.data {
			t.pkt.first, t.pkt.data = w, true
		}
		if cmd&emreg.TxdCmdEOP != 0 {
			if t.on {
				t.traceFetch(t.probes, i)
			}
			t.fetch = i
			t.end(b, w)
			return i != t.tail
		}
		if cmd&emreg.TxdCmdRS != 0 {
			t.pkt.cookie |= cookieMany
		}
	}
	if t.pkt.data {
		return false // the rest of the packet is still to come
	}
	t.fetch = i
	b.Drop(t.pkt.cookie | cookieEmpty | uint64(i))
	return true
}

// data appends the buffer of a data descriptor.
func (t *txQueue) data(b *hw.TxBatch, at uint32, addr, size uint64) {
	if size == 0 {
		return
	}
	buf, err := t.n.dma.Slice(physmem.Addr(addr), size, busdma.ToDevice)
	if err != nil {
		t.n.dma.Fault(t.q, at, err)
		t.pkt.refused = true
		return
	}
	b.Append(buf)
}

// special is a descriptor that is not data: a context, or one that does not exist.
func (t *txQueue) special(d01, w uint64) {
	if uint32(w)&emreg.TxdCmdRS != 0 {
		t.pkt.cookie |= cookieMany
	}
	switch {
	case uint32(w)&emreg.TxdDtypMask != emreg.TxdDtypC:
		t.n.refuse(ruleDescType, t.q, uint32(w))
		t.pkt.refused = true
	case t.pkt.data:
		t.n.refuse(ruleContextPlace, t.q, uint32(w))
		t.pkt.refused = true
	default:
		t.loadContext(d01, w)
	}
}

// end hands the packet over; last is the second word of its EOP descriptor.
func (t *txQueue) end(b *hw.TxBatch, last uint64) {
	cookie := t.pkt.cookie | uint64(t.fetch)
	if uint32(last)&emreg.TxdCmdRS != 0 {
		cookie |= cookieRS
	}
	if uint32(last)&emreg.TxdCmdIDE != 0 {
		cookie |= cookieIDE
	}
	o := &t.offload
	if t.pkt.refused || !t.request(o, b.Len(), last) {
		t.n.lost[lossTxDropped].Add(1)
		b.Drop(cookie)
		return
	}
	if t.on {
		t.traceGather(t.probes, b, o)
	}
	if err := b.End(o, cookie); err != nil {
		t.n.refuse(ruleOffload, t.q, uint32(last>>statusShift))
		t.n.lost[lossTxDropped].Add(1)
	}
}

// CompleteTx implements hw.TxSource: the head moves behind the packet, and its status is
// written back if RS asks for it.
func (t *txQueue) CompleteTx(c hw.Completion) {
	head := uint32(c.Cookie & cookieHead)
	if c.Cookie&(cookieRS|cookieMany) != 0 && !c.Silent {
		if c.Cookie&cookieMany != 0 {
			t.writeBackAll(head)
		} else {
			t.writeBack(t.before(head))
		}
		t.report(c.Cookie&cookieIDE != 0)
	}
	if t.on {
		t.probes.Fire2(probeHead, t.n.cfg.Name, t.q, uint64(atomic.LoadUint32(t.tdh)), uint64(head))
	}
	t.moved(head)
}

// before is the descriptor in front of i.
func (t *txQueue) before(i uint32) uint32 {
	if i == 0 {
		i = t.count
	}
	return i - 1
}

// writeBack reports a descriptor done: DD set, errors cleared.
func (t *txQueue) writeBack(i uint32) {
	if i >= t.count {
		return // the ring has shrunk
	}
	p := &t.words[2*i+1]
	was := atomic.LoadUint64(p)
	w := was&^(emreg.TxdStatMask<<statusShift) | emreg.TxdStatDD<<statusShift
	atomic.StoreUint64(p, t.n.faults.Writeback(w))
	if t.on {
		t.traceWriteBack(t.probes, i, was)
	}
}

// writeBackAll reports each descriptor with RS from the head register to head.
func (t *txQueue) writeBackAll(head uint32) {
	i := t.n.reg(emreg.TDH + t.off)
	for range t.count {
		if i >= t.count || i == head {
			return
		}
		if uint32(atomic.LoadUint64(&t.words[2*i+1]))&emreg.TxdCmdRS != 0 {
			t.writeBack(i)
		}
		if i++; i == t.count {
			i = 0
		}
	}
}

// publish adds the run's frames to the statistics.
func (t *txQueue) publish() {
	errors := t.batch.TakeErrors()
	countTx(t.shard, &t.batch.Tally, uint64(errors))
	t.batch.Malformed = 0
}

// interrupt raises what the run has gathered. TXQn exist with MSI-X only.
func (t *txQueue) interrupt() {
	now, later := t.causes, t.later
	t.causes, t.later = 0, 0
	if !t.n.msix() {
		now, later = now&^vectorCauses, later&^vectorCauses
	}
	if now&emreg.ICRTXQE != 0 {
		t.n.stats.Add(stat(emreg.ICTXQEC), 1)
	}
	if now != 0 {
		t.n.raise(now)
	}
	if later != 0 {
		if p := t.n.k.Probes; p.On() {
			p.FireNote(probeDelay, t.n.cfg.Name, t.q, emreg.CauseNames(later), uint64(later), uint64(t.n.reg(emreg.TIDV)))
		}
		t.n.delays.tx.event(later)
	}
}
