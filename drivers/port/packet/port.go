package packet

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

// Port is a port on a network interface. All methods are safe for concurrent use within
// the rules of [port.Port].
type Port struct {
	name string
	spec spec

	events, query *netlink.Conn // link messages; requests
	index         int           // of the interface, 0: there is none. Bind's, then the monitor's
	wakeFD        int           // eventfd that ends a wait of the watcher

	linkUp  atomic.Bool
	closing atomic.Bool

	txFD    int // used with a queue's mu held
	txQ     [port.MaxQueues]atomic.Pointer[txQueue]
	done    port.Completions
	blocked queueSet
	moved   atomic.Bool // a frame was sent since the watcher looked

	rx receiver

	mu     sync.Mutex // guards what follows; never held while calling the client
	client port.Client
	closed bool
	wg     sync.WaitGroup // goroutines and Bind in progress; Add with mu held and closed false
}

var _ port.Immediate = (*Port)(nil)

// Name returns the specification, "packet:eth1,ns=lab".
func (p *Port) Name() string { return p.name }

// Bind starts reception and gives the port its client, which is told the link. An
// interface that has vanished since the port was opened is a link that is down.
func (p *Port) Bind(c port.Client) error {
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return fmt.Errorf("binding %s: %w", p.name, syscall.ENXIO)
	case p.client != nil:
		p.mu.Unlock()
		return fmt.Errorf("binding %s: %w", p.name, syscall.EBUSY)
	}
	p.client = c
	p.wg.Add(1)
	p.mu.Unlock()
	defer p.wg.Done()
	if err := p.events.JoinGroup(unix.RTNLGRP_LINK); err != nil {
		return fmt.Errorf("binding %s: link messages: %w", p.name, err)
	}
	p.resync()
	p.wg.Add(2)
	go p.monitor()
	go p.watch()
	return nil
}

// Completed returns the frames of queue q finished since the last call.
func (p *Port) Completed(q int) int { return p.done.Take(q) }

// TakeErrors returns the frames of queue q refused since the last call.
func (p *Port) TakeErrors(q int) int { return p.done.TakeErrors(q) }

// Recv lends frames of the ring; there is only queue 0.
func (p *Port) Recv(q int, frames []port.RxFrame) int {
	if q != 0 {
		return 0
	}
	return p.rx.recv(frames)
}

// Release gives back the n oldest frames lent.
func (p *Port) Release(q, n int) {
	if lent, ok := p.rx.release(q, n); !ok {
		panic(fmt.Sprintf("packet: release of %d frames of queue %d, %d lent", n, q, lent))
	}
}

// Link returns the state of the interface; it is down before Bind.
func (p *Port) Link() port.Link {
	return port.Link{Up: p.linkUp.Load(), FullDuplex: true}
}

// Stats returns the counters. Frames that found the ring full are RxDrops[NoSpace]; the
// kernel forgets that number when it is read, so the port adds it up (case 45).
func (p *Port) Stats() port.Stats {
	s := p.rx.stats()
	for i := range p.txQ {
		if t := p.txQ[i].Load(); t != nil {
			t.addTo(&s)
		}
	}
	return s
}

// Close ends the goroutines and closes the sockets. Frames that are lent can be read
// until they are released; those that wait in the ring count as drops.
func (p *Port) Close() error {
	p.mu.Lock()
	again := p.closed
	p.closed = true
	p.closing.Store(true)
	p.mu.Unlock()
	if again {
		p.wg.Wait()
		return nil
	}
	p.wake()
	_ = p.events.Close() // ends Receive
	p.wg.Wait()
	p.linkUp.Store(false)
	for i := range p.txQ {
		if t := p.txQ[i].Load(); t != nil {
			t.await() // the next Send sees closing
		}
	}
	return p.tearDown()
}

// tearDown closes what is open.
func (p *Port) tearDown() error {
	if p.events != nil {
		_ = p.events.Close()
	}
	if p.query != nil {
		_ = p.query.Close()
	}
	for _, fd := range [...]int{p.wakeFD, p.txFD} {
		if fd != noFD {
			_ = unix.Close(fd)
		}
	}
	return p.rx.close()
}
