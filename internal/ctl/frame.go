package ctl

import (
	"encoding/binary"
	"net/netip"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/ifnet"
)

// Offsets in a generated frame.
const (
	ipAt      = ifnet.EtherHdrLen
	udpAt     = ipAt + hw.IPv4HdrLen
	payloadAt = udpAt + hw.UDPHdrLen
)

// What is in every generated frame. The addresses are those kept for benchmarks
// (RFC 2544), the port is the one of discard (RFC 863).
const (
	ipVersionIHL = 0x45
	ipTTL        = 64
	firstPort    = 2000
	discardPort  = 9
)

var (
	generatorAddr = netip.AddrFrom4([4]byte{198, 18, 0, 1})
	sinkAddr      = netip.AddrFrom4([4]byte{198, 19, 0, 1})
)

// newFrame makes a frame of size bytes without FCS: Ethernet, IPv4, UDP and a payload of
// zeros, lengths and checksums right. flow is added to the source port.
func newFrame(size, flow int, dst, src [ifnet.EtherAddrLen]byte) []byte {
	f := make([]byte, size)
	copy(f, dst[:])
	copy(f[ifnet.EtherAddrLen:], src[:])
	binary.BigEndian.PutUint16(f[2*ifnet.EtherAddrLen:], ifnet.EtherTypeIP)

	ip := f[ipAt:udpAt]
	ip[0] = ipVersionIHL
	binary.BigEndian.PutUint16(ip[2:], uint16(size-ipAt))
	ip[8] = ipTTL
	ip[9] = hw.ProtoUDP
	copy(ip[12:], generatorAddr.AsSlice())
	copy(ip[16:], sinkAddr.AsSlice())
	binary.BigEndian.PutUint16(ip[10:], ^hw.Sum(ip))

	udp := f[udpAt:]
	binary.BigEndian.PutUint16(udp[0:], uint16(firstPort+flow))
	binary.BigEndian.PutUint16(udp[2:], discardPort)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	sum := ^hw.AddSum(hw.PseudoIPv4(ip, hw.ProtoUDP, len(udp)), hw.Sum(udp))
	if sum == 0 {
		sum = 0xffff // 0 would say that there is none (RFC 768)
	}
	binary.BigEndian.PutUint16(udp[6:], sum)
	return f
}
