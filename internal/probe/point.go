package probe

import (
	"fmt"
	"sync"
)

// MaxArgs is the number of arguments an event can carry.
const MaxArgs = 6

// ID names a point; its value depends on the order of initialisation and means
// nothing outside the process.
type ID uint32

// Point describes a trace point.
type Point struct {
	Provider string   // subsystem: "iflib", "ifnet", "em"
	Module   string   // device that fired; empty in the table
	Name     string   // "txd-encap"
	Args     []string // names of the arguments; further ones print as arg<n>
}

// String returns provider:module:name.
func (p Point) String() string { return p.Provider + ":" + p.Module + ":" + p.Name }

// table is the points of the process, indexed by ID. It grows only while packages
// initialise their variables and is constant from then on.
type table struct {
	mu     sync.RWMutex
	points []Point // guarded by mu
}

// defined is what the packages of this process can trace; not state of a machine.
var defined = new(table)

// Define adds a point to the table of the process and returns its number. It is
// called for package-level variables only. A point defined twice or with more
// than MaxArgs names is a mistake in the program and panics.
func Define(provider, name string, args ...string) ID {
	if len(args) > MaxArgs {
		panic(fmt.Sprintf("probe: %s::%s has more than %d arguments", provider, name, MaxArgs))
	}
	return defined.add(Point{Provider: provider, Name: name, Args: args})
}

func (t *table) add(p Point) ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.points {
		if q.Provider == p.Provider && q.Name == p.Name {
			panic(fmt.Sprintf("probe: %v is defined twice", p))
		}
	}
	t.points = append(t.points, p)
	return ID(len(t.points) - 1)
}

// Points returns the table, indexed by ID. The caller must not change it.
func Points() []Point {
	defined.mu.RLock()
	defer defined.mu.RUnlock()
	return defined.points[:len(defined.points):len(defined.points)]
}

// Point returns the description of id; one that Define did not return gives a
// point named by its number.
func (id ID) Point() Point {
	points := Points()
	if int(id) >= len(points) {
		return Point{Provider: "unknown", Name: fmt.Sprint(uint32(id))}
	}
	return points[id]
}
