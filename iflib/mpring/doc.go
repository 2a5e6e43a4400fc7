// Package mpring is mp_ring: a bounded ring with many producers whose consumer
// is whichever producer finds nobody consuming (FreeBSD net/mp_ring.c, spec
// iflib 3.2). It knows nothing of NICs: a Consumer takes items out.
//
// One 64-bit word holds the whole state: where producers have reserved
// (pidx_head), where items are published (pidx_tail), where the consumer is
// (cidx), and who drains:
//
//	from       enqueue          enqueue, abdicate  CheckDrainage           end of drain
//	IDLE       BUSY, drains     ABDICATED          -                       -
//	BUSY       BUSY             BUSY               -                       IDLE, STALLED or ABDICATED
//	STALLED    BUSY, drains     STALLED            BUSY if it can drain    -
//	ABDICATED  BUSY, drains     ABDICATED          BUSY                    -
//
// FreeBSD's producer waits until everybody before it has published. A producer
// here never waits for another one, since that other may be descheduled: it
// stores its items and then publishes every consecutive slot that is ready, its
// own or not; if an earlier one is not ready it leaves, and the producer of that
// one will publish for both. Slots are nil until their item is stored, and the
// consumer clears them before it publishes cidx.
//
//	r, err := mpring.New(k, 2048, consumer)
//	if !r.Enqueue(m, budget, false) { /* full: m is still ours */ }
package mpring
