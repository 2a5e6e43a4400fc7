package bpf

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Defaults of net.bpf.* (net/bpf.c).
const (
	defaultBufSize    = 4096
	defaultMaxBufSize = 0x80000
	defaultMaxInsns   = 512
)

// globals are the sysctls of a machine.
type globals struct {
	bufSize         atomic.Int32
	maxBufSize      atomic.Int32
	maxInsns        atomic.Int32
	optimizeWriters atomic.Int32

	mu        sync.Mutex // guards listeners; nothing under it blocks
	listeners []*Listener
}

// Init registers net.bpf.* (spec ifnet 6.11): bufsize, maxbufsize, maxinsns,
// optimize_writers and stats. A second call does nothing; Open calls it if nobody did.
func Init(k *kern.Kernel) {
	if _, ok := kern.Lookup[*globals](k); ok {
		return
	}
	g := new(globals)
	g.bufSize.Store(defaultBufSize)
	g.maxBufSize.Store(defaultMaxBufSize)
	g.maxInsns.Store(defaultMaxInsns)
	c := k.Sysctl.StaticCtx()
	network := c.Node(nil, "net", sysctl.RW, "")
	node := c.Node(network, "bpf", sysctl.RW, "bpf sysctl")
	c.Int(node, "bufsize", sysctl.RW, &g.bufSize, "Default capture buffer size in bytes")
	c.Int(node, "maxbufsize", sysctl.RW, &g.maxBufSize, "Maximum capture buffer in bytes")
	c.Int(node, "maxinsns", sysctl.RW, &g.maxInsns, "Maximum bpf program instructions")
	c.Int(node, "optimize_writers", sysctl.RWTUN, &g.optimizeWriters, "Do not send packets until BPF program is set")
	c.Add(node, sysctl.Spec{Name: "stats", Kind: sysctl.KindNode, Flags: sysctl.RD | sysctl.MPSafe, Descr: "bpf statistics portal", Static: true, Handler: g.stats})
	kern.Attach(k, g)
}

func globalsOf(k *kern.Kernel) *globals {
	Init(k)
	g, _ := kern.Lookup[*globals](k)
	return g
}
