package iflibtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
)

// Names of rules that are watched in every run.
const (
	ruleNewQuiet = "new-is-quiet"
	ruleRelease  = "release"
)

// errInjected is what a spy returns in a method's stead.
var errInjected error = syscall.ENOMEM

var attachRules = []Rule{
	{Name: ruleNewQuiet, Sentence: "New makes the softc and does not touch the hardware.", ways: oneWay, check: newIsQuiet},
	{Name: "attach-describes", Sentence: "AttachPre says what the device is: a station address, rings that hold the descriptors, limits, and capabilities of which the enabled ones are a part.",
		ways: oneWay, check: attachDescribes},
	{Name: "attach-order", Sentence: "Attach and detach succeed, whatever came before, with each method called once and in order.", ways: oneWay, check: attachOrder},
	{Name: ruleRelease, Sentence: "Detach gives back every buffer, map, ring, interrupt and sysctl, also of an interface that is up.", ways: everyPath, check: releases},
	{Name: "attach-failure", Sentence: "When any step of attach fails, everything is given back, and the next attach succeeds.", ways: oneWay, check: attachFailure},
	{Name: "detached-is-quiet", Sentence: "After Detach nothing of the driver runs: no timer, no task, no interrupt touches the hardware.", ways: oneWay, check: detachedIsQuiet},
	{Name: "interrupt-modes", Sentence: "With MSI-X, with MSI or INTx alone a device carries packets, or refuses to attach.", ways: oneWay, check: interruptModes},
	{Name: "driver-flags", Sentence: "RUNNING and OACTIVE are the framework's; the driver leaves them alone.", ways: oneWay, check: driverFlags},
}

// newIsQuiet is watched: making the devices is enough.
func newIsQuiet(c *check) { c.bed(bedConfig{}) }

func attachDescribes(c *check) {
	b := c.bed(bedConfig{})
	for _, n := range b.nics {
		n.describes()
	}
	if b.nics[0].ctx.MAC() == b.nics[1].ctx.MAC() {
		c.failf("%s and %s have the same address %x: it is the hardware's to say", b.nics[0].name, b.nics[1].name, b.nics[0].ctx.MAC())
	}
}

// describes looks at what AttachPre said.
func (n *nic) describes() {
	const group = 1
	sc, sh, mac := n.ctx.Softc(), n.ctx.Shared(), n.ctx.MAC()
	wrong := func(format string, a ...any) { n.b.failf("%s: "+format, append([]any{n.name}, a...)...) }
	if mac == ([6]byte{}) || mac[0]&group != 0 {
		wrong("%x is no station address", mac)
	}
	if sc.Capenable&^sc.Capabilities != 0 {
		wrong("capabilities %#x are enabled and not there", uint64(sc.Capenable&^sc.Capabilities))
	}
	if sc.MaxFrameSize < stdMTU+ifnet.EtherHdrLen {
		wrong("isc_max_frame_size is %d with an MTU of %d", sc.MaxFrameSize, n.ifp.MTU())
	}
	if sc.NTxQSetsMax < 1 || sc.NRxQSetsMax < 1 || sc.NTxQSets > sc.NTxQSetsMax || sc.NRxQSets > sc.NRxQSetsMax {
		wrong("%d of %d transmit queues, %d of %d receive queues", sc.NTxQSets, sc.NTxQSetsMax, sc.NRxQSets, sc.NRxQSetsMax)
	}
	for i := range sh.NTxQs {
		if need := uint64(sc.NTxd[i] * sc.TxdSize[i]); sc.TxQSizes[i] < need {
			wrong("transmit ring %d has %d bytes, %d descriptors need %d", i, sc.TxQSizes[i], sc.NTxd[i], need)
		}
	}
	for i := range sh.NRxQs {
		if need := uint64(sc.NRxd[i] * sc.RxdSize[i]); sc.RxQSizes[i] < need {
			wrong("receive ring %d has %d bytes, %d descriptors need %d", i, sc.RxQSizes[i], sc.NRxd[i], need)
		}
	}
	if sc.Vectors > 1 && (sc.Intr != iflib.IntrMSIX || n.ctx.Function().MSIXCount() < sc.Vectors) {
		wrong("%d vectors in mode %d", sc.Vectors, sc.Intr)
	}
}

