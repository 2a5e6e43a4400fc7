package metrics

import (
	"strings"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/sysctl"
)

const labelFreeList = "freelist"

func freeListGauge(variable, name, unit, help string) leaf {
	return leaf{gauge("receive_freelist_"+name, unit, help, "dev.X.N.iflib.rxqM.rxq_flL."+variable, labelInterface, labelQueue, labelFreeList), variable}
}

// Variables of dev.X.N.iflib.rxqM and of the free lists below (spec iflib 5.4).
var (
	rxqLeaves = []leaf{
		{gauge("receive_queue_cpu", unitIndex, "CPU that runs the queue's task.", "dev.X.N.iflib.rxqM.cpu", labelInterface, labelQueue), "cpu"},
		{gauge("receive_queue_completion_index", unitIndex, "Entry of the completion ring that is looked at next, where there is one.", "dev.X.N.iflib.rxqM.rxq_cq_cidx",
			labelInterface, labelQueue), "rxq_cq_cidx"},
	}
	freeListLeaves = []leaf{
		freeListGauge("pidx", "producer_index", unitIndex, "Descriptor that gets a buffer next."),
		freeListGauge("cidx", "consumer_index", unitIndex, "Descriptor whose buffer is filled next."),
		freeListGauge("credits", "buffers", unitItems, "Buffers that the hardware has."),
		freeListGauge("buf_size", "buffer_size_bytes", unitBytes, "Size of a buffer."),
	}
)

// rxqSamples are what iflib tells of a receive queue beside its variables.
var rxqSamples = []reading[iflib.RxqSample]{
	{counter("receive_queue_packets", unitPackets, "Packets that were taken from the hardware.", "none", labelInterface, labelQueue),
		func(q iflib.RxqSample) float64 { return float64(q.Packets) }},
	{counter("receive_queue_bytes", unitBytes, "Their bytes.", "none", labelInterface, labelQueue),
		func(q iflib.RxqSample) float64 { return float64(q.Bytes) }},
	{counter("receive_queue_drops", unitPackets, "Packets that the queue lost, for whatever reason.", "none", labelInterface, labelQueue),
		func(q iflib.RxqSample) float64 { return float64(q.Drops) }},
	{counter("receive_queue_tasks", unitTimes, "Passes of the queue's task.", "none", labelInterface, labelQueue),
		func(q iflib.RxqSample) float64 { return float64(q.Tasks) }},
	{gauge("receive_queue_buffers_limit", unitItems, "Buffers that the hardware can have, in all lists.", "dev.X.N.iflib.override_nrxds", labelInterface, labelQueue),
		func(q iflib.RxqSample) float64 { return float64(q.Size) }},
}

func rxqFamilies() []family {
	all := append(familiesOf(rxqSamples), leafFamilies(rxqLeaves)...)
	return append(all, leafFamilies(freeListLeaves)...)
}

// rxq shows a receive queue with its free lists.
func (s *scrape) rxq(q iflib.RxqSample, node *sysctl.OID, ifname, number string) {
	show(s, rxqSamples, q, ifname, number)
	s.leaves(node, rxqLeaves, ifname, number)
	for name, list := range children(node) {
		if n, ok := strings.CutPrefix(name, "rxq_fl"); ok {
			s.leaves(list, freeListLeaves, ifname, number, n)
		}
	}
}
