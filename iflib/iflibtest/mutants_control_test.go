package iflibtest

import (
	"runtime"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// overlap gives another call time to come in the middle of this one. In a stepped machine
// none can.
func (d *faulty) overlap(most time.Duration) {
	if d.ctx.Kernel().Stepped() {
		return
	}
	d.busy.Store(1)
	for begin := time.Now(); !d.broken.Load() && time.Since(begin) < most; {
		runtime.Gosched()
	}
	d.busy.Store(0)
}

var controlMutants = []mutant{
	{name: "Init fails after a stop with a full ring", good: cq, breaks: "queue-stop", also: []string{"watchdog", "mtu-under-load"}, set: func(d *faulty) {
		out := 0
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error { out++; return d.good().TxdEncap(pi) }
		d.path.credits = func(d *faulty, qid int, clear bool) int {
			n := d.good().TxdCreditsUpdate(qid, clear)
			if clear && n > 0 {
				out = 0
			}
			return n
		}
		const many = 60
		d.initialise = func(d *faulty) {
			if d.Device.Init(); out > many {
				d.ctx.InitFailed()
			}
		}
	}},
	{name: "every period sees a pause frame", good: em82574, breaks: "watchdog", set: func(d *faulty) {
		d.timer = func(d *faulty, _ int) { d.ctx.Softc().PauseFrames.Store(true) }
	}},
	{name: "a link that was up is not looked at again", good: cq, breaks: "link-flap", set: func(d *faulty) {
		d.adminStatus = func(d *faulty) {
			if d.ctx.Ifp().LinkState() != ifnet.LinkStateUp {
				d.Device.UpdateAdminStatus()
			}
		}
	}},
	{name: "an MTU of 3000 is accepted and not set", good: cq, breaks: "mtu-under-load", set: func(d *faulty) {
		d.mtuSet = func(d *faulty, mtu int) error {
			if mtu == 2*stdMTU {
				return nil
			}
			return d.Device.MTUSet(mtu)
		}
	}},
	{name: "each Init from the fortieth on takes a buffer", good: cq, breaks: "init-stop-cycles", set: func(d *faulty) {
		const early = 40
		var kept []*mbuf.Mbuf
		cache := mbuf.Of(d.ctx.Kernel()).NewCache()
		d.initialise = func(d *faulty) {
			if d.n.Add(1) > early {
				kept = append(kept, cache.Get())
			}
			d.Device.Init()
		}
		d.detach = func(d *faulty) error {
			for _, m := range kept {
				cache.Free(m)
			}
			cache.Close()
			return d.Device.Detach()
		}
	}},
	{name: "sent packets are counted twice", good: cq, breaks: "counters", set: func(d *faulty) {
		d.getCounter = func(d *faulty, c ifnet.Counter) uint64 {
			n := d.Device.GetCounter(c)
			if c == ifnet.CounterOPackets {
				n *= 2
			}
			return n
		}
	}},
	{name: "a peek while the owner works ends the queue", good: hwb, breaks: "queue-peeks", also: []string{"concurrent-control"}, set: func(d *faulty) {
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error {
			const first = 50
			if d.n.Add(1) < first {
				d.overlap(time.Millisecond)
			}
			if d.broken.Load() {
				return syscall.EIO
			}
			return d.good().TxdEncap(pi)
		}
		d.path.available = func(d *faulty, qid int, cidx iflib.QIdx, budget int) int {
			if d.busy.Load() != 0 {
				d.broken.Store(true)
			}
			return d.good().RxdAvailable(qid, cidx, budget)
		}
	}},
	{name: "GetCounter during Init ends the hardware", good: cq, breaks: "concurrent-control", set: func(d *faulty) {
		d.initialise = func(d *faulty) {
			if d.n.Add(1) > 1 {
				d.overlap(time.Second)
			}
			if d.Device.Init(); d.broken.Load() {
				d.ctx.InitFailed()
			}
		}
		d.getCounter = func(d *faulty, c ifnet.Counter) uint64 {
			if d.busy.Load() != 0 {
				d.broken.Store(true)
			}
			return d.Device.GetCounter(c)
		}
	}},
}
