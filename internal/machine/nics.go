package machine

import (
	"fmt"
	"hash/crc32"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/iflib/pci"
)

// defaultPort is the port of a NIC without a hint for it.
const defaultPort = "null"

// firstBus is the first bus for NICs without a place of their own: bus 0 has the
// host bridge and the ports, bus 1 is left to a user's hints.
const (
	firstBus = 2
	lastBus  = 255
)

// plan finds the NICs that the machine has: those with a hint of any kind, and
// those that rc.conf, a tunable or sysctl.conf names.
func (m *Machine) plan() error {
	named, err := m.namedDevices()
	if err != nil {
		return err
	}
	for _, e := range m.drivers {
		drv := e.Driver.Name
		units := append(m.k.Env.Hints(drv), slices.Collect(maps.Keys(named[drv]))...)
		slices.Sort(units)
		for _, unit := range slices.Compact(units) {
			where := m.whereHinted(drv, unit)
			if where == "" {
				where = named[drv][unit]
			}
			m.nics = append(m.nics, &nic{entry: e, unit: unit, name: drv + strconv.Itoa(unit), where: where})
		}
	}
	return m.assignPlaces()
}

// whereHinted is where the first hint of a device stands, "" if it has none.
func (m *Machine) whereHinted(driver string, unit int) string {
	prefix := fmt.Sprintf("hint.%s.%d.", driver, unit)
	for _, s := range m.files.loader {
		if strings.HasPrefix(s.Name, prefix) {
			return place(s)
		}
	}
	if slices.Contains(m.k.Env.Hints(driver), unit) {
		return "environment"
	}
	return ""
}

