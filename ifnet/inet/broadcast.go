package inet

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
)

// broadcast is the broadcast address of an IPv4 address's network: the one that was given,
// else what follows from the prefix, and that of everybody for /31. mu is held.
func (a *ifaddr) broadcast() netip.Addr {
	if a.bcast.IsValid() {
		return a.bcast
	}
	if a.prefix.Bits() == p2pBits4 {
		return netip.AddrFrom4([4]byte{0xff, 0xff, 0xff, 0xff})
	}
	b := a.prefix.Addr().As4()
	host := ^uint32(maskOf(a.prefix.Bits()).hi >> ipv4Bits)
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])|host)
	return netip.AddrFrom4(b)
}

// SetBroadcast gives the network of an interface's IPv4 address another broadcast address
// than the one that follows from its prefix (SIOCSIFBRDADDR). AddAddr of the address undoes
// it. EADDRNOTAVAIL: the interface does not have the address; EINVAL: it is not IPv4, or
// the other one is not.
func SetBroadcast(ifp *ifnet.Ifnet, addr, broadcast netip.Addr) error {
	s, err := stackOf(ifp.Kernel())
	if err == nil {
		err = s.setBroadcast(ifp, addr, broadcast)
	}
	if err != nil {
		return fmt.Errorf("setting broadcast address %s of %s on %s: %w", broadcast, addr, ifp.Name(), err)
	}
	return nil
}

func (s *stack) setBroadcast(ifp *ifnet.Ifnet, addr, broadcast netip.Addr) error {
	if !addr.Is4() || !broadcast.Is4() {
		return syscall.EINVAL
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.iface(ifp)
	if i == nil {
		return syscall.EADDRNOTAVAIL
	}
	a := i.find(addr)
	if a == nil {
		return syscall.EADDRNOTAVAIL
	}
	a.bcast = broadcast
	s.rebuild()
	return nil
}
