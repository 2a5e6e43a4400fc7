package mbuf

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPullupMakesTheFrontContiguousOrFreesAll(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		n := rapid.IntRange(1, MLen+10).Draw(t, "n")
		return func(m *Mbuf, data []byte) outcome {
			inPlace := m.Flags&FlagExt == 0 && int(m.off)+n < int(m.size) && m.Next != nil
			p := c.Pullup(m, n)
			if p == nil {
				return failure(nil, nil)
			}
			if n > len(data) || !inPlace && n > MHLen {
				t.Fatalf("pullup of %d from %d bytes succeeded", n, len(data))
			}
			if p.Len() < n || inPlace != (p == m) {
				t.Fatalf("pullup of %d: first mbuf has %d, in place %v", n, p.Len(), inPlace)
			}
			return success(p, data)
		}
	})
}

func TestPullupWithoutFailureFailsOnlyWhenItMust(t *testing.T) {
	r := newRig(t)
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t, true, true)
		n := rapid.IntRange(1, MHLen).Draw(t, "n")
		p := r.c.Pullup(r.build(s), n)
		if (p != nil) != (n <= len(s.data)) {
			t.Fatalf("pullup of %d of %d: %v", n, len(s.data), p)
		}
		r.c.FreeChain(p)
		r.release(t)
	})
	noLeak(t, r.z)
}

// Spec ifnet 13, check 8.
func TestPullupOf161BytesFromShortExternalMbufsFreesAll(t *testing.T) {
	r := newRig(t)
	var top *Mbuf
	for range 10 {
		m := r.c.GetCl(FlagPktHdr)
		if top != nil {
			r.c.Free(m)
			m = r.c.GetCl(0)
		}
		m.SetLen(20)
		if top == nil {
			top = m
		} else {
			top.Last().Next = m
		}
	}
	top.FixHdr()
	if p := r.c.Pullup(top, 161); p != nil {
		t.Fatal("pullup of more than MHLEN succeeded")
	}
	noLeak(t, r.z)
}

func TestCopyUpLeavesRoomInFront(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		n, off := rapid.IntRange(1, MHLen).Draw(t, "n"), rapid.IntRange(0, 40).Draw(t, "off")
		return func(m *Mbuf, data []byte) outcome {
			p := c.CopyUp(m, n, off)
			if p == nil {
				return failure(nil, nil)
			}
			if p.Len() < n || p == m || p.off != int32(off) {
				t.Fatalf("copyup of %d behind %d: first mbuf has %d behind %d", n, off, p.Len(), p.off)
			}
			return success(p, data)
		}
	})
}

func TestPrependMakesRoomOrFreesAll(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		n := rapid.IntRange(0, MHLen).Draw(t, "n")
		return func(m *Mbuf, data []byte) outcome {
			room := m.LeadingSpace()
			p := c.Prepend(m, n)
			if p == nil {
				return failure(nil, nil)
			}
			if (p == m) != (room >= n) {
				t.Fatalf("prepend of %d with room %d: new mbuf %v", n, room, p != m)
			}
			fill := bytes.Repeat([]byte{0xa5}, n)
			copy(p.Bytes(), fill)
			return success(p, append(fill, data...))
		}
	})
}

func TestAdjTrimsBothEnds(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		n := rapid.IntRange(-len(s.data)-20, len(s.data)+20).Draw(t, "n")
		return func(m *Mbuf, data []byte) outcome {
			count, last := m.Count(), m.Last().Len()
			c.Adj(m, n)
			if n >= 0 && m.Count() != count || n < 0 && last >= -n && m.Count() != count {
				t.Fatalf("adj %d: %d mbufs, before %d", n, m.Count(), count)
			}
			if n >= 0 {
				return success(m, data[min(n, len(data)):])
			}
			return success(m, data[:max(0, len(data)+n)])
		}
	})
}

func TestSplitKeepsBothParts(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		n := rapid.IntRange(0, len(s.data)+5).Draw(t, "n")
		return func(m *Mbuf, data []byte) outcome {
			p := c.Split(m, n)
			if p == nil {
				return failure(m, data)
			}
			if p.Flags&FlagPktHdr != m.Flags&FlagPktHdr {
				t.Fatal("packet header on one part only")
			}
			if s.hdr && p.Pkt.RcvIf != m.Pkt.RcvIf {
				t.Fatal("interface or send tag not copied")
			}
			return success(m, data[:n], p, data[n:])
		}
	})
}

func TestSplitOfALongPlainMbufPutsAnEmptyHeaderInFront(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	m := lens(c, 10, 224, 7)
	if err := z.failGet.Set("1*off->1*return(1)"); err != nil {
		t.Fatal(err)
	}
	if p := c.Split(m, 15); p != nil {
		t.Fatal("no failure")
	}
	if got := lengths(m); !slices.Equal(got, []int{10, 224, 7}) || m.Pkt.Len != 241 {
		t.Fatalf("after a failure: %v, length %d", got, m.Pkt.Len)
	}
	p := c.Split(m, 15)
	if got := lengths(p); !slices.Equal(got, []int{0, 219, 7}) || p.Pkt.Len != 226 || m.Pkt.Len != 15 {
		t.Fatalf("rest %v of length %d, kept %d", got, p.Pkt.Len, m.Pkt.Len)
	}
	c.FreeChain(m)
	c.FreeChain(p)
	noLeak(t, z)
}

func TestSendTagLivesAsLongAsItsPackets(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	freed := 0
	m := lens(c, 100, 100)
	m.Pkt.CsumFlags |= CsumSndTag
	m.Pkt.RcvIf = z.NewSndTag(iface{}, func() { freed++ })
	p := c.Split(m, 50)
	q := c.CopyPacket(p)
	for _, m := range []*Mbuf{m, p, q} {
		if got, _ := z.k.Sysctl.Text("kern.ipc.num_snd_tags"); freed != 0 || got != "1" {
			t.Fatalf("freed %d times with packets left, num_snd_tags %s", freed, got)
		}
		c.FreeChain(m)
	}
	if freed != 1 {
		t.Fatalf("freed %d times", freed)
	}
	noLeak(t, z)
}
