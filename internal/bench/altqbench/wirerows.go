package altqbench

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ifsim/ifsim/altq"
)

// Tolerances on wires, as shares.
const (
	totalBy  = 0.02 // of the rate, once lost tokens are added back
	sharesBy = 0.03
)

// rows are the figures of a measurement.
func (m *measurement) rows() []Row {
	var list []Row
	add := func(class string, q Quantity, e Range, measured float64) {
		list = append(list, Row{
			Where: m.box.run.where(), Discipline: m.box.run.s.discipline, Scenario: m.box.run.s.name,
			Class: class, Quantity: q, Expected: e, Measured: measured,
		}.compare())
	}
	bucket := float64(m.mark.tbr.Depth)
	time := m.end.before.Sub(m.mark.after)
	arrived := float64(m.end.bytes - m.mark.bytes)
	rate := float64(m.mark.tbr.Rate) / mega
	add(all, Rate, between(0, rate+mbps(bucket, time)), mbps(arrived, time))
	add(all, Granted, near(rate, totalBy), mbps(arrived+m.forfeited(), time))
	add(all, Above, between(0, bucket), math.Round(m.above))
	for i, want := range m.shares() {
		add(m.senders[i].flow.name, Rate, near(want, sharesBy), m.rate(i))
		if m.stalled() > stallLimit && len(m.box.run.s.weights) < len(m.senders) {
			// There was not what flows offer who should get it.
			list[len(list)-1].Verdict = VerdictSkipped
		}
	}
	exactly := func(n uint64) Range { return within(float64(n), 0) }
	for _, name := range slices.Sorted(maps.Keys(m.account.queues)) {
		q := m.account.queues[name]
		if n, ok := byPolicy(&q); ok {
			add(cmp.Or(name, all), ByPolicy, exactly(q.Drop.Packets), float64(n))
		}
	}
	add("ALTQ, peer", Differing, exactly(0), float64(m.differing()))
	add("ALTQ, peer", DifferBy, exactly(0), float64(differ(m.account.bytes, m.final.bytes)))
	add("txq0", Frames, exactly(m.account.xmit), float64(m.zero))
	add("other txqs", Frames, exactly(0), float64(m.others))
	return list
}

// byPolicy are the drops that a queue's policy has made, for queues that have one.
func byPolicy(q *altq.ClassStats) (n uint64, ok bool) {
	if q.CoDel != nil {
		return q.CoDel.Drop.Packets, true
	}
	for _, r := range q.RED {
		n += r.DropForced + r.DropUnforced
	}
	return n, q.RED != nil
}

// forfeited are the bytes that the regulator would have let through if the host had not
// stalled.
func (m *measurement) forfeited() float64 {
	lost := m.end.tbr.Stalled - m.mark.tbr.Stalled
	if m.box.run.s.short {
		lost += m.end.tbr.Idle - m.mark.tbr.Idle
	}
	return float64(lost)
}

// stalled is the part of the rate that was forfeited.
func (m *measurement) stalled() float64 {
	time := m.end.before.Sub(m.mark.after).Seconds()
	return m.forfeited() * bitsPerByte / (float64(m.mark.tbr.Rate) * time)
}

// rate is what arrived of a flow, in Mb/s.
func (m *measurement) rate(i int) float64 { return m.flowRate(i, m.mark.flows, m.end.flows) }

// flowRate is the rate of a flow's frames between two counts.
func (m *measurement) flowRate(i int, from, to []uint64) float64 {
	bytes := (to[i] - from[i]) * uint64(m.senders[i].flow.frame())
	return mbps(float64(bytes), m.end.before.Sub(m.mark.before))
}

// shares are the rates that flows should have, given what arrived of all: what they
// offer, or their part of what that leaves.
func (m *measurement) shares() []float64 {
	left, sum := 0., 0.
	want := make([]float64, len(m.senders))
	for i, s := range m.senders {
		left += m.rate(i)
		w := m.box.run.s.weights[s.flow.name]
		sum += w
		if w == 0 {
			want[i] = m.flowRate(i, m.mark.offered, m.end.offered)
			left -= want[i]
		}
	}
	for i, s := range m.senders {
		if w := m.box.run.s.weights[s.flow.name]; w != 0 {
			want[i] = left * w / sum
		}
	}
	return want
}

// differing adds up where accounts of the same frames differ: what senders offered and
// the discipline sent or dropped; what each queue sent and the peer got of its flows;
// what the peer got on the interface and of all flows.
func (m *measurement) differing() (n uint64) {
	var offered, arrived uint64
	queues := make(map[string]uint64)
	for i, s := range m.senders {
		offered += s.offered.Load()
		arrived += m.final.flows[i]
		name := s.flow.queueName()
		if _, ok := m.account.queues[name]; !ok {
			name = "" // a discipline without queues
		}
		queues[name] += m.final.flows[i]
	}
	for name, q := range m.account.queues {
		n += differ(q.Xmit.Packets, queues[name])
	}
	return n + differ(offered, m.account.xmit+m.account.drop) + differ(m.final.frames, arrived)
}

func differ(a, b uint64) uint64 { return max(a, b) - min(a, b) }
