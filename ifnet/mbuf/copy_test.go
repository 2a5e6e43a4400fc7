package mbuf

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCopyMCopiesARange(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		off := rapid.IntRange(0, len(s.data)).Draw(t, "off")
		n := rapid.IntRange(0, len(s.data)-off).Draw(t, "n")
		whole := rapid.Bool().Draw(t, "all")
		return func(m *Mbuf, data []byte) outcome {
			length, want := n, data[off:off+n]
			if whole {
				length, want = CopyAll, data[off:]
			}
			p := c.CopyM(m, off, length)
			if p == nil {
				return failure(m, data)
			}
			if hdr := s.hdr && off == 0; hdr != (p.Flags&FlagPktHdr != 0) {
				t.Fatal("packet header")
			}
			return success(m, data, p, want)
		}
	})
}

func TestCopyPacketKeepsHeaderAndTags(t *testing.T) {
	forPackets(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		return func(m *Mbuf, data []byte) outcome {
			p := c.CopyPacket(m)
			if p == nil {
				return failure(m, data)
			}
			checkHdr(t, s, p)
			if p.off != m.off {
				t.Fatalf("leading room %d, original %d", p.off, m.off)
			}
			return success(m, data, p, data)
		}
	})
}

func checkHdr(t *rapid.T, s shape, p *Mbuf) {
	t.Helper()
	if p.Pkt.FlowID != 99 || p.Pkt.RcvIf.Name() != "test3" || (p.Pkt.SndTag() != nil) != s.sndTag {
		t.Fatalf("packet header not copied: %+v", p.Pkt)
	}
	n := 0
	for tag := p.Pkt.Tags; tag != nil; tag = tag.Next {
		n++
		if id := s.tags - n; tag.ID != uint16(id) || tag.Val[0] != uint64(id) || tag.Cookie != testCookie {
			t.Fatalf("tag %+v, want id %d", tag, id)
		}
	}
	if n != s.tags {
		t.Fatalf("%d tags, want %d", n, s.tags)
	}
}

func TestDupIsWritable(t *testing.T) {
	forPackets(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		return func(m *Mbuf, data []byte) outcome {
			p := c.Dup(m)
			if p == nil {
				return failure(m, data)
			}
			checkHdr(t, s, p)
			checkWritable(t, p)
			if want := 1 + (len(data)+MClBytes-MinClSize)/MClBytes; len(data) >= MinClSize && p.Count() > want+1 {
				t.Fatalf("%d bytes in %d mbufs", len(data), p.Count())
			}
			return success(m, data, p, data)
		}
	})
}

func checkWritable(t *rapid.T, m *Mbuf) {
	t.Helper()
	for ; m != nil; m = m.Next {
		if m.Flags&FlagExt != 0 && !m.Writable() {
			t.Fatal("an external mbuf is not writable")
		}
	}
}

func TestUnshareMakesWritableOrFreesAll(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		return func(m *Mbuf, data []byte) outcome {
			p := c.Unshare(m)
			if p == nil {
				return failure(nil, nil)
			}
			checkWritable(t, p)
			if s.hdr {
				checkHdr(t, s, p)
			}
			return success(p, data)
		}
	})
}

func TestDefragIsMinimal(t *testing.T) {
	forChains(t, true, func(t *rapid.T, c *Cache, s shape) func(*Mbuf, []byte) outcome {
		return func(m *Mbuf, data []byte) outcome {
			p := c.Defrag(m)
			switch {
			case p == nil:
				return failure(m, data)
			case !s.hdr:
				if p != m {
					t.Fatal("chain without header replaced")
				}
				return success(m, data)
			}
			checkHdr(t, s, p)
			if want := max(1, (len(data)+MClBytes-1)/MClBytes); p.Count() != want {
				t.Fatalf("%d bytes in %d mbufs, want %d", len(data), p.Count(), want)
			}
			return success(p, data)
		}
	})
}

// Spec ifnet 13, check 9.
func TestCopyOfAClusterPacketOutlivesTheOriginal(t *testing.T) {
	r := newRig(t)
	m := r.c.GetCl(FlagPktHdr)
	m.SetLen(copy(m.Room(), "packet"))
	m.FixHdr()
	p := r.c.CopyPacket(m)
	if m.Writable() || p.Writable() || p.Refs() != 2 {
		t.Fatalf("shared cluster: writable %v %v, %d references", m.Writable(), p.Writable(), p.Refs())
	}
	r.c.Free(m)
	if string(p.Bytes()) != "packet" || p.Refs() != 1 || !p.Writable() {
		t.Fatalf("after free of the original: %q, %d references, writable %v", p.Bytes(), p.Refs(), p.Writable())
	}
	// the mbuf that holds the count stays until the last reference is gone
	if u := r.z.Usage(); u != (Usage{Packets: 1, Mbufs: 1}) {
		t.Fatalf("in use: %+v", u)
	}
	r.c.Free(p)
	noLeak(t, r.z)
}

func TestQueueTagGoesWithThePacketHeader(t *testing.T) {
	c := cache(t, machine(t, true, Config{}))
	m := c.GetHdr()
	m.QID, m.QIDHash = 7, 0xdeadbeef
	m.SetLen(100)
	m.FixHdr()
	tagged := func(what string, m *Mbuf, qid uint16, hash uint32) {
		t.Helper()
		if m.QID != qid || m.QIDHash != hash {
			t.Errorf("%s: queue %d hash %#x, want %d and %#x", what, m.QID, m.QIDHash, qid, hash)
		}
	}
	p := c.CopyPacket(m)
	tagged("copy", p, 7, 0xdeadbeef)
	to := c.Get()
	to.MovePktHdr(p)
	tagged("moved to", to, 7, 0xdeadbeef)
	tagged("moved from", p, 0, 0)
	n := c.Split(m, 50)
	tagged("split off", n, 7, 0xdeadbeef)
	for _, m := range []*Mbuf{m, p, to, n} {
		c.FreeChain(m)
	}
	for range 4 {
		m := c.GetHdr()
		tagged("fresh", m, 0, 0)
		defer c.Free(m)
	}
}
