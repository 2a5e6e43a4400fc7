package netdissect

import "strings"

// flag is the name of a bit.
type flag struct {
	bit  uint32
	name string
}

// bits are the names of the bits of v, "none" if there is none (bittok2str).
func bits(v uint32, sep string, flags ...flag) string {
	var names []string
	for _, f := range flags {
		if v&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, sep)
}
