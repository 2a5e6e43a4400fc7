package bpf

import (
	"encoding/binary"
	"slices"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Info is a listener as netstat -B shows it (struct xbpf_d).
type Info struct {
	Stats
	Interface string
	Owner     string
	Promisc   bool
	Direction Direction
	StoreLen  int // bytes of packets not yet read (bd_slen)
	HoldLen   int // bytes that are being read (bd_hlen)
	BufSize   int // bytes of each of the two buffers
}

// List describes the machine's listeners, in the order in which they were opened. Any
// goroutine.
func List(k *kern.Kernel) []Info { return globalsOf(k).list() }

func (g *globals) list() []Info {
	g.mu.Lock()
	listeners := slices.Clone(g.listeners)
	g.mu.Unlock()
	infos := make([]Info, 0, len(listeners))
	for _, l := range listeners {
		infos = append(infos, l.info())
	}
	return infos
}

func (g *globals) enter(l *Listener) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listeners = append(g.listeners, l)
}

func (g *globals) leave(l *Listener) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listeners = slices.DeleteFunc(g.listeners, func(o *Listener) bool { return o == l })
}

func (l *Listener) info() Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Info{
		Stats: l.Stats(), Interface: l.host.Name(), Owner: l.owner, Promisc: l.promisc, Direction: l.dir,
		StoreLen: len(l.store.buf), HoldLen: len(l.hold.buf), BufSize: cap(l.store.buf),
	}
}

// The layout of struct xbpf_d (net/bpfdesc.h), of which the rest is 0.
const (
	xSize      = 168
	xPromisc   = 4
	xImmediate = 5
	xDirection = 16
	xCounts    = 32 // received, dropped, matched
	xStoreLen  = 60
	xHoldLen   = 64
	xBufSize   = 68
	xName      = 76
	xNameLen   = 15 // without its end
)

// stats serves net.bpf.stats, a struct xbpf_d for each listener (bpf_stats_sysctl). There
// are no processes, so bd_pid is 0.
func (g *globals) stats(req *sysctl.Request) error {
	var out []byte
	for _, i := range g.list() {
		out = append(out, i.bytes()...)
	}
	return req.Out(out)
}

// bytes is the listener as struct xbpf_d.
func (i *Info) bytes() []byte {
	le := binary.LittleEndian
	b := make([]byte, xSize)
	le.PutUint32(b, xSize)
	if i.Promisc {
		b[xPromisc] = 1
	}
	b[xImmediate] = 1 // a reader is told of each packet
	le.PutUint32(b[xDirection:], [...]uint32{InOut: 1, In: 0, Out: 2}[i.Direction])
	for n, v := range [...]uint64{i.Received, i.Dropped, i.Matched} {
		le.PutUint64(b[xCounts+8*n:], v)
	}
	le.PutUint32(b[xStoreLen:], uint32(i.StoreLen))
	le.PutUint32(b[xHoldLen:], uint32(i.HoldLen))
	le.PutUint32(b[xBufSize:], uint32(i.BufSize))
	copy(b[xName:xName+xNameLen], i.Interface)
	return b
}
