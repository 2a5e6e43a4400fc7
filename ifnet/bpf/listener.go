package bpf

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Direction says which packets a listener sees (BIOCSDIRECTION).
type Direction uint8

// Directions.
const (
	InOut Direction = iota // BPF_D_INOUT
	In                     // BPF_D_IN: received on the interface
	Out                    // BPF_D_OUT: everything else
)

// DefaultSnapLen keeps whole packets.
const DefaultSnapLen = 262144

// Host is the interface that a listener is put on: *ifnet.Ifnet.
type Host interface {
	mbuf.RcvIf
	// AttachTap adds a function to the front of those that see each packet.
	AttachTap(fn func(ifp mbuf.RcvIf, m *mbuf.Mbuf)) (detach func())
	// Promisc takes or gives back a reference on promiscuous mode.
	Promisc(on bool) error
}

// Config says what a listener wants.
type Config struct {
	Filter    Program   // empty: every packet
	SnapLen   int       // bytes kept of a packet at most; 0: DefaultSnapLen
	Direction Direction // InOut by default
	BufSize   int       // bytes of each of the two buffers; 0: net.bpf.bufsize; cut to net.bpf.maxbufsize
	Promisc   bool      // hold promiscuous mode (BIOCPROMISC)
	Owner     string    // who listens, for List
}

// minBufSize is the smallest buffer (BPF_MINBUFSIZE).
const minBufSize = 32

// Listener sees the packets of an interface (struct bpf_d). Packets arrive from any
// goroutine; Read may be called from any, one at a time.
type Listener struct {
	k      *kern.Kernel
	host   Host
	g      *globals
	snap   int
	dir    Direction
	owner  string
	filter atomic.Pointer[filter]
	ready  chan struct{}

	seen    atomic.Uint64
	matched atomic.Uint64
	dropped atomic.Uint64

	mu      sync.Mutex // guards what follows; nothing under it blocks
	store   store
	scratch []byte // a packet made contiguous
	closed  bool
	detach  func() // nil: not on the interface, see net.bpf.optimize_writers
	promisc bool
	hold    store // what Read gives out

	readMu sync.Mutex // one Read at a time
}

// Stats are a listener's counts (BIOCGSTATS and netstat -B).
type Stats struct {
	Received uint64 // packets shown in the listener's direction (bd_rcount)
	Matched  uint64 // accepted by the filter (bd_fcount)
	Dropped  uint64 // accepted and lost, for want of room (bd_dcount)
}

// Open puts a listener on an interface, in front of the others. EINVAL: a filter that
// bpf(4) would refuse; otherwise what Promisc says. With net.bpf.optimize_writers set
// a listener without a filter sees nothing until SetFilter.
func Open(k *kern.Kernel, host Host, cfg Config) (*Listener, error) {
	g := globalsOf(k)
	size := cfg.BufSize
	if size == 0 {
		size = int(g.bufSize.Load())
	}
	size = max(min(size, int(g.maxBufSize.Load())), minBufSize)
	l := &Listener{k: k, host: host, g: g, snap: cfg.SnapLen, dir: cfg.Direction, owner: cfg.Owner, ready: make(chan struct{}, 1)}
	if l.snap <= 0 {
		l.snap = DefaultSnapLen
	}
	l.store.buf, l.hold.buf = make([]byte, 0, size), make([]byte, 0, size)
	f, err := compile(cfg.Filter, int(g.maxInsns.Load()))
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", host.Name(), err)
	}
	l.filter.Store(f)
	if cfg.Promisc {
		if err := host.Promisc(true); err != nil {
			return nil, fmt.Errorf("listening on %s: %w", host.Name(), err)
		}
		l.promisc = true
	}
	if f != nil || g.optimizeWriters.Load() == 0 {
		l.detach = host.AttachTap(l.tap)
	}
	g.enter(l)
	return l, nil
}

