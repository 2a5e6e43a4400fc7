package iflib

import (
	"sync"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// chain is the generator's packet: 42 bytes of headers, 1300 of payload in a
// cluster of its own.
func chain(c *mbuf.Cache) *mbuf.Mbuf {
	const hdr, payload = 42, 1300
	m, p := c.GetHdr(), c.GetCl(0)
	if m == nil || p == nil {
		return nil
	}
	m.SetLen(hdr)
	m.Bytes()[0] = 2
	p.SetLen(payload)
	m.Next = p
	m.Pkt.Len = hdr + payload
	return m
}

// benchDevice is a running device on a machine as users have it.
func benchDevice(b *testing.B, tunables map[string]string) (*machine, *dummy) {
	m := newMachine(b, machineConfig{threads: true, lax: true, ncpu: 2, tunables: tunables})
	d := m.attach(dummyConfig{qsets: 1, txNSegs: 40, link: true, noMSIX: true}, m.insert(0, 0), 0)
	d.quiet = true
	d.up()
	b.Cleanup(func() {
		l := d.ctx.Ledger()
		if !l.Balanced() {
			b.Errorf("ledger: %v", l)
		}
		if err := d.ctx.Detach(); err != nil {
			b.Error(err)
		}
	})
	return m, d
}

// BenchmarkTransmitCore is Transmit of the 2-mbuf chain, allocation and reclaim
// included, into a driver that completes at once: the framework's share.
func BenchmarkTransmitCore(b *testing.B) {
	for _, path := range []struct {
		name string
		env  map[string]string
	}{
		{"mp_ring", nil},
		{"simple_tx", map[string]string{"net.iflib.prefer_mpring": "0"}},
	} {
		b.Run(path.name, func(b *testing.B) {
			m, d := benchDevice(b, path.env)
			c := mbuf.Of(m.k).NewCache()
			defer c.Close()
			b.ReportAllocs()
			for b.Loop() {
				if err := d.ctx.ifp.Transmit(chain(c)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// bare is the loop that the whole path is compared with: two descriptors, one
// mutex, an engine that does nothing.
type bare struct {
	ring       []uint64
	pidx, mask uint32
	tail       uint64
	mu         sync.Mutex
}

func (r *bare) send(addr uint64) {
	r.mu.Lock()
	for range 2 {
		d := r.ring[r.pidx*2 : r.pidx*2+2 : r.pidx*2+2]
		StoreRelaxed64(&d[0], addr)
		StoreRelaxed64(&d[1], addr>>1)
		r.pidx = (r.pidx + 1) & r.mask
	}
	StoreRelaxed64(&r.tail, uint64(r.pidx))
	r.mu.Unlock()
}

// BenchmarkTransmitBare is that loop.
func BenchmarkTransmitBare(b *testing.B) {
	const size = 1024
	r := &bare{ring: make([]uint64, 2*size), mask: size - 1}
	b.ReportAllocs()
	i := uint64(0)
	for b.Loop() {
		r.send(i)
		i++
	}
}
