// Package bitname spells the bits of a register or descriptor word by their names, for
// traces. FreeBSD's counterpart is the %b conversion of printf(9).
package bitname

import (
	"fmt"
	"strings"
)

// Bit names a bit, or several that are named together.
type Bit struct {
	Mask uint32
	Name string
}

// List lists the bits of w by name in the order of table, and in hexadecimal those that
// have no name. Of none it is "-". Pure.
func List(w uint32, table []Bit) string {
	var out []string
	for _, b := range table {
		if w&b.Mask != 0 {
			out = append(out, b.Name)
			w &^= b.Mask
		}
	}
	if w != 0 {
		out = append(out, fmt.Sprintf("%#x", w))
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, "|")
}
