// Package em drives Intel's 82540, 82545 (class lem) and 82571, 82573, 82574, 82583,
// I217, I219 gigabit controllers (class em) under iflib. It reads like the datasheet: each
// step names its section of spec 1g.
//
// FreeBSD counterpart: sys/dev/e1000/if_em.c with em_txrx.c. Its igb half is another
// driver here. Not driven: the ich parts and those of pch before I217; 82541 and 82547;
// fiber and SerDes ports; management firmware (WOL, AMT). Of I217 and I219 the flash is
// read and not written, and what serves only power saving (ULP, LTR, K1) or the wake-up
// filters of the PHY is left out.
//
// Three types matter: softc is the device that iflib attaches, starts and stops;
// dataPath is the data path, of which lemTxRx replaces the receive half. Machines register the driver:
//
//	ctx, err := iflib.Attach(k, &em.Driver, fn, 0) // em0
package em
