// Package pciconf8 is pciconf(8): it lists the functions on the machine's PCI buses with
// their base address registers, capabilities and errors, and reads and writes their
// configuration spaces (FreeBSD's usr.sbin/pciconf). The formats are FreeBSD's, letter by
// letter; names are those that pci.ids has for the parts that ifsim models.
//
//	exit := pciconf8.Run(m.Slots(), []string{"-lv"}, os.Stdout, os.Stderr)
//
// -o json (or --libxo json), which FreeBSD lacks, writes the list with the names of the text.
//
// There are no bridges and no vital product data in a machine, so -B and -V are taken and
// add nothing. FreeBSD's -D, which dumps registers of a device, is not here: reading them
// has effects.
package pciconf8
