package packet

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

const (
	txBatch = 32 // frames a system call (spec ports 2)
	txSegs  = 8  // pieces a frame that there is room for at first
)

// txQueue is the sending side of a queue, made when it is first used.
type txQueue struct {
	mu   sync.Mutex // guards all; held while the descriptor is used
	msgs [txBatch]mmsghdr
	lens [txBatch]int
	iovs []unix.Iovec

	frames, bytes, full uint64
	errors              [port.NumCauses]uint64
}

// queue returns queue q.
func (p *Port) queue(q int) *txQueue {
	if t := p.txQ[q].Load(); t != nil {
		return t
	}
	p.txQ[q].CompareAndSwap(nil, &txQueue{iovs: make([]unix.Iovec, 0, txBatch*txSegs)})
	return p.txQ[q].Load()
}

// Send gives the frames to the kernel, which copies them. EAGAIN and ENOBUFS make it
// short: TxReady follows after 50 us to 1 ms. What the kernel refuses for good is counted
// by cause, and so is everything while the link is down (spec ports 4 and 9.2).
func (p *Port) Send(q int, frames []port.Frame) int {
	taken, bad := p.SendNow(q, frames)
	if taken != 0 {
		p.done.Add(q, taken, bad)
	}
	return taken
}

// SendNow implements port.Immediate.
func (p *Port) SendNow(q int, frames []port.Frame) (taken, bad int) {
	if len(frames) == 0 {
		return 0, 0
	}
	t := p.queue(q)
	t.mu.Lock()
	taken, bad = p.send(t, frames)
	if taken < len(frames) {
		t.full++
		if p.blocked.add(q) {
			p.wake()
		}
	}
	t.mu.Unlock()
	return taken, bad
}

// send sends until the kernel has no room.
func (p *Port) send(t *txQueue, frames []port.Frame) (taken, bad int) {
	for taken < len(frames) {
		if !p.linkUp.Load() || p.closing.Load() {
			rest := len(frames) - taken
			t.errors[port.LinkDown] += uint64(rest)
			return len(frames), bad + rest
		}
		n, cause := t.gather(frames[taken:])
		if n == 0 {
			t.errors[cause]++
			taken, bad = taken+1, bad+1
			continue
		}
		sent, errno := sendBatch(p.txFD, t.msgs[:n])
		t.sent(sent)
		taken += sent
		if sent != 0 {
			p.moved.Store(true)
		}
		switch errno {
		case 0, unix.EINTR:
		case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
			return taken, bad
		default:
			t.errors[causeOf(errno)]++
			taken, bad = taken+1, bad+1
		}
	}
	return taken, bad
}

// causeOf says why the kernel refused a frame whose length is legal on any port.
func causeOf(errno unix.Errno) port.Cause {
	switch errno {
	case unix.EMSGSIZE:
		return port.TooLong
	case unix.ENETDOWN, unix.ENXIO:
		return port.LinkDown
	}
	return port.HostRefuse
}

// gather fills messages with the frames up to the first of illegal length, whose cause it
// returns if that is the very first.
func (t *txQueue) gather(frames []port.Frame) (n int, cause port.Cause) {
	t.iovs = t.iovs[:0]
	for ; n < len(frames) && n < txBatch; n++ {
		f := &frames[n]
		t.lens[n] = f.Len()
		c, ok := port.CheckLength(t.lens[n])
		if !ok {
			cause = c
			break
		}
		t.iovs = appendSegs(t.iovs, f.Segs)
	}
	first := 0 // the vectors have stopped moving
	for i := range n {
		segs := len(frames[i].Segs)
		t.msgs[i].point(t.iovs[first : first+segs])
		first += segs
	}
	return n, cause
}

// sent counts the first n frames gathered.
func (t *txQueue) sent(n int) {
	t.frames += uint64(n)
	for _, l := range t.lens[:n] {
		t.bytes += uint64(l)
	}
}

// await waits for a Send in progress.
func (t *txQueue) await() {
	t.mu.Lock()
	defer t.mu.Unlock()
}

// addTo adds the queue's counters to s.
func (t *txQueue) addTo(s *port.Stats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.TxFrames += t.frames
	s.TxBytes += t.bytes
	s.TxFull += t.full
	for i, n := range t.errors {
		s.TxErrors[i] += n
	}
}
