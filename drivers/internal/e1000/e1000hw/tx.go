package e1000hw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
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

// Bits that descriptors of all formats have in the same place of d2, and DD of d3.
const (
	txEOP    = emreg.TxdCmdEOP
	txRS     = emreg.TxdCmdRS
	txDEXT   = emreg.TxdCmdDEXT
	txStatus = uint64(emreg.TxdStatMask) << statusShift
	txDD     = uint64(emreg.TxdStatDD) << statusShift
)

// TxFormat says what the transmit descriptors of a part are like. Its numbers must not
// change; its functions are called in the queue's run.
type TxFormat struct {
	Data     uint64 // DTYP of a data descriptor, in place in d2
	LenMask  uint64 // of its length
	Legacy   bool   // descriptors without DEXT are packets too
	IDE      uint64 // what delays the interrupt, in place in d2; 0: nothing does
	NotPlain uint64 // bits of the second word that ask for work on the packet
	PayLen   bool   // d3 31:14 has the length of a packet that is not segmented, or 0 in all but one

	// Context takes a context descriptor, which stands between packets; false if it is of
	// a type that does not exist.
	Context func(t *TxQueue, d01, d23 uint64) bool
	// Request makes o what the packet of size bytes asks for; false if it cannot be,
	// after Refuse. first and last are the second words of its first data descriptor
	// and of the one with EOP.
	Request func(t *TxQueue, o *hw.Offload, size int, first, last uint64) bool
	// Enabled reports whether the queue may work, beside TCTL.EN; nil: it may.
	Enabled func(t *TxQueue) bool
	// Raise asks for interrupts: a packet with RS was written back, now or later, or the
	// ring is empty.
	Raise func(t *TxQueue, e TxEvents)
	// Empty reports an empty ring to Raise.
	Empty bool
	// Begin is called when a run begins; nil: nothing is to be done.
	Begin func(t *TxQueue)
}

// TxEvents is what happened in a run of a transmit queue.
type TxEvents uint8

// The events.
const (
	TxDone    TxEvents = 1 << iota // a report was written
	TxDelayed                      // a report was written whose interrupt may wait
	TxEmpty                        // head has reached tail
)

// TxQueue is a transmit queue (spec 1g 5.3, Transmit engine). Everything is its engine
// run's; head and tail are registers.
type TxQueue struct {
	C     *Core
	Q     int
	Off   uint64 // of its registers
	Batch *hw.TxBatch
	Shard hw.StatShard
	PSP   bool   // TCTL.PSP in this run
	Fresh uint8  // slots that contexts of the packet at hand have loaded: Context's and Request's
	All   uint64 // second words of the data descriptors of the packet at hand, together

	format *TxFormat
	tdh    *uint32
	tdt    *uint32
	probes *probe.Set
	ring   hw.Ring

	seen  uint32   // Core.changes that words to PSP are from; 0: to be looked at again
	words []uint64 // the ring in this run
	count uint32   // descriptors in it
	wb    physmem.Addr
	on    bool           // probes fire in this run
	tail  uint32         // TDT in this run
	fetch uint32         // next descriptor to fetch; TDH follows when the packet is done
	mem   []byte         // memory, see hw.DMA.Direct
	port  port.Discarder // the port, if it is one
	quick bool           // discard may run if what seen stands for has not changed

	pkt    txPacket
	events TxEvents // to be raised at the end of the run
	more   bool     // the budget ended the run

	offload hw.Offload // of the packet being ended
	burst   txBurst
}

// txPacket is what is known of the packet that is fetched.
type txPacket struct {
	first   uint64 // second word of its first data descriptor
	data    bool   // a data descriptor was seen
	refused bool   // a rule was broken: not sent
	cookie  uint64
}

