// Package adv is what the drivers of the gigabit parts with advanced descriptors, igb and
// igc, have in common: nearly everything. The data path with its two descriptor formats,
// many queues with a vector each, RSS, moderation, reset and initialisation are written
// once here; a Part says what a chip or its driver does otherwise, and is asked on the
// control path only.
//
// FreeBSD counterpart: the igb half of sys/dev/e1000/if_em.c with igb_txrx.c, and
// sys/dev/igc/if_igc.c with igc_txrx.c, which is a copy of it. Not driven: fiber, SerDes
// and SGMII ports, virtual functions, management firmware (WOL, AMT), I210's PLL
// work-around.
//
// A driver makes a softc around a Softc:
//
//	type softc struct{ adv.Softc }
//
//	func (sc *softc) AttachPre() error { return sc.Attach(part, tunables) }
package adv
