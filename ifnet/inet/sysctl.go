package inet

import (
	"math"
	"sync/atomic"

	"github.com/ifsim/ifsim/sysctl"
)

// knobs are the sysctls of the protocols; each is one atomic load.
type knobs struct {
	forwarding atomic.Int32
	ttl        atomic.Int32
	bmcastEcho atomic.Int32
	quoteLen   atomic.Int32
	icmpLimit  atomic.Int32

	arpMaxAge    atomic.Int32
	arpMaxTries  atomic.Int32
	arpWait      atomic.Int32
	arpMaxHold   atomic.Int32
	arpProxyAll  atomic.Int32
	arpMaxLog    atomic.Int32
	arpMulticast atomic.Int32
	logWrongIf   atomic.Int32
	logMoves     atomic.Int32
	logPermanent atomic.Int32

	forwarding6   atomic.Int32
	hopLimit      atomic.Int32
	autoLinkLocal atomic.Int32
	dadCount      atomic.Int32
	icmp6ErrLimit atomic.Int32
	nd6Delay      atomic.Int32
	nd6UMaxTries  atomic.Int32
	nd6MMaxTries  atomic.Int32
	nd6GCTimer    atomic.Int32
	nd6MaxHold    atomic.Int32
}

// Defaults.
const (
	defaultTTL       = 64
	defaultQuoteLen  = 548
	defaultICMPLimit = 200
	defaultMaxAge    = 20 * 60
	defaultMaxTries  = 5
	defaultWait      = 20
	defaultMaxHold   = 16
	defaultErrLimit6 = 100
	defaultNDDelay   = 5
	defaultNDTries   = 3
	defaultNDGC      = 24 * 60 * 60
)

func (n *knobs) init() {
	for p, v := range map[*atomic.Int32]int32{
		&n.ttl: defaultTTL, &n.quoteLen: defaultQuoteLen, &n.icmpLimit: defaultICMPLimit,
		&n.arpMaxAge: defaultMaxAge, &n.arpMaxTries: defaultMaxTries, &n.arpWait: defaultWait, &n.arpMaxHold: defaultMaxHold,
		&n.arpMaxLog: 1, &n.logWrongIf: 1, &n.logMoves: 1, &n.logPermanent: 1,
		&n.hopLimit: defaultTTL, &n.autoLinkLocal: 1, &n.dadCount: 1, &n.icmp6ErrLimit: defaultErrLimit6,
		&n.nd6Delay: defaultNDDelay, &n.nd6UMaxTries: defaultNDTries, &n.nd6MMaxTries: defaultNDTries,
		&n.nd6GCTimer: defaultNDGC, &n.nd6MaxHold: defaultMaxHold,
	} {
		p.Store(v)
	}
}

// Static numbers of FreeBSD's nodes: protocol families, protocols, interface types.
const (
	numInet   = 2
	numInet6  = 28
	numIP     = 0
	numICMP   = 1
	numIP6    = 41
	numICMP6  = 58
	numEther  = 6
	numEthInt = 2
)

