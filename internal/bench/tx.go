package bench

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ifsim/ifsim/internal/bench/stat"
)

// sharedLimit is how much slower than the best calibration a slice may run
// before the host counts as shared, and reruns how often such a slice is run
// again before it is taken as it is. Of silentRuns slices one must send.
const (
	sharedLimit = 1.2
	reruns      = 3
	silentRuns  = 10
)

// extraProcs is how many Ps a run has beyond one for every pinned thread
// (spec budget 6.4).
const extraProcs = 4

// TxResult is the outcome of the transmit experiment.
type TxResult struct {
	Machine MachineInfo `json:"machine"`
	Rows    []TxRow     `json:"rows"`
}

// TxRow is one path with one number of producers.
type TxRow struct {
	Path      string       `json:"path"`
	Variant   string       `json:"variant,omitempty"`
	Producers int          `json:"producers"`
	OnDrop    OnDrop       `json:"on_drop"`
	PPS       stat.Summary `json:"pps"` // packets a second that reached the hardware
	Offered   uint64       `json:"offered"`
	Sent      uint64       `json:"sent"`
	Dropped   uint64       `json:"dropped"`
	Share     float64      `json:"share"` // sent of offered, median
	NsPerPkt  float64      `json:"ns_per_packet"`

	// Ratio is the median of pps against the baseline in the same round; absent
	// where producers outnumber CPUs, since such rows measure schedulers.
	Ratio *float64 `json:"ratio,omitempty"`
	// Verdict is the verdict on pps; Verdicts has all metrics.
	Verdict  stat.Verdict            `json:"verdict,omitempty"`
	Verdicts map[string]stat.Verdict `json:"verdicts,omitempty"`

	Calibration    Calibration `json:"calibration"`
	Oversubscribed bool        `json:"oversubscribed,omitempty"`

	slices []slice
}

// Calibration tells how fast the host was while a row was measured.
type Calibration struct {
	RoundNs    float64 `json:"round_ns"`    // median time of a calibration round
	CrossingNs float64 `json:"crossing_ns"` // median time for a cache line to change CPUs; 0 with one producer
	Shared     int     `json:"shared"`      // slices kept although the host was shared
}

// Metrics that get a verdict.
const (
	MetricPPS   = "pps"
	MetricShare = "share"
	MetricCPU   = "ns_per_packet"
)

// txRun is an experiment under way.
type txRun struct {
	o     *TxOptions
	rigs  []*rig
	best  float64 // fastest calibration seen with this many producers, which may share a core
	done  int
	total int
}

// Tx runs the transmit experiment. It sets GOMAXPROCS while it runs.
func Tx(o TxOptions) (*TxResult, error) {
	if err := o.normalize(); err != nil {
		return nil, err
	}
	arms, err := o.arms()
	if err != nil {
		return nil, err
	}
	most := o.Producers[len(o.Producers)-1]
	procs := most + len(arms) + extraProcs
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))

	run := &txRun{o: &o, total: len(o.Producers) * len(o.OnDrop) * len(arms) * o.Runs}
	defer run.close()
	for _, a := range arms {
		r, err := newRig(&o, a)
		if err != nil {
			return nil, err
		}
		run.rigs = append(run.rigs, r)
	}
	res := &TxResult{Machine: machineInfo(&o, procs)}
	for _, n := range o.Producers {
		rows, err := run.producers(n)
		if err != nil {
			return nil, err
		}
		res.Rows = append(res.Rows, rows...)
	}
	return res, nil
}

func (run *txRun) close() {
	for _, r := range run.rigs {
		// The result stands; a machine that does not close cleanly is
		// caught by the machine's own tests.
		_ = r.m.Close()
	}
}