// NewTxQueue makes a queue whose registers are at off.
func NewTxQueue(c *Core, q int, off uint64, format *TxFormat) *TxQueue {
	t := &TxQueue{C: c, Q: q, Off: off, Shard: c.Stats.Shard(q), probes: c.Probes, format: format}
	t.port, _ = c.Cfg.Port.(port.Discarder)
	t.tdh, t.tdt = &c.regs[(off+e1000reg.HEAD)/emreg.RegStride], &c.regs[(off+e1000reg.TAIL)/emreg.RegStride]
	t.Batch = hw.NewTxBatch(hw.TxConfig{Kernel: c.K, Name: c.Cfg.Name, Port: c.Cfg.Port, Queue: q,
		Faults: c.Faults, Kick: func() { c.Engine.Doorbell(q) }})
	return t
}

// reset drops what is in flight. The engine is paused.
func (t *TxQueue) reset() {
	t.Batch.Reset()
	t.ring.Forget()
	t.words, t.count, t.fetch, t.seen, t.quick = nil, 0, 0, 0, false
	t.events = 0
}

// WriteTail rings the doorbell. Inline the engine's busy flag orders the store, so that
// it need not be a locked one. A tail that does not move brings no work: what holds the
// queue up, a port without room or a link that is down, has it run again by itself. Any
// goroutine.
func (t *TxQueue) WriteTail(v uint32) {
	const indexMask = 0xffff
	v &= indexMask
	if atomic.LoadUint32(t.tdt) == v {
		return
	}
	if t.C.Inline {
		physmem.StoreRelaxed32(t.tdt, v)
	} else {
		atomic.StoreUint32(t.tdt, v)
	}
	t.C.Engine.Doorbell(t.Q)
}

// tailRegister is the tail of a queue as a register by itself.
type tailRegister struct {
	t    *TxQueue
	regs pci.Registers32 // of the part
	off  uint64
}

// WriteRegister implements pci.RegisterWriter. A write that is traced goes the way that
// traces.
func (r *tailRegister) WriteRegister(v uint32) {
	if c := r.t.C; !c.Probes.On() {
		c.MMIO.Write()
		r.t.WriteTail(v)
		return
	}
	r.regs.Write32(r.off, v)
}

// Tail returns the queue's tail, which regs has at off, for pci.RegisterFinder.
func (t *TxQueue) Tail(regs pci.Registers32, off uint64) pci.RegisterWriter {
	return &tailRegister{t, regs, off}
}

// WriteHead is a write of TDH, refused while the queue has work. Not from a run.
func (t *TxQueue) WriteHead(v uint32) {
	t.C.Paused(t.Q, func() {
		head := atomic.LoadUint32(t.tdh)
		if v == head {
			return
		}
		if t.Batch.InFlight() != 0 || t.enabled() && head != atomic.LoadUint32(t.tdt) {
			t.C.Refuse(RuleTxBusyHead, t.Q, v)
			return
		}
		t.fetch, t.seen = v, 0
		atomic.StoreUint32(t.tdh, v)
	})
}

// enabled reports whether the queue may take packets.
func (t *TxQueue) enabled() bool {
	return t.C.Reg(emreg.TCTL)&emreg.TCTLEN != 0 && (t.format.Enabled == nil || t.format.Enabled(t))
}

// Run implements hw.Runner: send from head to tail, report what is done.
func (t *TxQueue) Run() {
	if t.format.Begin != nil {
		t.format.Begin(t)
	}
	t.tail = atomic.LoadUint32(t.tdt)
	if !t.discard() {
		if !t.begin() {
			return
		}
		if !t.express() {
			t.Batch.Run(t)
			if t.Batch.Tally.Frames != 0 || t.Batch.Malformed != 0 {
				t.publish()
			}
		}
		t.quick = t.port != nil && t.seen != 0 && t.wb == 0 && t.Batch.Direct() != nil
	}
	if e := t.events; e != 0 {
		t.events = 0
		t.format.Raise(t, e)
	}
	if t.C.LPI.Load() && t.fetch == t.tail {
		t.Shard.Add(Stat(e1000reg.TLPIC), 1)
	}
	if t.more {
		t.more = false
		t.C.Engine.Defer(t.Q)
	}
}

