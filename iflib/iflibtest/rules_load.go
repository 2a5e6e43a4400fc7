package iflibtest

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
)

var loadRules = []Rule{
	{Name: "queue-peeks", Sentence: "TxdCreditsUpdate(clear=false) and RxdAvailable may be called by anybody while the owner works; go test -race sees what they share.", ways: everyWay, check: queuePeeks},
	{Name: "concurrent-control", Sentence: "Requests, resets and counters may come while packets are sent and received.", ways: everyWay, check: concurrentControl},
}

// How long a load may take, and in a sample.
const (
	loadTime      = 20 * time.Second
	loadTimeShort = 8 * time.Second
)

// await waits for cond in a threaded machine.
func (b *bed) await(what string, cond func() bool) {
	most := loadTime
	if b.short {
		most = loadTimeShort
	}
	most = patience(most)
	deadline, tick := time.After(most), time.NewTicker(100*time.Microsecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			b.failf("%s: not within %v\n%s", what, most, b.console.tail())
		}
	}
}

// upThreads brings a threaded machine up.
func (b *bed) upThreads() {
	for _, n := range b.nics {
		b.must(n.setUp(true))
	}
	b.await("the link", func() bool {
		return b.nics[0].linked() && b.nics[1].linked()
	})
}

func (n *nic) linked() bool { return n.ctx.IsRunning() && n.ifp.LinkState() == ifnet.LinkStateUp }

// beside runs f again and again on a goroutine until calm, or until f panics, which is a
// finding.
func (c *check) beside(f func()) {
	if c.calmed == nil {
		c.calmed = make(chan struct{})
	}
	calmed := c.calmed
	c.besides.Go(func() {
		c.guard(func() {
			for {
				select {
				case <-calmed:
					return
				default:
					f()
					runtime.Gosched()
				}
			}
		})
	})
}

// calm ends what runs beside the scenario.
func (c *check) calm() {
	if c.calmed == nil {
		return
	}
	close(c.calmed)
	c.besides.Wait()
	c.calmed = nil
}

// offer hands a packet to device 0 if there is room for it: in memory, which packets that
// wait use up, and in the rings.
func (b *bed) offer(p *shapes.Packet) bool {
	m := p.Mbuf(b.cache, nil)
	return m != nil && b.nics[0].ifp.Transmit(m) == nil
}

// load sends n packets from device 0, as fast as they are taken, and then more until one
// arrives that was sent after them.
func (b *bed) load(n int) {
	const size, last = 200, 300
	p := b.raw(shapes.Random(1, size), -1, false)
	for i := range n {
		p.Flow = uint32(i)
		b.await("a place in the ring", func() bool { return b.offer(p) })
		b.nics[1].take()
	}
	p = b.raw(shapes.Random(1, last), -1, false)
	b.await("a packet at the other end", func() bool {
		b.offer(p)
		return slices.ContainsFunc(b.nics[1].take(), func(a arrival) bool { return len(a.data) == len(p.Data) })
	})
}

func queuePeeks(c *check) {
	b := c.bed(bedConfig{threads: true})
	b.upThreads()
	for _, n := range b.nics {
		txrx := n.ctx.Softc().TxRx
		c.beside(func() {
			for q := range n.ctx.NTxqs() {
				txrx.TxdCreditsUpdate(q, false)
			}
			for q := range n.ctx.NRxqs() {
				txrx.RxdAvailable(q, iflib.QIdx(n.peekAt()), 1)
			}
		})
	}
	packets := 5_000
	if c.short {
		packets = 1_000
	}
	b.load(packets)
	c.calm()
}

// peekAt is an index to peek at; any is allowed.
func (n *nic) peekAt() int {
	return int(n.ifp.GetCounter(ifnet.CounterIPackets)) % n.ctx.Softc().NRxd[0]
}

func concurrentControl(c *check) {
	b := c.bed(bedConfig{threads: true})
	b.upThreads()
	n := b.nics[0]
	var cycles atomic.Int32
	behind := n.ctx.ConfigTaskInit("behind the reset", func() {})
	c.beside(func() {
		for counter := range ifnet.NumCounters {
			n.ifp.GetCounter(counter)
		}
	})
	c.beside(func() {
		var media ifnet.MediaReq
		_ = n.ifp.Ioctl(ifnet.IoctlGetMedia, &media)
	})
	c.beside(func() {
		for _, on := range []bool{true, false} {
			_ = n.ifp.Promisc(on)
			_ = n.ifp.AllMulti(on)
		}
		n.ctx.RequestReset()
		n.ctx.AdminIntrDeferred()
		behind.Enqueue()
		behind.Drain()
		cycles.Add(1)
	})
	rounds := int32(15)
	if c.short {
		rounds = 5
	}
	p := b.raw(shapes.Random(1, 200), -1, false)
	b.await("a round of requests and resets", func() bool {
		b.offer(p) // a reset takes the link away for a while
		b.nics[1].take()
		return cycles.Load() >= rounds
	})
	c.calm()
	b.await("the link", func() bool { return b.nics[0].linked() && b.nics[1].linked() })
	b.load(1)
}
