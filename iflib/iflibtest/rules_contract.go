package iflibtest

import (
	"time"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
)

// Names of rules that are watched in every run.
const (
	ruleLocks    = "locks"
	ruleIndices  = "encap-indices"
	ruleReuse    = "descriptor-reuse"
	ruleCredits  = "credits"
	ruleEarly    = "credits-early"
	ruleComplete = "credits-complete"
	rulePeek     = "peek-changes-nothing"
	ruleFreeList = "free-list"
	ruleReceived = "received-buffers"
	ruleDMA      = "dma-mapped"
	ruleDoorbell = "doorbell"
)

var contractRules = []Rule{
	{Name: ruleLocks, Sentence: "Each method is called with the documented locks and no other, and returns with the same ones held.", ways: everyPath, check: everyMethod},
	{Name: ruleIndices, Sentence: "TxdEncap writes at PktInfo.Pidx and sets NewPidx inside the ring, behind the last descriptor written.", ways: everyWay, check: fillsTheRing},
	{Name: ruleReuse, Sentence: "TxdEncap writes no descriptor that is not completed, and takes no more than are free.", ways: everyWay, check: fillsTheRing},
	{Name: ruleDoorbell, Sentence: "TxdFlush hands everything that TxdEncap wrote to the hardware.", ways: everyWay, check: doorbells},
	{Name: ruleCredits, Sentence: "TxdCreditsUpdate gives each descriptor back once.", ways: everyWay, check: fillsTheRing},
	{Name: ruleEarly, Sentence: "TxdCreditsUpdate gives nothing back before the hardware is done with it.", ways: everyWay, check: creditsNothingEarly},
	{Name: ruleComplete, Sentence: "A packet with PktTxIntr is reported when the hardware is done, and with it all before.", ways: everyWay, check: creditsComplete},
	{Name: rulePeek, Sentence: "TxdCreditsUpdate(clear=false) and RxdAvailable change nothing, and see what the owner would.", ways: everyWay, check: peeks},
	{Name: "index-wrap", Sentence: "Packets cross that begin at each index of the rings, also those that go round the end.", ways: everyWay, check: indexWrap},
	{Name: ruleFreeList, Sentence: "RxdRefill writes the descriptors that it was given buffers for, no others, and RxdFlush hands over no more.", ways: everyPath, check: refills},
	{Name: ruleReceived, Sentence: "RxdPktGet names buffers that the hardware has, each once, and lengths that add up.", ways: everyPath, check: refills},
	{Name: ruleDMA, Sentence: "The device reaches no memory that is not mapped for it: not after Stop, not behind the end of a buffer.", ways: everyWay, check: stopsDMA},
}

// everyMethod makes every request that reaches a driver's method.
func everyMethod(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	group := [6]byte{1, 0, 0x5e, 0, 0, 1}
	for _, n := range b.nics {
		c.must(n.ifp.Promisc(true))
		c.must(n.ifp.Promisc(false))
		c.must(n.ifp.AllMulti(true))
		c.must(n.ifp.AllMulti(false))
		c.must(n.ifp.AddMulti(group))
		c.must(n.ifp.DelMulti(group))
		var media ifnet.MediaReq
		c.must(n.ifp.Ioctl(ifnet.IoctlGetMedia, &media))
		_ = n.ifp.Ioctl(ifnet.IoctlSetMedia, ifnet.MediaEther|ifnet.MediaAuto)
		n.optionalRequests()
		n.ifp.VLANConfig(5)
		n.ifp.VLANUnconfig(5)
		n.ctx.SetLED(true)
		n.ctx.SetLED(false)
		b.advance(linkTime)
		n.ctx.RequestReset()
		n.ctx.AdminIntrDeferred()
		b.advance(linkTime)
	}
	b.mtu(stdMTU - 100)
	b.caps(0, ifnet.CapHWCsum)
	b.alive("after every request")
	for _, n := range b.nics {
		_ = n.ctx.Suspend()
		_ = n.ctx.Resume()
		b.advance(linkTime)
	}
	b.alive("after suspend and resume")
	for _, n := range b.nics {
		_ = n.ctx.Shutdown()
	}
}

// optionalRequests makes requests that a driver may refuse.
func (n *nic) optionalRequests() {
	for cmd, data := range map[ifnet.Ioctl]any{
		ifnet.IoctlGetRSSKey: new(ifnet.RSSKey), ifnet.IoctlGetRSSHash: new(ifnet.RSSHash), ifnet.IoctlGetRSSTable: new(ifnet.RSSTable),
		ifnet.IoctlGetDownReason: new(ifnet.DownReason), ifnet.IoctlGetI2C: &ifnet.I2CReq{DevAddr: ifnet.I2CAddrA0, Len: 1},
	} {
		_ = n.ifp.Ioctl(cmd, data)
	}
	for counter := range ifnet.NumCounters {
		n.ifp.GetCounter(counter)
	}
}

