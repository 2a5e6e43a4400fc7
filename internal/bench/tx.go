package bench

import (
	"fmt"
	"runtime"
	"sync"
)

// TxResult is the outcome of the transmit experiment.
type TxResult struct {
	Machine MachineInfo `json:"machine"`
	Rows    []TxRow     `json:"rows"`
}

// TxRow is one path with one number of producers.
type TxRow struct {
	Path      string `json:"path"`
	Variant   string `json:"variant,omitempty"`
	Producers int    `json:"producers"`
	OnDrop    OnDrop `json:"on_drop"`
	Figures
	Oversubscribed bool `json:"oversubscribed,omitempty"` // producers outnumber CPUs
}

// txRun is an experiment under way.
type txRun struct {
	o      *TxOptions
	arms   []arm
	rigs   []*rig // one for each arm
	rounds rounds
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

	run := &txRun{o: &o, arms: arms, rounds: rounds{o: &o.Options, total: len(o.Producers) * len(o.OnDrop) * len(arms) * o.Runs}}
	defer run.close()
	for _, a := range arms {
		r, err := newRig(&o, a)
		if err != nil {
			return nil, err
		}
		run.rigs = append(run.rigs, r)
	}
	for _, r := range run.rigs {
		if err := awaitLink(r.ifp); err != nil {
			return nil, err
		}
	}
	res := &TxResult{Machine: machineInfo(&o.Options, procs, packetText)}
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
	run.rounds.best = 0
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

// packetText describes the generator's packet.
var packetText = fmt.Sprintf("%d bytes in 2 mbufs (%d + %d)", packetLen, headerLen, payloadLen)

// cell measures all arms with the given producers and behaviour.
func (run *txRun) cell(ps []*producer, onDrop OnDrop) ([]TxRow, error) {
	for _, r := range run.rigs {
		// One slice to warm caches and magazines.
		if _, err := measure(r, ps, onDrop, min(run.o.Duration, DefaultDuration)/4); err != nil {
			return nil, err
		}
	}
	over := len(ps) > runtime.NumCPU()
	all, err := run.rounds.run(run.arms, over, func(i int) (slice, error) {
		return measure(run.rigs[i], ps, onDrop, run.o.Duration)
	})
	if err != nil {
		return nil, err
	}
	rows := make([]TxRow, len(all))
	for i, a := range run.arms {
		rows[i] = TxRow{Path: a.path.Name, Variant: a.variant.Name, Producers: len(ps), OnDrop: onDrop, Oversubscribed: over, Figures: newFigures(all[i])}
	}
	if !over {
		for i, a := range run.arms {
			base := run.o.baseOf(i)
			rows[i].compare(a.name(), &rows[base].Figures, run.arms[base].name(), MetricPPS, MetricShare, MetricCPU)
		}
	}
	return rows, nil
}
