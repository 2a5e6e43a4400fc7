package mbuf

import (
	"bytes"
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
