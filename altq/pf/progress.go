package pf

import "github.com/ifsim/ifsim/altq/pf/conf"

// progress is how far one end of a connection has come (TCPS_*, PFUDPS_*, PFOTHERS_*).
type progress uint8

// Progress of TCP. The order counts.
const (
	tcpClosed progress = iota
	tcpSynSent
	tcpEstablished
	tcpClosing  // has sent FIN
	tcpFinWait2 // which the other has acknowledged
	tcpTimeWait // reset
)

// Progress of anything else.
const (
	silent   progress = iota
	single            // has sent
	multiple          // and the other has too
)

// timeout chooses how long a state stays without packets (PFTM_*).
type timeout uint8

// Timeouts, in the order of timeoutNames.
const (
	tmTCPFirst timeout = iota
	tmTCPOpening
	tmTCPEstablished
	tmTCPClosing
	tmTCPFinWait
	tmTCPClosed
	tmUDPFirst
	tmUDPSingle
	tmUDPMultiple
	tmICMPFirst
	tmICMPReply
	tmOtherFirst
	tmOtherSingle
	tmOtherMultiple
	numTimeouts
)

var timeoutNames = [numTimeouts]string{
	"tcp.first", "tcp.opening", "tcp.established", "tcp.closing", "tcp.finwait", "tcp.closed",
	"udp.first", "udp.single", "udp.multiple", "icmp.first", "icmp.error", "other.first", "other.single", "other.multiple",
}

// timeouts are seconds.
type timeouts [numTimeouts]uint32

func timeoutsOf(set map[string]uint32) *timeouts {
	var t timeouts
	for i, name := range timeoutNames {
		s, ok := set[name]
		if !ok {
			s = conf.DefaultTimeout(name)
		}
		t[i] = s
	}
	return &t
}

// begin sets a new state up by the packet that made it.
func (st *state) begin(pd *packet, from int) {
	switch pd.proto {
	case protoTCP:
		st.seen[from] = tcpSynSent
		st.timeout = tmTCPFirst
	case protoUDP:
		st.seen[from] = single
		st.timeout = tmUDPFirst
	case protoICMP, protoICMPv6:
		st.timeout = tmICMPFirst
	default:
		st.seen[from] = single
		st.timeout = tmOtherFirst
	}
}

// over reports whether a connection has ended and the packet begins another with the
// same ends.
func (st *state) over(pd *packet) bool {
	return pd.proto == protoTCP && pd.flags&(tcpSYN|tcpACK|tcpRST) == tcpSYN &&
		st.seen[0] >= tcpFinWait2 && st.seen[1] >= tcpFinWait2
}

// advance moves a state on by a packet of one end. TCP's sequence numbers are not looked
// at, as with FreeBSD's sloppy states (pf_tcp_track_sloppy).
func (st *state) advance(pd *packet, from int) {
	switch pd.proto {
	case protoTCP:
		st.advanceTCP(pd.flags, &st.seen[from], &st.seen[1-from])
	case protoUDP:
		st.timeout = st.exchange(from, tmUDPSingle, tmUDPMultiple)
	case protoICMP, protoICMPv6:
		st.timeout = tmICMPReply
	default:
		st.timeout = st.exchange(from, tmOtherSingle, tmOtherMultiple)
	}
}

// exchange moves on what has neither beginning nor end.
func (st *state) exchange(from int, one, both timeout) timeout {
	src, dst := &st.seen[from], &st.seen[1-from]
	*src = max(*src, single)
	if *dst == single {
		*dst = multiple
	}
	if *src == multiple && *dst == multiple {
		return both
	}
	return one
}

func (st *state) advanceTCP(flags uint8, src, dst *progress) {
	if flags&tcpSYN != 0 {
		*src = max(*src, tcpSynSent)
	}
	if flags&tcpFIN != 0 {
		*src = max(*src, tcpClosing)
	}
	if flags&tcpACK != 0 {
		switch {
		case *dst == tcpSynSent:
			*dst = tcpEstablished
		case *dst == tcpClosing:
			*dst = tcpFinWait2
		case *src == tcpSynSent && *dst < tcpSynSent:
			// The other end's packets go another way.
			*src, *dst = tcpEstablished, tcpEstablished
		}
	}
	if flags&tcpRST != 0 {
		*src, *dst = tcpTimeWait, tcpTimeWait
	}
	low, high := min(*src, *dst), max(*src, *dst)
	switch {
	case low >= tcpFinWait2:
		st.timeout = tmTCPClosed
	case low >= tcpClosing:
		st.timeout = tmTCPFinWait
	case low < tcpEstablished:
		st.timeout = tmTCPOpening
	case high >= tcpClosing:
		st.timeout = tmTCPClosing
	default:
		st.timeout = tmTCPEstablished
	}
}
