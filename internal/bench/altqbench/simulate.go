package altqbench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// simMemory is the memory of simulated links in bytes, for packets without data.
const simMemory = 32 << 20

// bin is the width of what is drawn.
const bin = 100 * time.Millisecond

// Simulate runs the scenarios of simulated links.
func Simulate(ctx context.Context, o Options) (Result, error) {
	if err := o.normalize(); err != nil {
		return Result{}, err
	}
	list := slices.DeleteFunc(simulated(), func(s scenario) bool { return !slices.Contains(o.Disciplines, s.discipline) })
	return o.simulate(ctx, list)
}

// simulate runs scenarios one after the other, in a kernel that gives them packets.
func (o *Options) simulate(ctx context.Context, list []scenario) (res Result, err error) {
	k, err := kern.New(kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Mem: physmem.Config{Size: simMemory}})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	if _, err := mbuf.Init(k, mbuf.Config{}); err != nil {
		return res, err
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		if err := simulate(k, &list[i], o.Simulated, &res); err != nil {
			return res, fmt.Errorf("%s, %s: %w", list[i].discipline, list[i].name, err)
		}
		o.progress(Simulated, i+1, len(list))
	}
	return res, nil
}

// simulation is a scenario on its link.
type simulation struct {
	s     *scenario
	link  *altqsim.Link
	flows []*altqsim.Flow
	red   averages
}

// averages are the averages of a queue with RED, looked at now and then.
type averages struct {
	typ altq.Type
	qid altq.QID // 0: nobody asks
	sum float64
	n   int
}

// simulate runs one scenario.
func simulate(k *kern.Kernel, s *scenario, measured time.Duration, res *Result) error {
	b, err := build(s.config)
	if err != nil {
		return err
	}
	link, err := altqsim.New(k, b.Discipline, altqsim.Config{
		Rate: b.Interface.IfBandwidth, Depth: uint64(b.Interface.TBRSize), Bin: bin,
	})
	if err != nil {
		return err
	}
	defer link.Close()
	sim := &simulation{s: s, link: link}
	for i := range s.flows {
		f := &s.flows[i]
		sim.flows = append(sim.flows, link.Add(altqsim.Source{
			QID: b.QIDs[f.queueName()], Hash: f.hash, Size: f.frame(), Rate: f.mbps * mega, AIMD: f.aimd,
			Start: f.start + time.Duration(i)*apart, Stop: f.stop,
		}))
	}
	for _, p := range s.phases {
		if p.from == 0 {
			p.from = settle
		}
		if p.until == 0 {
			p.until = p.from + measured
		}
		if err := sim.run(p, b, res); err != nil {
			return err
		}
	}
	if s.drawn {
		res.Panels = append(res.Panels, sim.panel())
	}
	return nil
}

// build makes a scenario's discipline.
func build(config string) (pf.Built, error) {
	cfg, messages, ok := conf.Parse("pf.conf", config, conf.Options{})
	if !ok {
		return pf.Built{}, fmt.Errorf("configuration %q: %v", config, messages)
	}
	built, err := pf.Build(cfg)
	if err != nil {
		return pf.Built{}, err
	}
	return built[0], nil
}

// run measures a phase.
func (sim *simulation) run(p phase, b pf.Built, res *Result) error {
	sim.link.Run(p.from - sim.link.Elapsed())
	sim.link.Mark()
	sim.red = averages{}
	for _, w := range p.wants {
		if w.quantity == RedAverage {
			sim.red = averages{typ: b.Interface.Scheduler, qid: b.QIDs[w.class]}
		}
	}
	const look = 10 * time.Millisecond
	for sim.link.Elapsed() < p.until {
		sim.link.Run(min(look, p.until-sim.link.Elapsed()))
		if err := sim.red.look(sim.link.Queue); err != nil {
			return err
		}
	}
	name := sim.s.name
	if p.name != "" {
		name += ": " + p.name
	}
	for _, w := range p.wants {
		res.Rows = append(res.Rows, Row{
			Where: Simulated, Discipline: sim.s.discipline, Scenario: name, Class: w.class,
			Quantity: w.quantity, Expected: w.expected, Measured: sim.figure(w),
		}.compare())
	}
	return nil
}

// look adds the average of now.
func (a *averages) look(q *altq.Queue) error {
	if a.qid == 0 {
		return nil
	}
	s, err := q.Stats(a.typ, a.qid)
	if err != nil {
		return err
	}
	const scale = 4096 // of REDStats.QAvg
	a.sum += float64(s.RED[0].QAvg) / scale
	a.n++
	return nil
}

// figure is what came of a want.
func (sim *simulation) figure(w want) float64 {
	const percent = 100
	switch w.quantity {
	case Rate:
		return sim.sum(w.class, func(f *altqsim.Flow) float64 { return f.Rate() / mega })
	case Lost:
		return percent * sim.mean(w.class, (*altqsim.Flow).DropShare)
	case MeanWait:
		return sim.mean(w.class, func(f *altqsim.Flow) float64 { return milliseconds(f.MeanDelay()) })
	case Longest:
		return sim.mean(w.class, func(f *altqsim.Flow) float64 { return milliseconds(f.DelayQuantile(1)) })
	case RedAverage:
		return sim.red.sum / float64(sim.red.n)
	}
	return math.NaN() // nothing is within any bounds
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// sum adds a figure of the flows of a class.
func (sim *simulation) sum(class string, of func(*altqsim.Flow) float64) (v float64) {
	for i, f := range sim.flows {
		if class == all || class == sim.s.flows[i].name {
			v += of(f)
		}
	}
	return v
}

// mean is the mean of a figure of the flows of a class.
func (sim *simulation) mean(class string, of func(*altqsim.Flow) float64) float64 {
	return sim.sum(class, of) / sim.sum(class, func(*altqsim.Flow) float64 { return 1 })
}

// panel is the throughput of all flows.
func (sim *simulation) panel() Panel {
	p := Panel{Where: Simulated, Title: sim.s.discipline + ": " + sim.s.name, Bin: bin}
	bins := int(sim.link.Elapsed() / bin)
	for i, f := range sim.flows {
		s := Series{Class: sim.s.flows[i].name, Mbps: make([]float64, bins)}
		for j := range min(bins, len(f.Bins())) {
			s.Mbps[j] = mbps(float64(f.Bins()[j]), bin)
		}
		p.Series = append(p.Series, s)
	}
	return p
}
