// Package igb drives Intel's gigabit controllers with advanced descriptors and several
// queues: 82575, 82576, 82580, I350, I210 and I211, under iflib.
//
// FreeBSD counterpart: the igb half of sys/dev/e1000/if_em.c with igb_txrx.c, as of the
// newest sources. What igb and igc have in common, which is nearly all, is package adv;
// here are the parts, their NVMs and resets, and the knobs that igc does not have. Virtual
// functions (igbv), fiber and SerDes ports are not driven.
//
// A softc is the device that iflib attaches, starts and stops. Machines register the
// driver:
//
//	ctx, err := iflib.Attach(k, &igb.Driver, fn, 0) // igb0
package igb
