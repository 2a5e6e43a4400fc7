package bench

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ifsim/ifsim/internal/machine"
)

// OnDrop says what a producer does with a packet that Transmit refused.
type OnDrop string

// The two behaviours of a producer.
const (
	DropPacket  OnDrop = "drop"  // open loop: on to the next packet
	RetryPacket OnDrop = "retry" // closed loop: the same packet again, until it is taken
)

// Path is one way to send: a name and the tunables that choose it.
type Path struct {
	Name string
	env  map[string]string // %s is the device, "em.0"
}

// BaselinePath is the path that ratios and verdicts compare with.
const BaselinePath = "mp_ring"

// paths are the transmit paths that the experiment knows, in the order in which
// they are shown.
var paths = []Path{
	{Name: BaselinePath, env: map[string]string{"dev.%s.iflib.simple_tx": "0"}},
	{Name: "mp_ring_abdicate", env: map[string]string{"dev.%s.iflib.simple_tx": "0", "dev.%s.iflib.tx_abdicate": "1"}},
	{Name: "simple_tx", env: map[string]string{"dev.%s.iflib.simple_tx": "1"}},
	{Name: "simple_tx_nodefer", env: map[string]string{"dev.%s.iflib.simple_tx": "1", "net.iflib.max_producers": "0"}},
}

// PathNames are the names of all paths.
func PathNames() []string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.Name
	}
	return names
}

// tunables are the path's tunables for a device such as "em.0".
func (p Path) tunables(device string) map[string]string {
	env := map[string]string{}
	for name, value := range p.env {
		env[strings.Replace(name, "%s", device, 1)] = value
	}
	return env
}

// Variant is a way to set up the machine that is measured.
type Variant struct {
	Name string
	Env  map[string]string // of the loader; wins over the experiment's own
	// Ready sees the machine before its interface is up; nil does nothing.
	Ready func(*machine.Machine) error
}

// arm is what a machine of the experiment is for.
type arm struct {
	path    Path
	variant Variant
}

// name tells the arm from those that it is compared with.
func (a arm) name() string {
	if a.variant.Name != "" {
		return a.variant.Name
	}
	return a.path.Name
}

// TxOptions describe a run of the transmit experiment.
type TxOptions struct {
	Producers     []int         // producer counts; nil is 1, 2, 4, ... up to the number of CPUs
	Oversubscribe bool          // adds 8 and 16 producers
	Runs          int           // rounds; at least MinRuns for a verdict
	Duration      time.Duration // of one slice
	Paths         []string      // nil is all; the baseline is always run
	OnDrop        []OnDrop      // nil is both
	Driver        string        // "em"
	Engine        string        // "inline" or "thread"; "" is the port's default
	MMIONs        int           // nanoseconds of a posted register write
	Lock          string        // hw.ifsim.lock; "" is the default

	// Variants are compared instead of paths, with the first. Each of Paths is run with
	// each of them; nil Paths leave the path to the machine.
	Variants []Variant

	// Progress, if set, hears how many slices of how many are done.
	Progress func(done, total int)
}

// Defaults and bounds of the options.
const (
	MinRuns         = 9
	DefaultRuns     = 15
	DefaultDriver   = "em"
	DefaultDuration = 40 * time.Millisecond
	minDuration     = time.Millisecond
	maxProducers    = 64
)

// oversubscribed are the producer counts that Oversubscribe adds.
var oversubscribed = []int{8, 16}

// normalize fills the defaults in and checks the rest.
func (o *TxOptions) normalize() error {
	cpus := runtime.NumCPU()
	if len(o.Producers) == 0 {
		for n := 1; n <= cpus; n *= 2 {
			o.Producers = append(o.Producers, n)
		}
	}
	if o.Oversubscribe {
		o.Producers = append(slices.Clone(o.Producers), oversubscribed...)
	}
	slices.Sort(o.Producers)
	o.Producers = slices.Compact(o.Producers)
	if o.Producers[0] < 1 || o.Producers[len(o.Producers)-1] > maxProducers {
		return fmt.Errorf("producers must be 1 to %d", maxProducers)
	}
	if o.Runs == 0 {
		o.Runs = DefaultRuns
	}
	if o.Duration == 0 {
		o.Duration = DefaultDuration
	}
	if o.Runs < 1 || o.Duration < minDuration {
		return fmt.Errorf("at least one run of at least %v is needed", minDuration)
	}
	if o.MMIONs < 0 {
		return fmt.Errorf("mmio cost %d ns is negative", o.MMIONs)
	}
	if o.Driver == "" {
		o.Driver = DefaultDriver
	}
	if len(o.OnDrop) == 0 {
		o.OnDrop = []OnDrop{DropPacket, RetryPacket}
	}
	for _, d := range o.OnDrop {
		if d != DropPacket && d != RetryPacket {
			return fmt.Errorf("on-drop %q is neither %s nor %s", d, DropPacket, RetryPacket)
		}
	}
	arms, err := o.arms()
	for _, a := range arms {
		for name := range a.path.tunables(o.Driver + ".0") {
			if _, ok := a.variant.Env[name]; ok {
				return fmt.Errorf("%s is set by path %s", name, a.path.Name)
			}
		}
	}
	return err
}

// arms are what is run: each path with each variant. Those of a path are neighbours.
func (o *TxOptions) arms() (arms []arm, err error) {
	paths, err := o.paths()
	variants := o.Variants
	if len(variants) == 0 {
		variants = []Variant{{}}
	}
	for _, p := range paths {
		for _, v := range variants {
			arms = append(arms, arm{p, v})
		}
	}
	return arms, err
}

// paths returns the paths asked for in table order, the baseline among them if they are
// compared.
func (o *TxOptions) paths() ([]Path, error) {
	compared := len(o.Variants) == 0
	switch {
	case len(o.Paths) == 0 && compared:
		return paths, nil
	case len(o.Paths) == 0:
		return []Path{{}}, nil
	}
	want := map[string]bool{BaselinePath: compared}
	for _, name := range o.Paths {
		if !slices.Contains(PathNames(), name) {
			return nil, fmt.Errorf("unknown path %q: the paths are %s", name, strings.Join(PathNames(), ", "))
		}
		want[name] = true
	}
	var out []Path
	for _, p := range paths {
		if want[p.Name] {
			out = append(out, p)
		}
	}
	return out, nil
}

// env is the whole kernel environment of an arm's machine.
func (o *TxOptions) env(a arm) map[string]string {
	hint := "hint." + o.Driver + ".0."
	env := map[string]string{
		hint + "at":   "pci0:2:0:0",
		hint + "port": "null",
		"dev." + o.Driver + ".0.iflib.override_ntxqs": "1",
		"dev." + o.Driver + ".0.iflib.override_nrxqs": "1",
	}
	if o.Engine != "" {
		env[hint+"engine"] = o.Engine
	}
	if o.MMIONs != 0 {
		env[hint+"mmio_ns"] = strconv.Itoa(o.MMIONs)
	}
	if o.Lock != "" {
		env["hw.ifsim.lock"] = o.Lock
	}
	maps.Copy(env, a.path.tunables(o.Driver+".0"))
	maps.Copy(env, a.variant.Env)
	return env
}
