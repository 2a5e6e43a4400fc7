package inet

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/ifsim/ifsim/ifnet"
)

// key is an address as two words, the first byte on top; an IPv4 address is in the top
// half of hi. A link-local IPv6 address carries the index of its interface in its unused
// second 16-bit word, as FreeBSD embeds the scope.
type key struct{ hi, lo uint64 }

const (
	ipv4Bits       = 32
	wordBits       = 64
	scopeShift     = 32 // of the word that holds a link-local address's interface
	linkLocalMask  = 0xffc0 << 48
	linkLocalValue = 0xfe80 << 48
)

func key4(b []byte) key { return key{hi: uint64(binary.BigEndian.Uint32(b)) << ipv4Bits} }

// key6 is the key of an address seen on the interface of that index.
func key6(b []byte, index int) key {
	const half = 8
	k := key{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[half:])}
	if k.hi&linkLocalMask == linkLocalValue {
		k.hi |= uint64(uint16(index)) << scopeShift
	}
	return k
}

// keyOf is the key of addr; index is the interface of a link-local one.
func keyOf(addr netip.Addr, index int) key {
	if addr.Is4() {
		b := addr.As4()
		return key4(b[:])
	}
	b := addr.As16()
	return key6(b[:], index)
}

func (k key) and(mask key) key { return key{k.hi & mask.hi, k.lo & mask.lo} }

func (k key) compare(o key) int {
	if c := cmp.Compare(k.hi, o.hi); c != 0 {
		return c
	}
	return cmp.Compare(k.lo, o.lo)
}

// maskOf is the mask of a prefix of n bits, 0 to 128.
func maskOf(n int) key {
	if n <= wordBits {
		return key{hi: ^uint64(0) << (wordBits - n)}
	}
	return key{^uint64(0), ^uint64(0) << (2*wordBits - n)}
}

// routeKind says what a route's destinations are.
type routeKind uint8

const (
	routeNet       routeKind = iota // neighbours on the link
	routeGateway                    // reached through route.gateway
	routeLocal                      // this machine
	routeBroadcast                  // everybody on the link; from here on nobody is sent to
	routeReject                     // nobody: the sender is told
	routeBlackhole                  // nobody
)

// route is one entry of the forwarding table (struct rtentry, nhop_object), constant.
type route struct {
	prefix  netip.Prefix
	gateway netip.Addr   // with routeGateway; shown of one that leads nowhere
	ifp     *ifnet.Ifnet // nil if it leads nowhere
	kind    routeKind
	static  bool       // added by AddRoute
	flags   RouteFlags // of those that can be asked for
	own     *ifaddr    // with routeLocal, nil in tables of tests
}

func (r *route) key() key {
	if r.ifp == nil {
		return keyOf(r.prefix.Addr(), 0)
	}
	return keyOf(r.prefix.Addr(), r.ifp.Index())
}

// unroutable reports whether nothing is sent along the route.
func (r *route) unroutable() bool { return r == nil || r.kind >= routeBroadcast }

// fib is a forwarding table, constant once published: a sorted list of routes for each
// prefix length, longest first.
type fib struct{ groups []fibGroup }

type fibGroup struct {
	bits   int
	mask   key
	keys   []key
	routes []*route
}

// newFib builds a table; of several routes to one prefix the first counts.
func newFib(routes []*route) *fib {
	sorted := slices.Clone(routes)
	slices.SortStableFunc(sorted, func(a, b *route) int {
		if c := cmp.Compare(b.prefix.Bits(), a.prefix.Bits()); c != 0 {
			return c
		}
		return a.key().compare(b.key())
	})
	f := &fib{}
	for _, r := range sorted {
		bits, k := r.prefix.Bits(), r.key()
		if n := len(f.groups); n == 0 || f.groups[n-1].bits != bits {
			f.groups = append(f.groups, fibGroup{bits: bits, mask: maskOf(bits)})
		}
		g := &f.groups[len(f.groups)-1]
		if n := len(g.keys); n > 0 && g.keys[n-1] == k {
			continue
		}
		g.keys = append(g.keys, k)
		g.routes = append(g.routes, r)
	}
	return f
}

// lookup finds the route with the longest prefix; nil if there is none. No allocation.
func (f *fib) lookup(k key) *route {
	for i := range f.groups {
		g := &f.groups[i]
		want := k.and(g.mask)
		lo, hi := 0, len(g.keys)
		for lo < hi {
			mid := (lo + hi) / 2
			if g.keys[mid].hi < want.hi || g.keys[mid].hi == want.hi && g.keys[mid].lo < want.lo {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo < len(g.keys) && g.keys[lo] == want {
			return g.routes[lo]
		}
	}
	return nil
}

// find is the route to exactly one prefix, nil if there is none.
func (f *fib) find(k key, bits int) *route {
	for _, g := range f.groups {
		if n := slices.Index(g.keys, k); g.bits == bits && n >= 0 {
			return g.routes[n]
		}
	}
	return nil
}
