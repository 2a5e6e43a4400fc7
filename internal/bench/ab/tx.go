package ab

import (
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/internal/bench"
)

// Tx compares arms with the transmit experiment. Errors are those of knobs, before anything
// is measured, and the experiment's.
func Tx(arms []Arm, o bench.TxOptions) (*Result, error) {
	if o.Driver == "" {
		o.Driver = bench.DefaultDriver
	}
	if err := measured(arms[0], o.Driver+".0."); err != nil {
		return nil, err
	}
	for _, a := range arms {
		o.Variants = append(o.Variants, bench.Variant{Name: a.Name(), Env: a.Env(), Ready: a.Apply})
	}
	got, err := bench.Tx(o)
	if err != nil {
		return nil, err
	}
	res := &Result{Rounds: got.Machine.Runs, Machine: &got.Machine}
	for i := 0; i < len(got.Rows); i += len(arms) {
		rows := got.Rows[i : i+len(arms)]
		for _, m := range metrics[:txMetrics] {
			samples := make([][]float64, len(arms))
			for k := range rows {
				samples[k] = rows[k].Samples(m.name)
			}
			res.Cells = append(res.Cells, newCell(config(&rows[0]), m.name, arms, samples))
		}
	}
	return res, nil
}

// measured checks that knobs of a device are those of the NIC that sends, which has the
// given name in them. A machine would make another NIC for being named.
func measured(a Arm, nic string) error {
	for _, s := range a {
		if rest, ok := strings.CutPrefix(s.Knob, "dev."); ok && strings.Count(rest, ".") > 1 && !strings.HasPrefix(rest, nic) {
			return fmt.Errorf("%s: the NIC that sends is dev.%s", s.Knob, strings.TrimSuffix(nic, "."))
		}
	}
	return nil
}

// config tells a row's configuration from those of others.
func config(r *bench.TxRow) string {
	text := fmt.Sprintf("producers=%d on-drop=%s", r.Producers, r.OnDrop)
	if r.Path != "" {
		text = "path=" + r.Path + " " + text
	}
	return text
}
