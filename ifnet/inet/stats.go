package inet

import "github.com/ifsim/ifsim/internal/kern"

// statSet is a set of counters with names (struct ipstat and its like). Any goroutine.
type statSet struct{ counters []*kern.Counter }

func newStatSet(n int) statSet {
	s := statSet{make([]*kern.Counter, n)}
	for i := range s.counters {
		s.counters[i] = kern.NewCounter()
	}
	return s
}

func (s *statSet) add(i int) { s.counters[i].Add(1) }

type stats struct{ ip, icmp, arp, ip6, icmp6 statSet }

func (s *stats) init() {
	s.ip, s.icmp, s.arp = newStatSet(len(ipStatNames)), newStatSet(len(icmpStatNames)), newStatSet(len(arpStatNames))
	s.ip6, s.icmp6 = newStatSet(len(ip6StatNames)), newStatSet(len(icmp6StatNames))
}

// Counters of IPv4 (struct ipstat).
const (
	ipTotal = iota
	ipBadSum
	ipTooSmall
	ipTooShort
	ipBadHlen
	ipBadLen
	ipBadVers
	ipBadAddr
	ipBadOptions
	ipFragments
	ipFragDropped
	ipForward
	ipCantForward
	ipDelivered
	ipLocalOut
	ipODropped
	ipNoRoute
	ipNoProto
	ipNotMember
	ipFragmented
	ipOFragments
	ipCantFrag
)

var ipStatNames = [...]string{"total", "badsum", "toosmall", "tooshort", "badhlen", "badlen", "badvers", "badaddr",
	"badoptions", "fragments", "fragdropped", "forward", "cantforward", "delivered", "localout", "odropped", "noroute",
	"noproto", "notmember", "fragmented", "ofragments", "cantfrag"}

// Counters of ICMP (struct icmpstat).
const (
	icmpError = iota
	icmpOldShort
	icmpOldICMP
	icmpTooShort
	icmpCheckSum
	icmpReflect
	icmpBmcastEcho
	icmpBadAddr
	icmpIgnored
	icmpLimited
	icmpNoMem
)

var icmpStatNames = [...]string{"error", "oldshort", "oldicmp", "tooshort", "checksum", "reflect", "bmcastecho",
	"badaddr", "ignored", "limited", "nomem"}

// Counters of ARP (struct arpstat).
const (
	arpTxRequests = iota
	arpTxReplies
	arpTxErrors
	arpRxRequests
	arpRxReplies
	arpReceived
	arpDropped
	arpTimeouts
	arpDupIPs
	arpBad
)

var arpStatNames = [...]string{"txrequests", "txreplies", "txerrors", "rxrequests", "rxreplies", "received", "dropped",
	"timeouts", "dupips", "bad"}

// Counters of IPv6 (struct ip6stat).
const (
	ip6Total = iota
	ip6TooSmall
	ip6TooShort
	ip6BadVers
	ip6BadScope
	ip6BadOptions
	ip6FragDropped
	ip6CantForward
	ip6Delivered
	ip6LocalOut
	ip6ODropped
	ip6NoRoute
	ip6NotMember
	ip6Disabled
	ip6NoProto
	ip6Forwarded
)

var ip6StatNames = [...]string{"total", "toosmall", "tooshort", "badvers", "badscope", "badoptions", "fragdropped",
	"cantforward", "delivered", "localout", "odropped", "noroute", "notmember", "disabled", "noproto",
	"forward"}

// Counters of ICMPv6 (struct icmp6stat).
const (
	icmp6Error = iota
	icmp6CantError
	icmp6TooFreq
	icmp6TooShort
	icmp6CheckSum
	icmp6Reflect
	icmp6BadNS
	icmp6BadNA
	icmp6Ignored
	icmp6NDDropped
	icmp6OutNS
	icmp6OutNA
	icmp6DADDup
	icmp6NoMem
)

var icmp6StatNames = [...]string{"error", "canterror", "toofreq", "tooshort", "checksum", "reflect", "badns", "badna",
	"ignored", "nd_dropped", "outns", "outna", "dad_duplicates", "nomem"}
