package mbuf

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/internal/kern"
)

// piece is one mbuf of a random chain.
type piece struct {
	kind pieceKind
	off  int // leading room
	len  int
}

type pieceKind int

const (
	pieceSmall pieceKind = iota
	piecePacket
	pieceSharedPacket
	pieceJumbo
	pieceSharedJumbo
	pieceForeign
	pieceRdonly
	numPieceKinds
)

const foreignSize = 512

func (k pieceKind) shared() bool { return k == pieceSharedPacket || k == pieceSharedJumbo }

func (k pieceKind) size(hdr bool) int {
	switch k {
	case pieceSmall:
		if hdr {
			return MHLen
		}
		return MLen
	case pieceForeign:
		return foreignSize
	case pieceJumbo, pieceSharedJumbo:
		return MJumPageSize
	}
	return MClBytes
}

// shape is what a random chain is built from, any number of times.
type shape struct {
	hdr    bool
	tags   int
	sndTag bool
	pieces []piece
	data   []byte
}

func drawShape(t *rapid.T, hdr, shared bool) shape {
	s := shape{hdr: hdr}
	if hdr {
		s.tags = rapid.IntRange(0, 2).Draw(t, "tags")
		s.sndTag = rapid.Bool().Draw(t, "sndtag")
	}
	total := 0
	for i := range rapid.IntRange(1, 7).Draw(t, "mbufs") {
		kinds := rapid.IntRange(0, int(numPieceKinds)-1)
		p := piece{kind: pieceKind(kinds.Draw(t, "kind"))}
		if !shared && (p.kind.shared() || p.kind == pieceRdonly) {
			p.kind = piecePacket
		}
		size := p.kind.size(hdr && i == 0)
		p.off = rapid.IntRange(0, size).Draw(t, "off")
		most := size - p.off
		if rapid.Bool().Draw(t, "short") {
			most = min(most, 40)
		}
		p.len = rapid.IntRange(0, most).Draw(t, "len")
		total += p.len
		s.pieces = append(s.pieces, p)
	}
	s.data = make([]byte, total)
	for i := range s.data {
		s.data[i] = byte(i*7 + i>>8)
	}
	return s
}

// rig builds chains and keeps what must be freed beside them.
type rig struct {
	z    *Zones
	c    *Cache
	held []*Mbuf // other references to shared storage
	want [][]byte
}

func newRig(t testing.TB) *rig {
	z := machine(t, true, Config{})
	return &rig{z: z, c: cache(t, z)}
}

type iface struct{}

func (iface) Index() int   { return 3 }
func (iface) Name() string { return "test3" }

const testCookie = 77

func (r *rig) build(s shape) *Mbuf {
	var top *Mbuf
	data := s.data
	for i, p := range s.pieces {
		m := r.piece(p, s.hdr && i == 0)
		m.ShiftData(p.off)
		m.SetLen(p.len)
		copy(m.Bytes(), data)
		data = data[p.len:]
		if p.kind.shared() {
			o := r.c.CopyM(m, 0, CopyAll)
			if p.len == 0 {
				o.SetLen(0)
			}
			r.held = append(r.held, o)
			r.want = append(r.want, bytes.Clone(o.Bytes()))
		}
		if i == 0 {
			top = m
		} else {
			top.Last().Next = m
		}
	}
	if s.hdr {
		top.Pkt.Len = int32(len(s.data))
		top.Pkt.RcvIf = iface{}
		top.Pkt.FlowID = 99
		for i := range s.tags {
			tag := r.c.TagAlloc(testCookie, uint16(i))
			tag.Val[0] = uint64(i)
			top.TagPrepend(tag)
		}
		if s.sndTag {
			top.Pkt.RcvIf = r.z.NewSndTag(iface{}, nil)
			top.Pkt.CsumFlags |= CsumSndTag
		}
	}
	return top
}

func (r *rig) piece(p piece, hdr bool) *Mbuf {
	var flags Flags
	if hdr {
		flags = FlagPktHdr
	}
	switch p.kind {
	case pieceSmall:
		return r.c.get(flags)
	case pieceJumbo, pieceSharedJumbo:
		return r.c.GetJcl(flags, MJumPageSize)
	case pieceForeign:
		cl, _ := r.c.AllocCluster(MClBytes)
		m := r.c.get(flags)
		r.c.ExtAdd(m, cl.Addr()+64, foreignSize, func(arg any) { r.c.FreeCluster(arg.(Cluster)) }, cl)
		return m
	case pieceRdonly:
		return r.c.GetCl(flags | FlagRdonly)
	}
	return r.c.GetCl(flags)
}

