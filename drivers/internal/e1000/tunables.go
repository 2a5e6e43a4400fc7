package e1000

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/ifsim/ifsim/sysctl"
)

// Tunable is one integer knob of hw.em or hw.igc (spec 1g 7.1).
type Tunable struct {
	Name    string
	Default int32
	Flags   sysctl.Flag // sysctl.RDTUN or RWTUN
	Descr   string
}

// Tunables returns the values of a driver class's knobs, by name, and makes the OIDs
// below hw.<class> if no device did before. The caller's attach is serialised with that
// of other devices. The knobs stay until the machine ends.
func Tunables(tree *sysctl.Tree, class string, table []Tunable) (map[string]int, error) {
	node := "hw." + class
	if _, err := tree.Lookup(node); err != nil {
		hw, err := tree.Lookup("hw")
		if err != nil {
			return nil, fmt.Errorf("adding %s: %w", node, err)
		}
		c := tree.NewCtx()
		parent := c.Node(hw, class, sysctl.RD, "Gigabit Ethernet driver parameters")
		for _, t := range table {
			v := new(atomic.Int32)
			v.Store(t.Default)
			c.Int(parent, t.Name, t.Flags, v, t.Descr)
		}
	}
	values := make(map[string]int, len(table))
	for _, t := range table {
		text, err := tree.Text(node + "." + t.Name)
		if err != nil {
			return nil, fmt.Errorf("reading %s.%s: %w", node, t.Name, err)
		}
		if values[t.Name], err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("reading %s.%s: %w", node, t.Name, err)
		}
	}
	return values, nil
}
