package cqhw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/offload"
)

// txQueue is one transmit queue. The engine's work owns it but for the atomics, the
// registers and the completion queue.
type txQueue struct {
	block
	n  *nic
	id int
	cq cq

	state atomic.Uint32
	size  atomic.Uint32 // entries, 0 while off
	rung  atomic.Uint32 // packets rung for since enable
	done  atomic.Uint32 // of them completed

	words    []uint64
	head     uint32 // next descriptor
	fetched  uint32 // packets fetched since enable
	reserved uint32 // completion entries that packets in flight will need
	refused  uint64 // packets refused since the last entry

	batch *hw.TxBatch
	off   hw.Offload
	pkt   txPacket
}

// txPacket is a packet as its descriptors describe it.
type txPacket struct {
	count  uint32 // descriptors
	report bool
	ext    bool
	x0, x1 uint64 // extension
	bad    bool   // well framed, but cannot be sent
}

func (t *txQueue) init(n *nic, id int) {
	t.n, t.id = n, id
	t.cq.n, t.cq.cause = n, cqreg.CauseTx0<<id
	t.batch = hw.NewTxBatch(hw.TxConfig{
		Kernel: n.k, Name: n.name, Port: n.port, Queue: id, Faults: n.faults,
		Kick: func() { n.engine.Doorbell(id) },
	})
}

func (t *txQueue) read(r uint64) uint32 {
	if r == cqreg.TXCTL && t.state.Load() == queueHalted {
		return cqreg.QCtlEnable | cqreg.QCtlHalted
	}
	return t.load(r)
}

// write is a write to a plain register of the queue. Called with ctl held.
func (t *txQueue) write(r uint64, v uint32) {
	switch {
	case r == cqreg.TXCTL:
		t.control(v & cqreg.QCtlEnable)
	case t.load(cqreg.TXCTL) != 0:
		t.n.stats.Refuse("transmit queue %d: writing register %#x while enabled", t.id, r)
	default:
		t.at(r).Store(v)
	}
}

// control starts or stops the queue. Called with ctl held.
func (t *txQueue) control(v uint32) {
	if v == t.load(cqreg.TXCTL) {
		return
	}
	n := t.n
	n.engine.Pause(t.id)
	if v == 0 {
		t.halt()
	} else if err := t.start(); err != nil {
		n.stats.Refuse("transmit queue %d: enabling: %v:", t.id, err)
	}
	n.engine.Resume(t.id)
}

func (t *txQueue) start() error {
	ring, err := t.n.ring(&t.block, cqreg.TXBASELO, cqreg.TXLEN)
	if err != nil {
		return err
	}
	cqWords, err := t.n.ring(&t.block, cqreg.TXCQLO, cqreg.TXCQLEN)
	if err != nil {
		return err
	}
	t.words = ring
	t.head, t.fetched, t.reserved, t.refused = 0, 0, 0, 0
	t.rung.Store(0)
	t.done.Store(0)
	t.cq.start(cqWords, t.load(cqreg.TXVEC)%cqreg.MSIXVectors)
	t.size.Store(uint32(len(ring) / cqreg.Words))
	t.state.Store(queueOn)
	t.at(cqreg.TXCTL).Store(cqreg.QCtlEnable)
	return nil
}

// halt disables the queue; its work is paused.
func (t *txQueue) halt() {
	t.state.Store(queueOff)
	t.at(cqreg.TXCTL).Store(0)
	t.size.Store(0)
	t.words = nil
	t.batch.Reset()
	t.cq.stop()
}

// stop is what reset does to the queue.
func (t *txQueue) stop() {
	t.n.engine.Pause(t.id)
	t.halt()
	t.clear()
	t.n.engine.Resume(t.id)
}

// doorbell is a write to TXDB (datasheet 3): more packets than the ring can hold are
// refused.
func (t *txQueue) doorbell(packets uint32) {
	for {
		rung, size := t.rung.Load(), t.size.Load()
		if packets > size || rung+packets-t.done.Load() > size {
			t.n.stats.Refuse("transmit queue %d: doorbell for %d packets", t.id, packets)
			return
		}
		if t.rung.CompareAndSwap(rung, rung+packets) {
			break
		}
	}
	t.n.engine.Kick(t.id)
}

// run is the queue's work.
func (t *txQueue) run() {
	t.batch.Run(t)
	t.n.stats.CountTx(t.id, t.batch)
	t.cq.poll()
}

