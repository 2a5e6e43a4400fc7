package ifconfig8

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

// bit is the name of bit n.
type bit struct {
	n    int
	name string
}

// flagBits are the interface flags (spec ifnet 6.2).
var flagBits = []bit{
	{0, "UP"}, {1, "BROADCAST"}, {2, "DEBUG"}, {3, "LOOPBACK"}, {4, "POINTOPOINT"}, {5, "NEEDSEPOCH"}, {6, "RUNNING"},
	{7, "NOARP"}, {8, "PROMISC"}, {9, "ALLMULTI"}, {10, "DRV_OACTIVE"}, {11, "SIMPLEX"}, {12, "LINK0"}, {13, "LINK1"},
	{14, "LINK2"}, {15, "MULTICAST"}, {16, "CANTCONFIG"}, {17, "PPROMISC"}, {18, "MONITOR"}, {19, "STATICARP"},
	{20, "STICKYARP"}, {21, "DYING"}, {22, "RENAMING"}, {23, "PALLMULTI"}, {24, "LOWER_UP"},
}

// capBits are the capabilities of both words (spec ifnet 6.3).
var capBits = []bit{
	{0, "RXCSUM"}, {1, "TXCSUM"}, {2, "NETCONS"}, {3, "VLAN_MTU"}, {4, "VLAN_HWTAGGING"}, {5, "JUMBO_MTU"}, {6, "POLLING"},
	{7, "VLAN_HWCSUM"}, {8, "TSO4"}, {9, "TSO6"}, {10, "LRO"}, {11, "WOL_UCAST"}, {12, "WOL_MCAST"}, {13, "WOL_MAGIC"},
	{14, "TOE4"}, {15, "TOE6"}, {16, "VLAN_HWFILTER"}, {17, "NV"}, {18, "VLAN_HWTSO"}, {19, "LINKSTATE"}, {20, "NETMAP"},
	{21, "RXCSUM_IPV6"}, {22, "TXCSUM_IPV6"}, {23, "HWSTATS"}, {24, "TXRTLMT"}, {25, "HWRXTSTMP"}, {26, "MEXTPG"},
	{27, "TXTLS4"}, {28, "TXTLS6"}, {29, "VXLAN_HWCSUM"}, {30, "VXLAN_HWTSO"}, {31, "TXTLS_RTLMT"},
	{32, "RXTLS4"}, {33, "RXTLS6"}, {34, "IPSEC"},
}

// nd6Bits are the flags of neighbour discovery (spec ifnet 12.1).
var nd6Bits = []bit{
	{0, "PERFORMNUD"}, {1, "ACCEPT_RTADV"}, {2, "PREFER_SOURCE"}, {3, "IFDISABLED"}, {4, "DONT_SET_IFROUTE"},
	{5, "AUTO_LINKLOCAL"}, {6, "NO_RADR"}, {7, "NO_PREFER_IFACE"}, {8, "NO_DAD"}, {15, "DEFAULTIF"},
}

// capWord is both words of a set of capabilities.
type capWord struct {
	one ifnet.Caps
	two ifnet.Caps2
}

// names are the names of the capabilities.
func (w capWord) names() []string {
	const secondWord = 32
	return bitNames(uint64(w.one)|uint64(w.two)<<secondWord, capBits, "IFCAPS")
}

// bitNames are the names of the bits of a word. Those without a name are unnamed_n.
func bitNames(word uint64, names []bit, unnamed string) []string {
	set := []string{}
	for n := 0; word>>n != 0; n++ {
		if word>>n&1 != 0 {
			set = append(set, bitName(n, names, unnamed))
		}
	}
	return set
}

func bitName(n int, names []bit, unnamed string) string {
	for _, b := range names {
		if b.n == n {
			return b.name
		}
	}
	return unnamed + "_" + strconv.Itoa(n)
}

// word is a number in hexadecimal with names of bits: "3<RXCSUM,TXCSUM>", "0" for none.
func word(hex uint32, names []string) string {
	if len(names) == 0 {
		return strconv.FormatUint(uint64(hex), 16)
	}
	return fmt.Sprintf("%x<%s>", hex, strings.Join(names, ","))
}
