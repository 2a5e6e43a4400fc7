package mbuf

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCollapseReducesOrLeavesTheChain(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		most := rapid.IntRange(1, 6).Draw(t, "max")
		return func(m *Mbuf, data []byte) outcome {
			p := c.Collapse(m, most)
			if p == nil {
				return failure(m, data)
			}
			if p != m || p.Count() > most {
				t.Fatalf("%d mbufs, want %d", p.Count(), most)
			}
			return success(m, data)
		}
	})
}

func TestCatAppendsAChain(t *testing.T) {
	forPackets(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		add := bytes.Repeat([]byte{1, 2, 3}, rapid.IntRange(0, 200).Draw(t, "add"))
		pkt := rapid.Bool().Draw(t, "pkt")
		return func(m *Mbuf, data []byte) outcome {
			n := c.DevGet(add, 0, iface{})
			if n == nil {
				return failure(m, data)
			}
			if pkt {
				c.CatPkt(m, n)
				if m.Next != nil && m.Last().Flags&FlagPktHdr != 0 {
					t.Fatal("packet header inside a packet")
				}
			} else {
				c.Cat(m, n)
				m.FixHdr()
			}
			return success(m, append(bytes.Clone(data), add...))
		}
	})
}

func TestAppendStoresWhatItCan(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		add := bytes.Repeat([]byte{9, 8, 7}, rapid.IntRange(0, 300).Draw(t, "add"))
		return func(m *Mbuf, data []byte) outcome {
			ok := c.Append(m, add)
			want := append(bytes.Clone(data), add...)
			n := m.Length()
			if ok != (n == len(want)) {
				t.Fatalf("append %v, %d of %d bytes", ok, n, len(want))
			}
			return success(m, want[:n])
		}
	})
}

func TestCopyBackWritesAndExtends(t *testing.T) {
	forChains(t, false, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		off := rapid.IntRange(0, len(s.data)+600).Draw(t, "off")
		add := bytes.Repeat([]byte{9, 8, 7}, rapid.IntRange(0, 300).Draw(t, "add"))
		return func(m *Mbuf, data []byte) outcome {
			c.CopyBack(m, off, add)
			want := make([]byte, max(len(data), off+len(add)))
			copy(want, data)
			copy(want[off:], add)
			n := m.Length()
			if n < len(data) || n > len(want) {
				t.Fatalf("length %d, before %d, want %d", n, len(data), len(want))
			}
			return success(m, want[:n])
		}
	})
}

func TestGetM2HasRoomOrNothing(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		n := rapid.IntRange(1, 20000).Draw(t, "n")
		onto := rapid.Bool().Draw(t, "onto")
		return func(m *Mbuf, data []byte) outcome {
			before := m.Count()
			if onto {
				held := room(m)
				switch p := c.GetM2(m, n, FlagEOR); {
				case p == nil && m.Count() != before:
					t.Fatal("a failure changed the chain")
				case p != nil && (p != m || room(m)-held < n || m.Last().Flags&FlagEOR == 0):
					t.Fatalf("room for %d, want %d, and an end of record", room(m)-held, n)
				}
				return success(m, data)
			}
			p := c.GetM2(nil, n, FlagPktHdr)
			if p == nil {
				return failure(m, data)
			}
			if p.Flags&FlagPktHdr == 0 || room(p) < n {
				t.Fatalf("room for %d, want %d", room(p), n)
			}
			return success(m, data, p, []byte{})
		}
	})
}

func room(m *Mbuf) int {
	n := 0
	for ; m != nil; m = m.Next {
		n += m.Size()
	}
	return n
}

func TestDevGetCopiesAFrame(t *testing.T) {
	r := newRig(t)
	rapid.Check(t, func(t *rapid.T) {
		p := make([]byte, rapid.IntRange(1, 5000).Draw(t, "n"))
		for i := range p {
			p[i] = byte(i)
		}
		off := rapid.IntRange(0, 20).Draw(t, "off")
		r.attempt(t, shape{pieces: []piece{{}}, data: []byte{}}, func(m *Mbuf, data []byte) outcome {
			d := r.c.DevGet(p, off, iface{})
			if d == nil {
				return failure(m, data)
			}
			if d.Pkt.RcvIf.Index() != 3 || d.off < int32(off) {
				t.Fatalf("interface %v, leading room %d", d.Pkt.RcvIf, d.off)
			}
			return success(m, data, d, p)
		})
	})
	noLeak(t, r.z)
}

func TestCopyDataReadsARange(t *testing.T) {
	r := newRig(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t, false, true)
		m := r.build(s)
		off := rapid.IntRange(0, len(s.data)).Draw(t, "off")
		p := make([]byte, rapid.IntRange(0, len(s.data)-off).Draw(t, "n"))
		m.CopyData(off, p)
		if !bytes.Equal(p, s.data[off:off+len(p)]) {
			t.Fatal("contents differ")
		}
		r.c.FreeChain(m)
		r.release(t)
	})
}

