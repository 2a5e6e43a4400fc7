package iflib

import "github.com/ifsim/ifsim/internal/probe"

// Trace points of the data path. The module of an event is the device, its
// queue the queue.
var (
	probeTransmit    = probe.Define("iflib", "if-transmit", "len", "mbufs", "flowid", "rsstype", "csum_flags", "simple_tx")
	probeSelect      = probe.Define("iflib", "txq-select", "queue", "ntxqs", "flowid")
	probeMtx         = probe.Define("iflib", "mtx-acquire", "deferred")
	probeMtxRelease  = probe.Define("iflib", "mtx-release", "db_pending")
	probeDefer       = probe.Define("iflib", "buf-ring-enqueue", "len")
	probeEncap       = probe.Define("iflib", "encap", "len", "pidx", "avail", "csum_flags", "mflags")
	probeParse       = probe.Define("iflib", "parse-header", "ehdrlen", "ip_hlen", "tcp_hlen", "ipproto", "etype", "pullups")
	probeSegment     = probe.Define("iflib", "dma-segment", "index", "nsegs", "addr", "len")
	probeReport      = probe.Define("iflib", "report-check", "rs_pending", "limit", "asked")
	probeDoorbell    = probe.Define("iflib", "txd-db-check", "db_pending", "limit", "forced", "in_use", "avail")
	probeFilter      = probe.Define("iflib", "intr-filter", "rid", "schedule")
	probeTask        = probe.Define("iflib", "tx-task", "db_pending")
	probeCredits     = probe.Define("iflib", "credits-update", "credits", "processed", "cidx_processed")
	probeReclaimNone = probe.Define("iflib", "tx-reclaim-none", "completed", "reserve", "thresh", "in_use")
	probeFree        = probe.Define("iflib", "tx-free", "slot", "mbufs", "len")
	probeTxdEncap    = probe.Define("iflib", "txd-encap", "pidx", "ndescs", "nsegs", "len", "flags", "new_pidx")
	probeTxdFlush    = probe.Define("iflib", "txd-flush", "value", "pending")
	probeReclaim     = probe.Define("iflib", "tx-reclaim", "from", "to", "ndescs")
	probeInit        = probe.Define("iflib", "init", "failed")
	probeStop        = probe.Define("iflib", "stop", "flags")
)
