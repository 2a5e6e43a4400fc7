package iflibtest

import (
	"strconv"
	"time"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
)

var controlRules = []Rule{
	{Name: "queue-stop", Sentence: "An interface that is stopped with packets in its rings forgets them, frees all, and works again after init.", ways: everyWay, check: queueStop},
	{Name: "watchdog", Sentence: "A hardware that stands still is reset, and then carries packets again.", ways: everyWay, check: watchdog},
	{Name: "link-flap", Sentence: "The link state follows the medium; nothing is sent without a link, and what comes afterwards crosses.", ways: everyWay, check: linkFlap},
	{Name: "mtu-under-load", Sentence: "A change of the MTU in the middle of traffic loses what is on its way and nothing else; frames of the new size cross.", ways: everyWay, check: mtuUnderLoad},
	{Name: "init-stop-cycles", Sentence: "Init and stop may follow each other 10,000 times without a leak.", ways: oneWay, check: initStopCycles},
	{Name: "counters", Sentence: "What one end says to have sent, the other received: GetCounter adds what only the hardware knows, and does not count twice.", ways: everyPath, check: counters},
}

// flood sends up to n packets of all sizes; a full queue or an interface that is down
// refuses some.
func (b *bed) flood(n int) {
	for i := range n {
		p := b.raw(shapes.Random(uint64(i), shapes.MinFrame+i*37%1400), -1, false)
		p.Flow = uint32(i)
		_ = b.transmit(p, shapes.Pieces(30, i%20))
	}
}

func queueStop(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	for round := range 4 {
		b.shut()
		b.flood(50 + 100*round)
		if round%2 == 1 {
			b.k.RunUntilIdle()
		}
		c.must(b.nics[0].setUp(false))
		b.k.RunUntilIdle()
		b.stopIfFailed()
		b.nics[0].gate.open()
		b.settle()
		c.must(b.nics[0].setUp(true))
		b.advance(linkTime)
		b.nics[0].mustRun()
		b.nics[1].take()
		b.alive("after a stop with " + strconv.Itoa(50+100*round) + " packets on their way")
	}
}

func watchdog(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	n := b.nics[0]
	for range 2 {
		b.shut()
		inits := n.spy.inits
		const periods = 120 // of half a second, more than the watchdog waits
		for i := 0; i < periods && n.spy.inits == inits; i++ {
			b.flood(1 + i)
			b.advance(500 * time.Millisecond)
			b.stopIfFailed()
		}
		if n.spy.inits == inits {
			c.failf("%s: the hardware has sent nothing for %d s, and there was no reset\n%s%s", n.name, periods/2, n.b.console.tail(), b.rings())
		}
		n.gate.open()
		b.advance(linkTime)
		b.advance(linkTime)
		n.mustRun()
		b.nics[1].take()
		b.alive("after the watchdog")
	}
}

func linkFlap(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	for round := range 3 {
		for unit, n := range b.nics {
			n.gate.plug(false)
			b.advance(linkTime)
			if s := n.ifp.LinkState(); s != ifnet.LinkStateDown {
				b.stopIfFailed()
				c.failf("%s: the cable was pulled, the link state is %v\n%s", n.name, s, b.console.tail())
			}
			if unit == 0 {
				before := n.gate.frames()
				b.flood(20)
				b.advance(linkTime)
				if sent := n.gate.frames() - before; sent != 0 {
					b.stopIfFailed()
					c.failf("%s: %d frames were sent without a link", n.name, sent)
				}
			}
			n.gate.plug(true)
			b.advance(linkTime)
			n.mustRun()
			b.nics[1].take()
			b.alive("after link flap " + strconv.Itoa(2*round+unit+1))
		}
	}
}

func mtuUnderLoad(c *check) {
	b := c.bed(bedConfig{env: smallRings(c.newDevice())})
	b.up()
	for _, mtu := range []int{stdMTU - 400, jumboMTU, stdMTU, 2 * stdMTU, stdMTU} {
		b.flood(100)
		taken := true
		for _, n := range b.nics {
			taken = n.ifp.Ioctl(ifnet.IoctlSetMTU, mtu) == nil && taken
			b.flood(20)
		}
		b.advance(linkTime)
		for _, n := range b.nics {
			n.mustRun()
		}
		b.nics[1].take()
		b.alive("after a change of the MTU")
		if taken {
			b.cross(b.raw(shapes.Random(uint64(mtu), mtu), -1, false), nil)
		}
	}
}

func initStopCycles(c *check) {
	b := c.bed(bedConfig{env: smallRings(c.newDevice())})
	b.up()
	b.alive("before the cycles")
	cycles := 10_000
	if c.short {
		cycles = 60
	}
	n := b.nics[0]
	c.must(n.setUp(false))
	b.k.RunUntilIdle()
	before := b.usage()
	const looks = 10 // between comparisons
	for i := range cycles {
		c.must(n.setUp(true))
		c.must(n.setUp(false))
		if i%looks == 0 {
			b.k.RunUntilIdle()
			b.stopIfFailed()
			if now := b.usage(); now != before {
				c.failf("%s: after %d cycles %+v is in use, before %+v was", n.name, i+1, now, before)
			}
		}
	}
	if n.spy.inits < cycles {
		c.failf("%s: %d calls of Init in %d cycles", n.name, n.spy.inits, cycles)
	}
	c.must(n.setUp(true))
	b.advance(linkTime)
	n.mustRun()
	b.alive("after the cycles")
}

func counters(c *check) {
	b := c.wire(bedConfig{})
	b.advance(linkTime)
	read := func(n *nic, counter ifnet.Counter) uint64 { return n.ifp.GetCounter(counter) }
	const packets = 30
	out, in := read(b.nics[0], ifnet.CounterOPackets), read(b.nics[1], ifnet.CounterIPackets)
	errs := make([]uint64, 0, 2*len(errorCounters))
	for _, n := range b.nics {
		for _, counter := range errorCounters {
			errs = append(errs, read(n, counter))
		}
	}
	if got := b.count(packets, 200); got != packets {
		c.failf("%s: %d of %d packets arrived", b.where(), got, packets)
	}
	b.advance(linkTime)
	b.stopIfFailed()
	if o, i := read(b.nics[0], ifnet.CounterOPackets)-out, read(b.nics[1], ifnet.CounterIPackets)-in; o != packets || i != packets {
		c.failf("%s: %d packets crossed, Opkts counts %d, Ipkts %d", b.where(), packets, o, i)
	}
	for u, n := range b.nics {
		for k, counter := range errorCounters {
			if now, was := read(n, counter), errs[u*len(errorCounters)+k]; now != was {
				c.failf("%s: counter %d went from %d to %d, and nothing went wrong", n.name, counter, was, now)
			}
		}
	}
}

// errorCounters do not move while nothing goes wrong.
var errorCounters = []ifnet.Counter{
	ifnet.CounterIErrors, ifnet.CounterOErrors, ifnet.CounterCollisions, ifnet.CounterIQDrops, ifnet.CounterOQDrops,
}
