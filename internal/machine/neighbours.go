package machine

import (
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/sysctl"
)

// staticNeighbours is one of the rc scripts static_arp and static_ndp.
type staticNeighbours struct {
	tool   string // that the script runs
	prefix string // of the variables
	family func(ip netip.Addr) bool
}

// startNeighbours runs static_arp and static_ndp.
func (m *Machine) startNeighbours() {
	for _, s := range [...]staticNeighbours{{"arp", "static_arp_", netip.Addr.Is4}, {"ndp", "static_ndp_", netip.Addr.Is6}} {
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

// addNeighbour runs arp -S or ndp -s with the words of a variable.
func (m *Machine) addNeighbour(s staticNeighbours, variable string, words []string) {
	const pair = 2
	if len(words) != pair {
		m.rcf(variable, "%s: an address and a link-level address are needed", s.tool)
		return
	}
	ip, err := netip.ParseAddr(words[0])
	if err != nil {
		m.rcf(variable, "%s: %s: bad value", s.tool, words[0])
		return
	}
	mac, err := net.ParseMAC(words[1])
	if err != nil || len(mac) != ifnet.EtherAddrLen {
		m.rcf(variable, "%s: invalid link-level address '%s'", s.tool, words[1])
		return
	}
	if !s.family(ip) {
		m.rcf(variable, "%s: %s: %s", s.tool, ip, sysctl.Strerror(syscall.EINVAL))
		return
	}
	err = inet.AddNeighbour(m.k, inet.NeighbourReq{Addr: ip, MAC: [ifnet.EtherAddrLen]byte(mac)})
	ifname := m.onAbsent(ip)
	switch {
	case err == nil:
	case errors.Is(err, syscall.ENETUNREACH) && ifname != "":
		m.skip(variable, ifname)
	case errors.Is(err, syscall.ENETUNREACH):
		m.rcf(variable, "%s: cannot intuit interface index and type for %s", s.tool, ip)
	case errors.Is(err, syscall.EEXIST):
		m.rcf(variable, "%s: set: can only proxy for %s", s.tool, ip)
	default:
		m.rcf(variable, "%s: %s: %s", s.tool, ip, sysctl.Strerror(err))
	}
}
