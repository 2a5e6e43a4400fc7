package packet

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

const (
	// bigBuffers is how many super-frames can be lent at a time.
	bigBuffers = 32
	// bigBytes holds the largest super-frame with header and tags.
	bigBytes = vnetLen + etherHdrLen + 2*vlanTagLen + 64<<10
)

// receiver is the receiving side of a port.
type receiver struct {
	ring ring

	mu     sync.Mutex // guards what follows, and the movement of the ring
	fd     int
	closed bool
	big    bigStore

	frames, bytes uint64
	kernelDrops   uint64 // the kernel's counter, added up
	closeDrops    uint64 // in the ring when it was closed
}

// bigStore holds the super-frames that are lent, oldest first. Buffers are made when first
// used and serve in turn.
type bigStore struct {
	bufs       [bigBuffers][]byte
	slots      [bigBuffers]uint64 // the ring's slot that a buffer stands for
	head, tail uint64
}

func (b *bigStore) full() bool { return b.head-b.tail == bigBuffers }

// next returns the buffer for the frame of a slot.
func (b *bigStore) next(slot uint64) []byte {
	i := b.head % bigBuffers
	if b.bufs[i] == nil {
		b.bufs[i] = make([]byte, bigBytes)
	}
	b.slots[i] = slot
	b.head++
	return b.bufs[i]
}

// releaseTo frees the buffers of slots before tail.
func (b *bigStore) releaseTo(tail uint64) {
	for b.tail != b.head && b.slots[b.tail%bigBuffers] < tail {
		b.tail++
	}
}

// recv lends the frames that wait.
func (r *receiver) recv(frames []port.RxFrame) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0
	}
	lend, n := r.ring.lend.Load(), 0
	room := r.ring.slots - (lend - r.ring.tail.Load())
	for ; n < len(frames) && uint64(n) < room; n++ {
		slot := r.ring.slot(lend)
		status := loadStatus(slot)
		if status&unix.TP_STATUS_USER == 0 {
			break
		}
		f := &frames[n]
		if status&unix.TP_STATUS_COPY != 0 {
			if r.big.full() {
				break
			}
			parseSlot(slot, status, f)
			r.fetch(r.big.next(lend), f)
		} else {
			parseSlot(slot, status, f)
		}
		r.count(f)
		lend++
	}
	r.ring.lend.Store(lend)
	return n
}

// count counts a frame as it was on the wire, with the tag.
func (r *receiver) count(f *port.RxFrame) {
	r.frames++
	r.bytes += uint64(f.Len)
	if f.VLANValid {
		r.bytes += vlanTagLen
	}
}

// fetch reads the whole of a frame that did not fit its slot. If that fails the frame
// remains what the slot has of it, truncated.
func (r *receiver) fetch(buf []byte, f *port.RxFrame) {
	n, errno := recvWhole(r.fd, buf)
	if errno == unix.ENETDOWN { // reported once after the interface went down
		n, errno = recvWhole(r.fd, buf)
	}
	if errno == 0 {
		takeCopy(buf, n, f)
	}
}

// release gives back the n oldest slots. ok is false, and nothing is done, if fewer are
// lent. After close the memory goes with the last of them.
func (r *receiver) release(q, n int) (lent int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tail, lend := r.ring.tail.Load(), r.ring.lend.Load()
	lent = int(lend - tail)
	if r.closed && lent == 0 {
		return 0, true
	}
	if q != 0 || n < 0 || n > lent {
		return lent, false
	}
	for end := tail + uint64(n); tail != end; tail++ {
		storeStatus(r.ring.slot(tail), unix.TP_STATUS_KERNEL)
	}
	r.ring.tail.Store(tail)
	r.big.releaseTo(tail)
	if r.closed && tail == lend {
		_ = r.ring.unmap()
	}
	return lent, true
}

// stats returns the receiver's part of the counters.
func (r *receiver) stats() port.Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readDrops()
	s := port.Stats{RxFrames: r.frames, RxBytes: r.bytes}
	s.RxDrops[port.NoSpace] = r.kernelDrops
	s.RxDrops[port.LinkDown] = r.closeDrops
	return s
}

// readDrops adds what the kernel has counted since it was last asked.
func (r *receiver) readDrops() {
	if r.fd == noFD {
		return
	}
	if st, err := unix.GetsockoptTpacketStats(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		r.kernelDrops += uint64(st.Drops)
	}
}

// close closes the socket. The ring, which keeps the socket alive, is unmapped unless
// frames are lent.
func (r *receiver) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.fd == noFD {
		return nil
	}
	r.readDrops()
	tail, lend := r.ring.tail.Load(), r.ring.lend.Load()
	for i := lend; i-tail < r.ring.slots && loadStatus(r.ring.slot(i))&unix.TP_STATUS_USER != 0; i++ {
		r.closeDrops++
	}
	_ = unix.Close(r.fd)
	r.fd = noFD
	if tail != lend {
		return nil
	}
	return r.ring.unmap()
}
