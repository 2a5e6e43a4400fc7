package inet

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"testing"

	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// FuzzInput gives a frame, cut at the given places, to a router: no panic, and once
// everything that waits has timed out, no mbuf is left. What the input made of the frame
// is decoded again by whoever receives it: every frame sent has a link header.
func FuzzInput(f *testing.F) {
	opts := []byte{7, 7, 4, 0, 0, 0, 0, 0}
	f.Add(echo4(f, "198.51.100.7", "198.51.100.1", 33), byte(14), byte(3), byte(repairSums))
	f.Add(arpFrame(f, 1, peerMAC, ifnet.EtherBroadcast, "198.51.100.9", macAddr{}, "198.51.100.1"), byte(0), byte(0), byte(repairSums))
	f.Add(arpFrame(f, 2, peerMAC, ownMAC, "198.51.100.9", ownMAC, "198.51.100.1"), byte(20), byte(1), byte(repairSums))
	f.Add(udp4(f, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 18), byte(14), byte(20), byte(repairSums))
	f.Add(udp4(f, ipv4("198.51.100.7", "192.0.2.77", layers.IPProtocolUDP), 900), byte(0), byte(0), byte(repairSums))
	f.Add(udp4(f, ipv4("198.51.100.7", "203.0.113.1", layers.IPProtocolUDP), 18), byte(0), byte(0), byte(repairSums))
	f.Add(append(udp4(f, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 0), opts...), byte(0), byte(0), byte(repairSums))
	f.Add(echo6(f, ownMAC, peer6, own6, 20), byte(54), byte(3), byte(repairSums))
	f.Add(ns(f, peer6, own6, lladdr(1, peerMAC)...), byte(14), byte(40), byte(repairSums))
	f.Add(nd(f, icmp6NA, ownMAC, peer6, own6, 255, naSolicited, peer6, lladdr(2, peerMAC)...), byte(0), byte(0), byte(repairSums))
	f.Add(build(f, eth(peerMAC, ownMAC, layers.EthernetTypeIPv6), ipv6(peer6, own6, 0)), byte(0), byte(0), byte(repairSums))
	f.Fuzz(func(t *testing.T, frame []byte, first, second, mode byte) {
		r, in, out := router(t)
		r.must(AddAddr(in.Ifnet, prefix(own6+"/64")))
		out.SetMTU(600)
		r.advance(1)
		if len(frame) > 16000 {
			frame = frame[:16000]
		}
		if mode&repairSums != 0 {
			repair(frame)
		}
		for range 2 {
			// the first mbuf holds the link header, as a driver sees to
			m := r.packet(in, frame, max(int(first), 14), int(second))
			m.Pkt.CsumFlags = mbuf.CsumFlags(mode&trustSums) * (mbuf.CsumL3Calc | mbuf.CsumL3Valid)
			in.InputCache(r.c, m)
			r.k.RunUntilIdle()
		}
		for _, n := range []*nic{in, out} {
			for _, b := range n.frames {
				if len(b) < ifnet.EtherHdrLen {
					t.Fatalf("sent %x", b)
				}
			}
		}
		// A packet waits 20 s for a neighbour that does not answer, and then the error that its
		// sender is told of waits as long for the sender.
		const longest = 2 * 20
		r.advance(longest)
		r.noLeak()
	})
}

// Bits of FuzzInput's mode.
const (
	trustSums  = 1 // the hardware says that the header's checksum is right
	repairSums = 2 // checksums are made right, so that mutations get behind them
)

// repair corrects the checksums of an IPv4 header and of ICMP without options or extensions.
func repair(f []byte) {
	if len(f) < 34 {
		return
	}
	switch etype := binary.BigEndian.Uint16(f[12:]); {
	case etype == ifnet.EtherTypeIP:
		hlen := int(f[14]&hlenMask) * hlenUnit
		if hlen < ipHdrLen || len(f) < 14+hlen {
			return
		}
		h := f[14 : 14+hlen]
		h[10], h[11] = 0, 0
		binary.BigEndian.PutUint16(h[10:], headerSum(h))
		end := 14 + int(binary.BigEndian.Uint16(h[2:]))
		if icmp := 14 + hlen; h[9] == protoICMP && end <= len(f) && end >= icmp+icmpHdrLen {
			f[icmp+2], f[icmp+3] = 0, 0
			binary.BigEndian.PutUint16(f[icmp+2:], headerSum(f[icmp:end]))
		}
	case etype == ifnet.EtherTypeIPv6 && len(f) >= 14+ip6HdrLen+icmpHdrLen:
		h, n := f[14:14+ip6HdrLen], int(binary.BigEndian.Uint16(f[18:]))
		if h[6] == protoICMP6 && n >= icmpHdrLen && n <= len(f)-54 {
			f[56], f[57] = 0, 0
			binary.BigEndian.PutUint16(f[56:], ^fold(sumBytes(f[54:54+n])+pseudo6(h, n, protoICMP6)))
		}
	}
}

func TestWorkersForwardWhileTablesChange(t *testing.T) {
	r := newRigWith(t, kern.Config{NCPU: 2, Executor: kern.Threads, Clock: kern.ManualClock, Invariants: true})
	in := r.nic(0, ownMAC, "198.51.100.1/24")
	out := &nic{Ifnet: ifnet.Alloc(r.k, ifnet.TypeEther), r: r}
	out.InitName("em", 1)
	out.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	out.SetMethods(ifnet.Methods{
		Init:     func() { out.SetDrvFlags(ifnet.FlagRunning, 0) },
		Ioctl:    func(cmd ifnet.Ioctl, data any) error { return ifnet.EtherIoctl(out.Ifnet, cmd, data) },
		Transmit: func(m *mbuf.Mbuf) error { mbuf.FreeChain(m); return nil },
		QFlush:   func() {},
	})
	ifnet.EtherAttach(out.Ifnet, own2MAC)
	r.must(AddAddr(out.Ifnet, prefix("192.0.2.10/24")))
	r.set("net.inet.ip.forwarding", "1")
	frame := udp4(t, ipv4("198.51.100.7", "192.0.2.1", layers.IPProtocolUDP), 18)
	reply := arpFrame(t, 2, gwMAC, own2MAC, "192.0.2.1", own2MAC, "192.0.2.10")
	const packets = 2000
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			c := r.z.NewCache()
			defer c.Close()
			for range packets {
				m := c.DevGet(frame, 0, in.Ifnet)
				if m == nil {
					t.Error("famine")
					return
				}
				in.InputCache(c, m)
			}
		})
	}
	wg.Go(func() {
		c := r.z.NewCache()
		defer c.Close()
		for i := range 300 {
			out.InputCache(c, c.DevGet(reply, 0, out.Ifnet))
			_ = AddRoute(r.k, RouteReq{Prefix: prefix("203.0.113.0/24"), Gateway: ip("192.0.2.1")})
			_ = DelRoute(r.k, prefix("203.0.113.0/24"), netip.Addr{})
			ARPTable(r.k)
			if i%10 == 0 {
				_ = DelNeighbour(r.k, ip("192.0.2.1"))
				r.must(AddAddr(out.Ifnet, prefix("192.0.2.20/24")))
				r.must(DelAddr(out.Ifnet, ip("192.0.2.20")))
			}
		}
	})
	wg.Wait()
	_ = DelNeighbour(r.k, ip("192.0.2.1"))
	r.noLeak()
}
