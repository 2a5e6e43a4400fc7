package emhw

import "github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"

// Count is a number that the model keeps beside its registers.
type Count = e1000hw.Count

// Counter is implemented by the NICs of this package.
type Counter = e1000hw.Counter

// The rules beside those of all models.
const (
	ruleMTA = e1000hw.NumRules + iota
	ruleRAR
	ruleFlashWrite
	ruleFlashRange
	ruleSink
)

// ruleTexts are the rules. Section numbers are of the 82574 datasheet where the parts
// agree.
var ruleTexts = e1000hw.RuleTexts{
	e1000hw.RuleTxTail:       "tail outside the ring (TDT, 10.2.6.5)",
	e1000hw.RuleTxHead:       "head outside the ring (TDH, 10.2.6.4)",
	e1000hw.RuleTxDisabled:   "tail written while TCTL.EN is 0 (TDT, 10.2.6.5)",
	e1000hw.RuleTxBusyHead:   "head written while the queue has work (TDH, 10.2.6.4)",
	e1000hw.RuleRingLen:      "ring length not a multiple of 128 bytes, or none (TDLEN, RDLEN)",
	e1000hw.RuleContextPlace: "context descriptor inside a packet (7.2.5)",
	e1000hw.RuleNoContext:    "offload asked for without a context (7.2.5)",
	e1000hw.RuleDescType:     "unknown transmit descriptor type (7.2.4)",
	e1000hw.RuleTSOLen:       "packet is not HDRLEN + PAYLEN bytes long, or too long to segment (7.2.5)",
	e1000hw.RuleOffload:      "checksum, tag or segment outside the packet (7.2.10)",
	e1000hw.RuleRxTail:       "tail outside the ring (RDT, 10.2.5.8)",
	e1000hw.RuleRxHead:       "head outside the ring (RDH, 10.2.5.7)",
	e1000hw.RuleVector:       "IVAR names a vector that is not there (10.2.4.9)",
	e1000hw.RuleMDIO:         "PHY access without EXTCNF_CTRL.SWFLAG (I217, I219: MDIC)",
	ruleMTA:                  "multicast table has 32 registers (I217, I219: MTA)",
	ruleRAR:                  "12 receive addresses are there (I217, I219: RAL, RAH)",
	ruleFlashWrite:           "flash cycle is no read (I217, I219: HSFCTL)",
	ruleFlashRange:           "flash address outside the NIC's region (I217, I219: FADDR)",
	ruleSink:                 "reset with descriptors in the part, which hangs (I219: CTRL.RST)",
}