// release frees the other references, which must hold what they held.
func (r *rig) release(t *rapid.T) {
	for i, m := range r.held {
		if !bytes.Equal(m.Bytes(), r.want[i]) {
			t.Fatal("a shared copy was written to")
		}
		r.c.FreeChain(m)
	}
	r.held, r.want = nil, nil
}

func contents(m *Mbuf) []byte {
	b := []byte{}
	for ; m != nil; m = m.Next {
		b = append(b, m.Bytes()...)
	}
	return b
}

func checkContents(t *rapid.T, what string, m *Mbuf, want []byte) {
	t.Helper()
	if got := contents(m); !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes, want %d (differ at %d)", what, len(got), len(want), differ(got, want))
	}
	if m != nil && m.Flags&FlagPktHdr != 0 && int(m.Pkt.Len) != len(want) {
		t.Fatalf("%s: packet length %d, want %d", what, m.Pkt.Len, len(want))
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// outcome is what an operation leaves: chains to check and free, or a failure.
type outcome struct {
	failed bool
	chains []*Mbuf
	wants  [][]byte
}

// failure is the outcome of a failed operation that leaves m with its data; nil m: all freed.
func failure(m *Mbuf, want []byte) outcome {
	o := outcome{failed: true}
	if m != nil {
		o.chains, o.wants = []*Mbuf{m}, [][]byte{want}
	}
	return o
}

func success(pairs ...any) outcome {
	var o outcome
	for i := 0; i < len(pairs); i += 2 {
		o.chains = append(o.chains, pairs[i].(*Mbuf))
		o.wants = append(o.wants, pairs[i+1].([]byte))
	}
	return o
}

// attempt runs op on fresh chains of a shape: first with no failure, then with each allocation of it failing in
// turn, alone or with all that follow, until none was hit. Nothing may leak.
func (r *rig) attempt(t *rapid.T, s shape, op func(m *Mbuf, data []byte) outcome) {
	base := r.z.Usage()
	finish := func(what string, o outcome) {
		for i, m := range o.chains {
			checkContents(t, what, m, o.wants[i])
		}
		for _, m := range o.chains {
			r.c.FreeChain(m)
		}
		r.release(t)
		if u := r.z.Usage(); u != base {
			t.Fatalf("%s: in use %+v, before %+v", what, u, base)
		}
	}
	finish("no failure", op(r.build(s), s.data))
	for _, fp := range []*kern.FailPoint{r.z.failGet, r.z.failCluster, r.z.failTag} {
		for _, action := range []string{"1*return(1)", "return(1)"} {
			for n := 0; ; n++ {
				m := r.build(s)
				setting := action
				if n > 0 {
					setting = fmt.Sprintf("%d*off->%s", n, action)
				}
				if err := fp.Set(setting); err != nil {
					t.Fatal(err)
				}
				hits := fp.Hits()
				o := op(m, s.data)
				if err := fp.Set("off"); err != nil {
					t.Fatal(err)
				}
				hit := fp.Hits() != hits
				finish(fmt.Sprintf("%s %s", fp.Name(), setting), o)
				if !hit {
					break
				}
			}
		}
	}
}

// forChains checks one operation on random chains with and without packet header.
func forChains(t *testing.T, shared bool, draw func(t *rapid.T, c *Cache, s shape) func(m *Mbuf, data []byte) outcome) {
	r := newRig(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t, rapid.Bool().Draw(t, "hdr"), shared)
		r.attempt(t, s, draw(t, r.c, s))
	})
	noLeak(t, r.z)
}

// forPackets is forChains with a packet header always.
func forPackets(t *testing.T, shared bool, draw func(t *rapid.T, c *Cache, s shape) func(m *Mbuf, data []byte) outcome) {
	r := newRig(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t, true, shared)
		r.attempt(t, s, draw(t, r.c, s))
	})
	noLeak(t, r.z)
}
