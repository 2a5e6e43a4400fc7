package hw

import (
	"encoding/binary"
	"errors"
)

// MaxHeader bounds the headers of a frame that is to be segmented or changed: what the
// descriptor fields of the parts can say is below it (bnxt: 511 words).
const MaxHeader = 1024

const (
	maxIPLen = 0xffff // total length of IPv4, payload length of IPv6

	ipTotalLen = 2 // field offsets: IPv4
	ipID       = 4
	ipCsum     = 10
	ip6PayLen  = 4 // IPv6
	tcpSeq     = 4 // TCP
	tcpOffFlag = 12
	tcpCsum    = 16
	udpLength  = 4 // UDP
	udpCsum    = 6
	sctpCsum   = 8 // SCTP
)

// TCP flag bits that segmentation treats.
const (
	TCPFin = 0x01
	TCPPsh = 0x08
	TCPCwr = 0x80

	tcpFlagBits = 0xfff // what DTXTCPFLGL and H cover; above is the header length
)

// Masks that the flags of the first, the middle and the last segment are ANDed with on
// parts without registers for them: FIN and PSH only on the last, CWR only on the
// first (spec 10g A7.1, spec bnxt 11).
const (
	DefaultFirstFlags  = tcpFlagBits &^ (TCPFin | TCPPsh)
	DefaultMiddleFlags = tcpFlagBits &^ (TCPFin | TCPPsh | TCPCwr)
	DefaultLastFlags   = tcpFlagBits &^ TCPCwr
)

// ErrSegment is a segmentation request that hardware cannot carry out: no MSS, header
// offsets outside the packet, a segment that no IP length field can hold.
var ErrSegment = errors.New("hw: segmentation request makes no sense")

// TSO is a request to cut a packet into segments, as a descriptor or context says it.
type TSO struct {
	HdrLen int // bytes of all headers, tags included
	L3, L4 int // offsets of the IP and the TCP or UDP header
	MSS    int // payload bytes of a segment

	IPv6   bool
	UDP    bool // UDP segmentation: each segment is a datagram
	IPCsum bool // insert the IPv4 header checksum
	L4Csum bool // insert the TCP or UDP checksum
	Seeded bool // the checksum field holds the pseudo header's sum without length; else it is computed

	// IDMask are the bits of the IPv4 id that count, 0 for all (IPID_FMT: 0x7fff).
	IDMask uint16
	// Flag masks for the first, middle and last of several segments (see Default...).
	FirstFlags, MiddleFlags, LastFlags uint16
}

// Segmenter cuts packets, one after the other; the zero value is ready, one queue owns
// it. Begin takes a packet, Next yields the segments. It keeps slices of the packet
// until the last one.
type Segmenter struct {
	t    TSO
	hdr  [MaxHeader]byte
	segs [][]byte // what is left of the payload
	off  int      // bytes of segs[0] used
	left int      // payload bytes to come
	n    int      // segments made
	more bool

	id    uint16
	seq   uint32
	word  uint16 // TCP data offset and flags
	ipSum uint16 // IPv4 header without length, id, checksum
	l4Sum uint16 // pseudo header and L4 header without what changes
}

// Begin starts with a packet of which segs is the gather list. The error is
// ErrSegment; then there are no segments.
func (s *Segmenter) Begin(t *TSO, segs [][]byte) error {
	s.more = false
	l4min := TCPHdrLen
	if t.UDP {
		l4min = UDPHdrLen
	}
	ipmin := IPv4HdrLen
	if t.IPv6 {
		ipmin = IPv6HdrLen
	}
	switch {
	case t.MSS <= 0, t.HdrLen > MaxHeader,
		t.L3 < EtherHdrLen, t.L4 < t.L3+ipmin, t.HdrLen < t.L4+l4min:
		return ErrSegment
	}
	total := GatherLen(segs)
	if total < t.HdrLen {
		return ErrSegment
	}
	s.t, s.n, s.left = *t, 0, total-t.HdrLen
	ipLen := t.HdrLen - t.L3 + min(t.MSS, s.left)
	if t.IPv6 {
		ipLen -= IPv6HdrLen
	}
	if ipLen > maxIPLen {
		return ErrSegment
	}
	s.take(segs)
	s.prepare()
	s.more = true
	return nil
}

// take copies the headers and stands behind them in the gather list.
func (s *Segmenter) take(segs [][]byte) {
	got := 0
	for i, b := range segs {
		n := copy(s.hdr[got:s.t.HdrLen], b)
		got += n
		if got == s.t.HdrLen {
			s.segs, s.off = segs[i:], n
			return
		}
	}
}

// prepare sums what all segments have in common.
func (s *Segmenter) prepare() {
	t := &s.t
	ip, l4 := s.hdr[t.L3:t.L4], s.hdr[t.L4:t.HdrLen]
	s.id = binary.BigEndian.Uint16(ip[ipID:])
	if t.IDMask == 0 {
		t.IDMask = 0xffff
	}
	if !t.IPv6 && t.IPCsum {
		clear(ip[ipCsum : ipCsum+2])
		s.ipSum = SubSum(SubSum(Sum(ip), binary.BigEndian.Uint16(ip[ipTotalLen:])), s.id)
	}
	csum, proto := tcpCsum, uint8(ProtoTCP)
	if t.UDP {
		csum, proto = udpCsum, ProtoUDP
	} else {
		s.seq = binary.BigEndian.Uint32(l4[tcpSeq:])
		s.word = binary.BigEndian.Uint16(l4[tcpOffFlag:])
	}
	if !t.L4Csum {
		return
	}
	seed := binary.BigEndian.Uint16(l4[csum:])
	switch {
	case t.Seeded:
	case t.IPv6:
		seed = PseudoIPv6(ip, proto, 0)
	default:
		seed = PseudoIPv4(ip, proto, 0)
	}
	clear(l4[csum : csum+2])
	s.clearVarying(l4)
	s.l4Sum = AddSum(seed, Sum(l4))
}

