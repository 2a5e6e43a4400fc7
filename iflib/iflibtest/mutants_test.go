package iflibtest

import (
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
)

// mutant is a driver with one fault, and what the suite must say of it.
type mutant struct {
	name   string
	good   func() Device
	set    func(d *faulty)
	breaks string   // the rule that must be named first
	also   []string // rules that the fault touches as well
	races  bool     // the fault is a data race with the hardware's threads
}

// Rules that faults touch together.
var (
	crossing = []string{ // compare what arrives, packet by packet
		"short-frames", "vlan-tags", "checksum-offload", "packet-shapes", "split-headers", "jumbo-frames", "shared-data", "tso",
		"offload-combinations", "mtu-under-load",
	}
	carrying = append([]string{ // need packets to arrive at all
		ruleRelease, "attach-failure", "detached-is-quiet", ruleLocks, ruleIndices, ruleReuse, ruleDoorbell, ruleCredits, ruleEarly, ruleComplete, rulePeek,
		"index-wrap", ruleFreeList, ruleReceived, ruleDMA, "checksum-verdicts", "vlan-filter", "address-filter", "flow-hash",
		"queue-stop", "watchdog", "link-flap", "init-stop-cycles", "counters", "queue-peeks", "concurrent-control",
	}, crossing...)
)

var mutants = []mutant{
	{name: "New reads a register", good: cq, breaks: ruleNewQuiet, set: func(d *faulty) {
		if bar, err := d.ctx.Function().MapBAR(pci.BARReg(0)); err == nil {
			bar.Read32(0)
			_ = d.ctx.Function().UnmapBAR(pci.BARReg(0))
		}
	}},
	{name: "a capability is enabled and not there", good: cq, breaks: "attach-describes", set: func(d *faulty) {
		d.attachPre = func(d *faulty) error {
			err := d.Device.AttachPre()
			d.ctx.Softc().Capenable |= ifnet.CapWOLMagic
			return err
		}
	}},
	{name: "the second attach of a device fails", good: cq, breaks: "attach-order", also: []string{ruleRelease, "attach-failure"}, set: func(d *faulty) {
		const mark, reg = 0x40, 0x3c // the interrupt line register, which nobody else uses
		d.attachPre = func(d *faulty) error {
			if d.ctx.Function().ReadConfig8(reg) == mark {
				return syscall.EBUSY
			}
			return d.Device.AttachPre()
		}
		d.detach = func(d *faulty) error {
			d.ctx.Function().WriteConfig8(reg, mark)
			return d.Device.Detach()
		}
	}},
	{name: "a map is kept after detach", good: cq, breaks: ruleRelease, also: []string{"attach-failure"}, set: func(d *faulty) {
		d.attachPost = func(d *faulty) error {
			if _, err := d.ctx.DMAAlloc(64, 64); err != nil {
				return err
			}
			return d.Device.AttachPost()
		}
	}},
	{name: "memory is kept when attach fails", good: cq, breaks: "attach-failure", set: func(d *faulty) {
		var mem iflib.DMAMem
		d.attachPre = func(d *faulty) (err error) {
			if mem, err = d.ctx.DMAAlloc(64, 64); err != nil {
				return err
			}
			return d.Device.AttachPre()
		}
		d.detach = func(d *faulty) error {
			if d.rings != nil { // it thinks that an attach fails before it has a ring or not at all
				mem.Free()
			}
			return d.Device.Detach()
		}
	}},
	{name: "a timer goes on after detach", good: cq, breaks: "detached-is-quiet", set: func(d *faulty) {
		d.initialise = func(d *faulty) {
			d.Device.Init()
			if d.n.Add(1) > 1 {
				return
			}
			bar, err := d.ctx.Function().MapBAR(pci.BARReg(0))
			if err != nil {
				return
			}
			const period = 100 // ticks
			var tick *iflib.Callout
			tick = d.ctx.Kernel().NewCallout("mutant", nil, func() {
				bar.Read32(0)
				tick.Reset(period, 0)
			})
			tick.Reset(period, 0)
		}
	}},
	{name: "the filter of a single interrupt keeps it", good: cq, breaks: "interrupt-modes", set: func(d *faulty) {
		d.path.legacy = func(*faulty) iflib.FilterResult { return iflib.FilterHandled }
	}},
	{name: "OACTIVE is set", good: cq, breaks: "driver-flags", set: func(d *faulty) {
		d.attachPost = func(d *faulty) error {
			d.ctx.Ifp().SetDrvFlags(ifnet.FlagOActive, 0)
			return d.Device.AttachPost()
		}
	}},
	{name: "a lock is kept", good: cq, breaks: ruleLocks, also: carrying, set: func(d *faulty) {
		var mtx iflib.Mtx
		mtx.Init(d.ctx.Kernel(), "mutant")
		d.promiscSet = func(d *faulty, flags ifnet.Flags) error {
			mtx.TryLock()
			return d.Device.PromiscSet(flags)
		}
	}},
	{name: "the index goes one beyond the ring", good: hwb, breaks: ruleIndices, also: carrying, set: func(d *faulty) {
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error {
			err := d.good().TxdEncap(pi)
			if pi.NewPidx == 0 {
				pi.NewPidx = iflib.QIdx(d.ctx.Softc().NTxd[0])
			}
			return err
		}
	}},
	{name: "the descriptor before is written again", good: cq, breaks: ruleReuse, also: carrying, races: true, set: func(d *faulty) {
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error {
			ring := d.txRing(pi.QSIdx)
			const words = 2
			if pi.Pidx != 0 {
				ring[(int(pi.Pidx)-1)*words] ^= 1
			}
			return d.good().TxdEncap(pi)
		}
	}},
	{name: "each fifth doorbell is forgotten", good: hwb, breaks: ruleDoorbell, also: carrying, set: func(d *faulty) {
		d.path.flush = func(d *faulty, qid int, value uint32) {
			if d.n.Add(1)%5 != 0 {
				d.good().TxdFlush(qid, value)
			}
		}
	}},
	{name: "a credit too many", good: cq, breaks: ruleCredits, also: carrying, set: func(d *faulty) {
		d.path.credits = func(d *faulty, qid int, clear bool) int {
			n := d.good().TxdCreditsUpdate(qid, clear)
			if n > 0 && clear {
				n++
			}
			return n
		}
	}},
	{name: "credits for what was handed over", good: cq, breaks: ruleEarly, also: carrying, races: true, set: func(d *faulty) {
		// Atomics, since peeks of others read them: it is not this that the rule is to find.
		var next, done [numCPU]atomic.Int64 // no more queues than CPUs
		d.initialise = func(d *faulty) {
			for q := range next {
				next[q].Store(0)
				done[q].Store(0)
			}
			d.Device.Init()
		}
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error {
			err := d.good().TxdEncap(pi)
			if err == nil {
				size := d.ctx.Softc().NTxd[1]
				next[pi.QSIdx].Add(int64((int(pi.NewPidx) - int(pi.Pidx) + size) % size))
			}
			return err
		}
		d.path.credits = func(d *faulty, qid int, clear bool) int {
			n := next[qid].Load() - done[qid].Load()
			if clear {
				d.good().TxdCreditsUpdate(qid, true)
				done[qid].Add(n)
			}
			return int(n)
		}
	}},
	{name: "the last report is not seen", good: hwb, breaks: ruleComplete, also: carrying, set: func(d *faulty) {
		d.path.credits = func(d *faulty, qid int, clear bool) int {
			if d.n.Load() > 40 {
				return 0
			}
			n := d.good().TxdCreditsUpdate(qid, clear)
			if clear && n > 0 {
				d.n.Add(1)
			}
			return n
		}
	}},
	{name: "a peek consumes", good: cq, breaks: rulePeek, also: carrying, set: func(d *faulty) {
		d.path.credits = func(d *faulty, qid int, _ bool) int { return d.good().TxdCreditsUpdate(qid, true) }
	}},
	{name: "a descriptor too many is posted", good: hwb, breaks: ruleFreeList, also: carrying, set: func(d *faulty) {
		d.path.refill = func(d *faulty, iru *iflib.RxdUpdate) {
			d.good().RxdRefill(iru)
			const words = 2
			ring, n := d.rxRings[iru.QSIdx].Words64(), d.ctx.Softc().NRxd[0]
			ring[(int(iru.Pidx)+len(iru.PAddrs))%n*words] = uint64(iru.PAddrs[0])
		}
	}},
	{name: "a packet is a byte longer than its buffer says", good: cq, breaks: ruleReceived, also: carrying, set: func(d *faulty) {
		d.path.pktGet = func(d *faulty, ri *iflib.RxdInfo) error {
			err := d.good().RxdPktGet(ri)
			ri.Len++
			return err
		}
	}},
	{name: "each ninth packet is looked for in the wrong place", good: cq, breaks: ruleDMA, also: carrying, set: func(d *faulty) {
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error {
			if d.n.Add(1)%9 == 0 {
				pi.Segs[0].Addr += 1 << 20
			}
			return d.good().TxdEncap(pi)
		}
	}},
}

