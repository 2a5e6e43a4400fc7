// Package pci is the bus of a machine: functions with a real 256-byte configuration
// space, base address registers, and the three ways to interrupt (FreeBSD's
// sys/dev/pci, pci(4)). A driver reaches its NIC through [Function] and the [BAR]
// values it maps; the hardware of the NIC is a [Device].
//
//	bus := pci.Init(k)
//	fn, err := bus.Insert(loc, hardware)            // the slot; hardware.Plug(fn)
//	bar, err := fn.MapBAR(pci.BARReg(0))            // bus_alloc_resource_any
//	_, err = fn.MapBAR(pci.BARReg(3))               // the MSI-X table must be mapped
//	fn.EnableBusMaster()                            // pci_enable_busmaster
//	got, err := fn.AllocMSIX(5)                     // pci_alloc_msix
//	intr, err := fn.SetupIntr(1, "em0:rxq0", 0, filter)
//	fn.RaiseMSIX(0)                                 // hardware side, any goroutine
//
// A raised vector is posted to the CPU it is bound to; its filter never runs inside
// the call that raised it, and posts coalesce while it waits. What is raised while
// masked becomes pending and fires at the unmask.
package pci
