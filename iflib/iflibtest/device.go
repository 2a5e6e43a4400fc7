package iflibtest

import (
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib"
)

// Device is what the suite judges: a driver, and the hardware to judge it on. What the
// driver can do is found in its softc context and is not declared here.
type Device struct {
	Driver *iflib.Driver

	// Hardware makes one NIC for Driver. It is called for each device of each machine.
	Hardware func(hw.Config) (hw.NIC, error)

	// Decode explains the words of one descriptor in a line, for the dump of a ring that
	// goes with a failure; nil: as the driver does (iflib.Describer), if it does.
	Decode func(r Ring, words []uint64) string

	// Env has kernel environment variables that the driver needs, tunables and hints.
	Env map[string]string
}

// Ring names a descriptor ring of a device.
type Ring = iflib.RingID

// Option changes what Run does.
type Option func(*options)

type options struct {
	only  map[string]bool // rules to run; nil: all
	short bool            // a sample of the ways and of the loops
}

// Only runs the rules of these names.
func Only(names ...string) Option {
	return func(o *options) {
		if o.only == nil {
			o.only = make(map[string]bool)
		}
		for _, n := range names {
			o.only[n] = true
		}
	}
}

// Short runs a sample: one way for each rule and fewer rounds of each loop. Run does so
// by itself under go test -short.
func Short() Option { return func(o *options) { o.short = true } }

func collect(opts []Option) (o options) {
	for _, f := range opts {
		f(&o)
	}
	return o
}
