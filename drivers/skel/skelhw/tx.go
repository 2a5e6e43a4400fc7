package skelhw

import (
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib/busdma"
)

// txQueue is one transmit queue (datasheet 3). It belongs to its engine run.
type txQueue struct {
	n     *nic
	id    int
	ring  ring
	dead  bool // a chain made no sense: nothing more until the queue is started again
	event bool // this run finished a packet that asks for the event
	batch *hw.TxBatch

	// The packet at hand.
	offload hw.Offload
	headers hw.Headers
	scratch [hw.MaxHeader]byte
}

var (
	_ hw.TxSource  = (*txQueue)(nil)
	_ startStopper = (*txQueue)(nil)
)

func (t *txQueue) init(n *nic, id int) {
	t.n, t.id = n, id
	t.batch = hw.NewTxBatch(hw.TxConfig{
		Kernel: n.cfg.Kernel, Name: n.cfg.Name, Port: n.cfg.Port, Queue: id, Faults: n.faults,
		Kick: func() { n.engine.Doorbell(id) },
	})
}

func (t *txQueue) start(entries uint32) error {
	t.dead = false
	return t.ring.begin(t.n.ringAddr(qreg(t.id, skelreg.TXBASELO)), entries)
}

func (t *txQueue) stop() {
	t.ring.end()
	t.batch.Reset()
}

// run is the queue's work.
func (t *txQueue) run() {
	if !t.ring.open(t.n.dma, t.id) {
		return
	}
	t.batch.Run(t)
	t.n.stats.add(t.id, skelreg.StatTxFrames, t.batch.Tally.Frames)
	t.n.stats.add(t.id, skelreg.StatTxErrors, uint64(t.batch.TakeErrors()))
	t.batch.Tally = hw.Tally{}
	if t.event {
		t.event = false
		t.n.events.happen(1 << t.id)
	}
}

// A packet's cookie is where it begins, its length, and whether it asks for the event.
const (
	cookieIndexBits = 16
	cookieIndexMask = 1<<cookieIndexBits - 1
	cookieCountMask = 0xff
	cookieNotify    = 1 << 32
)

// FetchTx takes one packet (datasheet 3.1).
func (t *txQueue) FetchTx(b *hw.TxBatch) bool {
	r := &t.ring
	if t.dead || t.n.load(skelreg.CTRL)&skelreg.CtrlTxOn == 0 || r.state(r.at)&skelreg.DescOwn == 0 {
		return false
	}
	count, ok := t.chain()
	if !ok {
		t.dead = true
		t.n.stats.refuse("transmit queue %d: the packet at descriptor %d has no end that is owned (datasheet 3.1)", t.id, r.at)
		return false
	}
	first := r.at
	cookie := uint64(first) | uint64(count)<<cookieIndexBits
	if r.state(first+count-1)&skelreg.DescNotify != 0 {
		cookie |= cookieNotify
	}
	r.at = r.wrap(first + count)
	if !t.gather(b, first, count) || !t.request(r.state(first)) {
		b.Drop(cookie)
		return true
	}
	// What the kit refuses is done, failed, in its turn as well.
	_ = b.End(&t.offload, cookie)
	return true
}

// chain counts the descriptors of the packet at hand; ok is false if it has no end.
func (t *txQueue) chain() (count uint32, ok bool) {
	for count < skelreg.MaxChain {
		s := t.ring.state(t.ring.at + count)
		if s&skelreg.DescOwn == 0 {
			return 0, false
		}
		count++
		if s&skelreg.DescEnd != 0 {
			return count, true
		}
	}
	return 0, false
}

// gather appends the packet's buffers to the batch; false if one cannot be had.
func (t *txQueue) gather(b *hw.TxBatch, first, count uint32) bool {
	for i := first; i != first+count; i++ {
		n := t.ring.state(i) & skelreg.DescLenMask
		buf, err := t.n.dma.Slice(t.ring.buffer(i), n, busdma.ToDevice)
		if err != nil {
			t.n.dma.Fault(t.id, t.ring.wrap(i), err)
			return false
		}
		b.Append(buf)
	}
	return b.Len() > 0
}

// request reads off the first descriptor what is to be done to the packet; false if that
// is impossible. The part finds the headers itself.
func (t *txQueue) request(first uint64) bool {
	o, h, size := &t.offload, &t.headers, t.batch.Len()
	*o = hw.Offload{Flags: hw.TxPad}
	if first&skelreg.DescTag != 0 {
		o.Flags |= hw.TxVLAN
		o.TPID, o.TCI = hw.TPID8021Q, uint16(first>>skelreg.DescTagShift)
		size += hw.VLANLen
	}
	if size > skelreg.MaxFrame {
		return false
	}
	if first&(skelreg.DescIPSum|skelreg.DescL4Sum) == 0 {
		return true
	}
	head := hw.Linear(t.batch.Pieces(), t.scratch[:], min(t.batch.Len(), len(t.scratch)))
	h.Parse(head, t.batch.Len())
	if first&skelreg.DescIPSum != 0 {
		if !h.Has(hw.IPv4) || h.Has(hw.BadIP) {
			return false
		}
		const wordsMask, wordBytes = 0xf, 4
		o.Flags |= hw.TxCsum0
		o.Csum[0] = hw.IPv4Csum(h.L3, int(head[h.L3]&wordsMask)*wordBytes, true)
	}
	if first&skelreg.DescL4Sum != 0 {
		o.Flags |= hw.TxCsum1
		switch {
		case h.Has(hw.TCP):
			o.Csum[1] = hw.TCPCsum(h.L4)
		case h.Has(hw.UDP):
			o.Csum[1] = hw.UDPCsum(h.L4)
		default:
			return false
		}
		o.Csum[1].End = h.L3End
	}
	return true
}

// CompleteTx gives a packet's descriptors back, the first one last, as it is the one
// that tells software.
func (t *txQueue) CompleteTx(c hw.Completion) {
	if c.Failed && !c.Again {
		t.n.stats.add(t.id, skelreg.StatTxErrors, 1)
	}
	if c.Silent {
		return
	}
	first := uint32(c.Cookie & cookieIndexMask)
	count := uint32(c.Cookie >> cookieIndexBits & cookieCountMask)
	for i := first + count - 1; i != first; i-- {
		t.ring.giveBack(i, t.ring.word(i, 0), 0)
	}
	t.ring.giveBack(first, t.ring.word(first, 0), t.n.faults.Writeback(0))
	if c.Cookie&cookieNotify != 0 {
		t.event = true
	}
}
