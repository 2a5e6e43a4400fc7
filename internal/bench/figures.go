package bench

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ifsim/ifsim/internal/bench/stat"
)

// Figures are what one arm got in one configuration.
type Figures struct {
	PPS      stat.Summary `json:"pps"` // packets a second that reached the hardware
	Offered  uint64       `json:"offered"`
	Sent     uint64       `json:"sent"`
	Dropped  uint64       `json:"dropped"`
	Share    float64      `json:"share"` // sent of offered, median
	NsPerPkt float64      `json:"ns_per_packet"`

	// Ratio is the median of pps against the baseline in the same round; absent
	// where producers outnumber CPUs, since such rows measure schedulers.
	Ratio *float64 `json:"ratio,omitempty"`
	// Verdict is the verdict on pps; Verdicts has all metrics.
	Verdict  stat.Verdict            `json:"verdict,omitempty"`
	Verdicts map[string]stat.Verdict `json:"verdicts,omitempty"`

	Calibration Calibration `json:"calibration"`

	slices []slice
}

// Calibration tells how fast the host was while a row was measured.
type Calibration struct {
	RoundNs    float64 `json:"round_ns"`    // median time of a calibration round
	CrossingNs float64 `json:"crossing_ns"` // median time for a cache line to change CPUs; 0 with one producer
	Shared     int     `json:"shared"`      // slices kept although the host was shared
}

// Metrics that are compared.
const (
	MetricPPS   = "pps"
	MetricShare = "share"
	MetricCPU   = "ns_per_packet"
)

// metrics are the figures of a slice that are compared, and whether more is better.
var metrics = map[string]struct {
	of   func(slice) float64
	more bool
}{
	MetricPPS:   {func(s slice) float64 { return s.pps }, true},
	MetricShare: {func(s slice) float64 { return s.share }, true},
	MetricCPU:   {func(s slice) float64 { return s.cpuNs }, false},
}

// newFigures sums the slices up.
func newFigures(s series) Figures {
	f := Figures{slices: s.slices}
	for _, s := range f.slices {
		f.Offered += s.offered
		f.Sent += s.sent
		f.Dropped += s.dropped
	}
	f.PPS = stat.Summarize(f.Samples(MetricPPS))
	f.Share = stat.Median(f.Samples(MetricShare))
	f.NsPerPkt = stat.Median(f.Samples(MetricCPU))
	f.Calibration = Calibration{RoundNs: stat.Median(f.column(func(s slice) float64 { return s.cal })), Shared: s.shared}
	crossings := slices.DeleteFunc(f.column(func(s slice) float64 { return s.crossing }), func(c float64) bool { return c == 0 })
	if len(crossings) > 0 {
		f.Calibration.CrossingNs = stat.Median(crossings)
	}
	return f
}

// column is one figure of all slices.
func (f *Figures) column(of func(slice) float64) []float64 {
	v := make([]float64, len(f.slices))
	for i, s := range f.slices {
		v[i] = of(s)
	}
	return v
}

// Samples are the slices' values of a metric in the order of the rounds; nil if it is none.
func (f *Figures) Samples(metric string) []float64 {
	m, ok := metrics[metric]
	if !ok {
		return nil
	}
	return f.column(m.of)
}

// compare fills in what f is against base, of which each has a name, by some metrics.
func (f *Figures) compare(name string, base *Figures, baseName string, by ...string) {
	ratio := stat.Median(stat.Ratios(f.Samples(MetricPPS), base.Samples(MetricPPS)))
	f.Ratio = &ratio
	if f == base {
		return
	}
	f.Verdicts = map[string]stat.Verdict{}
	for _, metric := range by {
		f.Verdicts[metric] = stat.Decide(name, f.Samples(metric), baseName, base.Samples(metric), metrics[metric].more)
	}
	f.Verdict = f.Verdicts[MetricPPS]
}

// ppsCells are the columns of PPS, in thousands.
func (f *Figures) ppsCells() []string {
	const kilo = 1000
	k := func(v float64) string { return fmt.Sprintf("%.0f", v/kilo) }
	return []string{k(f.PPS.Median), k(f.PPS.P25), k(f.PPS.P75), k(f.PPS.Min), k(f.PPS.Max)}
}

// ratioCell is the column of Ratio.
func (f *Figures) ratioCell() string {
	if f.Ratio == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *f.Ratio)
}

// calCell is the column of the calibration.
func (f *Figures) calCell() string {
	cal := fmt.Sprintf("%.2f", f.Calibration.RoundNs)
	if f.Calibration.Shared > 0 {
		cal += fmt.Sprintf("!%d", f.Calibration.Shared)
	}
	return cal
}

// count is a number as a column.
func count(n uint64) string { return strconv.FormatUint(n, 10) }
