package altqbench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options say what is run. The zero value is everything.
type Options struct {
	// Only chooses one part, OnlySimulated or OnlyWires; "" is both.
	Only string `json:"only,omitempty"`
	// Simulated is how much simulated time is measured in a scenario with one phase.
	Simulated time.Duration `json:"simulated_ns,omitempty"`
	// Duration is how long a wire is measured.
	Duration time.Duration `json:"duration_ns,omitempty"`
	// NICs are drivers of the NICs on wires, nil for em and igb.
	NICs []string `json:"nics,omitempty"`
	// Disciplines are those that are run, nil for all.
	Disciplines []string `json:"disciplines,omitempty"`

	// Progress, if set, hears how many scenarios of how many are done, of each part.
	Progress func(part string, done, total int) `json:"-"`
}

// Parts of the experiment.
const (
	OnlySimulated = "simulated"
	OnlyWires     = "veth"
)

// Defaults and bounds of the options.
const (
	DefaultSimulated = 20 * time.Second
	DefaultDuration  = 5 * time.Second
	minDuration      = 100 * time.Millisecond
	maxSimulated     = time.Hour
)

// normalize fills the defaults in and checks the rest.
func (o *Options) normalize() error {
	if o.Simulated == 0 {
		o.Simulated = DefaultSimulated
	}
	if o.Duration == 0 {
		o.Duration = DefaultDuration
	}
	if o.NICs == nil {
		o.NICs = []string{"em", "igb"}
	}
	if o.Disciplines == nil {
		o.Disciplines = Disciplines()
	}
	switch {
	case o.Only != "" && o.Only != OnlySimulated && o.Only != OnlyWires:
		return fmt.Errorf("no part %q: %s or %s", o.Only, OnlySimulated, OnlyWires)
	case o.Simulated < minDuration || o.Simulated > maxSimulated:
		return fmt.Errorf("simulated time %v: %v to %v", o.Simulated, minDuration, maxSimulated)
	case o.Duration < minDuration || o.Duration > maxSimulated:
		return fmt.Errorf("duration %v: %v to %v", o.Duration, minDuration, maxSimulated)
	}
	for _, d := range o.Disciplines {
		if !slices.Contains(Disciplines(), d) {
			return fmt.Errorf("no discipline %q: %s", d, strings.Join(Disciplines(), ", "))
		}
	}
	return nil
}

func (o *Options) progress(part string, done, total int) {
	if o.Progress != nil {
		o.Progress(part, done, total)
	}
}
