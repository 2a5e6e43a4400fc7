package metrics

import "github.com/ifsim/ifsim/iflib"

const labelFate = "fate"

var (
	txLedgerIn = counter("transmit_ledger_in_packets", unitPackets, "Packets that were given to the interface to be sent.", "dev.X.N.ifsim.ledger",
		labelInterface)
	txLedgerOut = counter("transmit_ledger_out_packets", unitPackets, "What became of them: handed to the hardware, or dropped, and why.", "dev.X.N.ifsim.ledger",
		labelInterface, labelFate)
	txLedgerQueued = gauge("transmit_ledger_queued_packets", unitPackets, "Packets that wait in a ring or in the send queue, counted by walking them.", "dev.X.N.ifsim.ledger",
		labelInterface)
	txLedgerImbalance = gauge("transmit_ledger_imbalance_packets", unitPackets, "Packets that are in and neither out nor queued; 0 while nothing moves, else packets were lost.", "dev.X.N.ifsim.ledger",
		labelInterface)
	rxLedgerIn = counter("receive_ledger_in_packets", unitPackets, "Packets that the driver took from the hardware.", "dev.X.N.ifsim.rx_ledger",
		labelInterface)
	rxLedgerOut = counter("receive_ledger_out_packets", unitPackets, "What became of them: handed to the stack, or dropped, and why.", "dev.X.N.ifsim.rx_ledger",
		labelInterface, labelFate)
	rxLedgerImbalance = gauge("receive_ledger_imbalance_packets", unitPackets, "Packets that are in and not out; 0 while nothing moves, else packets were lost.", "dev.X.N.ifsim.rx_ledger",
		labelInterface)
	rxInactive = counter("receive_inactive", unitTimes, "Passes of a receive task that ended because the interface was stopped.", "dev.X.N.ifsim.rx_ledger",
		labelInterface)
	rxFamines = counter("receive_famines", unitTimes, "Refills that ended early for want of buffers.", "dev.X.N.ifsim.rx_ledger",
		labelInterface)
)

func ledgerFamilies() []family {
	return []family{txLedgerIn, txLedgerOut, txLedgerQueued, txLedgerImbalance, rxLedgerIn, rxLedgerOut, rxLedgerImbalance, rxInactive, rxFamines}
}

// fate is what became of a number of packets.
type fate struct {
	name string
	n    uint64
}

func (s *scrape) ledger(ctx *iflib.Ctx, ifname string) {
	tx, rx := ctx.Ledger(), ctx.RxLedger()
	s.put(txLedgerIn, float64(tx.In), ifname)
	s.fates(txLedgerOut, ifname, []fate{
		{"handed", tx.Handed}, {"down", tx.Down}, {"no_desc", tx.NoDesc}, {"ring_full", tx.RingFull},
		{"encap", tx.Encap}, {"flushed", tx.Flushed}, {"stopped", tx.Stopped}, {"altq", tx.ALTQ},
	})
	s.put(txLedgerQueued, float64(tx.Queued), ifname)
	s.put(txLedgerImbalance, difference(tx.In, tx.Handed+tx.Dropped()+tx.Queued), ifname)
	s.put(rxLedgerIn, float64(rx.Taken), ifname)
	s.fates(rxLedgerOut, ifname, []fate{
		{"handed", rx.Handed}, {"no_mbuf", rx.NoMbuf}, {"bad_writeback", rx.BadWriteback}, {"zero_frag", rx.ZeroFrag},
		{"pfil", rx.Pfil}, {"reset", rx.Reset},
	})
	s.put(rxLedgerImbalance, difference(rx.Taken, rx.Handed+rx.Dropped()), ifname)
	s.put(rxInactive, float64(rx.Inactive), ifname)
	s.put(rxFamines, float64(rx.Famines), ifname)
}

func (s *scrape) fates(f family, ifname string, fates []fate) {
	for _, x := range fates {
		s.put(f, float64(x.n), ifname, x.name)
	}
}

// difference is a - b, also where b is larger.
func difference(a, b uint64) float64 { return float64(int64(a - b)) }
