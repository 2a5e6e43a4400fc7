package ifnet

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// maddr is a link-level group that the interface receives (struct ifmultiaddr).
type maddr struct {
	addr [EtherAddrLen]byte
	refs int
}

// ResolveMulti maps an IPv4 or IPv6 group to its link address (ether_resolvemulti):
// 01:00:5e and the low 23 bits, 33:33 and the low 32 bits. EADDRNOTAVAIL: not a group;
// EAFNOSUPPORT: no address.
func ResolveMulti(group netip.Addr) (mac [EtherAddrLen]byte, err error) {
	switch {
	case !group.IsValid():
		return mac, fmt.Errorf("resolving an empty group: %w", syscall.EAFNOSUPPORT)
	case !group.IsMulticast():
		return mac, fmt.Errorf("resolving group %s: %w", group, syscall.EADDRNOTAVAIL)
	}
	return mapMulticast(group), nil
}

const (
	ipv4GroupHigh = 0x7f // of the second byte of the address
	ipv6GroupLow  = 12   // first of the four bytes that are kept
)

func mapMulticast(group netip.Addr) [EtherAddrLen]byte {
	if group.Is4() {
		a := group.As4()
		return [EtherAddrLen]byte{0x01, 0x00, 0x5e, a[1] & ipv4GroupHigh, a[2], a[3]}
	}
	a := group.As16()
	mac := [EtherAddrLen]byte{0x33, 0x33}
	copy(mac[2:], a[ipv6GroupLow:])
	return mac
}

// AddMulti takes a reference on a link-level group (if_addmulti). A new one goes to the
// head of the list and the driver is asked to look; its answer does not count.
// EADDRNOTAVAIL: not a group; ENXIO: detached.
func (ifp *Ifnet) AddMulti(mac [EtherAddrLen]byte) error {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	if err := ifp.addMulti(mac); err != nil {
		return fmt.Errorf("adding group %s to %s: %w", formatMAC(mac), ifp.Name(), err)
	}
	return nil
}

// DelMulti gives back a reference; the last one removes the group and the driver is
// asked to look (if_delmulti). ENOENT: no such group; ENXIO: detached.
func (ifp *Ifnet) DelMulti(mac [EtherAddrLen]byte) error {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	if err := ifp.delMulti(mac); err != nil {
		return fmt.Errorf("removing group %s from %s: %w", formatMAC(mac), ifp.Name(), err)
	}
	return nil
}

func (ifp *Ifnet) addMulti(mac [EtherAddrLen]byte) error {
	if ifp.leaving {
		return syscall.ENXIO
	}
	if !IsMulticastMAC(mac) {
		return syscall.EADDRNOTAVAIL
	}
	list := slices.Clone(ifp.maddrs())
	if i := findMulti(list, mac); i >= 0 {
		list[i].refs++
		ifp.multi.Store(&list)
		return nil
	}
	list = slices.Insert(list, 0, maddr{mac, 1})
	ifp.multi.Store(&list)
	_ = ifp.driver(IoctlAddMulti, nil)
	return nil
}

func (ifp *Ifnet) delMulti(mac [EtherAddrLen]byte) error {
	if ifp.dead {
		return syscall.ENXIO
	}
	list := slices.Clone(ifp.maddrs())
	i := findMulti(list, mac)
	if i < 0 {
		return syscall.ENOENT
	}
	if list[i].refs--; list[i].refs > 0 {
		ifp.multi.Store(&list)
		return nil
	}
	list = slices.Delete(list, i, i+1)
	ifp.multi.Store(&list)
	_ = ifp.driver(IoctlDelMulti, nil)
	return nil
}

// multiRequest serves IoctlAddMulti and IoctlDelMulti, which do not count references
// upward: adding what is there is EADDRINUSE.
func (ifp *Ifnet) multiRequest(cmd Ioctl, req MultiReq) error {
	if ifp.Flags()&FlagMulticast == 0 {
		return syscall.EOPNOTSUPP
	}
	if req.Family != AFLink {
		return syscall.EINVAL
	}
	if cmd == IoctlDelMulti {
		return ifp.delMulti(req.Addr)
	}
	if findMulti(ifp.maddrs(), req.Addr) >= 0 {
		return syscall.EADDRINUSE
	}
	return ifp.addMulti(req.Addr)
}

func (ifp *Ifnet) maddrs() []maddr {
	if p := ifp.multi.Load(); p != nil {
		return *p
	}
	return nil
}

func findMulti(list []maddr, mac [EtherAddrLen]byte) int {
	return slices.IndexFunc(list, func(m maddr) bool { return m.addr == mac })
}

// Multiaddrs iterates over the link-level groups, newest first, as of the call
// (if_foreach_llmaddr): for mac := range ifp.Multiaddrs.
func (ifp *Ifnet) Multiaddrs(yield func(mac [EtherAddrLen]byte) bool) {
	for _, m := range ifp.maddrs() {
		if !yield(m.addr) {
			return
		}
	}
}

// MultiCount is the number of link-level groups (if_llmaddr_count).
func (ifp *Ifnet) MultiCount() int { return len(ifp.maddrs()) }

func formatMAC(mac [EtherAddrLen]byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5])
}
