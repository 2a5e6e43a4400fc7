package machine

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/ifsim/ifsim/ifnet"
)

// AddrAssigner is who gives interfaces the addresses of rc.conf (SIOCAIFADDR,
// SIOCAIFADDR_IN6): the network layer of the machine.
type AddrAssigner interface {
	AddAddr(ifp *ifnet.Ifnet, p netip.Prefix) error
}

// addrBook is the network layer of a machine without one: it writes addresses down
// and tells the driver, which brings the interface up (in_ifinit).
type addrBook struct {
	mu     sync.Mutex
	addrs  map[*ifnet.Ifnet][]netip.Prefix // guarded by mu
	inet6s map[*ifnet.Ifnet][]string       // guarded by mu: words of inet6 without effect here
}

var _ AddrAssigner = (*addrBook)(nil)

func newAddrBook() *addrBook {
	return &addrBook{addrs: make(map[*ifnet.Ifnet][]netip.Prefix), inet6s: make(map[*ifnet.Ifnet][]string)}
}

// AddAddr writes the address down, once.
func (b *addrBook) AddAddr(ifp *ifnet.Ifnet, p netip.Prefix) error {
	family := ifnet.AFInet
	if p.Addr().Is6() {
		family = ifnet.AFInet6
	}
	if err := ifp.Ioctl(ifnet.IoctlSetAddr, ifnet.AddrReq{Family: family, Addr: p}); err != nil {
		return fmt.Errorf("%s: adding %v: %w", ifp.Name(), p, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.addrs[ifp], p) {
		b.addrs[ifp] = append(b.addrs[ifp], p)
	}
	return nil
}

func (b *addrBook) addOption(ifp *ifnet.Ifnet, word string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inet6s[ifp] = append(b.inet6s[ifp], word)
}

// forget drops what is known of an interface that goes away.
func (b *addrBook) forget(ifp *ifnet.Ifnet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.addrs, ifp)
	delete(b.inet6s, ifp)
}

// Addrs are the addresses that rc.conf gave an interface, in its order.
func (m *Machine) Addrs(name string) []netip.Prefix {
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	return slices.Clone(m.book.addrs[m.Ifnet(name)])
}

// Inet6Options are the words of ifconfig's inet6 family that rc.conf has for an
// interface, "accept_rtadv" and the like: kept for the network layer.
func (m *Machine) Inet6Options(name string) []string {
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	return slices.Clone(m.book.inet6s[m.Ifnet(name)])
}
