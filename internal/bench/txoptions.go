package bench

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
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

	// Progress, if set, hears how many slices of how many are done.
	Progress func(done, total int)
}

// Defaults and bounds of the options.
const (
	MinRuns         = 9
	DefaultRuns     = 15
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
		o.Driver = "em"
	}
	if len(o.OnDrop) == 0 {
		o.OnDrop = []OnDrop{DropPacket, RetryPacket}
	}
	for _, d := range o.OnDrop {
		if d != DropPacket && d != RetryPacket {
			return fmt.Errorf("on-drop %q is neither %s nor %s", d, DropPacket, RetryPacket)
		}
	}
	_, err := o.paths()
	return err
}

// paths returns the paths asked for, the baseline among them, in table order.
func (o *TxOptions) paths() ([]Path, error) {
	if len(o.Paths) == 0 {
		return paths, nil
	}
	want := map[string]bool{BaselinePath: true}
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

// env is the whole kernel environment of a machine for path p.
func (o *TxOptions) env(p Path) map[string]string {
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
	maps.Copy(env, p.tunables(o.Driver+".0"))
	return env
}
