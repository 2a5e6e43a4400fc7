package emhw

import (
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
)

// delays are the interrupt delay timers: RDTR and RADV, TIDV and TADV (spec 1g 5.3).
type delays struct {
	n      *nic
	rx, tx delay
}

// delay is one pair of timers and the causes that wait for them.
type delay struct {
	n        *nic
	d        *hw.Delayer
	on       atomic.Bool // the packet timer is not 0
	first    atomic.Bool // the absolute timer ends no later: only the first event matters
	causes   atomic.Uint32
	counter  int // statistics: interrupts by this timer
	pkt, abs uint64
}

func (d *delays) init(n *nic) {
	d.n = n
	d.rx.init(n, "rdtr", emreg.RDTR, emreg.RADV, emreg.ICRXPTC)
	d.tx.init(n, "tidv", emreg.TIDV, emreg.TADV, emreg.ICTXPTC)
}

func (d *delay) init(n *nic, name string, pkt, abs uint64, counter int) {
	d.n, d.pkt, d.abs, d.counter = n, pkt, abs, e1000hw.Stat(counter)
	d.d = hw.NewDelayer(n.K, n.Cfg.Name+" "+name, d.fire)
}

func (d *delays) close() {
	d.rx.d.Close()
	d.tx.d.Close()
}

func (d *delays) reset() {
	d.rx.update()
	d.tx.update()
	d.rx.drop()
	d.tx.drop()
}

// drop forgets what waits.
func (d *delay) drop() {
	d.causes.Store(0)
	d.d.Flush()
}

// update takes the timers from their registers.
func (d *delay) update() {
	pkt, abs := ticks(d.n.Reg(d.pkt)), ticks(d.n.Reg(d.abs))
	d.d.Set(pkt, abs)
	d.first.Store(abs != 0 && abs <= pkt)
	d.on.Store(pkt != 0)
}

func ticks(v uint32) time.Duration {
	return time.Duration(v&emreg.DelayMask) * emreg.DelayUnitNs
}

// write stores a timer register. FPD in the packet timer flushes.
func (d *delay) write(off uint64, v uint32) {
	d.n.SetReg(off, v&emreg.DelayMask)
	d.update()
	if off == d.pkt && v&emreg.DelayFPD != 0 {
		d.d.Flush()
	}
}

// waits reports whether causes wait already, and no longer than they would from now on.
func (d *delay) waits(c uint32) bool { return d.first.Load() && d.causes.Load()&c == c }

// event raises causes after the delay.
func (d *delay) event(c uint32) {
	if !d.on.Load() {
		d.n.raise(c)
		return
	}
	if d.waits(c) {
		return
	}
	d.causes.Or(c)
	d.d.Event()
}

func (d *delay) fire() {
	if c := d.causes.Swap(0); c != 0 {
		d.n.Stats.Add(d.counter, 1)
		d.n.raise(c)
	}
}
