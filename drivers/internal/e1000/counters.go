package e1000

import (
	"slices"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/ifnet"
)

// StatTable is the statistics block with the sysctls of mac_stats (spec 1g 5.5, 7.2;
// em_add_hw_stats), without the registers that a part does not have.
func StatTable(without ...uint64) []Stat {
	return slices.DeleteFunc(slices.Clone(statTable), func(s Stat) bool { return slices.Contains(without, s.Reg) })
}

var statTable = []Stat{
	{Name: "excess_coll", Descr: "Excessive collisions", Reg: emreg.ECOL},
	{Name: "single_coll", Descr: "Single collisions", Reg: emreg.SCC},
	{Name: "multiple_coll", Descr: "Multiple collisions", Reg: emreg.MCC},
	{Name: "late_coll", Descr: "Late collisions", Reg: emreg.LATECOL},
	{Name: "collision_count", Descr: "Collision Count", Reg: emreg.COLC},
	{Name: "symbol_errors", Descr: "Symbol Errors", Reg: emreg.SYMERRS},
	{Name: "sequence_errors", Descr: "Sequence Errors", Reg: emreg.SEC},
	{Name: "defer_count", Descr: "Defer Count", Reg: emreg.DC},
	{Name: "missed_packets", Descr: "Missed Packets", Reg: emreg.MPC},
	{Name: "recv_no_buff", Descr: "Receive No Buffers", Reg: emreg.RNBC},
	{Name: "recv_length_errors", Descr: "Receive Length Errors", Reg: emreg.RLEC},
	{Name: "recv_undersize", Descr: "Receive Undersize", Reg: emreg.RUC},
	{Name: "recv_fragmented", Descr: "Fragmented Packets Received ", Reg: emreg.RFC},
	{Name: "recv_oversize", Descr: "Oversized Packets Received", Reg: emreg.ROC},
	{Name: "recv_jabber", Descr: "Recevied Jabber", Reg: emreg.RJC},
	{Name: "recv_errs", Descr: "Receive Errors", Reg: emreg.RXERRC},
	{Name: "crc_errs", Descr: "CRC errors", Reg: emreg.CRCERRS},
	{Name: "alignment_errs", Descr: "Alignment Errors", Reg: emreg.ALGNERRC},
	{Name: "coll_ext_errs", Descr: "Collision/Carrier extension errors", Reg: emreg.CEXTERR},
	{Name: "xon_recvd", Descr: "XON Received", Reg: emreg.XONRXC},
	{Name: "xon_txd", Descr: "XON Transmitted", Reg: emreg.XONTXC},
	{Name: "xoff_recvd", Descr: "XOFF Received", Reg: emreg.XOFFRXC},
	{Name: "xoff_txd", Descr: "XOFF Transmitted", Reg: emreg.XOFFTXC},
	{Name: "unsupported_fc_recvd", Descr: "Unsupported Flow Control Received", Reg: emreg.FCRUC},
	{Name: "mgmt_pkts_recvd", Descr: "Management Packets Received", Reg: emreg.MGTPRC},
	{Name: "mgmt_pkts_drop", Descr: "Management Packets Dropped", Reg: emreg.MGTPDC},
	{Name: "mgmt_pkts_txd", Descr: "Management Packets Transmitted", Reg: emreg.MGTPTC},
	{Name: "total_pkts_recvd", Descr: "Total Packets Received ", Reg: emreg.TPR},
	{Name: "good_pkts_recvd", Descr: "Good Packets Received ", Reg: emreg.GPRC},
	{Name: "bcast_pkts_recvd", Descr: "Broadcast Packets Received", Reg: emreg.BPRC},
	{Name: "mcast_pkts_recvd", Descr: "Multicast Packets Received", Reg: emreg.MPRC},
	{Name: "rx_frames_64", Descr: "64 byte frames received ", Reg: emreg.PRC64},
	{Name: "rx_frames_65_127", Descr: "65-127 byte frames received", Reg: emreg.PRC127},
	{Name: "rx_frames_128_255", Descr: "128-255 byte frames received", Reg: emreg.PRC255},
	{Name: "rx_frames_256_511", Descr: "256-511 byte frames received", Reg: emreg.PRC511},
	{Name: "rx_frames_512_1023", Descr: "512-1023 byte frames received", Reg: emreg.PRC1023},
	{Name: "rx_frames_1024_1522", Descr: "1023-1522 byte frames received", Reg: emreg.PRC1522},
	{Name: "good_octets_recvd", Descr: "Good Octets Received", Reg: emreg.GORCL, Pair: true},
	{Name: "good_octets_txd", Descr: "Good Octets Transmitted", Reg: emreg.GOTCL, Pair: true},
	{Name: "total_pkts_txd", Descr: "Total Packets Transmitted", Reg: emreg.TPT},
	{Name: "good_pkts_txd", Descr: "Good Packets Transmitted", Reg: emreg.GPTC},
	{Name: "bcast_pkts_txd", Descr: "Broadcast Packets Transmitted", Reg: emreg.BPTC},
	{Name: "mcast_pkts_txd", Descr: "Multicast Packets Transmitted", Reg: emreg.MPTC},
	{Name: "tx_frames_64", Descr: "64 byte frames transmitted ", Reg: emreg.PTC64},
	{Name: "tx_frames_65_127", Descr: "65-127 byte frames transmitted", Reg: emreg.PTC127},
	{Name: "tx_frames_128_255", Descr: "128-255 byte frames transmitted", Reg: emreg.PTC255},
	{Name: "tx_frames_256_511", Descr: "256-511 byte frames transmitted", Reg: emreg.PTC511},
	{Name: "tx_frames_512_1023", Descr: "512-1023 byte frames transmitted", Reg: emreg.PTC1023},
	{Name: "tx_frames_1024_1522", Descr: "1024-1522 byte frames transmitted", Reg: emreg.PTC1522},
	{Name: "tso_txd", Descr: "TSO Contexts Transmitted", Reg: emreg.TSCTC},
	{Name: "tso_ctx_fail", Descr: "TSO Contexts Failed", Reg: emreg.TSCTFC},
	{Reg: emreg.TNCRS},
	{Reg: emreg.TORL, Pair: true},
	{Reg: emreg.TOTL, Pair: true},
	{Reg: emreg.IAC},
	{Reg: emreg.ICRXPTC},
	{Reg: emreg.ICRXATC},
	{Reg: emreg.ICTXPTC},
	{Reg: emreg.ICTXATC},
	{Reg: emreg.ICTXQEC},
	{Reg: emreg.ICTXQMTC},
	{Reg: emreg.ICRXDMTC},
	{Reg: emreg.ICRXOC},
}

