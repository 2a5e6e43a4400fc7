// Package igc drives Intel's 2.5 gigabit controllers I225 and I226 under iflib.
//
// FreeBSD counterpart: sys/dev/igc/if_igc.c with igc_txrx.c. What igc and igb have in
// common, which is nearly all, is package adv; here are the parts, the 2.5 Gbit/s that
// they have beyond igb's, and igc's own knobs.
//
// A softc is the device that iflib attaches, starts and stops. Machines register the
// driver:
//
//	ctx, err := iflib.Attach(k, &igc.Driver, fn, 0) // igc0
package igc
