package hwbhw

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/offload"
)

// txQueue is one transmit queue. The engine's work owns it but for the atomics.
type txQueue struct {
	p *pair

	state atomic.Uint32
	size  atomic.Uint32 // entries, 0 while off
	tail  atomic.Uint32
	shown atomic.Uint32 // head as TXHEAD shows it

	words  []uint64
	head   uint32
	hwb    physmem.Addr
	c0, c1 uint64 // context in force
	signal bool   // heads were written back

	batch *hw.TxBatch
	off   hw.Offload
}

// cookieRS marks a packet that asks for a head write-back; below is the index after it.
const (
	cookieIndex = 0xffff
	cookieRS    = 1 << 16
)

func (t *txQueue) init(p *pair) {
	t.p = p
	n := p.n
	t.batch = hw.NewTxBatch(hw.TxConfig{
		Kernel: n.k, Name: n.name, Port: n.port, Queue: p.id, Faults: n.faults,
		Kick: func() { n.engine.Doorbell(p.id) },
	})
}

// start begins at entry 0; its work is paused.
func (t *txQueue) start() error {
	ring, err := t.p.ring(hwbreg.TXBASELO, hwbreg.TXLEN)
	if err != nil {
		return err
	}
	hwb := t.p.addr(hwbreg.TXHWBLO)
	if hwb%hwbreg.HeadAlign != 0 {
		return fmt.Errorf("head word at %#x", uint64(hwb))
	}
	t.words, t.hwb = ring, hwb
	t.head, t.c0, t.c1, t.signal = 0, 0, 0, false
	t.tail.Store(0)
	t.shown.Store(0)
	t.size.Store(uint32(len(ring) / hwbreg.Words))
	t.state.Store(queueOn)
	return nil
}

// halt disables the queue; its work is paused.
func (t *txQueue) halt() {
	t.state.Store(queueOff)
	t.size.Store(0)
	t.tail.Store(0)
	t.shown.Store(0)
	t.words = nil
	t.batch.Reset()
}

// setTail is a write to TXTAIL.
func (t *txQueue) setTail(v uint32) bool {
	if v >= t.size.Load() {
		return false
	}
	t.tail.Store(v)
	t.p.n.engine.Kick(t.p.id)
	return true
}

// run is the queue's work.
func (t *txQueue) run() {
	t.batch.Run(t)
	t.p.n.stats.CountTx(t.p.id, t.batch)
	if t.signal {
		t.signal = false
		t.p.event()
	}
}

// FetchTx takes the descriptors of one packet, contexts before it included (datasheet
// 3.1).
func (t *txQueue) FetchTx(b *hw.TxBatch) bool {
	if t.state.Load() != queueOn || t.p.n.ctrl.Load()&hwbreg.CtrlTxEnable == 0 {
		return false
	}
	mask := t.size.Load() - 1
	tail := t.tail.Load()
	for t.head != tail && t.kind(t.head) == hwbreg.TxdTypeCtx {
		t.c0, t.c1 = t.word(t.head, 0), t.word(t.head, 1)
		t.head = (t.head + 1) & mask
	}
	t.shown.Store(t.head)
	count, ok := t.frame(tail)
	if !ok {
		t.state.Store(queueHalted)
		t.p.n.stats.Refuse("transmit queue %d: chain at descriptor %d", t.p.id, t.head)
		t.p.n.admin.halted(t.p.id)
		return false
	}
	if count == 0 {
		return false
	}
	last := t.word((t.head+count-1)&mask, 1)
	first := t.word(t.head, 1)
	sendable := t.gather(b, count)
	t.head = (t.head + count) & mask
	t.shown.Store(t.head)
	cookie := uint64(t.head)
	if last&hwbreg.TxdRS != 0 {
		cookie |= cookieRS
	}
	r := t.request(first)
	if !sendable || r.Fill(&t.off, b.Len()) != nil {
		b.Drop(cookie)
		return true
	}
	// A segmentation that the kit refuses is done, failed, in its turn as well.
	_ = b.End(&t.off, cookie)
	return true
}

func (t *txQueue) word(desc, i uint32) uint64 {
	return atomic.LoadUint64(&t.words[desc*hwbreg.Words+i])
}

func (t *txQueue) kind(desc uint32) uint64 {
	return t.word(desc, 1) >> hwbreg.TxdTypeShift & hwbreg.TxdTypeMask
}

// frame counts the data descriptors of the packet at head, 0 if it does not end before
// the tail; ok is false if it cannot be understood.
func (t *txQueue) frame(tail uint32) (count uint32, ok bool) {
	mask := t.size.Load() - 1
	for i := t.head; i != tail; i = (i + 1) & mask {
		if count == hwbreg.TxMaxDescs || t.kind(i) != hwbreg.TxdTypeData {
			return 0, false
		}
		count++
		if t.word(i, 1)&hwbreg.TxdEOP != 0 {
			return count, true
		}
	}
	return 0, true
}

// gather appends the buffers of the packet to the batch; false if one cannot be had.
func (t *txQueue) gather(b *hw.TxBatch, count uint32) bool {
	mask := t.size.Load() - 1
	for i := range count {
		d := (t.head + i) & mask
		n := t.word(d, 1) & hwbreg.TxdLenMask
		if n == 0 || n > hwbreg.TxMaxBuf {
			return false
		}
		buf, err := t.p.n.dma.Slice(physmem.Addr(t.word(d, 0)), n, busdma.ToDevice)
		if err != nil {
			t.p.n.dma.Fault(t.p.id, d, err)
			return false
		}
		b.Append(buf)
	}
	return b.Len() <= hwbreg.TxMaxPacket
}

// request joins the first data descriptor and the context in force.
func (t *txQueue) request(first uint64) offload.Request {
	length := func(shift int) int { return int(t.c0 >> shift & hwbreg.TxcLenMask) }
	return offload.Request{
		VLAN:     first&hwbreg.TxdVLAN != 0,
		IPCsum:   first&hwbreg.TxdIPCsum != 0,
		L4Csum:   first&hwbreg.TxdL4Csum != 0,
		TSO:      first&hwbreg.TxdTSO != 0,
		UDP:      t.c1&hwbreg.TxdUDP != 0,
		IPv6:     t.c1&hwbreg.TxdIPv6 != 0,
		TCI:      uint16(t.c0 >> hwbreg.TxcTCIShift),
		MSS:      int(uint16(t.c0 >> hwbreg.TxcMSSShift)),
		L2:       length(hwbreg.TxcL2Shift),
		L3:       length(hwbreg.TxcL3Shift),
		L4:       length(hwbreg.TxcL4Shift),
		MaxFrame: hwbreg.TxMaxFrame,
	}
}

// CompleteTx writes the head back behind a packet that asks for it (datasheet 3.2).
func (t *txQueue) CompleteTx(c hw.Completion) {
	n := t.p.n
	if c.Failed && !c.Again {
		n.stats.Count(t.p.id, nicreg.StatTxErrors, 1)
	}
	if c.Silent || c.Cookie&cookieRS == 0 {
		return
	}
	if err := n.dma.Store64(t.hwb, n.faults.Writeback(c.Cookie&cookieIndex)); err != nil {
		n.dma.Fault(t.p.id, uint32(c.Cookie&cookieIndex), err)
		return
	}
	t.signal = true
}