// FetchTx takes the descriptors of one packet (datasheet 3.1).
func (t *txQueue) FetchTx(b *hw.TxBatch) bool {
	if t.state.Load() != queueOn || t.n.ctrl.Load()&cqreg.CtrlTxEnable == 0 || t.fetched == t.rung.Load() {
		return false
	}
	if t.cq.room() <= t.reserved {
		return false // TXCQCONS kicks
	}
	p := &t.pkt
	if !t.frame(p) {
		t.n.stats.Refuse("transmit queue %d: chain at descriptor %d", t.id, t.head)
		t.state.Store(queueHalted)
		t.reserved++
		b.Drop(uint64(t.head) | cookieReport | cookieHalted)
		return true
	}
	next := (t.head + p.count) & (t.size.Load() - 1)
	cookie := uint64(next)
	if p.report {
		cookie |= cookieReport
		t.reserved++
	}
	t.gather(b, p)
	t.head = next
	t.fetched++
	if p.bad {
		b.Drop(cookie)
		return true
	}
	r := p.request()
	if r.Fill(&t.off, b.Len()) != nil {
		b.Drop(cookie)
		return true
	}
	// A segmentation that the kit refuses is done, failed, in its turn as well.
	_ = b.End(&t.off, cookie)
	return true
}

// Parts of a cookie; below is the index after the packet.
const (
	cookieIndex  = 0xffff
	cookieReport = 1 << 16
	cookieHalted = 1 << 17
)

// frame reads how the packet at head is framed; false if it cannot be followed.
func (t *txQueue) frame(p *txPacket) bool {
	mask := t.size.Load() - 1
	w1 := t.word(t.head, 1)
	*p = txPacket{
		count:  uint32(w1 >> cqreg.TxdCountShift & cqreg.TxdCountMask),
		report: w1&cqreg.TxdReport != 0,
		ext:    w1&cqreg.TxdExt != 0,
	}
	least := uint32(1)
	if p.ext {
		least++
	}
	if w1&cqreg.TxdFirst == 0 || p.count < least || p.count > cqreg.TxMaxDescs || p.count > mask {
		return false
	}
	for i := range p.count {
		w := t.word((t.head+i)&mask, 1)
		if (w&cqreg.TxdLast != 0) != (i == p.count-1) || i > 0 && w&cqreg.TxdFirst != 0 {
			return false
		}
	}
	return true
}

// gather appends the buffers of the packet to the batch; p.bad if one cannot be had.
func (t *txQueue) gather(b *hw.TxBatch, p *txPacket) {
	mask := t.size.Load() - 1
	for i := range p.count {
		d := (t.head + i) & mask
		w0, w1 := t.word(d, 0), t.word(d, 1)
		if i == 1 && p.ext {
			p.x0, p.x1 = w0, w1
			continue
		}
		n := w1 & cqreg.TxdLenMask
		if n == 0 || n > cqreg.TxMaxBuf {
			p.bad = true
			return
		}
		buf, err := t.n.dma.Slice(physmem.Addr(w0), n, busdma.ToDevice)
		if err != nil {
			t.n.dma.Fault(t.id, d, err)
			p.bad = true
			return
		}
		b.Append(buf)
	}
	p.bad = b.Len() > cqreg.TxMaxPacket
}

func (t *txQueue) word(desc, i uint32) uint64 { return atomic.LoadUint64(&t.words[desc*cqreg.Words+i]) }

// request decodes the extension descriptor (datasheet 3.2); without one it is all
// zero.
func (p *txPacket) request() offload.Request {
	length := func(shift int) int { return int(p.x1 >> shift & cqreg.TxxLenMask) }
	return offload.Request{
		VLAN:     p.x0&cqreg.TxxVLAN != 0,
		IPCsum:   p.x0&cqreg.TxxIPCsum != 0,
		L4Csum:   p.x0&cqreg.TxxL4Csum != 0,
		TSO:      p.x0&cqreg.TxxTSO != 0,
		UDP:      p.x0&cqreg.TxxUDP != 0,
		IPv6:     p.x0&cqreg.TxxIPv6 != 0,
		TCI:      uint16(p.x0 >> cqreg.TxxTCIShift),
		MSS:      int(uint16(p.x0 >> cqreg.TxxMSSShift)),
		L2:       length(cqreg.TxxL2Shift),
		L3:       length(cqreg.TxxL3Shift),
		L4:       length(cqreg.TxxL4Shift),
		MaxFrame: cqreg.TxMaxFrame,
	}
}

// CompleteTx reports a packet that is done (datasheet 5).
func (t *txQueue) CompleteTx(c hw.Completion) {
	if c.Failed && !c.Again && c.Cookie&cookieHalted == 0 {
		t.refused++
		t.n.stats.Count(t.id, nicreg.StatTxErrors, 1)
	}
	if !c.Again {
		t.done.Add(1)
	}
	if c.Cookie&cookieReport == 0 {
		return
	}
	if t.reserved > 0 && !c.Again {
		t.reserved--
	}
	if c.Silent {
		return
	}
	w0 := c.Cookie&cookieIndex | min(t.refused, cqreg.TxcErrorsMask)<<cqreg.TxcErrorsShift
	if c.Cookie&cookieHalted != 0 {
		w0 |= cqreg.TxcHalted
	}
	t.refused = 0
	t.cq.post(t.n.faults.Writeback(w0), cqreg.CqeTypeTx<<cqreg.CqeTypeShift)
}
