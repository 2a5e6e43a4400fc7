package hwbhw

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/offload"
)

// maxFrameLimit bounds OpMaxFrame; maxFrags is what a frame of it, with a tag, needs in
// the smallest buffers.
const (
	minFrameLimit = hw.MinFrame
	maxFrameLimit = 9216
	maxFrags      = (maxFrameLimit + hw.VLANLen + hwbreg.MinBuf - 1) / hwbreg.MinBuf
)

// rxQueue is one receive queue. The receive work owns it but for the atomics.
type rxQueue struct {
	p *pair

	size  atomic.Uint32 // entries, 0 while off
	tail  atomic.Uint32
	shown atomic.Uint32 // head as RXHEAD shows it

	words []uint64 // nil while off
	head  uint32
	buf   int // bytes of a buffer
}

// start begins at entry 0; the receive work is paused.
func (q *rxQueue) start() error {
	ring, err := q.p.ring(hwbreg.RXBASELO, hwbreg.RXLEN)
	if err != nil {
		return err
	}
	buf := q.p.load(hwbreg.RXBUF)
	if buf < hwbreg.MinBuf || buf > hwbreg.MaxBuf {
		return fmt.Errorf("buffers of %d bytes", buf)
	}
	q.words, q.head, q.buf = ring, 0, int(buf)
	q.tail.Store(0)
	q.shown.Store(0)
	q.size.Store(uint32(len(ring) / hwbreg.Words))
	return nil
}

// halt disables the queue; the receive work is paused.
func (q *rxQueue) halt() {
	q.size.Store(0)
	q.tail.Store(0)
	q.shown.Store(0)
	q.words = nil
}

// setTail is a write to RXTAIL.
func (q *rxQueue) setTail(v uint32) bool {
	if v >= q.size.Load() {
		return false
	}
	q.tail.Store(v)
	return true
}

// delivery is a frame on its way into a queue.
type delivery struct {
	info *offload.Info
	data *hw.Gather
	dst  [maxFrags][]byte
}

// deliver gives a frame to the queue that its hash chose.
func (n *nic) deliver(in *offload.Info, data *hw.Gather) bool {
	n.d.info, n.d.data = in, data
	return n.pairs[in.Queue%hwbreg.MaxQueues].rx.deliver(&n.d)
}

// deliver puts a frame into as many buffers as it needs and writes their descriptors
// back (datasheet 4, 4.1).
func (q *rxQueue) deliver(d *delivery) bool {
	in := q.p.n.in
	if q.words == nil {
		return in.Missed()
	}
	mask := uint32(len(q.words)/hwbreg.Words) - 1
	need := (d.data.Len() + q.buf - 1) / q.buf
	if uint32(need) > (q.tail.Load()-q.head)&mask {
		return in.Missed()
	}
	for i := range need {
		desc := (q.head + uint32(i)) & mask
		a := physmem.Addr(atomic.LoadUint64(&q.words[desc*hwbreg.Words]))
		dst, err := q.p.n.dma.Slice(a, uint64(q.buf), busdma.FromDevice)
		if err != nil {
			q.p.n.dma.Fault(q.p.id, desc, err)
			return in.Failed()
		}
		d.dst[i] = dst
	}
	for i := range need {
		w := q.words[(q.head+uint32(i))&mask*hwbreg.Words:]
		w0, w1 := uint64(0), uint64(d.data.Copy(d.dst[i]))|hwbreg.RxdDone
		if i == need-1 {
			w0 = lastWord0(d.info)
			w1 |= lastWord1(d.info)
		}
		atomic.StoreUint64(&w[0], w0)
		atomic.StoreUint64(&w[1], q.p.n.faults.Writeback(w1))
	}
	q.head = (q.head + uint32(need)) & mask
	q.shown.Store(q.head)
	q.p.event()
	return true
}

// lastWord0 is word 0 of the last descriptor of a packet.
func lastWord0(in *offload.Info) uint64 {
	return uint64(in.Hash) | uint64(in.TCI)<<hwbreg.RxdTCIShift | in.HashType()<<hwbreg.RxdHashTyShift
}

// lastWord1 are the bits of word 1 that come with EOP.
func lastWord1(in *offload.Info) uint64 {
	return hwbreg.RxdEOP | in.Flags()<<hwbreg.RxdFlagsShift
}
