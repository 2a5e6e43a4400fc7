package ifnet

import "encoding/binary"

// Sizes of Ethernet in bytes (net/ethernet.h, spec ifnet 7).
const (
	EtherAddrLen      = 6
	EtherTypeLen      = 2
	EtherCRCLen       = 4
	EtherHdrLen       = 14
	EtherMinLen       = 64
	EtherMaxLen       = 1518
	EtherMaxLenJumbo  = 9018
	EtherVLANEncapLen = 4
	EtherVLANHdrLen   = EtherHdrLen + EtherVLANEncapLen
	EtherAlign        = 2
	EtherMTU          = 1500
	EtherMin          = 46
	EtherMTUJumbo     = 9000
)

// Polynomials of the Ethernet CRC.
const (
	EtherCRCPolyLE = 0xedb88320
	EtherCRCPolyBE = 0x04c11db6
)

// EtherTypes.
const (
	EtherTypeIP          uint16 = 0x0800
	EtherTypeARP         uint16 = 0x0806
	EtherTypeVLAN        uint16 = 0x8100
	EtherTypeIPv6        uint16 = 0x86dd
	EtherTypeFlowControl uint16 = 0x8808
	EtherTypeSlow        uint16 = 0x8809
	EtherTypeQinQ        uint16 = 0x88a8
	EtherTypeLLDP        uint16 = 0x88cc
)

// Fields of a VLAN tag's control information.
const (
	vlanVIDMask  = 0x0fff
	vlanPCPShift = 13
)

// VLANOfTag is the VLAN id of a tag (EVL_VLANOFTAG).
func VLANOfTag(tci uint16) uint16 { return tci & vlanVIDMask }

// PriorityOfTag is the 802.1p priority of a tag (EVL_PRIOFTAG).
func PriorityOfTag(tci uint16) uint8 { return uint8(tci >> vlanPCPShift) }

// MakeTag builds a tag of id and priority (EVL_MAKETAG).
func MakeTag(vid uint16, pcp uint8) uint16 { return vid&vlanVIDMask | uint16(pcp)<<vlanPCPShift }

// EtherBroadcast is the broadcast address.
var EtherBroadcast = [EtherAddrLen]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

const groupBit = 0x01

// IsMulticastMAC reports whether the address names a group, broadcast included.
func IsMulticastMAC(mac [EtherAddrLen]byte) bool { return mac[0]&groupBit != 0 }

const (
	macHighShift = 32
	packedBcast  = 0xffffffffffff
	packedGroup  = uint64(groupBit) << 40
)

// packMAC puts an address into a word, first byte highest.
func packMAC(mac []byte) uint64 {
	return uint64(binary.BigEndian.Uint16(mac))<<macHighShift | uint64(binary.BigEndian.Uint32(mac[EtherTypeLen:]))
}

func unpackMAC(w uint64) (mac [EtherAddrLen]byte) {
	binary.BigEndian.PutUint16(mac[:], uint16(w>>macHighShift))
	binary.BigEndian.PutUint32(mac[EtherTypeLen:], uint32(w))
	return mac
}
