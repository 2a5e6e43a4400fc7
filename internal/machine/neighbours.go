package machine

import (
	"errors"
	"net/netip"
	"syscall"

	"github.com/ifsim/ifsim/internal/ctl/arp8"
	"github.com/ifsim/ifsim/internal/ctl/ndp8"
)

// staticNeighbours is one of the rc scripts static_arp and static_ndp.
type staticNeighbours struct {
	tool   string // that the script runs
	prefix string // of the variables
	set    func(words []string) error
}

// startNeighbours runs static_arp and static_ndp.
func (m *Machine) startNeighbours() {
	for _, s := range [...]staticNeighbours{
		{"arp", "static_arp_", func(words []string) error { return arp8.Set(m.k, words, func(string) {}) }},
		{"ndp", "static_ndp_", func(words []string) error { return ndp8.Set(m.k, words) }},
	} {
		list, _ := m.rc.Get(s.prefix + "pairs")
		for _, name := range m.rc.shWords(list) {
			variable := s.prefix + rcInterface(name)
			value, ok := m.rc.Get(variable)
			if !ok {
				m.rcf(s.prefix+"pairs", "no %s", variable)
				continue
			}
			m.addNeighbour(s, variable, m.rc.shWords(value))
		}
	}
}

// addNeighbour runs arp -S or ndp -s with the words of a variable. One on the network of an
// interface that does not exist is skipped.
func (m *Machine) addNeighbour(s staticNeighbours, variable string, words []string) {
	const pair = 2
	if len(words) < pair {
		m.rcf(variable, "%s: an address and a link-level address are needed", s.tool)
		return
	}
	err := s.set(words)
	if err == nil {
		return
	}
	if ip, bad := netip.ParseAddr(words[0]); bad == nil && errors.Is(err, syscall.ENETUNREACH) {
		if ifname := m.onAbsent(ip); ifname != "" {
			m.skip(variable, ifname)
			return
		}
	}
	m.rcf(variable, "%s", complaint(s.tool, err))
}
