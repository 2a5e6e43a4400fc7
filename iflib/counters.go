package iflib

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet"
)

// getCounter is iflib_if_get_counter: the driver's answer. No lock, any
// goroutine.
func (ctx *Ctx) getCounter(c ifnet.Counter) uint64 { return ctx.dev.GetCounter(c) }

// txCounterSource is what the transmit queues counted, part of the value that a
// driver gets from Ifnet.GetCounterDefault. The owner of a queue publishes its
// totals when it lets go; they survive stop.
func (ctx *Ctx) txCounterSource(c ifnet.Counter) (n uint64) {
	for _, q := range ctx.txqs {
		switch c {
		case ifnet.CounterOPackets:
			n += atomic.LoadUint64(&q.pub.opackets)
		case ifnet.CounterOBytes:
			n += atomic.LoadUint64(&q.pub.obytes)
		case ifnet.CounterOMcasts:
			n += atomic.LoadUint64(&q.pub.omcasts)
		}
	}
	return n
}
