package iflib

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/quiet/quietbench"
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
			quietbench.Measure(b, func(n int) {
				for range n {
					if err := d.ctx.ifp.Transmit(chain(c)); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// bare is the loop that the whole path is compared with: one mutex, two
// descriptors, a doorbell, an engine that completes without sending, and the look
// at what completed.
type bare struct {
	mtx        sync.Mutex
	ring       []uint64
	pidx, cidx uint32
	nic        doorbell
}

type doorbell interface{ ring(tail uint32) }

// Sizes and bits of the bare loop's descriptors: two words, the status in the
// second.
const (
	bareSize = 1024
	bareMask = bareSize - 1
	bareDone = 1 << 32
)

// nullEngine reads descriptors up to the tail and reports the last one done.
type nullEngine struct {
	desc []uint64
	head uint32
	sum  uint64
}

func (e *nullEngine) ring(tail uint32) {
	last := e.head
	for ; e.head != tail; e.head = (e.head + 1) & bareMask {
		last = e.head
		e.sum += atomic.LoadUint64(&e.desc[2*last])
	}
	w := &e.desc[2*last+1]
	atomic.StoreUint64(w, atomic.LoadUint64(w)|bareDone)
}

func (r *bare) send(addr uint64) {
	r.mtx.Lock()
	last := r.pidx
	for range 2 {
		last = r.pidx
		d := r.ring[2*last : 2*last+2 : 2*last+2]
		StoreRelaxed64(&d[0], addr)
		StoreRelaxed64(&d[1], addr&0xffff)
		r.pidx = (r.pidx + 1) & bareMask
	}
	r.nic.ring(r.pidx)
	if atomic.LoadUint64(&r.ring[2*last+1])&bareDone != 0 {
		r.cidx = r.pidx
	}
	r.mtx.Unlock()
}

// BenchmarkTransmitBare is that loop.
func BenchmarkTransmitBare(b *testing.B) {
	ring := make([]uint64, 2*bareSize)
	r := &bare{ring: ring, nic: &nullEngine{desc: ring}}
	quietbench.Measure(b, func(n int) {
		for i := range n {
			r.send(uint64(i))
		}
	})
	if r.cidx != r.pidx {
		b.Error("not everything completed")
	}
}
