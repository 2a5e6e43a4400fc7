package iflib

import (
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// The internal types that a driver or a hardware model outside this module
// needs, by alias.
type (
	Kernel    = kern.Kernel    // the machine
	Mtx       = kern.Mtx       // mutex(9)
	Sx        = kern.Sx        // sx(9)
	Callout   = kern.Callout   // callout(9)
	Task      = kern.Task      // gtaskqueue and taskqueue tasks
	FailPoint = kern.FailPoint // fail(9)
	Intr      = kern.Intr      // a bound interrupt source
	Addr      = physmem.Addr   // bus address
	Memory    = physmem.Memory // the machine's memory
)

// StoreRelaxed64 stores a descriptor word that others may load atomically,
// without ordering: the doorbell that follows orders it.
func StoreRelaxed64(p *uint64, v uint64) { physmem.StoreRelaxed64(p, v) }
