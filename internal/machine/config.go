package machine

import (
	"io"
	"io/fs"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/kern"
)

// Config says what to boot. The zero value is a machine without NICs on the real
// clock.
type Config struct {
	// Files is the machine's root directory: boot/loader.conf, boot/loader.conf.local,
	// boot/device.hints and what they include, etc/rc.conf, etc/rc.conf.local,
	// etc/sysctl.conf, etc/sysctl.conf.local, each optional, and etc/pf.conf or what
	// pf_rules names. nil has none of them.
	Files fs.FS
	// Env has further variables of the kernel environment; they win over the files'.
	Env map[string]string

	// NCPU and ThreadsPerCore are as in kern.Config: 0 takes hint.ifsim.0.ncpu and
	// hint.ifsim.0.threads_per_core, else the host's number and 1.
	NCPU, ThreadsPerCore int
	Executor             kern.Executor
	Clock                kern.ClockKind
	Seed                 uint64
	Invariants, Verbose  bool
	// Console takes what the machine prints; nil keeps it in the message buffer only.
	Console io.Writer
	// MemSize is the physical memory in bytes, 0 for 256 MiB.
	MemSize uint64

	// Fabric opens ports; nil makes one of all kinds. Machines whose NICs are wired
	// together are given the same one, and the same Work.
	Fabric *port.Fabric
	// Work is what the NICs leave to each other's outermost register access. nil makes
	// one of the machine's own.
	Work *hw.WorkList

	// CrashDir is where dumps go when a driver breaks its contract or the machine panics; it
	// is made when it is needed. "" leaves what the console shows of them.
	CrashDir string

	// DryRun leaves ports unopened: each NIC has a null port.
	DryRun bool

	// Drivers adds to the table of drivers; an entry replaces the one of its name.
	Drivers []DriverEntry
}

// DriverEntry is a driver and the hardware that it drives.
type DriverEntry struct {
	Driver *iflib.Driver
	// New makes the hardware of a chip; the name is one of Chips.
	New func(chip string, cfg hw.Config) (hw.NIC, error)
	// Chips are the names that hint.<driver>.<unit>.device may have.
	Chips func() []string
	// DefaultChip is what a NIC without that hint has.
	DefaultChip string
}
