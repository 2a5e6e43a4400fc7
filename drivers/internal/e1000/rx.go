package e1000

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Available counts the packets that are complete from descriptor cidx on, up to
// budget+1 as FreeBSD's drivers do (spec 1g 4.5). done and last are DD and EOP in the
// second word of a descriptor, where all receive formats have them. Only DD descriptors
// are passed over, at most one lap; where more of them than a packet can have bring no
// end, that counts as a packet, so that the receive task comes and finds it. Any
// goroutine.
func Available(desc []uint64, cidx, budget int, done, last uint64) int {
	n := len(desc) / DescWords
	mask := n - 1
	cnt, frags := 0, 0
	for i := cidx; n > 0 && cnt <= budget; i, n = i+1, n-1 {
		w := atomic.LoadUint64(&desc[(i&mask)*DescWords+1])
		if w&done == 0 {
			break
		}
		frags++
		if w&last != 0 || frags > iflib.MaxRxSegs {
			cnt++
			frags = 0
		}
	}
	return cnt
}

// HashType is the meaning of a descriptor's RSS type (spec 1g 3.6). The UDP types are
// named only with udp set: FreeBSD's drivers report def for them.
func HashType(rss uint32, def mbuf.HashType, udp bool) mbuf.HashType {
	t := &rssTypes[rss&rssTypeMask]
	if t.hash == 0 || t.udp && !udp {
		return def
	}
	return t.hash
}

const rssTypeMask = 0xf // RXDADV_RSSTYPE_MASK

var rssTypes = [rssTypeMask + 1]struct {
	hash mbuf.HashType
	udp  bool
}{
	1: {hash: mbuf.HashRSSTCPIPv4},
	2: {hash: mbuf.HashRSSIPv4},
	3: {hash: mbuf.HashRSSTCPIPv6},
	4: {hash: mbuf.HashRSSIPv6Ex},
	5: {hash: mbuf.HashRSSIPv6},
	6: {hash: mbuf.HashRSSTCPIPv6Ex},
	7: {hash: mbuf.HashRSSUDPIPv4, udp: true},
	8: {hash: mbuf.HashRSSUDPIPv6, udp: true},
	9: {hash: mbuf.HashRSSUDPIPv6Ex, udp: true},
}
