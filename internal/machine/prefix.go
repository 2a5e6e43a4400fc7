package machine

import (
	"net/netip"

	"github.com/ifsim/ifsim/internal/inaddr"
)

// lengthWords reads the pair of words that may follow an address, a keyword and its
// argument; not ok if it says no length.
func lengthWords(addr netip.Addr, word, arg string) (n int, ok bool) {
	switch word {
	case "prefixlen":
		return inaddr.PrefixLength(addr, arg)
	case "netmask":
		return inaddr.MaskLength(addr, arg)
	}
	return 0, false
}

// defaultBits is the prefix length of an address without one.
func defaultBits(addr netip.Addr) int { return inaddr.DefaultBits(addr) }
