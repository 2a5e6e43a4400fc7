package machine

import (
	"net/netip"
	"slices"

	"github.com/ifsim/ifsim/ifnet/inet"
)

// Addrs are the addresses of an interface, IPv4 first; nil for an unknown name.
func (m *Machine) Addrs(name string) []netip.Prefix {
	ifp := m.Ifnet(name)
	if ifp == nil {
		return nil
	}
	var out []netip.Prefix
	for _, a := range inet.Addrs(ifp) {
		out = append(out, a.Prefix)
	}
	return out
}

// Inet6Options are the words of ifconfig's inet6 family that rc.conf has for an
// interface and that have no effect here, "accept_rtadv" and the like.
func (m *Machine) Inet6Options(name string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.inet6[name])
}

func (m *Machine) addInet6(name, word string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inet6[name] = append(m.inet6[name], word)
}

// renameInet6 keeps what is kept of an interface under its new name.
func (m *Machine) renameInet6(old, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if words, ok := m.inet6[old]; ok && old != name {
		delete(m.inet6, old)
		m.inet6[name] = words
	}
}

// forgetInet6 drops what is kept of an interface that goes away.
func (m *Machine) forgetInet6(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.inet6, name)
}