// begin takes what the registers say; false when there is nothing that may be done.
func (t *TxQueue) begin() bool {
	if t.tail == t.fetch && t.Batch.InFlight() == 0 {
		return false
	}
	c := t.C
	t.on, t.mem, t.quick = t.probes.On(), c.DMA.Direct(), false
	changes := c.changes.Load()
	if changes == t.seen && t.tail < t.count && c.Link.Up() {
		return true
	}
	t.seen = 0
	if !t.look() {
		return false
	}
	if !c.DMA.Strict() && t.enabled() {
		t.seen = changes
	}
	return true
}

// look is begin from the registers themselves.
func (t *TxQueue) look() bool {
	c := t.C
	if c.Hung.Load() {
		return false
	}
	tctl := c.Reg(emreg.TCTL)
	if on := t.enabled(); !on || !c.Link.Up() {
		if !on && t.tail != t.fetch {
			rule := RuleTxQueueOff
			if tctl&emreg.TCTLEN == 0 {
				rule = RuleTxDisabled
			}
			c.Refuse(rule, t.Q, t.tail)
		}
		// The MAC holds what it has until there is a link; what the port has goes on.
		if t.tail = t.fetch; t.Batch.InFlight() == 0 {
			return false
		}
	}
	t.PSP = tctl&emreg.TCTLPSP != 0
	size := c.Reg(t.Off + e1000reg.LEN)
	t.count = size / e1000reg.DescSize
	switch {
	case t.count == 0:
		c.Refuse(RuleRingLen, t.Q, size)
		return false
	case t.tail >= t.count:
		c.Refuse(RuleTxTail, t.Q, t.tail)
		return false
	case t.fetch >= t.count:
		c.Refuse(RuleTxHead, t.Q, t.fetch)
		return false
	}
	base := physmem.Addr(c.Reg(t.Off+e1000reg.BAL)) | physmem.Addr(c.Reg(t.Off+e1000reg.BAH))<<32
	words, err := t.ring.Words(c.DMA, base, int(2*t.count))
	if err != nil {
		c.DMA.Fault(t.Q, t.fetch, err)
		return false
	}
	t.words = words
	t.wb = t.headWriteBack()
	return true
}

// headWriteBack is where the head is written instead of descriptors' status, 0 for
// nowhere (TDWBAL, advanced parts).
func (t *TxQueue) headWriteBack() physmem.Addr {
	low := t.C.Reg(t.Off + e1000reg.WBAL)
	if !t.format.PayLen || low&e1000reg.WBALEnable == 0 {
		return 0
	}
	return physmem.Addr(low&e1000reg.WBALMask) | physmem.Addr(t.C.Reg(t.Off+e1000reg.WBAH))<<32
}

