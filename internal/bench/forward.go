package bench

import (
	"fmt"
	"io"
	"runtime"
)

// ForwardOptions describe a run of the forwarding experiment.
type ForwardOptions struct {
	Options

	Queues int // of each NIC, both ways, and CPUs of the router; 0 leaves one of the host's CPUs to the flood
	Size   int // of a frame in bytes, without FCS; 0 is DefaultFrameSize
}

// Defaults of the forwarding experiment.
const (
	ForwardDriver    = "igb"
	DefaultFrameSize = 60
)

// Bounds of the forwarding experiment.
const (
	maxFrameSize = 1514
	maxQueues    = 8
)

// routerNICs is how many NICs a router has.
const routerNICs = 2

// normalize fills the defaults in and checks the rest.
func (o *ForwardOptions) normalize() error {
	if o.Queues == 0 {
		o.Queues = min(max(1, runtime.NumCPU()-1), maxQueues)
	}
	if o.Queues < 1 || o.Queues > maxQueues {
		return fmt.Errorf("queues must be 1 to %d", maxQueues)
	}
	if o.Size == 0 {
		o.Size = DefaultFrameSize
	}
	if o.Size < DefaultFrameSize || o.Size > maxFrameSize {
		return fmt.Errorf("size must be %d to %d", DefaultFrameSize, maxFrameSize)
	}
	return o.Options.normalize(ForwardDriver, routerNICs)
}

// ForwardResult is the outcome of the forwarding experiment.
type ForwardResult struct {
	Machine MachineInfo  `json:"machine"`
	Queues  int          `json:"queues"`
	Rows    []ForwardRow `json:"rows"`
}

// ForwardRow is one path.
type ForwardRow struct {
	Path    string `json:"path"`
	Variant string `json:"variant,omitempty"`
	Figures
	Missed   uint64   `json:"missed"`     // frames for which the receiving NIC had no descriptor
	PerQueue []uint64 `json:"tx_packets"` // packets of each transmit queue
}

// Forward runs the forwarding experiment: a flood of small UDP packets arrives at one NIC
// of a router, which forwards them through its IP stack to the other. Packets per second
// are those that the other sends. It sets GOMAXPROCS while it runs.
func Forward(o ForwardOptions) (*ForwardResult, error) {
	if err := o.normalize(); err != nil {
		return nil, err
	}
	arms, err := o.arms()
	if err != nil {
		return nil, err
	}
	procs := 1 + o.Queues + extraProcs
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	run := &forwardRun{o: &o, arms: arms, flood: startFlood(), rounds: rounds{o: &o.Options, total: len(arms) * o.Runs}}
	defer run.close()
	for _, a := range arms {
		r, err := newRouter(&o, a)
		if err != nil {
			return nil, err
		}
		run.routers = append(run.routers, r)
	}
	for _, r := range run.routers {
		if err := r.configure(); err != nil {
			return nil, err
		}
	}
	rows, err := run.rows()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("frames of %d bytes, %d UDP flows", o.Size, flowSources*flowDestinations)
	return &ForwardResult{Machine: machineInfo(&o.Options, procs, text), Queues: o.Queues, Rows: rows}, nil
}

// forwardRun is an experiment under way.
type forwardRun struct {
	o       *ForwardOptions
	arms    []arm
	routers []*router // one for each arm
	flood   *flood
	rounds  rounds
}

func (run *forwardRun) close() {
	run.flood.stop()
	for _, r := range run.routers {
		// The result stands; a machine that does not close cleanly is
		// caught by the machine's own tests.
		_ = r.m.Close()
	}
}

// rows measures all arms.
func (run *forwardRun) rows() ([]ForwardRow, error) {
	for _, r := range run.routers {
		// One slice to warm caches and magazines.
		if _, err := r.measure(run.flood, min(run.o.Duration, DefaultDuration)/4); err != nil {
			return nil, err
		}
	}
	outnumbered := 1+run.o.Queues > runtime.NumCPU()
	all, err := run.rounds.run(run.arms, outnumbered, func(i int) (slice, error) {
		return run.routers[i].measure(run.flood, run.o.Duration)
	})
	if err != nil {
		return nil, err
	}
	rows := make([]ForwardRow, len(all))
	for i, a := range run.arms {
		if err := run.routers[i].audit(); err != nil {
			return nil, err
		}
		rows[i] = ForwardRow{Path: a.path.Name, Variant: a.variant.Name, Figures: newFigures(all[i]), PerQueue: make([]uint64, run.o.Queues)}
		for _, s := range all[i].slices {
			rows[i].Missed += s.missed
			for q, n := range s.perQueue {
				rows[i].PerQueue[q] += n
			}
		}
	}
	for i, a := range run.arms {
		base := run.o.baseOf(i)
		rows[i].compare(a.name(), &rows[base].Figures, run.arms[base].name(), MetricPPS, MetricCPU)
	}
	return rows, nil
}

// used is how many transmit queues the packets have used.
func (r *ForwardRow) used() (n int) {
	for _, packets := range r.PerQueue {
		if packets > 0 {
			n++
		}
	}
	return n
}

// WriteJSON writes the result as one JSON object.
func (r *ForwardResult) WriteJSON(w io.Writer) error { return writeJSON(w, r) }
