package altqbench

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// sender is a flow's source on a wire: it offers what is due since the start, also what
// a nap of the host has delayed.
type sender struct {
	flow    *flow
	ifp     *ifnet.Ifnet
	pfil    *ifnet.PfilHead
	dst     [ifnet.EtherAddrLen]byte
	packet  []byte // IP
	offered atomic.Uint64
}

// newSender is the source of the i-th flow.
func newSender(f *flow, i int, nic *ifnet.Ifnet, pfil *ifnet.PfilHead, dst [ifnet.EtherAddrLen]byte) (*sender, error) {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IPv4(198, 51, 100, 2), DstIP: net.IPv4(198, 51, 100, 1)}
	udp := &layers.UDP{SrcPort: firstPort, DstPort: layers.UDPPort(firstPort + i)}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		return nil, err
	}
	const headers = ifnet.EtherHdrLen + 20 + 8 // IPv4 and UDP
	b := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		ip, udp, gopacket.Payload(make([]byte, f.frame()-headers)))
	if err != nil {
		return nil, err
	}
	return &sender{flow: f, ifp: nic, pfil: pfil, dst: dst, packet: b.Bytes()}, nil
}

// run sends until done.
func (s *sender) run(done <-chan struct{}) {
	const nap = time.Millisecond
	cache := s.ifp.Zones().NewCache()
	defer cache.Close()
	tick := time.NewTicker(nap)
	defer tick.Stop()
	perSecond := s.flow.mbps * mega / float64(s.flow.frame()*bitsPerByte)
	for start := time.Now(); ; {
		due := uint64(time.Since(start).Seconds() * perSecond)
		for s.offered.Load() < due && s.send(cache) {
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// send has one packet leave as the network layer would, through the packet filter's
// hook, and reports whether there was memory for it. What the queue refuses is in its
// account.
func (s *sender) send(c *mbuf.Cache) bool {
	m := c.Get3(len(s.packet), mbuf.FlagPktHdr)
	if m == nil {
		return false
	}
	m.SetLen(len(s.packet))
	copy(m.Bytes(), s.packet)
	m.Pkt.Len = int32(len(s.packet))
	s.offered.Add(1)
	m, verdict := s.pfil.Run(c, s.ifp, ifnet.PfilOut, ifnet.AFInet, m)
	if verdict == ifnet.PfilPass {
		_ = s.ifp.OutputTo(c, m, s.dst, ifnet.EtherTypeIP)
	}
	return true
}
