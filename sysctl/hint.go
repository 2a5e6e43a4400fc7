package sysctl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Shape of a device hint (spec ifnet 2.5).
const (
	hintPrefix  = "hint."
	hintNameLen = 32 // longest driver and resource name
	anyUnit     = -1 // wildcard unit
)

// hint is a parsed hint.<driver>.<unit>.<resource>=<value>.
type hint struct {
	driver   string
	unit     int
	resource string
	value    string
}

// parseHint splits an environment entry that starts with "hint.".
func parseHint(name, value string) (hint, bool) {
	driver, rest, ok := strings.Cut(strings.TrimPrefix(name, hintPrefix), ".")
	if !ok || driver == "" || len(driver) > hintNameLen {
		return hint{}, false
	}
	unitText, resource, ok := strings.Cut(rest, ".")
	if !ok || resource == "" || len(resource) > hintNameLen {
		return hint{}, false
	}
	unit, err := strconv.ParseInt(unitText, 10, 32)
	if err != nil || trimSpace(value) == "" {
		return hint{}, false
	}
	return hint{driver, int(unit), resource, value}, true
}

// hints calls fn for each well-formed hint in list order until it returns false.
func (e *Kenv) hints(fn func(hint) bool) {
	e.mu.Lock()
	entries := slices.Clone(e.entries)
	e.mu.Unlock()
	for _, v := range entries {
		if !strings.HasPrefix(v.name, hintPrefix) {
			continue
		}
		if h, ok := parseHint(v.name, v.value); ok && !fn(h) {
			return
		}
	}
}

// InvalidHints returns the kernel's message for each entry that starts with "hint." and is no hint.
func (e *Kenv) InvalidHints() (messages []string) {
	for _, entry := range e.All() {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, hintPrefix) {
			continue
		}
		if _, ok := parseHint(name, value); !ok {
			messages = append(messages, "CONFIG: invalid hint '"+entry+"'")
		}
	}
	return messages
}

// Hint looks up a device hint: the exact unit first, then unit -1 (resource_string_value).
func (e *Kenv) Hint(driver string, unit int, resource string) (string, bool) {
	var value string
	found := false
	for _, want := range []int{unit, anyUnit} {
		e.hints(func(h hint) bool {
			if h.driver == driver && h.unit == want && h.resource == resource {
				value, found = h.value, true
			}
			return !found
		})
		if found {
			break
		}
	}
	return value, found
}

// HintInt looks up a hint as a base-0 unsigned number cut to 32 bits
// (resource_int_value). ENOENT: absent; EFTYPE: not a number.
func (e *Kenv) HintInt(driver string, unit int, resource string) (int, error) {
	text, ok := e.Hint(driver, unit, resource)
	if !ok {
		return 0, fmt.Errorf("hint.%s.%d.%s: %w", driver, unit, resource, syscall.ENOENT)
	}
	n, ok := scanNumber(text)
	if !ok || n.rest != "" {
		return 0, fmt.Errorf("hint.%s.%d.%s=%q: %w", driver, unit, resource, text, EFTYPE)
	}
	v, _ := n.unsigned()
	return int(int32(v)), nil
}

// Hints returns the units, wildcard excluded, that any hint of driver names, ascending.
func (e *Kenv) Hints(driver string) []int {
	var units []int
	e.hints(func(h hint) bool {
		if h.driver == driver && h.unit >= 0 && !slices.Contains(units, h.unit) {
			units = append(units, h.unit)
		}
		return true
	})
	slices.Sort(units)
	return units
}

// HintDrivers returns the drivers that hints name, in list order.
func (e *Kenv) HintDrivers() []string {
	var drivers []string
	e.hints(func(h hint) bool {
		if !slices.Contains(drivers, h.driver) {
			drivers = append(drivers, h.driver)
		}
		return true
	})
	return drivers
}
