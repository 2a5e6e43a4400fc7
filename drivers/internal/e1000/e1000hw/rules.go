package e1000hw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/internal/kern"
)

// Rule is something that the datasheet forbids a driver, or that the model cannot go on
// after. What breaks one is refused and counted; the first time a console line says so.
type Rule int

// The rules. Each part has its own text of them.
const (
	RuleTxTail Rule = iota
	RuleTxHead
	RuleTxDisabled
	RuleTxQueueOff
	RuleTxBusyHead
	RuleRingLen
	RuleContextPlace
	RuleNoContext
	RuleDescType
	RulePayLen
	RuleHdrLen
	RuleTSOLen
	RuleL4Type
	RuleOffload
	RuleRxTail
	RuleRxHead
	RuleRxType
	RuleVector
	RuleMDIO
	NumRules // a part's own rules begin here
)

// RuleTexts says of each rule what the driver did and where the datasheet speaks of it;
// empty for one that the part does not have.
type RuleTexts []string

// Count is a number that a model keeps beside its registers.
type Count struct {
	Name  string // the rule broken, or why frames were lost
	Value uint64
}

// Counter is implemented by the NICs of em, igb and igc.
type Counter interface {
	// Counts returns how often each rule was broken and what was lost without a register
	// to say so. Any goroutine.
	Counts() []Count
}

// loss is why a frame was not received or sent, without a register counting it.
type loss int

const (
	lossDisabled  loss = iota // receive unit or queue off, link down
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

// Ledger counts what was refused and lost.
type Ledger struct {
	k       *kern.Kernel
	name    string
	texts   RuleTexts
	dma     *hw.DMA
	refused []atomic.Uint64
	lost    [numLosses]atomic.Uint64
}

var _ Counter = (*Ledger)(nil)

func (l *Ledger) init(k *kern.Kernel, name string, texts RuleTexts, dma *hw.DMA) {
	l.k, l.name, l.texts, l.dma = k, name, texts, dma
	l.refused = make([]atomic.Uint64, len(texts))
}

// Refuse counts a broken rule and logs the first breach. q is the queue, v what was
// asked for. Any goroutine.
func (l *Ledger) Refuse(r Rule, q int, v uint32) {
	if l.refused[r].Add(1) == 1 {
		l.k.Printf("%s: queue %d: refused %#x: %s\n", l.name, q, v, l.texts[r])
	}
}

// Counts implements Counter.
func (l *Ledger) Counts() []Count {
	out := make([]Count, 0, len(l.texts)+int(numLosses)+1)
	for r := range l.refused {
		if text := l.texts[r]; text != "" {
			out = append(out, Count{text, l.refused[r].Load()})
		}
	}
	for i := range l.lost {
		out = append(out, Count{lossTexts[i], l.lost[i].Load()})
	}
	return append(out, Count{"DMA faults", l.dma.Faults()})
}
