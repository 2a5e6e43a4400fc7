package ab

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/bench"
	"github.com/ifsim/ifsim/internal/bench/stat"
)

// Result is the outcome of a comparison.
type Result struct {
	Knobs     []string           `json:"knobs"`
	Benchmark string             `json:"benchmark"` // its command line
	Rounds    int                `json:"rounds"`
	Machine   *bench.MachineInfo `json:"machine,omitempty"` // of bench tx and forward
	Cells     []Cell             `json:"cells"`
}

// Cell is one metric of one configuration of the benchmark, for all arms.
type Cell struct {
	// Config tells configurations apart, as "producers=1 on-drop=drop"; "" if there is one.
	Config  string   `json:"config,omitempty"`
	Metric  string   `json:"metric"`
	Figures []Figure `json:"figures"`
}

// Figure is what one arm got.
type Figure struct {
	Value string `json:"value"` // of the knobs, the arm's name
	stat.Summary

	// Against the first arm, which has none of them. Ratio is that of the medians, absent
	// if there is none.
	Ratio   *float64 `json:"ratio,omitempty"`
	P       *float64 `json:"p,omitempty"` // Mann-Whitney
	Verdict string   `json:"verdict,omitempty"`

	samples []float64 // in the order of the rounds
}

// newCell compares the samples of each arm with those of the first.
func newCell(config, metric string, arms []Arm, samples [][]float64) Cell {
	c := Cell{Config: config, Metric: metric, Figures: make([]Figure, len(arms))}
	for i, a := range arms {
		c.Figures[i] = Figure{Value: a.Name(), Summary: stat.Summarize(samples[i]), samples: samples[i]}
		if i > 0 {
			c.Figures[i].compare(&c.Figures[0])
		}
	}
	return c
}

// compare fills the figure's place against the first in.
func (f *Figure) compare(first *Figure) {
	p := stat.P(f.samples, first.samples)
	f.P = &p
	if first.Median != 0 {
		ratio := f.Median / first.Median
		f.Ratio = &ratio
	}
	f.Verdict = string(stat.Undecided)
	if stat.Decide("f", f.samples, "first", first.samples, true) == stat.Undecided {
		return
	}
	if f.Ratio == nil {
		f.Verdict = fmt.Sprintf("significant: %s is %g, %s 0", f.Value, f.Median, first.Value)
		return
	}
	f.Verdict = fmt.Sprintf("significant: %s is %.2f times %s", f.Value, *f.Ratio, first.Value)
}

// Run calls run for each arm in turns, which returns a metric's value, and compares. The arm
// that goes first changes from round to round, and one run of each before them does not
// count. progress, if not nil, hears how many runs of how many are done.
func Run(arms []Arm, metric string, rounds int, run func(arm int) (float64, error), progress func(done, total int)) (Cell, error) {
	samples := make([][]float64, len(arms))
	for round := -1; round < rounds; round++ {
		for i := range arms {
			at := (max(0, round) + i) % len(arms)
			value, err := run(at)
			if err != nil {
				return Cell{}, fmt.Errorf("%s: %w", arms[at].Name(), err)
			}
			if round >= 0 {
				samples[at] = append(samples[at], value)
			}
			if progress != nil {
				progress((round+1)*len(arms)+i+1, (rounds+1)*len(arms))
			}
		}
	}
	return newCell("", metric, arms, samples), nil
}
