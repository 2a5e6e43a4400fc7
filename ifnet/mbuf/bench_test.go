package mbuf

import "testing"

func BenchmarkGetFree(b *testing.B) {
	c := cache(b, machine(b, false, Config{}))
	b.ReportAllocs()
	for b.Loop() {
		c.Free(c.Get())
	}
}

// BenchmarkChain2 is what a sender and a reclaiming queue do with a packet of 42 + 1300 bytes.
func BenchmarkChain2(b *testing.B) {
	z := machine(b, false, Config{})
	send, reclaim := cache(b, z), cache(b, z)
	var hdr [42]byte
	b.ReportAllocs()
	for b.Loop() {
		m := chain2(send, &hdr)
		reclaim.FreeChain(m)
	}
}

// BenchmarkChain2Ring is the same with a ring between both.
func BenchmarkChain2Ring(b *testing.B) {
	z := machine(b, false, Config{})
	send, reclaim := cache(b, z), cache(b, z)
	var hdr [42]byte
	var ring [256]*Mbuf
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		p := &ring[i&255]
		i++
		if *p != nil {
			reclaim.FreeChain(*p)
		}
		*p = chain2(send, &hdr)
	}
	for _, m := range ring {
		reclaim.FreeChain(m)
	}
}

func chain2(c *Cache, hdr *[42]byte) *Mbuf {
	m := c.GetHdr()
	m.SetLen(len(hdr))
	copy(m.Bytes(), hdr[:])
	n := c.GetCl(0)
	n.SetLen(1300)
	m.Next = n
	m.Pkt.Len = 1342
	return m
}

func BenchmarkPlainFree(b *testing.B) {
	c := cache(b, machine(b, false, Config{}))
	b.ReportAllocs()
	for b.Loop() {
		Free(c.Get())
	}
}