// fillsTheRing sends more than the rings hold while the hardware stands, and lets it go.
func fillsTheRing(c *check) {
	b := c.bed(bedConfig{env: smallRings(c.newDevice())})
	b.up()
	rounds := 3
	if c.short {
		rounds = 1
	}
	for round := range rounds {
		b.shut()
		n := b.nics[0].ctx.Softc().NTxd[b.nics[0].spy.path.tx[0].Index]
		for i := range n {
			p := b.raw(shapes.Random(uint64(i), shapes.MinFrame+i*17%stdMTU), -1, false)
			_ = b.transmit(p, shapes.Pieces(20, i%40, 0)) // a full ring refuses
			if i%16 == round {
				b.advance(time.Microsecond)
			}
			b.stopIfFailed()
		}
		b.advance(time.Millisecond)
		b.nics[0].gate.open()
		b.settle()
		b.advance(linkTime)
		b.stopIfFailed()
		b.quiet()
		b.nics[1].take()
		b.alive("after the ring was full")
	}
}

// shut closes the gate before device 0.
func (b *bed) shut() {
	b.settle()
	for _, q := range b.nics[0].spy.path.tx {
		q.due = q.out
	}
	b.nics[0].gate.shut()
}

// smallRings are tunables for short rings, in which a packet may still have some segments.
func smallRings(d Device) map[string]string {
	const short = 128
	sh, env := d.Driver.Shared, make(map[string]string)
	sizes := func(least, most []int) string {
		ns := make([]int, len(least))
		for i := range ns {
			ns[i] = min(max(short, least[i]), most[i])
		}
		return list(ns)
	}
	for unit := range numNICs {
		env[knob(d, unit, "override_ntxds")] = sizes(sh.NTxdMin[:sh.NTxQs], sh.NTxdMax[:])
		env[knob(d, unit, "override_nrxds")] = sizes(sh.NRxdMin[:sh.NRxQs], sh.NRxdMax[:])
	}
	return env
}

// creditsNothingEarly has packets wait in a hardware that cannot send.
func creditsNothingEarly(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	b.alive("before the hardware stands")
	b.shut()
	const packets = 60
	for i := range packets {
		b.send(b.raw(shapes.Random(uint64(i), shapes.MinFrame), -1, false), nil)
		b.advance(100 * time.Microsecond)
		b.nics[0].ctx.KickTx()
		b.k.RunUntilIdle()
	}
	b.nics[0].gate.open()
	b.settle()
	if got := len(b.nics[1].take()); got != packets {
		b.stopIfFailed()
		c.failf("%s: %d of %d packets came when the hardware could go on%s", b.where(), got, packets, b.rings())
	}
}

// creditsComplete sends until every distance between reports was there.
func creditsComplete(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	packets := 300
	if c.short {
		packets = 60
	}
	for i := range packets {
		b.nics[1].take()
		for range 1 + i%20 {
			b.send(b.raw(shapes.Random(uint64(i), shapes.MinFrame+i), -1, false), shapes.Pieces(14, i%30))
		}
		b.settle()
		b.stopIfFailed()
		b.quiet()
		if got := len(b.nics[1].take()); got != 1+i%20 {
			b.stopIfFailed()
			c.failf("%s: %d of %d packets arrived%s", b.where(), got, 1+i%20, b.rings())
		}
	}
}

// peeks has both ends look at their queues all the time; the spies compare.
func peeks(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	for i := range 60 {
		b.send(b.raw(shapes.Random(uint64(i), shapes.MinFrame), -1, false), nil)
		for _, n := range b.nics {
			for q := range n.spy.path.tx {
				n.spy.path.TxdCreditsUpdate(q, false)
			}
		}
		b.k.RunUntilIdle()
	}
	b.settle()
	b.stopIfFailed()
	if got := len(b.nics[1].take()); got != 60 {
		c.failf("%s: %d of 60 packets came%s", b.where(), got, b.rings())
	}
}

// refills receives several rings full of packets of all sizes, at the standard MTU and a
// jumbo one.
func refills(c *check) {
	b := c.bed(bedConfig{env: smallRings(c.newDevice())})
	b.up()
	for _, mtu := range []int{stdMTU, jumboMTU} {
		if mtu != stdMTU && !b.mtu(mtu) {
			continue
		}
		packets := 3 * b.nics[1].spy.path.rx[0][0].size
		if c.short {
			packets /= 3
		}
		b.nics[1].take()
		for i := range packets {
			b.send(b.raw(shapes.Random(uint64(i), i*61%mtu), -1, false), nil)
			b.settle()
			b.stopIfFailed()
		}
		b.nics[1].take()
	}
}

// stopsDMA takes interfaces down in traffic and has frames arrive while they are down.
func stopsDMA(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	for range 3 {
		b.alive("before stop")
		c.must(b.nics[1].setUp(false))
		for i := range 20 {
			_ = b.transmit(b.raw(shapes.Random(uint64(i), stdMTU), -1, false), nil)
			b.settle()
		}
		c.must(b.nics[1].setUp(true))
		b.advance(linkTime)
		b.nics[1].take()
	}
	b.alive("after stop and init")
}
