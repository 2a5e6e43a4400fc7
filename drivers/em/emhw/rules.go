package emhw

// rule is something that the datasheet forbids a driver, or that the model cannot go on
// after. What breaks one is refused and counted; the first time a console line says so.
type rule int

// The rules. Section numbers are of the 82574 datasheet where the parts agree.
const (
	ruleTxTail rule = iota
	ruleTxHead
	ruleTxDisabled
	ruleTxBusyHead
	ruleRingLen
	ruleContextPlace
	ruleNoContext
	ruleDescType
	ruleTSOLen
	ruleOffload
	ruleRxTail
	ruleRxHead
	ruleVector
	ruleMDIO
	ruleMTA
	ruleRAR
	ruleFlashWrite
	ruleFlashRange
	ruleSink
	numRules
)

var ruleTexts = [numRules]string{
	ruleTxTail:       "tail outside the ring (TDT, 10.2.6.5)",
	ruleTxHead:       "head outside the ring (TDH, 10.2.6.4)",
	ruleTxDisabled:   "tail written while TCTL.EN is 0 (TDT, 10.2.6.5)",
	ruleTxBusyHead:   "head written while the queue has work (TDH, 10.2.6.4)",
	ruleRingLen:      "ring length not a multiple of 128 bytes, or none (TDLEN, RDLEN)",
	ruleContextPlace: "context descriptor inside a packet (7.2.5)",
	ruleNoContext:    "offload asked for without a context (7.2.5)",
	ruleDescType:     "unknown transmit descriptor type (7.2.4)",
	ruleTSOLen:       "packet is not HDRLEN + PAYLEN bytes long, or too long to segment (7.2.5)",
	ruleOffload:      "checksum, tag or segment outside the packet (7.2.10)",
	ruleRxTail:       "tail outside the ring (RDT, 10.2.5.8)",
	ruleRxHead:       "head outside the ring (RDH, 10.2.5.7)",
	ruleVector:       "IVAR names a vector that is not there (10.2.4.9)",
	ruleMDIO:         "PHY access without EXTCNF_CTRL.SWFLAG (I217, I219: MDIC)",
	ruleMTA:          "multicast table has 32 registers (I217, I219: MTA)",
	ruleRAR:          "12 receive addresses are there (I217, I219: RAL, RAH)",
	ruleFlashWrite:   "flash cycle is no read (I217, I219: HSFCTL)",
	ruleFlashRange:   "flash address outside the NIC's region (I217, I219: FADDR)",
	ruleSink:         "reset with descriptors in the part, which hangs (I219: CTRL.RST)",
}

// refuse counts a broken rule and logs the first breach. q is the queue, v what was
// asked for. Any goroutine.
func (n *nic) refuse(r rule, q int, v uint32) {
	if n.refused[r].Add(1) == 1 {
		n.k.Printf("%s: queue %d: refused %#x: %s\n", n.cfg.Name, q, v, ruleTexts[r])
	}
}

// Count is a number that the model keeps beside its registers.
type Count struct {
	Name  string // the rule broken, or why frames were lost
	Value uint64
}

// Counter is implemented by the NICs of this package.
type Counter interface {
	// Counts returns how often each rule was broken and what was lost without a register
	// to say so. Any goroutine.
	Counts() []Count
}

var _ Counter = (*nic)(nil)

// Counts implements Counter.
func (n *nic) Counts() []Count {
	out := make([]Count, 0, int(numRules)+int(numLosses)+1)
	for r := range n.refused {
		out = append(out, Count{ruleTexts[r], n.refused[r].Load()})
	}
	for l := range n.lost {
		out = append(out, Count{lossTexts[l], n.lost[l].Load()})
	}
	return append(out, Count{"DMA faults", n.dma.Faults()})
}

// loss is why a frame was not received or sent, without a register counting it.
type loss int

const (
	lossDisabled  loss = iota // receive unit off, link down
	lossFiltered              // for somebody else
	lossBadFrame              // truncated or malformed at the port
	lossPause                 // MAC control frame
	lossTxDropped             // packet refused by a rule or a DMA fault
	numLosses
)

var lossTexts = [numLosses]string{
	lossDisabled:  "received while disabled",
	lossFiltered:  "filtered",
	lossBadFrame:  "incomplete at the port",
	lossPause:     "MAC control frames",
	lossTxDropped: "transmit packets refused",
}