// txRing is the memory of the descriptors of a transmit queue.
func (d *faulty) txRing(qid int) []uint64 {
	sh, at := d.ctx.Shared(), 0
	if sh.Flags&iflib.FlagHasTxCQ != 0 {
		at = 1
	}
	return d.rings[qid*sh.NTxQs+at].Words64()
}

// TestEachFaultIsNamed judges every mutant. The rule that it breaks must be named first, and
// no rule that the fault does not touch. With -short only that rule and another are asked,
// and with the race detector as well only of some mutants.
func TestEachFaultIsNamed(t *testing.T) {
	const share = 8
	for i, m := range slices.Concat(mutants, trafficMutants, controlMutants) {
		if testing.Short() && raceEnabled && i%share != 0 {
			continue
		}
		t.Run(m.breaks, func(t *testing.T) {
			if raceEnabled && m.races {
				t.Skip("the race detector reports the fault itself, and fails the test for it")
			}
			o := options{short: true}
			if testing.Short() {
				o.only = map[string]bool{m.breaks: true}
				rules := Rules()
				o.only[rules[i%len(rules)].Name] = true
			}
			found := findings(plant(m.good, m.set), o)
			if len(found) == 0 {
				t.Fatalf("%s: nothing was found", m.name)
			}
			if found[0].rule != m.breaks {
				t.Errorf("%s: rule %s is named first, want %s:\n%s", m.name, found[0].rule, m.breaks, found[0].text)
			}
			for _, f := range found {
				if f.rule != m.breaks && !slices.Contains(m.also, f.rule) {
					t.Errorf("%s: rule %s is named as well:\n%v: %s", m.name, f.rule, f.way, f.text)
				}
			}
		})
	}
}

// TestEachRuleHasAFault compares the tables.
func TestEachRuleHasAFault(t *testing.T) {
	for _, r := range Rules() {
		if !slices.ContainsFunc(slices.Concat(mutants, trafficMutants, controlMutants), func(m mutant) bool { return m.breaks == r.Name }) {
			t.Errorf("no mutant breaks %s", r.Name)
		}
	}
}
