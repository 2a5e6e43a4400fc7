// Package machine boots a machine: a kernel, the NICs that its configuration
// names, their drivers, and what rc.conf and sysctl.conf ask for. It owns all of
// it until [Machine.Close].
//
// Its counterparts in FreeBSD are the boot loader, sys/kern/init_main.c, the PCI
// bus's probe and attach (subr_bus.c, pci.c), devctl(8), and the rc scripts
// netif and sysctl. A machine's files are FreeBSD's, read from any fs.FS; what
// they say and nothing here knows is a warning, once each, and no error.
//
//	m, err := machine.Boot(machine.Config{Files: os.DirFS("router"), Console: os.Stdout})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	err = m.Up("em0")
//	err = m.Ifnet("em0").Transmit(packet)
//
// Two machines of one process share only what both are given: a port.Fabric with
// its wires, and the hw.WorkList that goes with it.
package machine
