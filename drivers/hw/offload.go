package hw

import (
	"encoding/binary"
	"errors"
)

// OffloadFlags is what a descriptor asks for, as bits.
type OffloadFlags uint8

// Requests.
const (
	TxVLAN  OffloadFlags = 1 << iota // insert TPID and TCI
	TxCsum0                          // insert checksum Csum[0], the IP header's
	TxCsum1                          // insert checksum Csum[1], layer 4
	TxTSO                            // cut by TSO; Csum is not looked at then
	TxPad                            // pad to MinFrame
)

// Offload is what is to be done to a packet on its way out.
type Offload struct {
	Flags     OffloadFlags
	TPID, TCI uint16
	Csum      [2]Csum
	TSO       TSO
}

// CsumKind is an algorithm.
type CsumKind uint8

// The algorithms.
const (
	CsumInternet CsumKind = iota // RFC 1071
	CsumUDP                      // RFC 1071 with 0 sent as 0xffff
	CsumCRC32c                   // SCTP
)

// Csum is a checksum to insert. Offsets are from the start of the packet as the driver
// gave it.
type Csum struct {
	Kind  CsumKind
	Zero  bool   // what stands in the field does not count (always so for CRC32c)
	Seed  uint16 // added to the sum: a pseudo header that the field does not hold
	Start int    // first byte summed
	End   int    // behind the last one; 0: end of packet
	Field int    // where the checksum goes
}

// ErrOffload is a request that hardware cannot carry out: a checksum field or a tag
// outside the packet. The packet is not sent.
var ErrOffload = errors.New("hw: offload request makes no sense")

// IPv4Csum is the request for the IPv4 header at l3, hlen bytes long. zero makes the
// field not count.
func IPv4Csum(l3, hlen int, zero bool) Csum {
	return Csum{Zero: zero, Start: l3, End: l3 + hlen, Field: l3 + ipCsum}
}

// TCPCsum, UDPCsum and SCTPCsum are the requests for a transport header at l4 to the
// end of the packet; the field holds the pseudo header's sum (not with SCTP).
func TCPCsum(l4 int) Csum { return Csum{Start: l4, Field: l4 + tcpCsum} }

// UDPCsum is described with TCPCsum.
func UDPCsum(l4 int) Csum { return Csum{Kind: CsumUDP, Start: l4, Field: l4 + udpCsum} }

// SCTPCsum is described with TCPCsum.
func SCTPCsum(l4 int) Csum { return Csum{Kind: CsumCRC32c, Start: l4, Field: l4 + sctpCsum} }

// fieldLen is the size of the field.
func (c *Csum) fieldLen() int {
	if c.Kind == CsumCRC32c {
		return crcBytes
	}
	return 2
}

// fits reports whether a packet of n bytes holds the field and the start.
func (c *Csum) fits(n int) bool {
	return c.Start >= 0 && c.Start <= n && c.Field >= 0 && c.Field <= n-c.fieldLen()
}

// insert computes the checksum over a packet of n bytes, given as a gather list that
// begins with hdr, and writes it into hdr, which holds the field.
func (c *Csum) insert(segs [][]byte, hdr []byte, n int) {
	end := n
	if c.End > 0 {
		end = min(c.End, n)
	}
	size := max(end-c.Start, 0)
	if c.Kind == CsumCRC32c {
		binary.LittleEndian.PutUint32(hdr[c.Field:], CRC32cGather(segs, c.Start, size, c.Field))
		return
	}
	if c.Zero {
		binary.BigEndian.PutUint16(hdr[c.Field:], 0)
	}
	sum := ^AddSum(SumGather(segs, c.Start, size), c.Seed)
	if sum == 0 && c.Kind == CsumUDP {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(hdr[c.Field:], sum)
}

// headLen returns how many bytes of a packet of n bytes have to be copied to carry out
// the request without TSO.
func (o *Offload) headLen(n int) (int, error) {
	head := 0
	for i := range o.Csum {
		if o.Flags&(TxCsum0<<i) == 0 {
			continue
		}
		c := &o.Csum[i]
		if !c.fits(n) {
			return 0, ErrOffload
		}
		head = max(head, c.Field+c.fieldLen())
	}
	if o.Flags&TxVLAN != 0 {
		if n < EtherHdrLen {
			return 0, ErrOffload
		}
		head = max(head, etherAddrs)
	}
	if head > MaxHeader {
		return 0, ErrOffload
	}
	return head, nil
}
