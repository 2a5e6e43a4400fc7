package iflib

import (
	"fmt"
	"sync/atomic"

	"github.com/ifsim/ifsim/sysctl"
)

// queueNodeName is the node of queue i of n: numbers are padded so that they
// sort (spec iflib 5.3).
func queueNodeName(prefix string, i, n int) string {
	const threeDigits, twoDigits = 100, 10
	switch {
	case n > threeDigits:
		return fmt.Sprintf("%s%03d", prefix, i)
	case n > twoDigits:
		return fmt.Sprintf("%s%02d", prefix, i)
	}
	return fmt.Sprintf("%s%d", prefix, i)
}

// addSysctls registers the queue's node txq<N> (spec iflib 5.3).
func (q *Txq) addSysctls(c *sysctl.Ctx, parent *sysctl.OID) {
	n := c.Node(parent, queueNodeName("txq", q.id, q.ctx.scctx.NTxQSets), sysctl.RD|sysctl.MPSafe, "Queue Name")
	c.Func(n, "cpu", sysctl.RD, sysctl.KindInt, func() uint64 { return uint64(q.task.CPU()) }, "cpu this queue is bound to")
	for _, e := range []struct {
		name  string
		c     *atomic.Uint64
		descr string
	}{
		{"mbuf_defrag", &q.stat.mbufDefrag, "# of times m_defrag was called"},
		{"m_pullups", &q.stat.pullups, "# of times m_pullup was called"},
		{"mbuf_defrag_failed", &q.stat.mbufDefragFailed, "# of times m_defrag failed"},
		{"no_desc_avail", &q.stat.noDescAvail, "# of times no descriptors were available"},
		{"tx_map_failed", &q.stat.mapFailed, "# of times DMA map failed"},
		{"txd_encap_efbig", &q.stat.encapEFBIG, "# of times txd_encap returned EFBIG"},
		{"no_tx_dma_setup", &q.stat.noTxDMASetup, "# of times map failed for other than EFBIG"},
	} {
		c.U64(n, e.name, sysctl.RD, e.c, e.descr)
	}
	for _, e := range []struct {
		name  string
		kind  sysctl.Kind
		read  func(s TxqState) uint64
		descr string
	}{
		{"txq_pidx", sysctl.KindU16, func(s TxqState) uint64 { return uint64(s.Pidx) }, "Producer Index"},
		{"txq_cidx", sysctl.KindU16, func(s TxqState) uint64 { return uint64(s.Cidx) }, "Consumer Index"},
		{"txq_cidx_processed", sysctl.KindU16, func(s TxqState) uint64 { return uint64(s.CidxProcessed) },
			"Consumer Index seen by credit update"},
		{"txq_in_use", sysctl.KindU16, func(s TxqState) uint64 { return uint64(s.InUse) }, "descriptors in use"},
		{"txq_processed", sysctl.KindU64, func(s TxqState) uint64 { return s.Processed }, "descriptors processed for clean"},
		{"txq_cleaned", sysctl.KindU64, func(s TxqState) uint64 { return s.Cleaned }, "total cleaned"},
	} {
		c.Func(n, e.name, sysctl.RD, e.kind, func() uint64 { return e.read(q.State()) }, e.descr)
	}
	q.addRingSysctls(c, n)
}

// addRingSysctls registers the state and counters of the mp_ring, which a
// simple_tx queue has too and never uses.
func (q *Txq) addRingSysctls(c *sysctl.Ctx, n *sysctl.OID) {
	c.FuncString(n, "ring_state", sysctl.RD, q.br.State, "soft ring state")
	for _, e := range []struct {
		name  string
		read  func() uint64
		descr string
	}{
		{"r_enqueues", q.br.Enqueues, "# of enqueues to the mp_ring for this queue"},
		{"r_drops", q.br.Drops, "# of drops in the mp_ring for this queue"},
		{"r_starts", q.br.Starts, "# of normal consumer starts in mp_ring for this queue"},
		{"r_stalls", q.br.Stalls, "# of consumer stalls in the mp_ring for this queue"},
		{"r_restarts", q.br.Restarts, "# of consumer restarts in the mp_ring for this queue"},
		{"r_abdications", q.br.Abdications, "# of consumer abdications in the mp_ring for this queue"},
	} {
		c.Func(n, e.name, sysctl.RD|sysctl.Stats, sysctl.KindU64, e.read, e.descr)
	}
}

// addOwnSysctls registers dev.<driver>.<unit>.ifsim: what FreeBSD does not have.
func (ctx *Ctx) addOwnSysctls() {
	c := ctx.oids
	n := c.Node(ctx.devNode, "ifsim", sysctl.RD|sysctl.MPSafe, "Simulator fields")
	ctx.ifsimNode = n
	c.FuncString(n, "ledger", sysctl.RD|sysctl.Stats, func() string { return ctx.Ledger().String() },
		"what became of outgoing packets")
	c.FuncString(n, "rx_ledger", sysctl.RD|sysctl.Stats, func() string { return ctx.RxLedger().String() },
		"what became of incoming packets")
	c.U64(n, "broken_contracts", sysctl.RD|sysctl.Stats, &ctx.brokenCount, "breaches of the driver contract")
	for _, q := range ctx.txqs {
		qn := c.Node(n, queueNodeName("txq", q.id, ctx.scctx.NTxQSets), sysctl.RD|sysctl.MPSafe, "Queue Name")
		c.Func(qn, "tx_empty_doorbells", sysctl.RD|sysctl.Stats, sysctl.KindU64,
			func() uint64 { return atomic.LoadUint64(&q.pub.empty) }, "doorbells with no new descriptor behind them")
		c.Func(qn, "tx_deferred", sysctl.RD|sysctl.Stats, sysctl.KindU64,
			func() uint64 { return atomic.LoadUint64(&q.pub.deferred) }, "packets that simple_tx left to the holder of the lock")
	}
}

// addSysctls registers the queue's node rxq<N> with its free lists (spec iflib
// 5.4).
func (q *Rxq) addSysctls(c *sysctl.Ctx, parent *sysctl.OID) {
	n := c.Node(parent, queueNodeName("rxq", q.id, q.ctx.scctx.NRxQSets), sysctl.RD|sysctl.MPSafe, "Queue Name")
	c.Func(n, "cpu", sysctl.RD, sysctl.KindInt, func() uint64 { return uint64(q.task.CPU()) }, "cpu this queue is bound to")
	if q.hasCQ {
		c.Func(n, "rxq_cq_cidx", sysctl.RD, sysctl.KindU16, func() uint64 { return atomic.LoadUint64(&q.pub.cidx) }, "Consumer Index")
	}
	for i := range q.fls {
		fl := &q.fls[i]
		fn := c.Node(n, fmt.Sprintf("rxq_fl%d", i), sysctl.RD|sysctl.MPSafe, "freelist Name")
		for _, e := range []struct {
			name  string
			read  func(s FreeListState) uint16
			descr string
		}{
			{"pidx", func(s FreeListState) uint16 { return s.Pidx }, "Producer Index"},
			{"cidx", func(s FreeListState) uint16 { return s.Cidx }, "Consumer Index"},
			{"credits", func(s FreeListState) uint16 { return s.Credits }, "credits available"},
			{"buf_size", func(s FreeListState) uint16 { return s.BufSize }, "buffer size"},
		} {
			c.Func(fn, e.name, sysctl.RD, sysctl.KindU16, func() uint64 { return uint64(e.read(fl.state())) }, e.descr)
		}
	}
}
