package ab

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/ifsim/ifsim/internal/bench"
	"github.com/ifsim/ifsim/internal/bench/stat"
)

// metric is how a metric is shown.
type metric struct {
	name  string
	unit  string  // in the table
	scale float64 // of the table's values
	bench string  // unit for benchstat
}

// MetricPPS is packets a second, of either benchmark.
const MetricPPS = bench.MetricPPS

// metrics are all metrics.
var metrics = []metric{
	{MetricPPS, "kpps", 1e-3, "pps"},
	{bench.MetricShare, "sent %", 100, "sent/offered"},
	{bench.MetricCPU, "cpu ns/pkt", 1, "ns/op"},
}

// shown is how the cell's metric is shown.
func (c *Cell) shown() metric {
	for _, m := range metrics {
		if m.name == c.Metric {
			return m
		}
	}
	return metric{name: c.Metric, unit: c.Metric, scale: 1, bench: c.Metric}
}

// WriteJSON writes the result as one JSON object.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteBench writes the result in the format that benchstat reads: a line a run.
func (r *Result) WriteBench(w io.Writer) error {
	for i := range r.Cells {
		c := &r.Cells[i]
		name := strings.Join(append([]string{"BenchmarkAB"}, strings.Fields(c.Config)...), "/")
		for _, f := range c.Figures {
			arm := strings.ReplaceAll(f.Value, " ", "_")
			for _, v := range f.samples {
				if _, err := fmt.Fprintf(w, "%s/%s=%s-%d\t1\t%g %s\n", name, strings.Join(r.Knobs, "+"), arm, runtime.NumCPU(), v, c.shown().bench); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// columns are the headings of the table.
var columns = []string{"BENCHMARK", "METRIC", "VALUE", "MEDIAN", "P25", "P75", "RATIO", "P", "VERDICT"}

// WriteTable writes the result for people.
func (r *Result) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d rounds of %s, the values in turns\n", strings.Join(r.Knobs, ", "), r.Rounds, r.Benchmark)
	if m := r.Machine; m != nil {
		fmt.Fprintf(w, "%s, %d CPUs, %s; %s on a null port, %s engine, mmio %d ns, lock %s; %s; %v a run\n",
			m.CPU, m.CPUs, m.Go, m.Driver, m.Engine, m.MMIONs, m.Lock, m.Packet, m.Duration)
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(columns, "\t"))
	for i := range r.Cells {
		c := &r.Cells[i]
		config, unit := c.Config, c.shown().unit
		if config == "" {
			config = r.Benchmark
		}
		for _, f := range c.Figures {
			fmt.Fprintln(tw, strings.Join(append([]string{config, unit}, f.cells(c.shown().scale)...), "\t"))
			config, unit = "", ""
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+r.footnotes())
	return err
}

// smallP is the smallest p that is told from less.
const smallP = 1e-4

// cells are the figure's columns as text.
func (f *Figure) cells(scale float64) []string {
	v := func(x float64) string { return fmt.Sprintf("%.1f", x*scale) }
	ratio, p, verdict := "-", "-", "-"
	if f.Ratio != nil {
		ratio = fmt.Sprintf("%.2f", *f.Ratio)
	}
	if f.P != nil {
		p, verdict = fmt.Sprintf("%.4f", *f.P), f.Verdict
		if *f.P < smallP {
			p = fmt.Sprintf("<%g", smallP)
		}
	}
	return []string{f.Value, v(f.Median), v(f.P25), v(f.P75), ratio, p, verdict}
}

// footnotes explain the columns.
func (r *Result) footnotes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "RATIO: of the medians, to the first value's. P: Mann-Whitney, how likely chance alone makes such a difference.\n")
	fmt.Fprintf(&b, "VERDICT: %s unless p < %g and the medians are %g %% apart.\n", stat.Undecided, stat.Alpha, stat.MinEffect*100)
	if r.Rounds < bench.MinRuns {
		fmt.Fprintf(&b, "Only %d rounds: too few for a verdict, which needs %d.\n", r.Rounds, bench.MinRuns)
	}
	return b.String()
}
