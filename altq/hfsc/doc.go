// Package hfsc is the Hierarchical Fair Service Curve scheduler
// (sys/net/altq/altq_hfsc.c; spec altq 2.3).
//
// A class has up to three service curves: what it is guaranteed (real-time, for leaves), how it shares what is left
// with its siblings (link-share), and what it must not exceed (upper limit). A curve has two pieces, so that delay and
// rate can be chosen apart. A packet goes out by the real-time rule if some class may claim its guarantee, else by
// link-sharing down the tree.
//
//	d := hfsc.New(altq.Config{Bandwidth: 10e6})
//	_ = d.AddQueue(altq.QueueConfig{QID: 1, LinkShare: altq.Curve{M2: 10e6}})
//	_ = d.AddQueue(altq.QueueConfig{QID: 2, Parent: 1, LinkShare: altq.Curve{M2: 7e6}, Flags: altq.FlagDefault})
//	_ = d.AddQueue(altq.QueueConfig{QID: 3, Parent: 1, LinkShare: altq.Curve{M2: 3e6},
//		RealTime: altq.Curve{M1: 2e6, D: 10, M2: 1e6}})
//
// Decisions are FreeBSD's, packet for packet, with these exceptions.
//
//   - Where FreeBSD walks sorted lists, trees find the same class in logarithmic time.
//   - Products that 64 bits do not hold are exact or infinite, and virtual times of siblings are set back before they
//     wrap.
//   - The earliest fit time of an interior class always is that of its backlogged children. FreeBSD does not
//     recompute it when a child without a limit becomes backlogged.
//   - A leaf without a link-share curve does not count in link-sharing. FreeBSD counts it off when it becomes empty.
//   - When nothing was asked for while packets waited, time stands still beyond a bound (see HFSC.clock): after
//     a day's sleep guarantees do not claim a day's service.
//   - Purge forgets what Poll chose.
package hfsc
