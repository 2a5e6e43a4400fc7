package machine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/vlan"
	"github.com/ifsim/ifsim/internal/kern"
)

// Machine is a machine that has booted. Its methods may be called from any
// goroutine until Close; with the stepped executor, from the one that drives.
type Machine struct {
	k       *kern.Kernel
	fabric  *port.Fabric
	work    *hw.WorkList
	drivers []DriverEntry
	files   files
	rc      *RCConf
	said    warnings
	dry     bool
	absent  []absent // constant once booted

	crashDir string // constant

	mu      sync.Mutex
	skipped []Skipped           // guarded by mu
	inet6   map[string][]string // guarded by mu: words of inet6 without effect here, by interface

	// Constant once booted, in the order of the bus.
	nics []*nic

	topology kern.Sx // serializes Attach and Detach (the newbus lock)
	closed   atomic.Bool
}

// nic is a NIC in its slot. All but ctx is constant.
type nic struct {
	entry     DriverEntry
	unit      int
	name      string // "em0"
	where     string // file and line that asks for it
	chip      string
	plug      string // specification of port
	loc       pci.Location
	wired     bool // a hint says where it is
	port      port.Port
	hw        hw.NIC
	fn        *pci.Function
	resources string // of the line that attach prints

	ctx atomic.Pointer[iflib.Ctx] // nil while detached

	disabled, suspended bool // guarded by topology
}

// Kernel is the machine's kernel.
func (m *Machine) Kernel() *kern.Kernel { return m.k }

// Fabric is what the machine's ports were opened from.
func (m *Machine) Fabric() *port.Fabric { return m.fabric }

// RC holds the variables of rc.conf.
func (m *Machine) RC() *RCConf { return m.rc }

// Warnings are the lines about configuration that has no effect, in the order in
// which the console showed them.
func (m *Machine) Warnings() []string { return m.said.all() }

// Skipped are the settings of rc.conf that were passed over at boot because their interface
// does not exist, in the order of the rc scripts.
func (m *Machine) Skipped() []Skipped {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.skipped)
}

// warnf prints a line on the console unless it was printed before.
func (m *Machine) warnf(format string, a ...any) {
	if line := fmt.Sprintf(format, a...); m.said.add(line) {
		m.k.Printf("%s\n", line)
	}
}

// Devices are the names of the NICs in the order of the bus, attached or not.
func (m *Machine) Devices() []string {
	names := make([]string, len(m.nics))
	for i, n := range m.nics {
		names[i] = n.name
	}
	return names
}

// nic finds a NIC by device name. ENXIO: there is none.
func (m *Machine) nic(name string) (*nic, error) {
	i := slices.IndexFunc(m.nics, func(n *nic) bool { return n.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: no such device: %w", name, syscall.ENXIO)
	}
	return m.nics[i], nil
}

// Identity is the driver of a NIC and its unit, attached or not, and the name of its chip,
// as hint.<driver>.<unit>.device has it; false if there is no such device.
func (m *Machine) Identity(name string) (driver string, unit int, chip string, ok bool) {
	n, err := m.nic(name)
	if err != nil {
		return "", 0, "", false
	}
	return n.entry.Driver.Name, n.unit, n.chip, true
}

// Ctx is the iflib context of an attached device, nil if there is none.
func (m *Machine) Ctx(name string) *iflib.Ctx {
	n, err := m.nic(name)
	if err != nil {
		return nil
	}
	return n.ctx.Load()
}

// attached are the contexts of the devices that are attached; it waits for nothing.
func (m *Machine) attached() (list []*iflib.Ctx) {
	for _, n := range m.nics {
		if ctx := n.ctx.Load(); ctx != nil {
			list = append(list, ctx)
		}
	}
	return list
}

// Ifnet is the interface of that name, or of the device of that name when
// rc.conf renamed it; nil if there is none.
func (m *Machine) Ifnet(name string) *ifnet.Ifnet {
	if ifp := ifnet.ByName(m.k, name); ifp != nil {
		return ifp
	}
	if ctx := m.Ctx(name); ctx != nil {
		return ctx.Ifp()
	}
	return nil
}

// Port is what a NIC is plugged into, nil if there is no such device.
func (m *Machine) Port(name string) port.Port {
	n, err := m.nic(name)
	if err != nil {
		return nil
	}
	return n.port
}

// Hardware is the model of a NIC, nil if there is no such device.
func (m *Machine) Hardware(name string) hw.NIC {
	n, err := m.nic(name)
	if err != nil {
		return nil
	}
	return n.hw
}

// Up marks an interface up, as ifconfig up does, which has its driver initialise
// the hardware. The link may come later. ENXIO: no such interface.
func (m *Machine) Up(name string) error {
	ifp := m.Ifnet(name)
	if ifp == nil {
		return fmt.Errorf("%s: up: %w", name, syscall.ENXIO)
	}
	if err := ifp.Ioctl(ifnet.IoctlSetFlags, ifp.Flags()|ifnet.FlagUp); err != nil {
		return fmt.Errorf("%s: up: %w", name, err)
	}
	return nil
}

// Close detaches every device, takes the hardware out, closes the ports and then
// the kernel, whatever fails on the way; the error joins what did. A second Close
// does nothing. Not from work of the machine.
func (m *Machine) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	var errs []error
	vlan.DestroyAll(m.k) // while there is one its parent is in use
	for _, n := range slices.Backward(m.nics) {
		errs = append(errs, m.takeOut(n))
	}
	errs = append(errs, m.k.Close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing a machine: %w", err)
	}
	return nil
}

// takeOut undoes what insert and attach did for one NIC, as far as they came.
func (m *Machine) takeOut(n *nic) error {
	var errs []error
	if ctx := n.ctx.Load(); ctx != nil {
		if err := ctx.Detach(); err != nil {
			errs = append(errs, err)
		} else {
			n.ctx.Store(nil)
		}
	}
	switch {
	case n.fn != nil:
		errs = append(errs, pci.Of(m.k).Remove(n.fn))
	case n.hw != nil:
		errs = append(errs, n.hw.Close())
	}
	if n.port != nil {
		errs = append(errs, n.port.Close())
	}
	return errors.Join(errs...)
}
