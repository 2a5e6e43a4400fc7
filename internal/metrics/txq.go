package metrics

import (
	"strings"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/sysctl"
)

// txqCounter and txqGauge describe a variable of a transmit queue.
func txqCounter(variable, name, unit, help string) leaf {
	return leaf{counter("transmit_queue_"+name, unit, help, "dev.X.N.iflib.txqM."+variable, labelInterface, labelQueue), variable}
}

func txqGauge(variable, name, unit, help string) leaf {
	return leaf{gauge("transmit_queue_"+name, unit, help, "dev.X.N.iflib.txqM."+variable, labelInterface, labelQueue), variable}
}

// txqLeaves are the variables of dev.X.N.iflib.txqM (spec iflib 5.3).
var txqLeaves = []leaf{
	txqGauge("cpu", "cpu", unitIndex, "CPU that runs the queue's task."),
	txqCounter("r_enqueues", "ring_enqueues", unitPackets, "Packets that the mp_ring took."),
	txqCounter("r_drops", "ring_drops", unitPackets, "Packets that the mp_ring had no room for."),
	txqCounter("r_starts", "ring_starts", unitTimes, "Times that a sender found the mp_ring idle and drained it."),
	txqCounter("r_stalls", "ring_stalls", unitTimes, "Times that a drain left packets behind for want of descriptors."),
	txqCounter("r_restarts", "ring_restarts", unitTimes, "Times that a stalled mp_ring was drained again."),
	txqCounter("r_abdications", "ring_abdications", unitTimes, "Times that a drain ended with its budget and left the rest to another sender."),
	txqGauge("txq_pidx", "producer_index", unitIndex, "Descriptor that is filled next."),
	txqGauge("txq_cidx", "consumer_index", unitIndex, "Descriptor that is cleaned next."),
	txqGauge("txq_cidx_processed", "completed_index", unitIndex, "Descriptor up to which the hardware has told that it is done."),
	txqGauge("txq_in_use", "descriptors_in_use", unitDescriptors, "Descriptors that are filled and not cleaned."),
	txqCounter("txq_processed", "completed_descriptors", unitDescriptors, "Descriptors that the hardware has told to be done."),
	txqCounter("txq_cleaned", "cleaned_descriptors", unitDescriptors, "Descriptors that were cleaned."),
	txqCounter("mbuf_defrag", "mbuf_defrags", unitPackets, "Packets of too many pieces that were copied together."),
	txqCounter("mbuf_defrag_failed", "mbuf_defrag_failures", unitPackets, "Packets that could not be copied together."),
	txqCounter("m_pullups", "mbuf_pullups", unitPackets, "Packets whose headers were brought into one piece."),
	txqCounter("no_desc_avail", "no_descriptors", unitTimes, "Times that a packet found no descriptors."),
	txqCounter("tx_map_failed", "map_failures", unitPackets, "Packets that could not be mapped for DMA."),
	txqCounter("txd_encap_efbig", "encap_too_big", unitPackets, "Packets of too many pieces for a descriptor chain."),
	txqCounter("no_tx_dma_setup", "dma_setup_failures", unitPackets, "Packets that could not be mapped for another reason than their pieces."),
}

// txqOwnLeaves are the variables of dev.X.N.ifsim.txqM.
var txqOwnLeaves = []leaf{
	{counter("transmit_queue_empty_doorbells", unitTimes, "Doorbells with no new descriptor behind them.", "dev.X.N.ifsim.txqM.tx_empty_doorbells", labelInterface, labelQueue), "tx_empty_doorbells"},
	{counter("transmit_queue_deferrals", unitPackets, "Packets that a sender left to the holder of the queue's lock, with simple_tx.", "dev.X.N.ifsim.txqM.tx_deferred", labelInterface, labelQueue), "tx_deferred"},
}

// txqSamples are what iflib tells of a transmit queue beside its variables.
var txqSamples = []reading[iflib.TxqSample]{
	{counter("transmit_queue_packets", unitPackets, "Frames that were handed to the hardware.", "none", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.Packets) }},
	{counter("transmit_queue_bytes", unitBytes, "Their bytes.", "none", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.Bytes) }},
	{counter("transmit_queue_drops", unitPackets, "Packets that the queue lost, for whatever reason.", "none", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.Drops) }},
	{gauge("transmit_queue_descriptors", unitDescriptors, "Size of the descriptor ring.", "dev.X.N.iflib.override_ntxds", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.Size) }},
	{gauge("transmit_queue_ring_packets", unitPackets, "Packets in the mp_ring.", "dev.X.N.iflib.txqM.ring_state", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.SoftLen) }},
	{gauge("transmit_queue_ring_slots", unitPackets, "Slots of the mp_ring, of which two stay empty.", "struct ifmp_ring, size", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.SoftSize) }},
	{gauge("transmit_queue_deferred_packets", unitPackets, "Packets that wait for the holder of the queue's lock, with simple_tx.", "buf_ring_count(9)", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.Deferred) }},
	{gauge("transmit_queue_deferred_slots", unitPackets, "Slots of the ring that they wait in, of which one stays empty; 0 without simple_tx.", "struct buf_ring, br_prod_size", labelInterface, labelQueue),
		func(q iflib.TxqSample) float64 { return float64(q.DeferredSize) }},
}

var txqRingState = gauge("transmit_queue_ring_state", unitTruth, "Whether the mp_ring is in a state; it is in one of them.", "dev.X.N.iflib.txqM.ring_state",
	labelInterface, labelQueue, "state")

// ringStates are the states of an mp_ring, as ring_state has them.
var ringStates = [...]string{"IDLE", "BUSY", "STALLED", "ABDICATED"}

func txqFamilies() []family {
	all := append(familiesOf(txqSamples), txqRingState)
	all = append(all, leafFamilies(txqLeaves)...)
	return append(all, leafFamilies(txqOwnLeaves)...)
}

// txq shows a transmit queue: its variables, and those that FreeBSD does not have.
func (s *scrape) txq(q iflib.TxqSample, node, own *sysctl.OID, ifname, number string) {
	show(s, txqSamples, q, ifname, number)
	for _, state := range ringStates {
		s.put(txqRingState, truth(state == q.Soft), ifname, number, strings.ToLower(state))
	}
	s.leaves(node, txqLeaves, ifname, number)
	s.leaves(own, txqOwnLeaves, ifname, number)
}
