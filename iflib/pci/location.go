package pci

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// Largest numbers of a location.
const (
	maxDomain = 0xffff
	maxBus    = 0xff
	maxSlot   = 31
	maxFunc   = 7
)

// Location is the place of a function: domain, bus, slot, function.
type Location struct{ Domain, Bus, Slot, Func int }

// ParseLocation reads "pci0:2:0:0" (domain, bus, slot, function, as pciconf(8) selects),
// "pci2:0:0" (domain 0) or "pci2:0" (function 0 too). EINVAL otherwise.
func ParseLocation(s string) (Location, error) {
	bad := func() (Location, error) {
		return Location{}, fmt.Errorf("PCI location %q is not pciDOMAIN:BUS:SLOT:FUNCTION: %w", s, syscall.EINVAL)
	}
	rest, ok := strings.CutPrefix(s, "pci")
	if !ok {
		return bad()
	}
	parts := strings.Split(rest, ":")
	switch len(parts) {
	case 2:
		parts = []string{"0", parts[0], parts[1], "0"}
	case 3:
		parts = append([]string{"0"}, parts...)
	case 4:
	default:
		return bad()
	}
	var n [4]int
	for i, max := range [...]int{maxDomain, maxBus, maxSlot, maxFunc} {
		v, err := strconv.ParseUint(parts[i], 10, 16)
		if err != nil || int(v) > max {
			return bad()
		}
		n[i] = int(v)
	}
	return Location{n[0], n[1], n[2], n[3]}, nil
}

// String returns "pci0:2:0:0".
func (l Location) String() string {
	return fmt.Sprintf("pci%d:%d:%d:%d", l.Domain, l.Bus, l.Slot, l.Func)
}

func (l Location) valid() bool {
	in := func(v, max int) bool { return v >= 0 && v <= max }
	return in(l.Domain, maxDomain) && in(l.Bus, maxBus) && in(l.Slot, maxSlot) && in(l.Func, maxFunc)
}

// less orders locations as a probe of the bus meets them.
func (l Location) less(o Location) bool {
	a, b := [4]int{l.Domain, l.Bus, l.Slot, l.Func}, [4]int{o.Domain, o.Bus, o.Slot, o.Func}
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
