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
}

var (
	txqSize = gauge("transmit_queue_descriptors", unitDescriptors, "Size of the descriptor ring.", "dev.X.N.iflib.override_ntxds",
		labelInterface, labelQueue)
	txqRingState = gauge("transmit_queue_ring_state", unitTruth, "Whether the mp_ring is in a state; it is in one of them.", "dev.X.N.iflib.txqM.ring_state",
		labelInterface, labelQueue, "state")
)

// ringStates are the states of an mp_ring, as ring_state has them.
var ringStates = [...]string{"IDLE", "BUSY", "STALLED", "ABDICATED"}

func txqFamilies() []family {
	all := []family{txqSize, txqRingState}
	all = append(all, familiesOf(txqLeaves)...)
	return append(all, familiesOf(txqOwnLeaves)...)
}

// txq shows a transmit queue; own is its node of what FreeBSD does not have.
func (s *scrape) txq(ctx *iflib.Ctx, node, own *sysctl.OID, ifname, number string) {
	s.put(txqSize, float64(txDescriptors(ctx)), ifname, number)
	s.leaves(node, txqLeaves, ifname, number)
	s.leaves(own, txqOwnLeaves, ifname, number)
	text := s.state(children(node)["ring_state"])
	now := text[strings.LastIndexByte(text, ' ')+1:]
	for _, state := range ringStates {
		s.put(txqRingState, truth(state == now), ifname, number, strings.ToLower(state))
	}
}

// txDescriptors is the size of a descriptor ring: the one behind the completion ring where
// there is one.
func txDescriptors(ctx *iflib.Ctx) int {
	ring := 0
	if ctx.Shared().Flags&iflib.FlagHasTxCQ != 0 {
		ring = 1
	}
	return ctx.Softc().NTxd[ring]
}
