package ab

import (
	"fmt"
	"slices"

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
	res := &Result{Rounds: got.Machine.Runs, Machine: &got.Machine}
	for rows := range slices.Chunk(got.Rows, len(arms)) {
		var figures []bench.Figures
		for _, r := range rows {
			figures = append(figures, r.Figures)
		}
		var config string
		if path := rows[0].Path; path != "" {
			config = "path=" + path
		}
		res.add(config, arms, figures, bench.MetricPPS, bench.MetricCPU)
	}
	return res, nil
}