func (s *stack) addSysctls() {
	c, n := s.k.Sysctl.StaticCtx(), &s.knobs
	node := func(parent *sysctl.OID, name string, number int32, descr string) *sysctl.OID {
		return c.Add(parent, sysctl.Spec{Name: name, Kind: sysctl.KindNode, Flags: sysctl.RW, Descr: descr, Static: true, Number: number})
	}
	network := c.Node(nil, "net", sysctl.RW, "")
	inet := node(network, "inet", numInet, "Internet Family")
	ip := node(inet, "ip", numIP, "IP")
	c.Int(ip, "forwarding", sysctl.RW, &n.forwarding, "Enable IP forwarding between interfaces")
	c.Int(ip, "ttl", sysctl.RW, &n.ttl, "Maximum TTL on IP packets")
	s.addStats(c, ip, ipStatNames[:], &s.stats.ip, "IP statistics")
	icmp := node(inet, "icmp", numICMP, "ICMP")
	c.Int(icmp, "bmcastecho", sysctl.RW, &n.bmcastEcho, "Reply to multicast ICMP Echo Request and Timestamp packets")
	c.Int(icmp, "quotelen", sysctl.RW, &n.quoteLen, "Number of bytes from original packet to quote in ICMP reply")
	c.Int(icmp, "icmplim", sysctl.RW, &n.icmpLimit, "Maximum number of ICMP responses per second")
	s.addStats(c, icmp, icmpStatNames[:], &s.stats.icmp, "ICMP statistics")

	ether := node(c.Node(network, "link", sysctl.RW, ""), "ether", numEther, "Ethernet")
	e := node(ether, "inet", numEthInt, "")
	c.Int(e, "max_age", sysctl.RW, &n.arpMaxAge, "ARP entry lifetime in seconds")
	c.Int(e, "maxtries", sysctl.RW, &n.arpMaxTries, "ARP resolution attempts before returning error")
	c.Int(e, "proxyall", sysctl.RW, &n.arpProxyAll, "Enable proxy ARP for all suitable requests")
	c.Int(e, "wait", sysctl.RW, &n.arpWait, "Incomplete ARP entry lifetime in seconds")
	c.Int(e, "maxhold", sysctl.RW, &n.arpMaxHold, "Number of packets to hold per ARP entry")
	c.Int(e, "max_log_per_second", sysctl.RW, &n.arpMaxLog, "Maximum number of remotely triggered ARP messages that can be logged per second")
	c.Int(e, "allow_multicast", sysctl.RW, &n.arpMulticast, "accept multicast addresses")
	c.Int(e, "log_arp_wrong_iface", sysctl.RW, &n.logWrongIf, "log arp packets arriving on the wrong interface")
	c.Int(e, "log_arp_movements", sysctl.RW, &n.logMoves, "log arp replies from MACs different than the one in the cache")
	c.Int(e, "log_arp_permanent_modify", sysctl.RW, &n.logPermanent, "log arp replies from MACs different than the one in the permanent arp entry")
	s.addStats(c, c.Node(ether, "arp", sysctl.RW, ""), arpStatNames[:], &s.stats.arp, "ARP statistics")

	inet6 := node(network, "inet6", numInet6, "Internet6 Family")
	ip6 := node(inet6, "ip6", numIP6, "IP6")
	c.Int(ip6, "forwarding", sysctl.RW, &n.forwarding6, "Enable forwarding of IPv6 packets between interfaces")
	c.Int(ip6, "hlim", sysctl.RW, &n.hopLimit, "Default hop limit to use for outgoing IPv6 packets")
	c.Int(ip6, "auto_linklocal", sysctl.RWTUN, &n.autoLinkLocal,
		"Default value of per-interface flag for automatically adding an IPv6 link-local address to interfaces when attached")
	c.Int(ip6, "dad_count", sysctl.RW, &n.dadCount, "Number of ICMPv6 NS messages sent during duplicate address detection")
	s.addStats(c, ip6, ip6StatNames[:], &s.stats.ip6, "IP6 statistics")
	icmp6 := node(inet6, "icmp6", numICMP6, "ICMP6")
	c.Int(icmp6, "errppslimit", sysctl.RW, &n.icmp6ErrLimit, "Maximum number of ICMPv6 error messages per second")
	c.Int(icmp6, "nd6_delay", sysctl.RW, &n.nd6Delay, "Delay in seconds before probing for reachability")
	c.Int(icmp6, "nd6_umaxtries", sysctl.RW, &n.nd6UMaxTries, "Number of ICMPv6 NS messages sent during reachability detection")
	c.Int(icmp6, "nd6_mmaxtries", sysctl.RW, &n.nd6MMaxTries, "Number of ICMPv6 NS messages sent during address resolution")
	c.Int(icmp6, "nd6_gctimer", sysctl.RW, &n.nd6GCTimer, "")
	c.Int(icmp6, "nd6_maxqueuelen", sysctl.RW, &n.nd6MaxHold, "")
	s.addStats(c, icmp6, icmp6StatNames[:], &s.stats.icmp6, "ICMPv6 statistics")
}

// addStats shows counters one by one where FreeBSD has an opaque structure.
func (s *stack) addStats(c *sysctl.Ctx, parent *sysctl.OID, names []string, set *statSet, descr string) {
	node := c.Node(parent, "stats", sysctl.RW, descr)
	for i, name := range names {
		c.Func(node, name, sysctl.RD|sysctl.Stats, sysctl.KindU64, set.counters[i].Load, "")
	}
}

// seconds is a knob of seconds in ticks, at least one and at most what a timer takes.
func (s *stack) seconds(v int32) int {
	return int(min(max(int64(v)*int64(s.k.Hz()), 1), math.MaxInt32))
}
