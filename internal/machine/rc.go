package machine

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

// Files of the rc scripts, in the order in which they are read.
var (
	rcFiles     = [...]string{"etc/rc.conf", "etc/rc.conf.local"}
	sysctlFiles = [...]string{"etc/sysctl.conf", "etc/sysctl.conf.local"}
)

// readRC reads the variables; nothing is done with them yet.
func (m *Machine) readRC() error {
	m.rc = NewRCConf()
	for _, file := range rcFiles {
		text, ok, err := m.files.read(file)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		warnings, err := m.rc.Read(file, strings.NewReader(text))
		if err != nil {
			return err
		}
		for _, w := range warnings {
			m.warnf("%s", w)
		}
	}
	return nil
}

// startRC runs what the rc scripts sysctl, netif, pf, routing, static_arp, static_ndp and
// sysctl_lastload do. OIDs that do not exist are no matter for the first of them (spec
// ifnet 5.1).
func (m *Machine) startRC() error {
	if err := m.sysctlConf("-i", "-f"); err != nil {
		return err
	}
	m.startClones()
	for _, ifp := range ifnet.List(m.k) {
		m.startInterface(ifp)
	}
	m.unclaimed()
	if err := m.startPF(); err != nil {
		return err
	}
	m.startForwarding()
	m.startNetwork()
	return m.sysctlConf("-f")
}

// startNetwork enters the static routes and neighbours of rc.conf. Those that are there
// already stay.
func (m *Machine) startNetwork() {
	m.startRoutes()
	m.startNeighbours()
}

// rcf warns of something that a variable of rc.conf asks for.
func (m *Machine) rcf(variable, format string, a ...any) {
	m.rc.Get(variable) // it is dealt with
	m.warnf("%s: %s: %s", m.rc.Where(variable), variable, fmt.Sprintf(format, a...))
}

// sysctlConf has sysctl(8) read the files. What it complains of is a warning, and
// what it prints is discarded, as rc does.
func (m *Machine) sysctlConf(args ...string) error {
	for _, file := range sysctlFiles {
		text, ok, err := m.files.read(file)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		var stderr bytes.Buffer
		c := sysctl8.Command{Tree: m.k.Sysctl, Stdout: io.Discard, Stderr: &stderr}
		c.Open = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
		c.Run(append(slices.Clone(args), "/"+file))
		for line := range strings.Lines(stderr.String()) {
			m.warnf("%s: %s", file, strings.TrimSuffix(line, "\n"))
		}
	}
	return nil
}
