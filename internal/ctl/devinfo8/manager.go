package devinfo8

import (
	"cmp"
	"fmt"
	"slices"
)

// span is a range of a resource, both ends included.
type span struct {
	first, last uint64
	owner       *device // nil: nobody's
}

// nobody stands where an owner's name would.
const nobody = "----"

// ownerText is the name of who has a range, [nobody] without.
func (s span) ownerText() string {
	if s.owner == nil || s.owner.name == "" {
		return nobody
	}
	return s.owner.name
}

// manager is a resource manager (struct rman): what it gives out, and who has it.
type manager struct {
	name  string
	hex   bool   // prints numbers in hexadecimal: has none or more than 1000 of them
	spans []span // what there is to give, ascending
	given []span
}

// give notes that a device has n of the resource from first on.
func (m *manager) give(d *device, first, n uint64) {
	m.given = append(m.given, span{first, first + n - 1, d})
}

// text is a range (print_resource).
func (m *manager) text(s span) string {
	format, to := "%d", "-%d"
	if m.hex {
		format, to = "0x%x", "-0x%x"
	}
	text := fmt.Sprintf(format, s.first)
	if s.last > s.first {
		text += fmt.Sprintf(to, s.last)
	}
	return text
}

// of are the ranges that a device has, in the order of their numbers.
func (m *manager) of(d *device) []span {
	var list []span
	for _, s := range m.sorted() {
		if s.owner == d {
			list = append(list, s)
		}
	}
	return list
}

func (m *manager) sorted() []span {
	return slices.SortedStableFunc(slices.Values(m.given), func(a, b span) int { return cmp.Compare(a.first, b.first) })
}

// all are the ranges that somebody has, with those between that nobody has.
func (m *manager) all() []span {
	var list []span
	given := m.sorted()
	for _, free := range m.spans {
		next := free.first
		for len(given) > 0 && given[0].first <= free.last {
			s := given[0]
			given = given[1:]
			if s.first > next {
				list = append(list, span{first: next, last: s.first - 1})
			}
			list = append(list, s)
			next = max(next, s.last+1)
		}
		if next <= free.last {
			list = append(list, span{first: next, last: free.last})
		}
	}
	return append(list, given...)
}
