// Package devinfo8 is devinfo(8): it prints the machine's device tree and who has which
// resources (FreeBSD's usr.sbin/devinfo and libdevinfo). The layout is FreeBSD's.
//
//	exit := devinfo8.Run(m.Slots(), []string{"-rv"}, os.Stdout, os.Stderr)
//
// --libxo json (or -o json) writes the same as JSON, as the newest FreeBSD does.
//
// The tree has what the machine has: nexus0, a host bridge and a bus for each number that
// a NIC lies on, and the NICs. Resource managers are nexus's for interrupts, ports and
// memory, with the ranges that the bus gives out, and the bus numbers of each PCI domain.
package devinfo8
