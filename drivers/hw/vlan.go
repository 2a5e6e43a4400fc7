package hw

import "encoding/binary"

// Offsets and sizes in an Ethernet header.
const (
	EtherHdrLen  = 14 // ETHER_HDR_LEN
	VLANLen      = 4  // ETHER_VLAN_ENCAP_LEN: a tag
	etherAddrs   = 12 // both addresses: where a tag goes
	EtherAddrLen = 6  // ETHER_ADDR_LEN
)

// Tag types.
const (
	TPID8021Q  = 0x8100 // ETHERTYPE_VLAN
	TPID8021AD = 0x88a8 // ETHERTYPE_QINQ
)

// VLANMask is the VLAN number in a TCI.
const VLANMask = 0xfff

// Tag returns the TCI of a frame whose outer tag has the type given; a TCI of 0 is a
// tag too (cases 19, 39).
func Tag(frame []byte, tpid uint16) (tci uint16, ok bool) {
	if len(frame) < etherAddrs+VLANLen || binary.BigEndian.Uint16(frame[etherAddrs:]) != tpid {
		return 0, false
	}
	return binary.BigEndian.Uint16(frame[etherAddrs+2:]), true
}

// Strip takes the outer tag of the type given out of the frame that g holds, if there
// is one. To be called straight after Gather.Reset.
func (g *Gather) Strip(tpid uint16) (tci uint16, ok bool) {
	tci, ok = Tag(g.segs[0], tpid)
	if ok {
		g.Cut(etherAddrs, etherAddrs+VLANLen)
	}
	return tci, ok
}

// pushTag moves the addresses at b[VLANLen:] to the front of b and writes a tag after
// them: b has VLANLen bytes of room before the frame.
func pushTag(b []byte, tpid, tci uint16) {
	copy(b[:etherAddrs], b[VLANLen:VLANLen+etherAddrs])
	binary.BigEndian.PutUint16(b[etherAddrs:], tpid)
	binary.BigEndian.PutUint16(b[etherAddrs+2:], tci)
}
