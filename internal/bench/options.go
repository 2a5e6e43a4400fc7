package bench

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options are what experiments have in common.
type Options struct {
	Runs     int           // rounds; at least MinRuns for a verdict
	Duration time.Duration // of one slice
	Paths    []string      // nil is all; the baseline is always run
	Driver   string        // of the NICs, "" is the experiment's default
	Engine   string        // "inline" or "thread"; "" is the port's default
	MMIONs   int           // nanoseconds of a posted register write
	Lock     string        // hw.ifsim.lock; "" is the default

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
	DefaultDuration = 40 * time.Millisecond
	minDuration     = time.Millisecond
)

// normalize fills the defaults in, for an experiment with a number of NICs, and checks the
// rest.
func (o *Options) normalize(driver string, nics int) error {
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
		o.Driver = driver
	}
	arms, err := o.arms()
	for _, a := range arms {
		for name := range a.path.tunables(o.devices(nics)) {
			if _, ok := a.variant.Env[name]; ok {
				return fmt.Errorf("%s is set by path %s", name, a.path.Name)
			}
		}
	}
	return err
}

// devices are the NICs as tunables name them.
func (o *Options) devices(nics int) []string {
	names := make([]string, nics)
	for i := range names {
		names[i] = fmt.Sprintf("%s.%d", o.Driver, i)
	}
	return names
}

// arms are what is run: each path with each variant. Those of a path are neighbours.
func (o *Options) arms() (arms []arm, err error) {
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

// baseOf is the arm that arm i is compared with: the first path's, or the first variant of
// the same path.
func (o *Options) baseOf(i int) int {
	if n := len(o.Variants); n > 0 {
		return i - i%n
	}
	return 0
}

// paths returns the paths asked for in table order, the baseline among them if they are
// compared.
func (o *Options) paths() ([]Path, error) {
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

// env is the whole kernel environment of an arm's machine, whose NICs have a number of
// queues each, both ways.
func (o *Options) env(a arm, nics, queues int) map[string]string {
	env := map[string]string{}
	for i, device := range o.devices(nics) {
		const firstBus = 2
		hint := "hint." + device + "."
		env[hint+"at"] = fmt.Sprintf("pci0:%d:0:0", firstBus+i)
		env[hint+"port"] = "null"
		env["dev."+device+".iflib.override_ntxqs"] = strconv.Itoa(queues)
		env["dev."+device+".iflib.override_nrxqs"] = strconv.Itoa(queues)
		if o.Engine != "" {
			env[hint+"engine"] = o.Engine
		}
		if o.MMIONs != 0 {
			env[hint+"mmio_ns"] = strconv.Itoa(o.MMIONs)
		}
	}
	if o.Lock != "" {
		env["hw.ifsim.lock"] = o.Lock
	}
	maps.Copy(env, a.path.tunables(o.devices(nics)))
	maps.Copy(env, a.variant.Env)
	return env
}
