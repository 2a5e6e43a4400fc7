// Package null is the port of a NIC whose cable ends nowhere: it counts what is sent,
// completes it at once, and delivers only what a test or a generator injects. FreeBSD's
// nearest relative is disc(4).
package null

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/internal/physmem"
)

// InjectDepth is how many injected frames wait for Recv; more are dropped and counted.
const InjectDepth = 1024

// Port is a null port. Its link is up from Bind until SetLink or Close.
type Port struct {
	tx       [port.MaxQueues]txQueue
	txErrors [port.NumCauses]atomic.Uint64
	linkUp   atomic.Bool

	mu      sync.Mutex // guards what follows; never held while calling the client
	client  port.Client
	bound   bool
	closed  bool
	carrier bool
	rx      [InjectDepth]port.RxFrame
	head    uint32 // next slot to fill
	lend    uint32 // next slot to lend
	tail    uint32 // oldest slot lent
	stats   port.Stats
	calls   sync.WaitGroup // client calls in progress; Add only with mu held and client set
}

// txQueue is what one sender counts. A queue has one user at a time, so its words are
// plain; those that Stats reads are stored relaxed.
type txQueue struct {
	done, errors  int
	frames, bytes uint64
	_             [cacheLine - 4*wordBytes]byte
}

const (
	cacheLine = 64
	wordBytes = 8
)

// count books a batch of which good frames were sent.
func (t *txQueue) count(good, bytes int) {
	physmem.StoreRelaxed64(&t.frames, t.frames+uint64(good))
	physmem.StoreRelaxed64(&t.bytes, t.bytes+uint64(bytes))
}

// take returns *n and zeroes it.
func take(n *int) int {
	v := *n
	*n = 0
	return v
}

var _ port.Discarder = (*Port)(nil)

// Kind describes the kind for a Fabric: "null", no argument.
func Kind() port.Kind {
	return port.Kind{Name: "null", Open: func(arg string) (port.Port, error) {
		if arg != "" {
			return nil, fmt.Errorf("null port takes no argument, has %q: %w", arg, syscall.EINVAL)
		}
		return New(), nil
	}}
}

// New returns a null port.
func New() *Port { return &Port{carrier: true} }

// Name returns "null".
func (p *Port) Name() string { return "null" }

// Bind gives the port its client and reports the link to it.
func (p *Port) Bind(c port.Client) error {
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return fmt.Errorf("binding null port: %w", syscall.ENXIO)
	case p.bound:
		p.mu.Unlock()
		return fmt.Errorf("binding null port: %w", syscall.EBUSY)
	}
	p.client, p.bound = c, true
	p.tellLink()
	return nil
}

// SetLink pulls (false) or plugs (true) the cable. The client is told of a change.
func (p *Port) SetLink(up bool) {
	p.mu.Lock()
	p.carrier = up
	p.tellLink()
}

// tellLink publishes the link and reports a change. Called with mu held, unlocks it.
func (p *Port) tellLink() {
	up := p.carrier && p.client != nil
	changed := p.linkUp.Swap(up) != up
	c := p.client
	if !changed || c == nil {
		p.mu.Unlock()
		return
	}
	p.calls.Add(1)
	p.mu.Unlock()
	c.LinkChanged(p.Link())
	p.calls.Done()
}

// Send counts the frames and completes them. It never is short and reads no byte of them.
func (p *Port) Send(q int, frames []port.Frame) int {
	n, bad := p.SendNow(q, frames)
	p.tx[q].done += n
	p.tx[q].errors += bad
	return n
}

// SendNow implements port.Immediate.
func (p *Port) SendNow(q int, frames []port.Frame) (n, bad int) {
	if !p.linkUp.Load() {
		p.txErrors[port.LinkDown].Add(uint64(len(frames)))
		return len(frames), len(frames)
	}
	bytes := 0
	for i := range frames {
		size := frames[i].Len()
		if uint(size-port.MinFrame) > port.MaxFrame-port.MinFrame {
			cause, _ := port.CheckLength(size)
			p.txErrors[cause].Add(1)
			bad++
			continue
		}
		bytes += size
	}
	p.tx[q].count(len(frames)-bad, bytes)
	return len(frames), bad
}

// Discard implements port.Discarder.
func (p *Port) Discard(q, frames, bytes int) bool {
	if !p.linkUp.Load() {
		return false
	}
	p.tx[q].count(frames, bytes)
	return true
}

// Completed returns the frames of queue q finished since the last call.
func (p *Port) Completed(q int) int { return take(&p.tx[q].done) }

// TakeErrors returns the frames of queue q refused since the last call.
func (p *Port) TakeErrors(q int) int { return take(&p.tx[q].errors) }

// Inject makes frames arrive, as if from the wire, and returns how many found room; the
// rest, and all of them while the link is down, are counted as drops. Data is copied
// into storage that the port reuses; Len of 0 stands for len(Data).
func (p *Port) Inject(frames ...port.RxFrame) int {
	p.mu.Lock()
	if !p.linkUp.Load() {
		p.stats.RxDrops[port.LinkDown] += uint64(len(frames))
		p.mu.Unlock()
		return 0
	}
	n := 0
	for ; n < len(frames) && p.head-p.tail < InjectDepth; n++ {
		slot := &p.rx[p.head%InjectDepth]
		data := append(slot.Data[:0], frames[n].Data...)
		*slot = frames[n]
		slot.Data = data
		if slot.Len == 0 {
			slot.Len = len(data)
		}
		p.head++
	}
	p.stats.RxDrops[port.NoSpace] += uint64(len(frames) - n)
	c := p.client
	if n == 0 {
		p.mu.Unlock()
		return 0
	}
	p.calls.Add(1)
	p.mu.Unlock()
	c.RxReady(0)
	p.calls.Done()
	return n
}

// Recv lends injected frames; there is only queue 0.
func (p *Port) Recv(q int, frames []port.RxFrame) int {
	if q != 0 {
		return 0
	}
	p.mu.Lock()
	n := 0
	for ; n < len(frames) && p.lend != p.head; n++ {
		frames[n] = p.rx[p.lend%InjectDepth]
		p.stats.RxBytes += uint64(frames[n].Len)
		p.lend++
	}
	p.stats.RxFrames += uint64(n)
	p.mu.Unlock()
	return n
}

// Release gives back the n oldest frames lent.
func (p *Port) Release(q, n int) {
	p.mu.Lock()
	lent := int(p.lend - p.tail)
	if q == 0 && n >= 0 && n <= lent {
		p.tail += uint32(n)
		n = 0
	}
	p.mu.Unlock()
	if n != 0 {
		panic(fmt.Sprintf("null: release of %d frames of queue %d, %d lent", n, q, lent))
	}
}

// Link returns the state of the link; it has no speed of its own.
func (p *Port) Link() port.Link {
	return port.Link{Up: p.linkUp.Load(), FullDuplex: true}
}

// Stats returns the counters.
func (p *Port) Stats() port.Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	for i := range p.tx {
		s.TxFrames += atomic.LoadUint64(&p.tx[i].frames)
		s.TxBytes += atomic.LoadUint64(&p.tx[i].bytes)
	}
	for i := range s.TxErrors {
		s.TxErrors[i] = p.txErrors[i].Load()
	}
	return s
}

// Close ends the port. Frames that were injected and not yet lent count as drops.
func (p *Port) Close() error {
	p.mu.Lock()
	p.closed = true
	p.client = nil
	p.linkUp.Store(false)
	p.stats.RxDrops[port.LinkDown] += uint64(p.head - p.lend)
	p.head = p.lend
	p.mu.Unlock()
	p.calls.Wait()
	return nil
}
