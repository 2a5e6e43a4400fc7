// Package fairq shares a class's bandwidth among flows (sys/net/altq/altq_fairq.c;
// spec altq 2.4).
//
// A class spreads its packets by the hash of their flow over buckets, which take turns. With hogs set, a flow keeps
// its turn while it uses less than that rate. Among classes the one of the highest priority goes first that is below
// its bandwidth; if all are above theirs, the highest of all, so that nothing is left unused.
//
//	d := fairq.New(altq.Config{Bandwidth: 10e6})
//	_ = d.AddQueue(altq.QueueConfig{QID: 1, Bandwidth: 10e6}) // the root that pfctl makes
//	_ = d.AddQueue(altq.QueueConfig{QID: 2, Priority: 1, Bandwidth: 10e6, Hogs: 1e6, Flags: altq.FlagDefault})
//
// Turns are by packet, not by byte. Rates are measured over the last eight packets or so, and the first packet of a
// class or flow counts for eight seconds: limits bite only after some fifty packets.
//
// Decisions are FreeBSD's, packet for packet, except that Purge forgets what Poll chose.
package fairq
