package ifnet

import (
	"slices"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// PfilDir is the direction of a packet at a hook.
type PfilDir uint8

// Directions.
const (
	PfilIn  PfilDir = iota // PFIL_IN
	PfilOut                // PFIL_OUT
)

// PfilResult is what a hook did.
type PfilResult uint8

// Results of a hook.
const (
	PfilPass     PfilResult = iota // PFIL_PASS: the packet, maybe another one, goes on
	PfilConsumed                   // PFIL_CONSUMED: the hook has it
	PfilDropped                    // PFIL_DROPPED: the hook freed it
)

// Pfil is a packet filter hook (pfil(9)). *m may be replaced; it belongs to the hook
// unless the result is PfilPass.
type Pfil interface {
	Hook(c *mbuf.Cache, ifp *Ifnet, dir PfilDir, af AF, m **mbuf.Mbuf) PfilResult
}

// PfilHead is a place where hooks run, in order of registration (struct pfil_head).
// The zero value has none. Any goroutine.
type PfilHead struct{ hooks cowList[Pfil] }

// Add registers a hook (pfil_link).
func (h *PfilHead) Add(p Pfil) {
	h.hooks.change(func(list []Pfil) []Pfil { return append(list, p) })
}

// Remove takes a hook away (pfil_unlink). A packet inside it finishes there.
func (h *PfilHead) Remove(p Pfil) {
	h.hooks.change(func(list []Pfil) []Pfil {
		return slices.DeleteFunc(list, func(o Pfil) bool { return o == p })
	})
}

// Hooked reports whether there is a hook, in one atomic load (PFIL_HOOKED_IN).
func (h *PfilHead) Hooked() bool { return h.hooks.Load() != nil }

// Run shows a packet to the hooks until one does not pass it. It comes back, or
// another in its place, with PfilPass only.
func (h *PfilHead) Run(c *mbuf.Cache, ifp *Ifnet, dir PfilDir, af AF, m *mbuf.Mbuf) (*mbuf.Mbuf, PfilResult) {
	list := h.hooks.Load()
	if list == nil {
		return m, PfilPass
	}
	return runHooks(*list, c, ifp, dir, af, m)
}

// runHooks is apart because &m makes m escape.
func runHooks(list []Pfil, c *mbuf.Cache, ifp *Ifnet, dir PfilDir, af AF, m *mbuf.Mbuf) (*mbuf.Mbuf, PfilResult) {
	for _, p := range list {
		if r := p.Hook(c, ifp, dir, af, &m); r != PfilPass {
			return nil, r
		}
		if m == nil {
			return nil, PfilConsumed
		}
	}
	return m, PfilPass
}

// LinkPfil is where hooks see whole frames of this interface (V_link_pfil_head).
func (ifp *Ifnet) LinkPfil() *PfilHead { return &ifp.linkPfil }

// InetPfil is where hooks see the machine's IPv4 or IPv6 packets (V_inet_pfil_head,
// V_inet6_pfil_head); nil for another family. ifnet/inet runs them.
func InetPfil(k *kern.Kernel, af AF) *PfilHead {
	s := stackOf(k)
	switch af {
	case AFInet:
		return &s.inetPfil
	case AFInet6:
		return &s.inet6Pfil
	}
	return nil
}
