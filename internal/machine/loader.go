package machine

import (
	"errors"
	"slices"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/sysctl"
)

// kernelModules are modules that every machine has, beside those of drivers.
var kernelModules = [...]string{"pf", "if_vlan"}

// loaderMessages prints what the loader had to say.
func (m *Machine) loaderMessages(loader *sysctl.Loader) {
	wanted := loader.LoadModules()
	for _, line := range loader.Messages() {
		m.k.Printf("%s\n", line)
	}
	for _, c := range loader.Commands() {
		m.warnf("loader: command '%s' is not run", c)
	}
	for _, mod := range loader.Modules() {
		name := mod.Name
		if other, ok := mod.Fields["name"]; ok {
			name = other
		}
		if slices.Contains(wanted, name) && !m.hasModule(name) {
			m.warnf("%sno module '%s'", m.files.where(mod.Name+"_load"), name)
		}
	}
}

func (m *Machine) hasModule(name string) bool {
	return slices.Contains(kernelModules[:], name) ||
		slices.ContainsFunc(m.drivers, func(e DriverEntry) bool { return name == "if_"+e.Driver.Name })
}

// loaderVariables begin the names of what loader.conf(5) says to the loader itself, to the
// kernel's first steps, or to init. None of it is a tunable of the network.
var loaderVariables = [...]string{
	"acpi_", "allscreens_", "autoboot_delay", "beastie_", "bitmap_", "boot", "comconsole_", "console", "cpu_microcode_",
	"currdev", "dumpdev", "efi_", "entropy_", "exec", "fdt_", "geli_", "init_", "interpret", "kernel", "kernels", "kern_",
	"kld_", "loader_", "loaddev", "local_loader_conf_files", "module_", "nextboot_", "num_ide_disks", "password", "prompt",
	"ram_blacklist_", "root_disk_unit", "rootdev", "screen", "smbios", "splash_", "teken", "tftp", "twiddle_divisor", "vbe_",
	"verbose_loading", "vesa_", "vfs_", "zfs_",
}

// unknownTunables warns of variables in the loader's files that nothing in the machine
// reads. Hints are not among them: foreign buses have theirs.
func (m *Machine) unknownTunables() {
	for _, s := range m.files.loader {
		if m.isKnown(s.Name) || m.files.where(s.Name) != place(s)+": " {
			continue
		}
		m.warnf("%s: %s: not known", place(s), s.Name)
	}
}

// isKnown reports whether a variable of the loader means something to somebody. What is
// set for a device that did not attach may do so when it does.
func (m *Machine) isKnown(name string) bool {
	if strings.HasPrefix(name, "hint.") {
		return true
	}
	if !strings.Contains(name, ".") {
		return isModuleLine(name) || slices.ContainsFunc(loaderVariables[:], func(v string) bool { return strings.HasPrefix(name, v) })
	}
	if n, err := m.nic(deviceOf(name)); err == nil && n.ctx.Load() == nil {
		return true
	}
	_, err := m.k.Sysctl.Lookup(name)
	return !errors.Is(err, syscall.ENOENT)
}

// isModuleLine reports whether a setting was a module's.
func isModuleLine(name string) bool {
	i := strings.LastIndexByte(name, '_')
	return i > 0 && slices.Contains([]string{"load", "name", "type", "flags", "before", "after", "error"}, name[i+1:])
}

// deviceOf is the device of an OID below dev, as "em0" of dev.em.0.fc; "" of another.
func deviceOf(oid string) string {
	const driver, unit, least = 1, 2, 4 // parts of dev.em.0.fc
	parts := strings.SplitN(oid, ".", least)
	if len(parts) < least || parts[0] != "dev" {
		return ""
	}
	return parts[driver] + parts[unit]
}
