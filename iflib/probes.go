package iflib

import "github.com/ifsim/ifsim/internal/probe"

// Trace points of the data path. The module of an event is the device, its
// queue the queue.
var (
	probeTxdEncap = probe.Define("iflib", "txd-encap", "pidx", "ndescs", "nsegs", "len", "flags")
	probeTxdFlush = probe.Define("iflib", "txd-flush", "value", "pending")
	probeReclaim  = probe.Define("iflib", "tx-reclaim", "from", "to", "ndescs")
	probeInit     = probe.Define("iflib", "init", "failed")
	probeStop     = probe.Define("iflib", "stop", "flags")
)
