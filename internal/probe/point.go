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

// table holds the points of the process. It grows only while packages initialise.
var table struct {
	sync.RWMutex
	points []Point
}

// Define adds a point to the table of the process and returns its number. It is
// called for package-level variables only. A point defined twice or with more
// than MaxArgs names is a mistake in the program and panics.
func Define(provider, name string, args ...string) ID {
	if len(args) > MaxArgs {
		panic(fmt.Sprintf("probe: %s::%s has more than %d arguments", provider, name, MaxArgs))
	}
	table.Lock()
	defer table.Unlock()
	for _, p := range table.points {
		if p.Provider == provider && p.Name == name {
			panic(fmt.Sprintf("probe: %v is defined twice", p))
		}
	}
	table.points = append(table.points, Point{Provider: provider, Name: name, Args: args})
	return ID(len(table.points) - 1)
}

// Points returns the table, indexed by ID.
func Points() []Point {
	table.RLock()
	defer table.RUnlock()
	return table.points[:len(table.points):len(table.points)]
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
