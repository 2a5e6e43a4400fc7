package metrics

import (
	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf"
)

const labelScheduler = "scheduler"

// altqFamily describes a number of a queue. Its variable is that of -o json.
func altqFamily(kind func(name, unit, help, source string, labels ...string) family, name, unit, help, field string) family {
	return kind("altq_queue_"+name, unit, help, "pfctl -s queue -v, "+field, labelInterface, labelQueue, labelScheduler)
}

var (
	pfEnabled = gauge("pf_enabled", unitTruth, "Whether the packet filter runs.", "pfctl -s info, Status")
	pfStates  = gauge("pf_states", unitCount, "Entries of the state table.", "pfctl -s info, current entries")

	altqIfSpeed = gauge("altq_interface_bandwidth_bytes_per_second", unitBytesPerSecond, "What an interface shapes to, an eighth of its bits a second.", "pfctl -s queue, bandwidth",
		labelInterface, labelScheduler)
	altqActive = gauge("altq_interface_active", unitTruth, "Whether the interface of pf.conf's queues is there.", "pfctl -s queue, INACTIVE",
		labelInterface, labelScheduler)
)

// altqConfigs are what pf.conf says of a queue.
var altqConfigs = []struct {
	family
	read func(q pf.QueueInfo) (v float64, ok bool)
}{
	{altqFamily(gauge, "bandwidth_bytes_per_second", unitBytesPerSecond, "What a queue is meant to get, an eighth of its bits a second; priq has none.", "bandwidth"),
		func(q pf.QueueInfo) (float64, bool) { return float64(q.Bandwidth) / bitsPerByte, q.Bandwidth > 0 }},
	{altqFamily(gauge, "priority", unitOne, "Priority of a queue.", "priority"),
		func(q pf.QueueInfo) (float64, bool) { return float64(q.Priority), true }},
}

// altqStats are the state of any queue.
var altqStats = []reading[*altq.ClassStats]{
	{altqFamily(gauge, "length_packets", unitPackets, "Packets in the queue.", "qlength"), func(s *altq.ClassStats) float64 { return float64(s.QLen) }},
	{altqFamily(gauge, "limit_packets", unitPackets, "Most packets that the queue holds.", "qlength"), func(s *altq.ClassStats) float64 { return float64(s.QLimit) }},
	{altqFamily(counter, "transmit_packets", unitPackets, "Packets that left the queue to be sent.", "pkts"), func(s *altq.ClassStats) float64 { return float64(s.Xmit.Packets) }},
	{altqFamily(counter, "transmit_bytes", unitBytes, "Their bytes.", "bytes"), func(s *altq.ClassStats) float64 { return float64(s.Xmit.Bytes) }},
	{altqFamily(counter, "drop_packets", unitPackets, "Packets that were dropped.", "dropped pkts"), func(s *altq.ClassStats) float64 { return float64(s.Drop.Packets) }},
	{altqFamily(counter, "drop_bytes", unitBytes, "Their bytes.", "dropped bytes"), func(s *altq.ClassStats) float64 { return float64(s.Drop.Bytes) }},
	{altqFamily(counter, "busy_periods", unitTimes, "Times that the queue became busy, with priq and hfsc.", "period"), func(s *altq.ClassStats) float64 { return float64(s.Period) }},
}

// altqCBQ are what only CBQ has.
var altqCBQ = []reading[*altq.CBQStats]{
	{altqFamily(counter, "borrows", unitPackets, "Packets sent on an ancestor's share, with cbq.", "borrows"), func(s *altq.CBQStats) float64 { return float64(s.Borrows) }},
	{altqFamily(counter, "suspends", unitTimes, "Times that the queue was suspended, with cbq.", "suspends"), func(s *altq.CBQStats) float64 { return float64(s.Delays) }},
	{altqFamily(counter, "overlimits", unitTimes, "Times that the queue was found over its limit, with cbq.", "over"), func(s *altq.CBQStats) float64 { return float64(s.Over) }},
	{altqFamily(counter, "overactions", unitTimes, "Times that the queue was not allowed to send, with cbq.", "overactions"), func(s *altq.CBQStats) float64 { return float64(s.Overactions) }},
}