// SetFilter replaces the filter, empties the store and starts the counts again
// (BIOCSETF). EINVAL: the old one stays. ENXIO: closed.
func (l *Listener) SetFilter(p Program) error {
	f, err := compile(p, int(l.g.maxInsns.Load()))
	if err != nil {
		return fmt.Errorf("setting a filter on %s: %w", l.host.Name(), err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("setting a filter on a closed listener: %w", syscall.ENXIO)
	}
	l.filter.Store(f)
	l.store.buf = l.store.buf[:0]
	l.seen.Store(0)
	l.matched.Store(0)
	l.dropped.Store(0)
	if l.detach == nil {
		l.detach = l.host.AttachTap(l.tap)
	}
	return nil
}

// tap sees one packet (bpf_mtap).
func (l *Listener) tap(ifp mbuf.RcvIf, m *mbuf.Mbuf) {
	outgoing := m.Pkt.RcvIf != ifp
	if l.dir == In && outgoing || l.dir == Out && !outgoing {
		return
	}
	l.seen.Add(1)
	if m.Next == nil && m.Flags&mbuf.FlagVLANTag == 0 {
		b := m.Bytes()
		if n := l.filter.Load().run(b); n > 0 {
			l.mu.Lock()
			l.keep(b, n, outgoing)
			l.mu.Unlock()
		}
		return
	}
	l.mu.Lock()
	b := l.flatten(m)
	if n := l.filter.Load().run(b); n > 0 {
		l.keep(b, n, outgoing)
	}
	l.mu.Unlock()
}

// Where a tag goes and what it consists of.
const (
	etherHdrLen  = 14
	etherTypeOff = 12
	vlanTagLen   = 4
	vlanType     = 0x8100
)

// flatten makes the packet contiguous, with an out-of-band tag put back behind the
// addresses (ether_vlan_mtap). The result is valid under the lock.
func (l *Listener) flatten(m *mbuf.Mbuf) []byte {
	n := m.Length()
	if cap(l.scratch) < n+vlanTagLen {
		l.scratch = make([]byte, n+vlanTagLen)
	}
	if m.Flags&mbuf.FlagVLANTag == 0 || n < etherHdrLen {
		b := l.scratch[:n]
		m.CopyData(0, b)
		return b
	}
	b := l.scratch[:n+vlanTagLen]
	m.CopyData(0, b[:etherTypeOff])
	binary.BigEndian.PutUint16(b[etherTypeOff:], vlanType)
	binary.BigEndian.PutUint16(b[etherHdrLen:], m.Pkt.EtherVtag)
	m.CopyData(etherTypeOff, b[etherTypeOff+vlanTagLen:])
	return b
}

// keep stores n bytes of a packet (catchpacket). The lock is held.
func (l *Listener) keep(b []byte, n int, outgoing bool) {
	if l.closed {
		return
	}
	l.matched.Add(1)
	p := Packet{Time: l.k.Uptime(), Len: len(b), Data: b[:min(n, l.snap)], Outgoing: outgoing}
	if !l.store.add(p) {
		l.dropped.Add(1)
		return
	}
	select {
	case l.ready <- struct{}{}:
	default: // the reader has been told
	}
}

// Ready delivers a value after packets came in; Close closes it.
func (l *Listener) Ready() <-chan struct{} { return l.ready }

// Read gives everything stored to fn, oldest first, and returns how many packets that
// were. When fn returns false the rest is lost, and not counted as dropped. fn must not
// call Read or Close.
func (l *Listener) Read(fn func(p Packet) bool) int {
	l.readMu.Lock()
	defer l.readMu.Unlock()
	l.mu.Lock()
	l.store.buf, l.hold.buf = l.hold.buf[:0], l.store.buf
	l.mu.Unlock()
	n := 0
	for b := l.hold.buf; len(b) > 0; {
		var p Packet
		p, b = take(b)
		n++
		if !fn(p) {
			break
		}
	}
	l.mu.Lock()
	l.hold.buf = l.hold.buf[:0]
	l.mu.Unlock()
	return n
}

// Stats returns the counts since Open or SetFilter.
func (l *Listener) Stats() Stats {
	return Stats{Received: l.seen.Load(), Matched: l.matched.Load(), Dropped: l.dropped.Load()}
}

// Close takes the listener off the interface and gives back promiscuous mode; a second
// Close does nothing. What is stored can still be read. That the interface has been
// detached meanwhile is no error.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	detach, promisc := l.detach, l.promisc
	close(l.ready)
	l.mu.Unlock()
	l.g.leave(l)
	if detach != nil {
		detach()
	}
	if !promisc {
		return nil
	}
	if err := l.host.Promisc(false); err != nil && !isGone(err) {
		return fmt.Errorf("closing a listener on %s: %w", l.host.Name(), err)
	}
	return nil
}
