package iflibtest

import (
	"sync"

	"github.com/ifsim/ifsim/drivers/port"
)

// gate is the port between a NIC and the wire. It counts what passes, can be closed, so
// that the hardware can send nothing and complete nothing, and has a link of its own.
type gate struct {
	port.Port

	mu      sync.Mutex
	client  port.Client
	closed  bool
	down    bool
	pulled  func()       // told before the link goes
	waiting map[int]bool // queues that were refused
	sent    uint64       // frames taken
}

func newGate(p port.Port) *gate { return &gate{Port: p, waiting: make(map[int]bool)} }

// Bind hands the port a client that sees the gate's link.
func (g *gate) Bind(c port.Client) error {
	g.mu.Lock()
	g.client = c
	g.mu.Unlock()
	return g.Port.Bind(gateClient{c, g})
}

// gateClient tells the NIC of the gate's link instead of the wire's.
type gateClient struct {
	port.Client
	g *gate
}

func (c gateClient) LinkChanged(port.Link) { c.Client.LinkChanged(c.g.Link()) }

// Link is the wire's, unless it was pulled.
func (g *gate) Link() port.Link {
	l := g.Port.Link()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down {
		return port.Link{}
	}
	return l
}

// Send passes frames on while the gate is open.
func (g *gate) Send(q int, frames []port.Frame) int {
	g.mu.Lock()
	if g.closed {
		g.waiting[q] = true
		g.mu.Unlock()
		return 0
	}
	g.mu.Unlock()
	n := g.Port.Send(q, frames)
	g.mu.Lock()
	g.sent += uint64(n)
	g.mu.Unlock()
	return n
}

// shut closes the gate.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// open lets the hardware go on.
func (g *gate) open() {
	g.mu.Lock()
	g.closed = false
	waiting, client := g.waiting, g.client
	g.waiting = make(map[int]bool)
	g.mu.Unlock()
	for q := range waiting {
		client.TxReady(q)
	}
}

// plug pulls the cable or puts it back.
func (g *gate) plug(in bool) {
	if !in && g.pulled != nil {
		g.pulled()
	}
	g.mu.Lock()
	g.down = !in
	client := g.client
	g.mu.Unlock()
	client.LinkChanged(g.Link())
}

// frames is how many frames have passed.
func (g *gate) frames() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sent
}

// isShut reports whether the hardware is kept from sending.
func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}