// InterruptStats are the leaves of the node interrupts (spec 1g 7.2).
func InterruptStats(without ...uint64) []Stat {
	return slices.DeleteFunc(slices.Clone(interruptStats), func(s Stat) bool { return slices.Contains(without, s.Reg) })
}

var interruptStats = []Stat{
	{Name: "asserts", Descr: "Interrupt Assertion Count", Reg: emreg.IAC},
	{Name: "rx_pkt_timer", Descr: "Interrupt Cause Rx Pkt Timer Expire Count", Reg: emreg.ICRXPTC},
	{Name: "rx_abs_timer", Descr: "Interrupt Cause Rx Abs Timer Expire Count", Reg: emreg.ICRXATC},
	{Name: "tx_pkt_timer", Descr: "Interrupt Cause Tx Pkt Timer Expire Count", Reg: emreg.ICTXPTC},
	{Name: "tx_abs_timer", Descr: "Interrupt Cause Tx Abs Timer Expire Count", Reg: emreg.ICTXATC},
	{Name: "tx_queue_empty", Descr: "Interrupt Cause Tx Queue Empty Count", Reg: emreg.ICTXQEC},
	{Name: "tx_queue_min_thresh", Descr: "Interrupt Cause Tx Queue Min Thresh Count", Reg: emreg.ICTXQMTC},
	{Name: "rx_desc_min_thresh", Descr: "Interrupt Cause Rx Desc Min Thresh Count", Reg: emreg.ICRXDMTC},
	{Name: "rx_overrun", Descr: "Interrupt Cause Receiver Overrun Count", Reg: emreg.ICRXOC},
}

// Collect is Update, and reports whether pause frames came: they excuse a queue that
// stands still (em_update_stats_counters).
func (s *Stats) Collect(r *Regs) (paused bool) {
	before := s.Sum(emreg.XOFFRXC)
	s.Update(r)
	return s.Sum(emreg.XOFFRXC) != before
}

// Counter adds the part's counts to def, the interface's own (em_if_get_counter; spec 1g
// 7.2). dropped are packets that the driver dropped. Any goroutine.
func (s *Stats) Counter(c ifnet.Counter, def, dropped uint64) uint64 {
	sum := func(regs ...uint64) (n uint64) {
		for _, reg := range regs {
			n += s.Sum(reg)
		}
		return n
	}
	switch c {
	case ifnet.CounterCollisions:
		return sum(emreg.COLC)
	case ifnet.CounterIErrors:
		return dropped + sum(emreg.RXERRC, emreg.CRCERRS, emreg.ALGNERRC, emreg.RUC, emreg.ROC, emreg.MPC, emreg.CEXTERR)
	case ifnet.CounterOErrors:
		return def + sum(emreg.ECOL, emreg.LATECOL)
	}
	return def
}
