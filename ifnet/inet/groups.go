package inet

import (
	"net/netip"
	"slices"

	"github.com/ifsim/ifsim/ifnet"
)

// Groups are the multicast groups of a family that an interface with addresses is in,
// without repetition.
func Groups(ifp *ifnet.Ifnet, af ifnet.AF) (list []netip.Addr) {
	add := func(g netip.Addr) {
		if !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	for _, a := range Addrs(ifp) {
		switch addr := a.Prefix.Addr(); {
		case ifp.Type() == ifnet.TypeLoop || addr.Is4() != (af == ifnet.AFInet):
		case addr.Is4():
			add(allHosts4)
		default:
			add(allNodes6)
			add(solicitedNode(addr))
		}
	}
	return list
}