// clearVarying zeroes the fields of the L4 header that Next writes, so that they are
// not in the common sum.
func (s *Segmenter) clearVarying(l4 []byte) {
	if s.t.UDP {
		clear(l4[udpLength : udpLength+2])
		return
	}
	clear(l4[tcpSeq : tcpSeq+4])
	clear(l4[tcpOffFlag : tcpOffFlag+2])
}

// More reports whether Next has another segment.
func (s *Segmenter) More() bool { return s.more }

// HdrLen returns the bytes of header that Next writes.
func (s *Segmenter) HdrLen() int { return s.t.HdrLen }

// Segments returns how many segments the packet makes in all.
func (s *Segmenter) Segments() int {
	rest := 0
	if s.more {
		rest = max((s.left+s.t.MSS-1)/s.t.MSS, 1)
	}
	return s.n + rest
}

// Next makes the next segment, which More has announced: it writes the headers into
// hdr, which must hold HdrLen bytes, appends the pieces of payload to payload and
// returns that list. The pieces are parts of the packet.
func (s *Segmenter) Next(hdr []byte, payload [][]byte) [][]byte {
	first := len(payload)
	size := min(s.t.MSS, s.left)
	payload = s.pieces(payload, size)
	last := s.left == 0
	hdr = hdr[:s.t.HdrLen]
	copy(hdr, s.hdr[:s.t.HdrLen])
	s.fixIP(hdr[s.t.L3:], size)
	var data uint16
	if s.t.L4Csum {
		data = SumGather(payload[first:], 0, size)
	}
	if s.t.UDP {
		s.fixUDP(hdr[s.t.L4:], size, data)
	} else {
		s.fixTCP(hdr[s.t.L4:], size, data, last)
	}
	s.n++
	s.more = !last
	return payload
}

// pieces appends the next size bytes of the payload.
func (s *Segmenter) pieces(dst [][]byte, size int) [][]byte {
	s.left -= size
	for size > 0 {
		b := s.segs[0][s.off:]
		if len(b) > size {
			dst = append(dst, b[:size:size])
			s.off += size
			break
		}
		if len(b) != 0 {
			dst = append(dst, b)
		}
		size -= len(b)
		s.segs, s.off = s.segs[1:], 0
	}
	return dst
}

func (s *Segmenter) fixIP(ip []byte, size int) {
	n := s.t.HdrLen - s.t.L3 + size
	if s.t.IPv6 {
		binary.BigEndian.PutUint16(ip[ip6PayLen:], uint16(n-IPv6HdrLen))
		return
	}
	mask := s.t.IDMask
	id := s.id&^mask | (s.id+uint16(s.n))&mask
	binary.BigEndian.PutUint16(ip[ipTotalLen:], uint16(n))
	binary.BigEndian.PutUint16(ip[ipID:], id)
	if s.t.IPCsum {
		binary.BigEndian.PutUint16(ip[ipCsum:], ^AddSum(AddSum(s.ipSum, uint16(n)), id))
	}
}

func (s *Segmenter) fixTCP(tcp []byte, size int, data uint16, last bool) {
	word := s.word & s.mask(last)
	seq := s.seq + uint32(s.n)*uint32(s.t.MSS)
	binary.BigEndian.PutUint32(tcp[tcpSeq:], seq)
	binary.BigEndian.PutUint16(tcp[tcpOffFlag:], word)
	if !s.t.L4Csum {
		return
	}
	sum := AddSum(AddSum(s.l4Sum, data), word)
	sum = AddSum(AddSum(sum, uint16(seq>>16)), uint16(seq))
	sum = AddSum(sum, uint16(s.t.HdrLen-s.t.L4+size))
	binary.BigEndian.PutUint16(tcp[tcpCsum:], ^sum)
}

// mask returns what the word of data offset and flags is ANDed with. A packet that
// makes one segment keeps its flags.
func (s *Segmenter) mask(last bool) uint16 {
	const offset = 0xffff &^ tcpFlagBits
	switch {
	case s.n == 0 && last:
		return 0xffff
	case s.n == 0:
		return offset | s.t.FirstFlags
	case last:
		return offset | s.t.LastFlags
	}
	return offset | s.t.MiddleFlags
}

func (s *Segmenter) fixUDP(udp []byte, size int, data uint16) {
	n := uint16(s.t.HdrLen - s.t.L4 + size)
	binary.BigEndian.PutUint16(udp[udpLength:], n)
	if !s.t.L4Csum {
		return
	}
	sum := ^AddSum(AddSum(s.l4Sum, data), AddSum(n, n)) // in the header and in the pseudo header
	if sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(udp[udpCsum:], sum)
}
