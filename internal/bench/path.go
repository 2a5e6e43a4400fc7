package bench

import (
	"strings"

	"github.com/ifsim/ifsim/internal/machine"
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

// tunables are the path's tunables for devices such as "em.0".
func (p Path) tunables(devices []string) map[string]string {
	env := map[string]string{}
	for name, value := range p.env {
		for _, device := range devices {
			env[strings.Replace(name, "%s", device, 1)] = value
		}
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
