package ab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/internal/bench"
)

// Tx compares arms with the transmit experiment. Errors are those of knobs, before anything
// is measured, and the experiment's.
func Tx(arms []Arm, o bench.TxOptions) (*Result, error) {
	if o.Driver == "" {
		o.Driver = bench.TxDriver
	}
	if s, ok := foreign(arms[0], o.Driver+".0."); ok {
		return nil, fmt.Errorf("%s: the NIC that sends is dev.%s.0", s.Knob, o.Driver)
	}
	o.Variants = variants(arms)
	got, err := bench.Tx(o)
	if err != nil {
		return nil, err
	}
	of := func(r bench.TxRow) (string, bench.Figures) { return config(&r), r.Figures }
	return newResult(&got.Machine, arms, got.Rows, of, bench.MetricPPS, bench.MetricShare, bench.MetricCPU), nil
}

// variants have an experiment compare arms.
func variants(arms []Arm) (vs []bench.Variant) {
	for _, a := range arms {
		vs = append(vs, bench.Variant{Name: a.Name(), Env: a.Env(), Ready: a.Apply})
	}
	return vs
}

// foreign finds a knob of a device that is none of the experiment's NICs, which have the
// given names in them. A machine would make another NIC for being named.
func foreign(a Arm, nics ...string) (s Setting, ok bool) {
	for _, s := range a {
		rest, ok := strings.CutPrefix(s.Knob, "dev.")
		own := func(nic string) bool { return strings.HasPrefix(rest, nic) }
		if ok && strings.Count(rest, ".") > 1 && !slices.ContainsFunc(nics, own) {
			return s, true
		}
	}
	return Setting{}, false
}

// newResult compares the rows of an experiment by some metrics: each configuration has a row
// for each arm, side by side. of tells a row's configuration and figures.
func newResult[Row any](m *bench.MachineInfo, arms []Arm, rows []Row, of func(Row) (config string, f bench.Figures), by ...string) *Result {
	res := &Result{Rounds: m.Runs, Machine: m}
	for side := range slices.Chunk(rows, len(arms)) {
		for _, metric := range by {
			var name string
			samples := make([][]float64, len(arms))
			for i, r := range side {
				config, f := of(r)
				name, samples[i] = config, f.Samples(metric)
			}
			res.Cells = append(res.Cells, newCell(name, metric, arms, samples))
		}
	}
	return res
}

// config tells a row's configuration from those of others.
func config(r *bench.TxRow) string {
	text := fmt.Sprintf("producers=%d on-drop=%s", r.Producers, r.OnDrop)
	if r.Path != "" {
		text = "path=" + r.Path + " " + text
	}
	return text
}
