package mpring

import "github.com/ifsim/ifsim/internal/probe"

// Trace points of a ring. old and new are the state word; StateText describes it.
var (
	probeReserve = probe.Define("mpring", "reserve", "old", "new")
	probePublish = probe.Define("mpring", "publish", "old", "new")
	probeDrain   = probe.Define("mpring", "drain", "cidx", "pidx", "budget", "prev")
	probeSettle  = probe.Define("mpring", "settle", "old", "new")
	probeStall   = probe.Define("mpring", "stall", "old", "new")
)

// SetTrace names the device and the queue of the ring's trace events. Before the ring
// is used.
func (r *Ring) SetTrace(dev string, queue int) { r.dev, r.queue = dev, queue }

// StateText is the text of a state word, as the sysctl ring_state shows it.
func StateText(word uint64) string { return state(word).String() }
