// Package ifnet is the layer between drivers and protocols: interfaces, their
// flags, capabilities, counters, link and media state, the generic ioctls, and
// Ethernet input and output.
//
// Its counterpart is FreeBSD's sys/net (if.c, if_var.h, if_ethersubr.c,
// if_media.c, if_loop.c's if_simloop). A driver allocates an [Ifnet], gives it
// [Methods] and attaches it:
//
//	ifp := ifnet.Alloc(k, ifnet.TypeEther)
//	ifp.InitName("em", 0)
//	ifp.SetMethods(ifnet.Methods{Init: initIf, Ioctl: ioctl, Transmit: transmit, QFlush: qflush})
//	ifnet.EtherAttach(ifp, mac)
//	...
//	err := ifp.Transmit(m)             // down: takes m in any case
//	ifp.InputCache(c, m)               // up: a list through NextPkt
//	...
//	ifnet.EtherDetach(ifp)
//	ifnet.Free(ifp)
//
// Fields that a packet reads are atomics: [Ifnet.Flags] and [Ifnet.TapOn] are one
// load, [Ifnet.Transmit] is one load and a call. Requests that change an interface
// ([Ifnet.Ioctl], [Ifnet.Promisc], [Ifnet.AddMulti], attach and detach) are
// serialized by a sleepable lock per interface, which is held while the driver is
// called; a driver must not make such a request from inside its Ioctl method.
package ifnet
