package top8

import (
	"strconv"
	"strings"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/machine"
)

// sample is what a machine has counted up to a time.
type sample struct {
	uptime time.Duration
	busy   []time.Duration // of each CPU
	intrs  map[string]uint64
	mbufs  mbuf.Stats
	queues []queue
}

// queue is a queue's counters, and how full it is.
type queue struct {
	name         string // "em0 txq0"
	state        string // of the mp_ring, or of the interface
	cpu          int
	depth, size  int // descriptors or buffers that the hardware has
	soft         int // packets in front of the ring
	packets      uint64
	bytes, drops uint64
}

// take reads the counters of all attached devices, or of one. Queues of others are read
// as their owners publish them.
func take(m *machine.Machine, only string) (s sample) {
	k := m.Kernel()
	s.uptime = k.Uptime()
	for cpu := range k.NCPU() {
		busy, _ := k.CPUBusy(cpu)
		s.busy = append(s.busy, busy)
	}
	s.intrs = make(map[string]uint64)
	for _, i := range pci.Of(k).Interrupts() {
		s.intrs[strings.Join(i.Handlers, ",")] += i.Count
	}
	s.mbufs = mbuf.Of(k).Stats()
	for _, name := range m.Devices() {
		if ctx := m.Ctx(name); ctx != nil && (only == "" || only == name) {
			s.add(ctx)
		}
	}
	return s
}

// add reads the queues of a device.
func (s *sample) add(ctx *iflib.Ctx) {
	down := ""
	if !ctx.IsRunning() {
		down = "down"
	}
	for i := range ctx.NTxqs() {
		t := ctx.TxqSample(i)
		q := queue{name: ctx.Name() + " txq" + strconv.Itoa(i), state: t.Soft, cpu: t.CPU, depth: int(t.State.InUse), size: t.Size,
			soft: t.SoftLen + t.Deferred, packets: t.Packets, bytes: t.Bytes, drops: t.Drops}
		if down != "" {
			q.state = down
		}
		s.queues = append(s.queues, q)
	}
	for i := range ctx.NRxqs() {
		r := ctx.RxqSample(i)
		q := queue{name: ctx.Name() + " rxq" + strconv.Itoa(i), state: down, cpu: r.CPU, size: r.Size,
			packets: r.Packets, bytes: r.Bytes, drops: r.Drops}
		for _, fl := range r.State.FreeLists {
			q.depth += int(fl.Credits)
		}
		s.queues = append(s.queues, q)
	}
}

// interrupts is how often the vector of a queue has interrupted; false: it shares one with
// others, or has none.
func (s *sample) interrupts(queue string) (uint64, bool) {
	n, ok := s.intrs[strings.Replace(queue, " ", ":", 1)]
	return n, ok
}
