package port

import (
	"fmt"
	"sort"
	"strings"
	"syscall"
)

// Kind is one kind of port, as its package describes it. Open gets what stands after
// the colon of a specification ("" without one); it must be safe for concurrent use.
type Kind struct {
	Name string
	Open func(arg string) (Port, error)
}

// Fabric opens ports by name. It is given to every machine of a process that shall see
// the same wires: a kind that joins ports (pair) keeps its names in the Kind value, so
// two fabrics share none. Immutable, safe for concurrent use.
type Fabric struct {
	kinds map[string]Kind
}

// NewFabric returns a fabric that knows the kinds given. Two kinds of one name panic.
func NewFabric(kinds ...Kind) *Fabric {
	f := &Fabric{kinds: make(map[string]Kind, len(kinds))}
	for _, k := range kinds {
		if _, dup := f.kinds[k.Name]; dup {
			panic("port: kind " + k.Name + " given twice")
		}
		f.kinds[k.Name] = k
	}
	return f
}

// Kinds returns the names of the kinds known, sorted.
func (f *Fabric) Kinds() []string {
	names := make([]string, 0, len(f.kinds))
	for n := range f.kinds {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Open opens the port that spec names: "null", "pair:wire0", "packet:eth1". The error
// of an unknown kind is ENODEV and lists the kinds there are.
func (f *Fabric) Open(spec string) (Port, error) {
	name, arg, _ := strings.Cut(spec, ":")
	kind, ok := f.kinds[name]
	if !ok {
		return nil, fmt.Errorf("opening port %q: unknown kind %q (known: %s): %w",
			spec, name, strings.Join(f.Kinds(), ", "), syscall.ENODEV)
	}
	p, err := kind.Open(arg)
	if err != nil {
		return nil, fmt.Errorf("opening port %q: %w", spec, err)
	}
	return p, nil
}
