package red

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// bed is one queue under a policy.
type bed struct {
	altq.ClassQueue
	p     altq.Policy
	cache *mbuf.Cache
	drops *altq.Drops
	now   altq.Time
}

func newBed(t *testing.T, p altq.Policy) *bed {
	t.Helper()
	b := &bed{p: p, cache: mbuf.Of(altqtest.Kernel(t, false)).NewCache(), now: 10 * altq.MachClkFreq}
	b.drops = altq.NewDrops(b.cache)
	b.Limit = altq.DefaultQLimit
	t.Cleanup(func() {
		altq.Purge(nil, &b.ClassQueue, nil, b.drops)
		b.cache.Close()
	})
	return b
}

// frame is a frame with an IP header; the rest of it is not there.
func (b *bed) frame(ip ...byte) *mbuf.Mbuf {
	const size = 1000
	m := b.cache.GetHdr()
	m.Pkt.Len = size
	m.QID = 1
	if len(ip) > 0 {
		etherType := []byte{0x08, 0x00}
		if ip[0]>>4 == 6 {
			etherType = []byte{0x86, 0xdd}
		}
		b.cache.Append(m, make([]byte, 12))
		b.cache.Append(m, etherType)
		b.cache.Append(m, ip)
		m.Pkt.Len = size
	}
	return m
}

// hold brings the queue to n packets.
func (b *bed) hold(n int) {
	for b.Len() > n {
		b.cache.FreeChain(b.Take())
	}
	for b.Len() < n {
		b.Append(b.frame())
	}
}