// FetchTx implements hw.TxSource.
func (t *TxQueue) FetchTx(b *hw.TxBatch) bool {
	i := t.fetch
	if i == t.tail {
		return false
	}
	if b.Tally.Frames >= txFrameBudget {
		t.more = true
		return false
	}
	t.pkt, t.Fresh, t.All = txPacket{}, 0, 0
	f := t.format
	for i != t.tail {
		addr, w := atomic.LoadUint64(&t.words[2*i]), atomic.LoadUint64(&t.words[2*i+1])
		at := i
		if i++; i == t.count {
			i = 0
		}
		size, ok := f.length(w)
		if !ok {
			t.special(addr, w)
			continue
		}
		t.data(b, at, addr, size)
		t.All |= w
		if !t.pkt.data {
			t.pkt.first, t.pkt.data = w, true
		}
		if w&txEOP != 0 {
			if t.on {
				t.traceFetch(t.probes, i)
			}
			t.fetch = i
			t.end(b, w)
			return i != t.tail
		}
		if w&txRS != 0 {
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
func (t *TxQueue) data(b *hw.TxBatch, at uint32, addr, size uint64) {
	if size == 0 {
		return
	}
	buf, err := t.C.DMA.Slice(physmem.Addr(addr), size, busdma.ToDevice)
	if err != nil {
		t.C.DMA.Fault(t.Q, at, err)
		t.pkt.refused = true
		return
	}
	b.Append(buf)
}

// special is a descriptor that is not data: a context, or one that does not exist.
func (t *TxQueue) special(d01, w uint64) {
	if w&txRS != 0 {
		t.pkt.cookie |= cookieMany
	}
	switch {
	case t.pkt.data:
		t.C.Refuse(RuleContextPlace, t.Q, uint32(w))
		t.pkt.refused = true
	case !t.format.Context(t, d01, w):
		t.C.Refuse(RuleDescType, t.Q, uint32(w))
		t.pkt.refused = true
	}
}

// end hands the packet over; last is the second word of its EOP descriptor.
func (t *TxQueue) end(b *hw.TxBatch, last uint64) {
	cookie := t.pkt.cookie | uint64(t.fetch) | uint64(t.cookieFlags(last))
	o := &t.offload
	if t.pkt.refused || !t.format.Request(t, o, b.Len(), t.pkt.first, last) {
		t.C.lost[lossTxDropped].Add(1)
		b.Drop(cookie)
		return
	}
	if t.on {
		t.traceGather(t.probes, b, o)
	}
	if err := b.End(o, cookie); err != nil {
		t.C.Refuse(RuleOffload, t.Q, uint32(last>>statusShift))
		t.C.lost[lossTxDropped].Add(1)
	}
}

// CompleteTx implements hw.TxSource: the head moves behind the packet, and its status is
// written back if RS asks for it.
func (t *TxQueue) CompleteTx(c hw.Completion) {
	head := uint32(c.Cookie & cookieHead)
	if c.Cookie&(cookieRS|cookieMany) != 0 && !c.Silent {
		switch {
		case t.wb != 0:
			t.writeHeadBack(head)
		case c.Cookie&cookieMany != 0:
			t.writeBackAll(head)
		default:
			t.writeBack(t.before(head))
		}
		t.report(c.Cookie&cookieIDE != 0)
	}
	if t.on {
		t.probes.Fire2(t.C.Points.Head, t.C.Cfg.Name, t.Q, uint64(atomic.LoadUint32(t.tdh)), uint64(head))
	}
	t.moved(head)
}

// before is the descriptor in front of i.
func (t *TxQueue) before(i uint32) uint32 {
	if i == 0 {
		i = t.count
	}
	return i - 1
}

// writeHeadBack writes the head to memory.
func (t *TxQueue) writeHeadBack(head uint32) {
	v := uint32(t.C.Faults.Writeback(uint64(head)))
	if err := t.C.DMA.Store32(t.wb, v); err != nil {
		t.C.DMA.Fault(t.Q, head, err)
	}
}

// writeBack reports a descriptor done: DD set, errors cleared.
func (t *TxQueue) writeBack(i uint32) {
	if i >= t.count {
		return // the ring has shrunk
	}
	p := &t.words[2*i+1]
	was := atomic.LoadUint64(p)
	w := was&^txStatus | txDD
	atomic.StoreUint64(p, t.C.Faults.Writeback(w))
	if t.on {
		t.traceWriteBack(t.probes, i, was)
	}
}

// writeBackAll reports each descriptor with RS from the head register to head.
func (t *TxQueue) writeBackAll(head uint32) {
	i := atomic.LoadUint32(t.tdh)
	for range t.count {
		if i >= t.count || i == head {
			return
		}
		if atomic.LoadUint64(&t.words[2*i+1])&txRS != 0 {
			t.writeBack(i)
		}
		if i++; i == t.count {
			i = 0
		}
	}
}

// publish adds the run's frames to the statistics.
func (t *TxQueue) publish() {
	errors := t.Batch.TakeErrors()
	countTx(t.Shard, &t.Batch.Tally, uint64(errors))
	t.Batch.Malformed = 0
}
