package machine

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/sysctl"
)

// attach probes a NIC and attaches its driver (device_probe_and_attach), with the
// console lines of FreeBSD.
func (m *Machine) attach(n *nic) error {
	drv := n.entry.Driver
	info, err := iflib.Probe(drv, n.fn.Identity())
	if err != nil {
		m.k.Printf("pci%d: <network, ethernet> at device %d.%d (no driver attached)\n", n.loc.Bus, n.loc.Slot, n.loc.Func)
		return err
	}
	if disabled, _ := m.k.Env.HintInt(drv.Name, n.unit, "disabled"); disabled != 0 {
		n.disabled = true
		if m.k.Verbose() {
			m.k.Printf("%s: disabled via hints entry\n", n.name)
		}
		return fmt.Errorf("%s: disabled by a hint: %w", n.name, syscall.ENXIO)
	}
	m.k.Printf("%s: <%s>%s at device %d.%d on pci%d\n", n.name, info.Name, n.resources, n.loc.Slot, n.loc.Func, n.loc.Bus)
	ctx, err := iflib.Attach(m.k, drv, n.fn, n.unit)
	if err != nil {
		m.k.Printf("device_attach: %s attach returned %d\n", n.name, sysctl.Number(err))
		return err
	}
	n.ctx.Store(ctx)
	return nil
}

// Attach attaches the driver of a device that is not attached, and configures the
// interface as rc.conf says (devctl attach, followed by what devd does). Tunables
// are read from the kernel environment anew. The name is the driver's with the unit,
// or where the NIC is, as "pci0:2:0:0". ENXIO: no such device, or it is disabled; EBUSY:
// it is attached; else as iflib.Attach.
func (m *Machine) Attach(name string) error {
	n, err := m.device(name)
	if err != nil {
		return err
	}
	m.topology.Lock()
	defer m.topology.Unlock()
	switch {
	case n.ctx.Load() != nil:
		return fmt.Errorf("%s: attaching: %w", name, syscall.EBUSY)
	case n.disabled:
		return fmt.Errorf("%s: attaching, is disabled: %w", name, syscall.ENXIO)
	}
	return m.attachAndStart(n)
}

// attachAndStart attaches and does what rc does for a new interface: its own settings, and
// the routes and neighbours that went away with it. The topology lock is held.
func (m *Machine) attachAndStart(n *nic) error {
	if err := m.attach(n); err != nil {
		return err
	}
	m.startInterface(n.ctx.Load().Ifp())
	m.startRoutes()
	m.startNeighbours()
	return nil
}

// Detach detaches the driver of a device; the NIC stays in its slot (devctl
// detach). ENXIO: no such device, or it is not attached; EBUSY: the interface is
// in use.
func (m *Machine) Detach(name string) error {
	n, err := m.device(name)
	if err != nil {
		return err
	}
	m.topology.Lock()
	defer m.topology.Unlock()
	if n.ctx.Load() == nil {
		return fmt.Errorf("%s: detaching: %w", name, syscall.ENXIO)
	}
	return m.detach(n)
}

// detach detaches a NIC, if it is attached (device_detach). The topology lock is held.
func (m *Machine) detach(n *nic) error {
	ctx := n.ctx.Load()
	if ctx == nil {
		return nil
	}
	if err := ctx.Detach(); err != nil {
		return err
	}
	n.ctx.Store(nil)
	n.suspended = false
	m.forgetInet6(ctx.Name())
	m.k.Printf("%s: detached\n", n.name)
	return nil
}

// Bits of a base address register (PCI 3.0 section 6.2.5.1).
const (
	numBARs    = 6
	barIO      = 0x1
	barIOBits  = 0x3
	barType    = 0x6
	barType64  = 0x4
	barMemBits = 0xf
)

// resources is the part of a device's line that names its ranges: " port
// 0x2000-0x201f mem 0xc0000000-0xc001ffff" (resource_list_print_type). Sizes are
// found as firmware does, by writing ones; only before the driver attaches.
func resources(fn *pci.Function) string {
	var ports, mems []string
	for i := 0; i < numBARs; i++ {
		base, mask := sizeBAR(fn, i)
		switch {
		case mask == 0:
		case base&barIO != 0:
			ports = append(ports, span(base&^barIOBits, mask&^barIOBits))
		case base&barType == barType64 && i+1 < numBARs:
			high, highMask := sizeBAR(fn, i+1)
			const highShift = 32
			mems = append(mems, span(high<<highShift|base&^barMemBits, highMask<<highShift|mask&^barMemBits))
			i++
		default:
			mems = append(mems, span(base&^barMemBits, mask&^barMemBits))
		}
	}
	text := ""
	if len(ports) > 0 {
		text += " port " + strings.Join(ports, ",")
	}
	if len(mems) > 0 {
		text += " mem " + strings.Join(mems, ",")
	}
	return text
}

// sizeBAR reads a base address register and the bits of it that can be set.
func sizeBAR(fn *pci.Function, i int) (base, mask uint64) {
	reg := pci.BARReg(i)
	old := fn.ReadConfig32(reg)
	fn.WriteConfig32(reg, ^uint32(0))
	ones := fn.ReadConfig32(reg)
	fn.WriteConfig32(reg, old)
	return uint64(old), uint64(ones)
}

// span is a range as %#jx-%#jx; the lowest bit that can be set is its size.
func span(base, mask uint64) string {
	size := mask & -mask
	return fmt.Sprintf("%#x-%#x", base, base+size-1)
}