// What the policies that drop early have. RIO has three queues in one, by drop precedence.
var (
	altqREDAverage = gauge("altq_queue_red_average_length_packets", unitPackets, "RED's average of the queue's length.", "pfctl -s queue -o json, red.q_avg",
		labelInterface, labelQueue, labelScheduler, labelPrecedence)
	altqREDDrops = counter("altq_queue_red_drop_packets", unitPackets, "Packets that RED dropped: unforced, by chance, or forced, with the queue too long.", "pfctl -s queue -o json, red.drop_*",
		labelInterface, labelQueue, labelScheduler, labelPrecedence, "reason")
	altqREDMarks = counter("altq_queue_red_marked_packets", unitPackets, "Packets that RED marked and did not drop.", "pfctl -s queue -o json, red.marked",
		labelInterface, labelQueue, labelScheduler, labelPrecedence)
	altqCoDelDrops = counter("altq_queue_codel_drop_packets", unitPackets, "Packets that CoDel dropped by its control law.", "pfctl -s queue -o json, codel.drop",
		labelInterface, labelQueue, labelScheduler)
)

const labelPrecedence = "precedence"

// redScale is what REDStats.QAvg is multiplied with.
const redScale = 4096

func altqFamilies() []family {
	all := []family{pfEnabled, pfStates, altqIfSpeed, altqActive}
	for _, e := range altqConfigs {
		all = append(all, e.family)
	}
	all = append(all, familiesOf(altqStats)...)
	all = append(all, familiesOf(altqCBQ)...)
	return append(all, altqREDAverage, altqREDDrops, altqREDMarks, altqCoDelDrops)
}

func (s *scrape) altq() {
	p, err := pf.Of(s.k)
	if err != nil {
		return
	}
	s.put(pfEnabled, truth(p.Enabled()))
	s.put(pfStates, float64(p.Counters().States))
	list, _ := p.Queues()
	for _, q := range list {
		scheduler := q.Scheduler.String()
		if q.Qname == "" {
			s.put(altqIfSpeed, float64(q.IfBandwidth)/bitsPerByte, q.Ifname, scheduler)
			s.put(altqActive, truth(!q.Removed), q.Ifname, scheduler)
		}
		if q.Qname != "" {
			s.altqConfig(q, q.Ifname, q.Qname, scheduler)
		}
		if q.Stats != nil {
			s.altqState(q.Stats, q.Ifname, q.Qname, scheduler)
		}
	}
}

func (s *scrape) altqConfig(q pf.QueueInfo, labels ...string) {
	for _, e := range altqConfigs {
		if v, ok := e.read(q); ok {
			s.put(e.family, v, labels...)
		}
	}
}

// altqState shows a queue, or an interface without queues, which CoDel makes of it.
func (s *scrape) altqState(q *altq.ClassStats, labels ...string) {
	show(s, altqStats, q, labels...)
	if q.CBQ != nil {
		show(s, altqCBQ, q.CBQ, labels...)
	}
	for i, r := range q.RED {
		with := append(labels[:len(labels):len(labels)], decimal(i))
		s.put(altqREDAverage, float64(r.QAvg)/redScale, with...)
		s.put(altqREDMarks, float64(r.Marked), with...)
		s.put(altqREDDrops, float64(r.DropForced), append(with[:len(with):len(with)], "forced")...)
		s.put(altqREDDrops, float64(r.DropUnforced), append(with[:len(with):len(with)], "unforced")...)
	}
	if q.CoDel != nil {
		s.put(altqCoDelDrops, float64(q.CoDel.Drop.Packets), labels...)
	}
}
