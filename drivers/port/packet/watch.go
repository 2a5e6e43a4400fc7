package packet

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

// Periods of the watcher (spec ports 5).
const (
	busyPeriod  = 30 * time.Microsecond // while there is traffic
	idleAfter   = time.Millisecond      // without frames
	stallPeriod = time.Millisecond      // while the client leaves frames in the ring
	retryFirst  = 50 * time.Microsecond // for senders that met a full queue
	retryLast   = time.Millisecond
	forever     = time.Duration(-1)

	ticksToIdle = int(idleAfter / busyPeriod)
)

// watcher is the state of the goroutine that reads the ring's status.
type watcher struct {
	p     *Port
	ticks int    // periods since there was news
	told  uint64 // slot at which the client was last told of a frame
	retry time.Duration
	fds   [2]unix.PollFd // wakeFD and the receive socket
	ts    unix.Timespec
}

// watch tells the client of received frames and of room to send until Close.
func (p *Port) watch() {
	defer p.wg.Done()
	runtime.LockOSThread() // for good: the thread ends with its timer slack
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	w := watcher{p: p, told: ^uint64(0), ticks: ticksToIdle, retry: retryFirst}
	w.fds[0] = unix.PollFd{Fd: int32(p.wakeFD), Events: unix.POLLIN}
	w.fds[1] = unix.PollFd{Fd: int32(p.rx.fd), Events: unix.POLLIN}
	for !p.closing.Load() {
		waits := w.tellReceived()
		if !p.closing.Load() {
			w.wait(w.period(waits))
		}
	}
}

// tellReceived tells the client if a frame waits, and reports whether one does. Of a
// frame that it leaves in the ring it is told again every stallPeriod: others may have
// come behind.
func (w *watcher) tellReceived() bool {
	lend, waits := w.p.rx.ring.waiting()
	if !waits {
		w.ticks++
		return false
	}
	if lend == w.told {
		w.ticks++
		if w.ticks < ticksToIdle {
			return true
		}
	} else {
		w.ticks = 0
	}
	w.told = lend
	w.p.client.RxReady(0)
	return true
}

// period returns how long to wait for the next look.
func (w *watcher) period(waits bool) time.Duration {
	d := busyPeriod
	if w.ticks >= ticksToIdle {
		w.ticks = ticksToIdle
		// The socket polls as readable while the client holds the last frame.
		if d = stallPeriod; !waits && w.p.rx.ring.idle() {
			d = forever
		}
	}
	return d
}

// wait waits for d, or for a frame if d is forever. If senders wait it ends earlier and
// tells them.
func (w *watcher) wait(d time.Duration) {
	fds := w.fds[:1]
	if d == forever {
		fds = w.fds[:]
	}
	blocked := w.p.blocked.any()
	if blocked && (d == forever || w.retry < d) {
		d = w.retry
	}
	var timeout *unix.Timespec
	if d != forever {
		w.ts = unix.NsecToTimespec(int64(d))
		timeout = &w.ts
	}
	w.fds[1].Revents = 0
	if _, err := unix.Ppoll(fds, timeout, nil); err != nil {
		return // EINTR
	}
	w.drain()
	if blocked && !w.p.closing.Load() {
		w.retrySenders()
	}
}

// drain takes what was polled: the count of the eventfd, the socket's error (ENETDOWN,
// once, when the interface goes down; netlink tells more). A socket that is readable
// begins a busy phase.
func (w *watcher) drain() {
	if w.fds[0].Revents&unix.POLLIN != 0 {
		var b [8]byte
		_, _ = unix.Read(w.p.wakeFD, b[:])
	}
	if w.fds[1].Revents&unix.POLLERR != 0 {
		_, _ = unix.GetsockoptInt(w.p.rx.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	}
	if w.fds[1].Revents != 0 {
		w.ticks = 0
	}
}

// retrySenders has the queues that met a full one try again. Each time in vain it waits
// twice as long for the next.
func (w *watcher) retrySenders() {
	if w.p.moved.Swap(false) {
		w.retry = retryFirst
	} else {
		w.retry = min(2*w.retry, retryLast)
	}
	for i := range w.p.blocked {
		for word := w.p.blocked[i].Swap(0); word != 0; word &= word - 1 {
			w.p.client.TxReady(i*wordBits + bits.TrailingZeros64(word))
		}
	}
}

// wake ends a wait of the watcher. The descriptor must be open.
func (p *Port) wake() {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], 1)
	_, _ = unix.Write(p.wakeFD, b[:])
}

const wordBits = 64

// queueSet is a set of transmit queue numbers, safe for concurrent use.
type queueSet [port.MaxQueues / wordBits]atomic.Uint64

// add reports whether the word of q had been empty.
func (s *queueSet) add(q int) bool {
	return s[q/wordBits].Or(1<<(q%wordBits)) == 0
}

func (s *queueSet) any() bool {
	for i := range s {
		if s[i].Load() != 0 {
			return true
		}
	}
	return false
}
