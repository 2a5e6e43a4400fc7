package hw

import (
	"hash/crc32"
	"math/bits"
)

// CRC32LE is the CRC-32 of an address with its bits as the wire has them, not
// complemented (ether_crc32_le): multicast hash filters take some of its bits.
func CRC32LE(mac [EtherAddrLen]byte) uint32 { return ^crc32.ChecksumIEEE(mac[:]) }

// CRC32BE is CRC32LE with the bits in reverse order (ether_crc32_be).
func CRC32BE(mac [EtherAddrLen]byte) uint32 { return bits.Reverse32(CRC32LE(mac)) }

// MTAHash returns the index of an address in the 4096-bit multicast table of Intel's
// NICs. mo is RCTL.MO or MCSTCTRL's offset type, 0..3, other bits ignored (spec 1g
// 5.3, spec 10g A7.2).
func MTAHash(mac [EtherAddrLen]byte, mo int) uint16 { return mtaBits(mac, mo, 4) & 0xfff }

// MTAHashICH is MTAHash for the 1024-bit table of the ich and pch parts.
func MTAHashICH(mac [EtherAddrLen]byte, mo int) uint16 { return mtaBits(mac, mo, 6) & 0x3ff }

// mtaBits are the last two bytes of the address as a little-endian number, shifted by
// a base less what mo selects.
func mtaBits(mac [EtherAddrLen]byte, mo, base int) uint16 {
	shifts := [4]int{0, 1, 2, 4}
	v := uint16(mac[4]) | uint16(mac[5])<<8
	return v >> (base - shifts[mo&3])
}