// producers measures all paths with n producers.
func (run *txRun) producers(n int) ([]TxRow, error) {
	run.best = 0
	ps := startProducers(n, run.rigs)
	var wg sync.WaitGroup
	for _, p := range ps {
		wg.Go(p.run)
	}
	defer wg.Wait()
	defer func() {
		for _, p := range ps {
			close(p.jobs)
		}
	}()
	var rows []TxRow
	for _, onDrop := range run.o.OnDrop {
		r, err := run.cell(ps, onDrop)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// cell measures all paths with the given producers and behaviour, round by
// round. The path that goes first changes from round to round.
func (run *txRun) cell(ps []*producer, onDrop OnDrop) ([]TxRow, error) {
	rows := make([]TxRow, len(run.rigs))
	for i, r := range run.rigs {
		rows[i] = TxRow{Path: r.arm.path.Name, Variant: r.arm.variant.Name, Producers: len(ps), OnDrop: onDrop, Oversubscribed: len(ps) > runtime.NumCPU()}
		// One slice to warm caches and magazines.
		if _, err := measure(r, ps, onDrop, min(run.o.Duration, DefaultDuration)/4); err != nil {
			return nil, err
		}
	}
	for round := range run.o.Runs {
		for i := range run.rigs {
			at := (round + i) % len(run.rigs)
			s, shared, err := run.slice(run.rigs[at], ps, onDrop)
			if err != nil {
				return nil, err
			}
			row := &rows[at]
			row.slices = append(row.slices, s)
			if shared {
				row.Calibration.Shared++
			}
		}
	}
	compared := len(run.o.Variants)
	if compared == 0 {
		compared = len(rows)
	}
	for i := range rows {
		rows[i].summarize(&rows[i-i%compared])
	}
	return rows, nil
}

// slice measures one slice, again if the host was shared meanwhile.
func (run *txRun) slice(r *rig, ps []*producer, onDrop OnDrop) (s slice, shared bool, err error) {
	for range reruns {
		if s, err = run.measure(r, ps, onDrop); err != nil {
			return s, false, err
		}
		if run.best == 0 || s.cal < run.best {
			run.best = s.cal
		}
		if shared = s.cal > sharedLimit*run.best && len(ps) <= runtime.NumCPU(); !shared {
			break
		}
	}
	run.done++
	if run.o.Progress != nil {
		run.o.Progress(run.done, run.total)
	}
	return s, shared, nil
}

// measure measures one slice, again if nothing was sent: the host may keep a
// thread from a CPU for longer than a short slice, which has no ratio to another.
func (run *txRun) measure(r *rig, ps []*producer, onDrop OnDrop) (slice, error) {
	for range silentRuns {
		if s, err := measure(r, ps, onDrop, run.o.Duration); err != nil || s.pps > 0 {
			return s, err
		}
	}
	return slice{}, fmt.Errorf("%s: nothing was sent in %d slices of %v", r.arm.name(), silentRuns, run.o.Duration)
}

// column is one figure of all slices.
func (r *TxRow) column(f func(slice) float64) []float64 {
	v := make([]float64, len(r.slices))
	for i, s := range r.slices {
		v[i] = f(s)
	}
	return v
}

// Samples are the slices' values of a metric in the order of the rounds; nil if it is none.
func (r *TxRow) Samples(metric string) []float64 {
	f, ok := metrics[metric]
	if !ok {
		return nil
	}
	return r.column(f)
}

// name tells the row from those that it is compared with.
func (r *TxRow) name() string {
	if r.Variant != "" {
		return r.Variant
	}
	return r.Path
}

// metrics are the figures of a slice that are compared.
var metrics = map[string]func(slice) float64{MetricPPS: pps, MetricShare: share, MetricCPU: cpuNs}

func pps(s slice) float64   { return s.pps }
func share(s slice) float64 { return s.share }
func cpuNs(s slice) float64 { return s.cpuNs }

// summarize fills the row's figures in, against those of base.
func (r *TxRow) summarize(base *TxRow) {
	for _, s := range r.slices {
		r.Offered += s.offered
		r.Sent += s.sent
		r.Dropped += s.dropped
	}
	r.PPS = stat.Summarize(r.column(pps))
	r.Share = stat.Median(r.column(share))
	r.NsPerPkt = stat.Median(r.column(cpuNs))
	r.Calibration.RoundNs = stat.Median(r.column(func(s slice) float64 { return s.cal }))
	crossings := slices.DeleteFunc(r.column(func(s slice) float64 { return s.crossing }), func(c float64) bool { return c == 0 })
	if len(crossings) > 0 {
		r.Calibration.CrossingNs = stat.Median(crossings)
	}
	if r.Oversubscribed {
		return
	}
	ratio := stat.Median(stat.Ratios(r.column(pps), base.column(pps)))
	r.Ratio = &ratio
	if r == base {
		return
	}
	r.Verdicts = map[string]stat.Verdict{
		MetricPPS:   stat.Decide(r.name(), r.column(pps), base.name(), base.column(pps), true),
		MetricShare: stat.Decide(r.name(), r.column(share), base.name(), base.column(share), true),
		MetricCPU:   stat.Decide(r.name(), r.column(cpuNs), base.name(), base.column(cpuNs), false),
	}
	r.Verdict = r.Verdicts[MetricPPS]
}

// MachineInfo says where a result comes from.
type MachineInfo struct {
	CPU        string        `json:"cpu"`
	CPUs       int           `json:"cpus"`
	Go         string        `json:"go"`
	GOMAXPROCS int           `json:"gomaxprocs"`
	Driver     string        `json:"driver"`
	Engine     string        `json:"engine"`
	MMIONs     int           `json:"mmio_ns"`
	Lock       string        `json:"lock"`
	Runs       int           `json:"runs"`
	Duration   time.Duration `json:"duration_ns"`
	Packet     string        `json:"packet"`
}

func machineInfo(o *TxOptions, procs int) MachineInfo {
	return MachineInfo{
		CPU: cpuModel(), CPUs: runtime.NumCPU(), Go: runtime.Version(), GOMAXPROCS: procs,
		Driver: o.Driver, Engine: orDefault(o.Engine, "inline"), MMIONs: o.MMIONs, Lock: orDefault(o.Lock, "mutex"),
		Runs: o.Runs, Duration: o.Duration,
		Packet: fmt.Sprintf("%d bytes in 2 mbufs (%d + %d)", packetLen, headerLen, payloadLen),
	}
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