// lens builds a packet of mbufs with these lengths: plain up to MLen (the first MHLen), else clusters.
func lens(c *Cache, lengths ...int) *Mbuf {
	var top *Mbuf
	for i, n := range lengths {
		flags := FlagPktHdr
		if i > 0 {
			flags = 0
		}
		m := c.get(flags)
		if n > m.Size() {
			c.Free(m)
			m = c.GetCl(flags)
		}
		m.SetLen(n)
		clear(m.Bytes())
		if top == nil {
			top = m
		} else {
			top.Last().Next = m
		}
	}
	top.FixHdr()
	return top
}

func lengths(m *Mbuf) []int {
	var n []int
	for ; m != nil; m = m.Next {
		n = append(n, m.Len())
	}
	return n
}

func TestExactShapes(t *testing.T) {
	for _, row := range []struct {
		name string
		in   []int
		op   func(c *Cache, m *Mbuf) *Mbuf
		want []int // nil: failure that freed all
	}{
		{"collapse merges less than the trailing space", []int{100, 59, 60}, collapse(2), []int{159, 60}},
		{"collapse leaves what fills the space", []int{100, 60, 60}, collapse(2), []int{100, 120}},
		{"collapse leaves neighbours that fill a cluster", []int{2048, 1000, 2000, 48}, collapse(3), []int{2048, 1000, 2000, 48}},
		{"collapse puts full neighbours into a cluster", []int{160, 224, 224, 224}, collapse(3), []int{160, 448, 224}},
		{"and merges into that", []int{160, 224, 224, 224}, collapse(2), []int{160, 672}},
		{"collapse of full neighbours fails", []int{2048, 2048, 2048}, collapse(2), []int{2048, 2048, 2048}},
		{"pullup stops at the mbuf that has enough", []int{14, 6, 34, 100}, pullup(20), []int{20, 34, 100}},
		{"pullup gathers a protocol header from it", []int{14, 100}, pullup(20), []int{74, 40}},
		{"pullup of what is there changes nothing", []int{30, 6, 34}, pullup(30), []int{30, 6, 34}},
		{"pullup without successor takes a new mbuf", []int{100}, pullup(20), []int{60, 40}},
		{"pullup to the very end takes a new mbuf", []int{100, 100}, pullup(160), []int{160, 40}},
		{"pullup of a cluster takes a new mbuf", []int{1000, 50}, pullup(14), []int{60, 940, 50}},
		{"pullup of more than there is", []int{10, 10}, pullup(21), nil},
		{"pullup of more than a header mbuf", []int{1000}, pullup(161), nil},
		{"adj from the front keeps empty mbufs", []int{14, 6, 34}, adj(20), []int{0, 0, 34}},
		{"adj from the back within the last mbuf", []int{14, 6, 34}, adj(-34), []int{14, 6, 0}},
		{"adj from the back frees the surplus", []int{14, 6, 34}, adj(-35), []int{14, 5}},
		{"adj over the front", []int{14, 6}, adj(30), []int{0, 0}},
		{"adj over the back", []int{14, 6}, adj(-30), []int{0}},
		{"defrag", []int{14, 6, 34, 1300, 2000}, (*Cache).Defrag, []int{2048, 1306}},
		{"defrag of a short packet", []int{14, 6, 34}, (*Cache).Defrag, []int{54}},
	} {
		t.Run(row.name, func(t *testing.T) {
			z := machine(t, true, Config{})
			c := cache(t, z)
			m := row.op(c, lens(c, row.in...))
			if got := lengths(m); !slices.Equal(got, row.want) {
				t.Errorf("mbufs of %v, want %v", got, row.want)
			}
			c.FreeChain(m)
			noLeak(t, z)
		})
	}
}

// collapse returns the chain in any case: after a failure it is the caller's.
func collapse(most int) func(*Cache, *Mbuf) *Mbuf {
	return func(c *Cache, m *Mbuf) *Mbuf {
		c.Collapse(m, most)
		return m
	}
}

func pullup(n int) func(*Cache, *Mbuf) *Mbuf {
	return func(c *Cache, m *Mbuf) *Mbuf { return c.Pullup(m, n) }
}

func adj(n int) func(*Cache, *Mbuf) *Mbuf {
	return func(c *Cache, m *Mbuf) *Mbuf {
		c.Adj(m, n)
		return m
	}
}

func TestDemoteKeepsDataAndFreesTags(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	m := c.GetHdr()
	m.ShiftData(8)
	m.SetLen(copy(m.Room(), "data"))
	m.TagPrepend(c.TagAlloc(testCookie, 1))
	if m.TagFind(testCookie, 1) == nil || m.TagFind(testCookie, 2) != nil {
		t.Fatal("tags by name")
	}
	at := m.BusAddr()
	c.Demote(m, false)
	if m.Flags != 0 || string(m.Bytes()) != "data" || m.BusAddr() != at || m.LeadingSpace() != pktHdrSize+8 || m.Size() != MLen {
		t.Fatalf("demoted: flags %#x %q room %d of %d", m.Flags, m.Bytes(), m.LeadingSpace(), m.Size())
	}
	c.Free(m)
	noLeak(t, z)
}