// attachOrder attaches and detaches several times.
func attachOrder(c *check) {
	b := c.bed(bedConfig{bare: true})
	const rounds = 3
	for round := range rounds {
		for _, n := range b.nics {
			if err := n.attach(); err != nil {
				c.failf("%s: attach %d: %v\n%s", n.name, round+1, err, b.console.tail())
			}
			if round == 1 {
				c.must(n.setUp(true))
			}
			b.advance(linkTime)
			s := n.spy
			if err := n.detach(); err != nil {
				c.failf("%s: detach %d: %v", n.name, round+1, err)
			}
			n.ordered(s)
		}
	}
}

// ordered compares the calls of attach and detach with the documented order.
func (n *nic) ordered(s *spy) {
	order := []string{"AttachPre", "TxQueuesAlloc", "RxQueuesAlloc", "TxqSetup", "RxqSetup", "MSIXIntrAssign", "AttachPost", "Detach", "QueuesFree"}
	var got, want []string
	for _, m := range order {
		if slices.Contains(s.calls, m) || !strings.HasSuffix(m, "Setup") && m != "MSIXIntrAssign" {
			want = append(want, m)
		}
	}
	for _, m := range s.calls {
		if len(got) == 0 || got[len(got)-1] != m {
			got = append(got, m)
		}
	}
	if !slices.Equal(got, want) {
		n.b.failf("%s: calls %q, want %q", n.name, got, want)
	}
}

// driverFlags looks at the flags in each state of an interface.
func driverFlags(c *check) {
	b := c.bed(bedConfig{})
	const mask = ifnet.FlagRunning | ifnet.FlagOActive
	want := func(n *nic, when string, flags ifnet.Flags) {
		b.stopIfFailed()
		if got := n.ifp.DrvFlags() & mask; got != flags {
			c.failf("%s: %s the driver flags are %#x, want %#x", n.name, when, got, flags)
		}
	}
	for _, n := range b.nics {
		want(n, "after attach", 0)
		if err := n.ifp.Transmit(b.cache.GetHdr()); !errors.Is(err, syscall.ENETDOWN) {
			c.failf("%s: Transmit of an interface that is not up: %v, want ENETDOWN", n.name, err)
		}
	}
	b.up()
	for _, n := range b.nics {
		want(n, "up", ifnet.FlagRunning)
		c.must(n.setUp(false))
		want(n, "down", ifnet.FlagOActive)
	}
}

// attachSteps are ways in which an attach can fail, with the fail point that does it.
func attachSteps() (steps []string) {
	for _, s := range []string{
		"register_device", "attach_pre", "admin_taskqueue", "msix", "queues_alloc", "tx_structures_setup", "rx_structures_setup", "attach_post",
	} {
		steps = append(steps, "iflib."+s)
	}
	return steps
}

// attachFailure has each step fail once.
func attachFailure(c *check) {
	b := c.bed(bedConfig{bare: true})
	n := b.nics[0]
	for _, step := range attachSteps() {
		n.failsAt(step, 1)
	}
	const most = 64 // allocations and vectors that one attach is believed to need
	for _, step := range []string{"iflib.irq_alloc", "pci.map_bar", "iflib.queues_alloc", "iflib.tx_structures_setup", "iflib.rx_structures_setup"} {
		for at := 1; at <= most && n.failsAt(step, at); at++ {
		}
	}
	for _, method := range []string{"AttachPre", "TxQueuesAlloc", "RxQueuesAlloc", "TxqSetup", "RxqSetup", "MSIXIntrAssign", "AttachPost"} {
		n.failsIn(method)
	}
	n.failsWithoutMemory()
	for _, nic := range b.nics {
		c.must(nic.attach())
	}
	b.up()
	b.alive("after failed attaches")
}

// failsWithoutMemory attaches with no memory left, and then with a little more each time,
// until it is enough: so each allocation of attach fails once.
func (n *nic) failsWithoutMemory() {
	const block, most = 16 << 10, 512 // bytes, and blocks that an attach may need
	mem := n.b.k.Mem
	var hog []iflib.Addr
	for {
		a, err := mem.Alloc(block, block)
		if err != nil {
			break
		}
		hog = append(hog, a)
	}
	n.b.memory += len(hog)
	release := func(count int) {
		for range count {
			mem.Free(hog[len(hog)-1])
			hog = hog[:len(hog)-1]
			n.b.memory--
		}
	}
	for try := 0; try < most && n.attach() != nil; try++ {
		n.b.reclaimed(fmt.Sprintf("after a failure with %d KiB of memory", try*block>>10))
		release(1)
	}
	release(len(hog))
	if n.ctx == nil {
		n.b.failf("%s: an attach with %d KiB of memory fails\n%s", n.name, most*block>>10, n.b.console.tail())
	}
	n.gone("an allocation")
}

