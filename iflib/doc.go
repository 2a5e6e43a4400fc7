// Package iflib is FreeBSD's network driver framework (sys/net/iflib.c,
// iflib(9)): everything that drivers of Ethernet NICs have in common. A driver
// says what its hardware is (SharedCtx), fills in what a device can do
// (SoftcCtx), and implements the methods of Device and the data path, TxRx; the
// framework owns queues, interrupts, DMA maps, mbufs, tasks, timers and sysctls.
//
//	var Driver = iflib.Driver{
//		Name:   "skel",
//		Shared: &iflib.SharedCtx{QAlign: 4096, NTxQs: 1, NRxQs: 1, NFL: 1, ...},
//		New:    func(ctx *iflib.Ctx) iflib.Device { return &softc{ctx: ctx} },
//	}
//
// Attach runs a device through its life: AttachPre, queue allocation, interrupts,
// AttachPost; Init and Stop follow the interface's flags; Detach ends it. Which
// lock is held in which method stands at the method; optional methods are
// interfaces of their own, found by type assertion at attach.
//
// A packet that leaves enters through one of two transmit paths, chosen at attach
// by dev.X.N.iflib.simple_tx or net.iflib.prefer_mpring: mp_ring (tx_mpring.go),
// where whoever finds nobody draining a ring of packets drains it, or simple_tx
// (tx_simple.go), a mutex with a bounded ring for those who contend. Both end in
// tx.go: encap, doorbell; and in reclaim.go. Received packets come through the
// free lists of fl.go and rxeof in rx.go.
//
// What follows FreeBSD exactly, and what is inferred or changed on purpose, is in
// docs/architecture.md and docs/tunables.md.
package iflib
