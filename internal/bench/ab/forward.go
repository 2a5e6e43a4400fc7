package ab

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/bench"
)

// Forward compares arms with the forwarding experiment. Errors are those of knobs, before
// anything is measured, and the experiment's.
func Forward(arms []Arm, o bench.ForwardOptions) (*Result, error) {
	if o.Driver == "" {
		o.Driver = bench.ForwardDriver
	}
	if s, ok := foreign(arms[0], o.Driver+".0.", o.Driver+".1."); ok {
		return nil, fmt.Errorf("%s: the NICs of the router are dev.%s.0 and dev.%[2]s.1", s.Knob, o.Driver)
	}
	o.Variants = variants(arms)
	got, err := bench.Forward(o)
	if err != nil {
		return nil, err
	}
	of := func(r bench.ForwardRow) (config string, f bench.Figures) {
		if r.Path != "" {
			config = "path=" + r.Path
		}
		return config, r.Figures
	}
	return newResult(&got.Machine, arms, got.Rows, of, bench.MetricPPS, bench.MetricCPU), nil
}