// interruptModes takes the vectors away.
func interruptModes(c *check) {
	for _, off := range [][]string{{"pci.alloc_msix"}, {"pci.alloc_msix", "pci.alloc_msi"}} {
		b := c.bed(bedConfig{bare: true})
		for _, point := range off {
			if !b.failPoint(point, fmt.Sprintf("return(%d)", int(syscall.ENODEV))) {
				c.failf("no fail point %s", point)
			}
		}
		var err error
		for _, n := range b.nics {
			err = errors.Join(err, n.attach())
		}
		if err != nil {
			continue // it needs more; the end of the run sees what is left
		}
		b.up()
		b.alive(fmt.Sprintf("in interrupt mode %d with %d vectors", b.nics[0].ctx.Softc().Intr, b.nics[0].ctx.Softc().Vectors))
	}
}

// failsAt has the at-th time of a step fail, and reports whether it came to that.
func (n *nic) failsAt(step string, at int) bool {
	setting := fmt.Sprintf("%d*off->1*return(%d)", at-1, int(syscall.ENOMEM))
	if at == 1 {
		setting = fmt.Sprintf("1*return(%d)", int(syscall.ENOMEM))
	}
	if !n.b.failPoint(step, setting) {
		n.b.failf("no fail point %s", step)
	}
	err := n.attach()
	n.b.failPoint(step, "off")
	if err == nil {
		n.gone(step)
		return false
	}
	if !errors.Is(err, syscall.ENOMEM) {
		n.b.failf("%s: time %d of %s fails with ENOMEM, and attach with %v", n.name, at, step, err)
	}
	n.b.reclaimed(fmt.Sprintf("after a failure at time %d of %s", at, step))
	return true
}

// failsIn has a method of the driver's fail before it did anything.
func (n *nic) failsIn(method string) {
	drv := *n.b.dev.Driver
	inner := drv.New
	drv.New = func(ctx *iflib.Ctx) iflib.Device {
		n.spy = newSpy(n, ctx, inner(ctx))
		n.spy.fail = method
		return n.spy
	}
	ctx, err := iflib.Attach(n.b.k, &drv, n.fn, n.unit)
	if err == nil {
		n.ctx, n.ifp = ctx, ctx.Ifp()
		n.gone(method)
		return
	}
	n.b.reclaimed("after a failure of " + method)
}

// gone detaches a device whose attach succeeded.
func (n *nic) gone(step string) {
	n.b.advance(linkTime)
	n.b.must(n.detach())
	n.b.released("after detach, with no failure of " + step)
	n.b.stopIfFailed()
}

// reclaimed is released, and ends the scenario.
func (b *bed) reclaimed(when string) {
	b.k.RunUntilIdle()
	b.stopIfFailed()
	if now := b.usage(); now != b.idle {
		b.failf("%s %+v is in use, before attach %+v was\n%s", when, now, b.idle, b.console.tail())
	}
	if n := b.k.Mem.Allocations(); n != b.memory {
		b.failf("%s there are %d allocations of memory, before attach %d\n%s", when, n, b.memory, b.console.tail())
	}
	b.nodes(when, b.failf)
}

// releases detaches interfaces that are up and in traffic; the end of the run compares.
func releases(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	b.alive("before detach")
	for _, n := range b.nics {
		b.send(b.raw(make([]byte, stdMTU), -1, false), nil)
		c.must(n.detach())
		b.stopIfFailed()
		if n.unit == 0 {
			break // device 0 sends
		}
	}
	b.advance(linkTime)
	c.must(b.nics[1].detach())
	b.released("after the detach of an interface in use")
	c.stopIfFailed()
	for _, n := range b.nics {
		c.must(n.attach())
	}
	b.up()
	b.alive("after attaching again")
}

// detachedIsQuiet lets time pass, with frames arriving, after a detach.
func detachedIsQuiet(c *check) {
	b := c.bed(bedConfig{})
	b.up()
	b.alive("before detach")
	n := b.nics[1]
	c.must(n.detach())
	b.k.RunUntilIdle()
	before := n.bars.count()
	for range 8 {
		_ = b.transmit(shapes.Raw(ifnet.EtherBroadcast, b.nics[0].ifp.MAC(), nil, -1, false), nil) // the link may have gone
		b.settle()
	}
	b.advance(linkTime)
	if now := n.bars.count(); now != before {
		c.failf("%s: %d register accesses after Detach", n.name, now-before)
	}
}
