package machine

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/iflib/pci"
)

// device finds a NIC by what devctl takes: its name, or its place on the bus, as
// "pci0:2:0:0". ENXIO: there is none.
func (m *Machine) device(selector string) (*nic, error) {
	if loc, err := pci.ParseLocation(selector); err == nil {
		if i := slices.IndexFunc(m.nics, func(n *nic) bool { return n.loc == loc }); i >= 0 {
			return m.nics[i], nil
		}
	}
	return m.nic(selector)
}

// underTopology finds a NIC and calls do with the topology lock held.
func (m *Machine) underTopology(selector string, do func(n *nic) error) error {
	n, err := m.device(selector)
	if err != nil {
		return err
	}
	m.topology.Lock()
	defer m.topology.Unlock()
	if err := do(n); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	return nil
}

// Disable detaches a device, if it is attached, and keeps it from being attached until
// Enable (DEV_DISABLE of devctl2). ENXIO: no such device, or it is disabled; EBUSY: the
// interface is in use.
func (m *Machine) Disable(name string) error {
	return m.underTopology(name, func(n *nic) error {
		if n.disabled {
			return syscall.ENXIO
		}
		if err := m.detach(n); err != nil {
			return err
		}
		n.disabled = true
		return nil
	})
}

// Enable attaches a device that was disabled, by Disable or by a hint, which is
// forgotten; then as Attach (DEV_ENABLE). ENXIO: no such device; EBUSY: it is not
// disabled; else as iflib.Attach.
func (m *Machine) Enable(name string) error {
	return m.underTopology(name, func(n *nic) error {
		if !n.disabled {
			return syscall.EBUSY
		}
		n.disabled = false
		if v, _ := m.k.Env.HintInt(n.entry.Driver.Name, n.unit, "disabled"); v != 0 {
			// A hint that is gone already is as good.
			_ = m.k.Env.Unset(fmt.Sprintf("hint.%s.%d.disabled", n.entry.Driver.Name, n.unit))
		}
		return m.attachAndStart(n)
	})
}

// Suspend has the driver of a device, if there is one, put it to sleep (DEV_SUSPEND).
// ENXIO: no such device; EBUSY: it sleeps; else the driver's.
func (m *Machine) Suspend(name string) error {
	return m.underTopology(name, func(n *nic) error {
		if n.suspended {
			return syscall.EBUSY
		}
		if ctx := n.ctx.Load(); ctx != nil {
			if err := ctx.Suspend(); err != nil {
				return err
			}
		}
		n.suspended = true
		return nil
	})
}

// Resume wakes a device that Suspend put to sleep; its interface is initialised again
// (DEV_RESUME). ENXIO: no such device; EINVAL: it does not sleep; else the driver's.
func (m *Machine) Resume(name string) error {
	return m.underTopology(name, func(n *nic) error {
		if !n.suspended {
			return syscall.EINVAL
		}
		n.suspended = false
		if ctx := n.ctx.Load(); ctx != nil {
			return ctx.Resume()
		}
		return nil
	})
}
