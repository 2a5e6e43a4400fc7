package pktgen8

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/ifnet"
)

// Offsets of the fields of a frame that are written.
const (
	macAt       = ifnet.EtherAddrLen // source
	typeAt      = 2 * ifnet.EtherAddrLen
	ipAt        = ifnet.EtherHdrLen
	ip4LenAt    = 2 // of the IPv4 header
	ip4OffAt    = 6
	ip4TTLAt    = 8
	ip4ProtoAt  = 9
	ip4SumAt    = 10
	ip4SrcAt    = 12
	ip4DstAt    = 16
	ip6LenAt    = 4 // of the IPv6 header
	ip6NextAt   = 6
	ip6HopsAt   = 7
	ip6SrcAt    = 8
	ip6DstAt    = 24
	udpDstAt    = 2 // of the UDP header
	udpLenAt    = 4
	udpSumAt    = 6
	ip4First    = 0x45 // version and header length
	ip4LowDelay = 0x10 // IPTOS_LOWDELAY, as pkt-gen has it
	ip4DF       = 0x40
	ip6First    = 0x60
	ttl         = 64
)

// wheel is a field of a frame that counts through a range, as the wheel of an odometer.
type wheel struct {
	first, last, now uint64
	at, size         int // of the field in the frame, in bytes
}

// Wheels of a frame, the fastest first: the order in which pkt-gen walks a range. Those of
// stations, which pkt-gen has not, come last.
const (
	srcPort = iota
	srcAddr
	dstPort
	dstAddr
	srcStation
	dstStation
	nWheels
)

// frame is a frame whose addresses walk: Ethernet, IP, UDP and a payload of zeros, with
// lengths and checksums right. One goroutine.
type frame struct {
	bytes   []byte // of the longest
	size    int    // of the present one
	minSize int    // 0: all have the same size
	udpAt   int
	dataAt  int
	ipv6    bool
	wheels  [nWheels]wheel
	walks   bool // more than one flow, or size
	// dataSum is the sum over the payload, which ping writes.
	dataSum              uint16
	randomSrc, randomDst bool
	rand                 *rand.Rand
	flow                 uint32 // hash of addresses and ports
}

// newFrame makes the first frame of a walk. thread tells random numbers of threads apart.
func newFrame(p *settings, ways [nWheels]wheel, src, dst span, thread int) *frame {
	f := &frame{
		bytes: make([]byte, p.Size), size: p.Size, minSize: p.MinSize, dataAt: p.headers(), udpAt: p.headers() - hw.UDPHdrLen,
		ipv6: p.IPv6, wheels: ways, randomSrc: p.RandomSrc, randomDst: p.RandomDst,
		rand: rand.New(rand.NewPCG(0, uint64(thread))),
	}
	if p.IPv6 {
		f.ipv6Header(src, dst)
	} else {
		f.ipv4Header()
	}
	f.wheels[srcPort].at, f.wheels[dstPort].at = f.udpAt, f.udpAt+udpDstAt
	f.wheels[srcStation].at, f.wheels[dstStation].at = macAt, 0
	f.walks = f.randomSrc || f.randomDst || f.minSize > 0
	for i := range f.wheels {
		w := &f.wheels[i]
		f.turn(w, w.first)
		f.walks = f.walks || w.first != w.last
	}
	f.sum()
	return f
}

func (f *frame) ipv4Header() {
	binary.BigEndian.PutUint16(f.bytes[typeAt:], ifnet.EtherTypeIP)
	ip := f.bytes[ipAt:]
	ip[0], ip[1], ip[ip4OffAt] = ip4First, ip4LowDelay, ip4DF
	ip[ip4TTLAt], ip[ip4ProtoAt] = ttl, hw.ProtoUDP
	f.wheels[srcAddr].at, f.wheels[dstAddr].at = ipAt+ip4SrcAt, ipAt+ip4DstAt
}

func (f *frame) ipv6Header(src, dst span) {
	binary.BigEndian.PutUint16(f.bytes[typeAt:], ifnet.EtherTypeIPv6)
	ip := f.bytes[ipAt:]
	ip[0], ip[ip6NextAt], ip[ip6HopsAt] = ip6First, hw.ProtoUDP, ttl
	copy(ip[ip6SrcAt:], src.start.AsSlice())
	copy(ip[ip6DstAt:], dst.start.AsSlice())
	f.wheels[srcAddr].at = ipAt + ip6SrcAt + src.group*groupLen
	f.wheels[dstAddr].at = ipAt + ip6DstAt + dst.group*groupLen
}

// turn sets a wheel, cut to what its field holds.
func (f *frame) turn(w *wheel, v uint64) {
	v &= 1<<(bitsPerByte*w.size) - 1
	w.now = v
	for i := w.size - 1; i >= 0; i-- {
		f.bytes[w.at+i] = byte(v)
		v >>= bitsPerByte
	}
}

// next goes one step on the walk (update_addresses), and draws a size.
func (f *frame) next() {
	if !f.walks {
		return
	}
	f.step()
	if f.minSize > 0 {
		f.size = f.minSize + f.rand.IntN(len(f.bytes)-f.minSize)
	}
	f.sum()
}

// step turns the wheels. As pkt-gen does it, random addresses of a destination are drawn when
// the range of the source has come round.
func (f *frame) step() {
	for i := 0; i < nWheels; i++ {
		w := &f.wheels[i]
		switch {
		case i == srcPort && f.randomSrc || i == dstPort && f.randomDst:
			f.turn(w, f.rand.Uint64())
			f.turn(&f.wheels[i+1], f.rand.Uint64())
			i++
		case w.now < w.last:
			f.turn(w, w.now+1)
			return
		case w.now != w.first:
			f.turn(w, w.first)
		}
	}
}

// sum writes lengths, checksums and the flow's hash.
func (f *frame) sum() {
	ip, udp := f.bytes[ipAt:f.udpAt], f.bytes[f.udpAt:f.dataAt]
	n := f.size - f.udpAt
	binary.BigEndian.PutUint16(udp[udpLenAt:], uint16(n))
	binary.BigEndian.PutUint16(udp[udpSumAt:], 0)
	var pseudo uint16
	if f.ipv6 {
		binary.BigEndian.PutUint16(ip[ip6LenAt:], uint16(n))
		pseudo = hw.PseudoIPv6(ip, hw.ProtoUDP, n)
	} else {
		binary.BigEndian.PutUint16(ip[ip4LenAt:], uint16(f.size-ipAt))
		binary.BigEndian.PutUint16(ip[ip4SumAt:], 0)
		binary.BigEndian.PutUint16(ip[ip4SumAt:], ^hw.Sum(ip))
		pseudo = hw.PseudoIPv4(ip, hw.ProtoUDP, n)
	}
	sum := ^hw.AddSum(hw.AddSum(pseudo, hw.Sum(udp)), f.dataSum)
	if sum == 0 {
		sum = 0xffff // 0 would say that there is none (RFC 768)
	}
	binary.BigEndian.PutUint16(udp[udpSumAt:], sum)
	f.flow = f.hash()
}

// hash mixes addresses and ports: the same flow has the same hash, and its low bits spread.
func (f *frame) hash() uint32 {
	const (
		golden = 0x9e3779b97f4a7c15 // splitmix64's
		mix    = 0xbf58476d1ce4e5b9
		half   = 32
	)
	x := uint64(0)
	for i := range dstAddr + 1 {
		x = (x ^ f.wheels[i].now + golden) * mix
		x ^= x >> half
	}
	return uint32(x)
}

// data is the payload of the present frame.
func (f *frame) data() []byte { return f.bytes[f.dataAt:f.size] }
