package machine

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ifsim/ifsim/sysctl"
)

// devicesByPlace are units, by driver, each with the place that names it first.
type devicesByPlace map[string]map[int]string

// addDevice notes a name as "em0" of a driver that there is.
func (m *Machine) addDevice(d devicesByPlace, name, where string) {
	e, unit, ok := m.splitDevice(name)
	if !ok {
		return
	}
	units := d[e.Driver.Name]
	if units == nil {
		units = make(map[int]string)
		d[e.Driver.Name] = units
	}
	if _, ok := units[unit]; !ok {
		units[unit] = where
	}
}

// namedDevices are the devices that files name without a hint: variables of rc.conf and
// their values, tunables and sysctls below dev, and the packet filter's rules.
func (m *Machine) namedDevices() (devicesByPlace, error) {
	d := make(devicesByPlace)
	for _, v := range m.rc.Names() {
		for _, prefix := range [...]string{ifconfigPrefix, vlansPrefix} {
			if rest, ok := strings.CutPrefix(v, prefix); ok {
				name, _, _ := strings.Cut(rest, "_")
				m.addDevice(d, name, m.rc.Where(v))
			}
		}
		value, _ := m.rc.peek(v)
		for _, w := range nameWords(value) {
			m.addDevice(d, w, m.rc.Where(v))
		}
	}
	for _, s := range m.files.loader {
		m.addDevice(d, deviceOf(s.Name), place(s))
	}
	for name := range m.files.env {
		m.addDevice(d, deviceOf(name), "environment")
	}
	settings, err := m.sysctlSettings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		m.addDevice(d, deviceOf(s.name), s.where)
	}
	return d, m.addFilterDevices(d)
}

// addFilterDevices looks at the packet filter's rules, if it is enabled.
func (m *Machine) addFilterDevices(d devicesByPlace) error {
	if !m.rc.Yes("pf_enable") {
		return nil
	}
	file := m.under(m.pfRules())
	text, ok, err := m.files.read(file)
	if !ok || err != nil {
		return err
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		for _, w := range nameWords(line) {
			m.addDevice(d, w, fmt.Sprintf("%s:%d", file, number))
		}
	}
	return nil
}

// nameWords are the words of a text that may be names of interfaces; em0.5 begins with one.
func nameWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})
}

// sysctlSetting is a line of sysctl.conf.
type sysctlSetting struct {
	name, value string
	where       string // file and line
}

// sysctlSettings are the lines of the files that sysctl(8) reads.
func (m *Machine) sysctlSettings() (list []sysctlSetting, err error) {
	for _, file := range sysctlFiles {
		text, ok, err := m.files.read(file)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		lines, err := sysctl.ParseSysctlConf(strings.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, l := range lines {
			name, value, _ := strings.Cut(l.Arg, "=")
			list = append(list, sysctlSetting{strings.TrimSpace(name), strings.TrimSpace(value), fmt.Sprintf("%s:%d", file, l.Line)})
		}
	}
	return list, nil
}