// splitDevice takes a name as "em0" apart; ok is false if no driver has it.
func (m *Machine) splitDevice(name string) (e DriverEntry, unit int, ok bool) {
	for _, e := range m.drivers {
		digits, ok := strings.CutPrefix(name, e.Driver.Name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		if err == nil && strconv.FormatUint(n, 10) == digits {
			return e, int(n), true
		}
	}
	return DriverEntry{}, 0, false
}

// assignPlaces gives every NIC its slot: hint.<driver>.<unit>.at, else a bus of
// its own.
func (m *Machine) assignPlaces() error {
	taken := make(map[pci.Location]bool)
	for _, n := range m.nics {
		at, ok := m.k.Env.Hint(n.entry.Driver.Name, n.unit, "at")
		if !ok {
			continue
		}
		loc, err := pci.ParseLocation(at)
		if err == nil && taken[loc] {
			err = fmt.Errorf("%v is taken: %w", loc, syscall.EEXIST)
		}
		if err != nil {
			return m.hintError(n, "at", err)
		}
		n.loc, n.wired, taken[loc] = loc, true, true
	}
	bus := firstBus
	for _, n := range m.nics {
		if n.wired {
			continue
		}
		for bus <= lastBus && taken[pci.Location{Bus: bus}] {
			bus++
		}
		if bus > lastBus {
			return fmt.Errorf("%s: no PCI bus is left for it: %w", n.name, syscall.ENOSPC)
		}
		n.loc = pci.Location{Bus: bus}
		taken[n.loc] = true
	}
	return nil
}

// sortNICs puts the NICs into the order in which the bus finds them.
func (m *Machine) sortNICs() {
	order := pci.Of(m.k).Functions()
	slices.SortFunc(m.nics, func(a, b *nic) int { return slices.Index(order, a.fn) - slices.Index(order, b.fn) })
}

// hintError is err with the place of the hint that caused it.
func (m *Machine) hintError(n *nic, resource string, err error) error {
	name := fmt.Sprintf("hint.%s.%d.%s", n.entry.Driver.Name, n.unit, resource)
	return fmt.Errorf("%s%s: %w", m.files.where(name), name, err)
}

// hint is a hint of the NIC, or a default.
func (m *Machine) hint(n *nic, resource, otherwise string) string {
	if v, ok := m.k.Env.Hint(n.entry.Driver.Name, n.unit, resource); ok {
		return v
	}
	return otherwise
}

// insert makes a NIC's hardware as its hints describe it and puts it into its
// slot. What it made before an error is the NIC's: Close takes it out.
func (m *Machine) insert(n *nic) error {
	cfg, err := m.hardwareConfig(n)
	if err != nil {
		return err
	}
	n.chip = m.hint(n, "device", n.entry.DefaultChip)
	if chips := n.entry.Chips(); !slices.Contains(chips, n.chip) {
		return m.hintError(n, "device", fmt.Errorf("chip %q is none of %s: %w", n.chip, strings.Join(chips, ", "), syscall.ENODEV))
	}
	n.plug = m.hint(n, "port", defaultPort)
	n.port, err = m.openPort(n.plug)
	if err != nil {
		return m.hintError(n, "port", err)
	}
	cfg.Port = n.port
	n.hw, err = n.entry.New(n.chip, cfg)
	if err != nil {
		return fmt.Errorf("making %s, a %s: %w", n.name, n.chip, err)
	}
	n.fn, err = pci.Of(m.k).Insert(n.loc, n.hw)
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	n.resources = resources(n.fn)
	return nil
}

// openPort opens what a NIC is plugged into: in a dry run nothing, if it is of a kind that
// there is.
func (m *Machine) openPort(spec string) (port.Port, error) {
	kind, _, _ := strings.Cut(spec, ":")
	if m.dry && slices.Contains(m.fabric.Kinds(), kind) {
		return null.New(), nil
	}
	return m.fabric.Open(spec)
}

// hardwareConfig is what the hints say of the hardware, but its chip and port.
func (m *Machine) hardwareConfig(n *nic) (hw.Config, error) {
	cfg := hw.Config{Kernel: m.k, Name: n.name, Work: m.work}
	var err error
	if cfg.Engine, err = hw.ParseEngine(m.hint(n, "engine", "")); err != nil {
		return cfg, m.hintError(n, "engine", err)
	}
	for _, h := range []struct {
		resource string
		ns       *int
	}{{"mmio_ns", &cfg.MMIOWriteNs}, {"mmio_read_ns", &cfg.MMIOReadNs}} {
		if *h.ns, err = m.nanoseconds(n, h.resource); err != nil {
			return cfg, m.hintError(n, h.resource, err)
		}
	}
	if cfg.MAC, err = m.mac(n); err != nil {
		return cfg, m.hintError(n, "mac", err)
	}
	return cfg, nil
}

// maxMMIO bounds what a register access may cost in ns: more is a mistake in the
// unit, and would look like a hang.
const maxMMIO = 1_000_000

func (m *Machine) nanoseconds(n *nic, resource string) (int, error) {
	if _, ok := m.k.Env.Hint(n.entry.Driver.Name, n.unit, resource); !ok {
		return 0, nil
	}
	ns, err := m.k.Env.HintInt(n.entry.Driver.Name, n.unit, resource)
	if err == nil && (ns < 0 || ns > maxMMIO) {
		err = fmt.Errorf("%d is not in 0..%d ns: %w", ns, maxMMIO, syscall.EINVAL)
	}
	return ns, err
}

// mac is the station address in the NIC's EEPROM: the hint's, else a local one
// made of the machine's hostname, the driver and the unit, so that it is the same
// at each boot and differs between machines with names.
func (m *Machine) mac(n *nic) (mac [hw.EtherAddrLen]byte, err error) {
	const group = 1 // bit of the first byte: no station
	if text, ok := m.k.Env.Hint(n.entry.Driver.Name, n.unit, "mac"); ok {
		addr, err := net.ParseMAC(text)
		if err != nil || len(addr) != len(mac) || addr[0]&group != 0 {
			return mac, fmt.Errorf("%q is no station address: %w", text, syscall.EINVAL)
		}
		copy(mac[:], addr)
		return mac, nil
	}
	const local = 2
	mac = [...]byte{local, 0, 0, 0, byte(n.unit), byte(n.unit>>8) + 1}
	if host, ok := m.rc.Get("hostname"); ok && host != "" {
		sum := crc32.ChecksumIEEE([]byte(host))
		mac[1], mac[2] = byte(sum>>8), byte(sum)
	}
	mac[3] = byte(slices.IndexFunc(m.drivers, func(e DriverEntry) bool { return e.Driver.Name == n.entry.Driver.Name }))
	return mac, nil
}
