package altq

import (
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/probe"
)

// Trace points of a queue, whose device is the interface. Lengths are bytes, queue lengths
// packets, tokens bytes; tokens may be a debt, and without a regulator they are 0. type is
// the discipline's code, 0 while there is none enabled.
var (
	probeEnqueue  = probe.Define("altq", "enqueue", "len", "qlen", "type")
	probeDequeue  = probe.Define("altq", "dequeue", "len", "qlen", "type", "regulated", "tokens")
	probeDrop     = probe.Define("altq", "drop", "packets", "bytes", "qlen", "type")
	probeThrottle = probe.Define("altq", "throttle", "qlen", "tokens")
)

// watch is what a trace of an operation has to know of the time before it.
type watch struct {
	on    bool
	len   uint64
	drops Counter
}

// watching begins an operation on a packet, nil for none yet. The lock is held.
func (q *Queue) watching(m *mbuf.Mbuf) (w watch) {
	if !q.probes.On() {
		return w
	}
	w = watch{on: true, drops: q.drops.total}
	if m != nil {
		w.len = uint64(m.Pkt.Len)
	}
	return w
}

// typeCode is the discipline that has the packets.
func (q *Queue) typeCode() uint64 {
	if !q.enabled {
		return uint64(TypeNone)
	}
	return uint64(q.disc.Type())
}

// traceEnqueue traces a packet that was taken or dropped. The lock is held.
func (q *Queue) traceEnqueue(w watch, taken bool) {
	if taken {
		q.probes.Fire3(probeEnqueue, q.env.Name, -1, w.len, uint64(q.Len()), q.typeCode())
	}
	q.traceDrops(w)
}

// traceDequeue traces a packet that goes to the hardware, nil if the discipline kept it.
// The lock is held.
func (q *Queue) traceDequeue(w watch, m *mbuf.Mbuf) {
	q.traceDrops(w)
	if m == nil {
		return
	}
	q.probes.Fire5(probeDequeue, q.env.Name, -1, uint64(m.Pkt.Len), uint64(q.Len()), q.typeCode(), q.regulated(), q.tokens())
}

// traceDrops traces what was freed meanwhile. The lock is held.
func (q *Queue) traceDrops(w watch) {
	if n := q.drops.total.Packets - w.drops.Packets; n > 0 {
		q.probes.Fire4(probeDrop, q.env.Name, -1, n, q.drops.total.Bytes-w.drops.Bytes, uint64(q.Len()), q.typeCode())
	}
}

// traceThrottle traces packets that the regulator holds back. The lock is held.
func (q *Queue) traceThrottle() {
	if q.tbr != nil && q.Len() > 0 {
		q.probes.Fire2(probeThrottle, q.env.Name, -1, uint64(q.Len()), q.tokens())
	}
}

func (q *Queue) regulated() uint64 {
	if q.tbr == nil {
		return 0
	}
	return 1
}

// tokens are the regulator's, in two's complement.
func (q *Queue) tokens() uint64 {
	if q.tbr == nil {
		return 0
	}
	return uint64(q.tbr.token >> tbrShift)
}
