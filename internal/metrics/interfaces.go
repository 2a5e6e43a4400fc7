package metrics

import (
	"net"

	"github.com/ifsim/ifsim/ifnet"
)

const bitsPerByte = 8

// ifCounters are the counters that every interface has (spec ifnet 6.5).
var ifCounters = []struct {
	family
	id ifnet.Counter
}{
	{counter("interface_receive_packets", unitPackets, "Packets received.", "IFCOUNTER_IPACKETS", labelInterface), ifnet.CounterIPackets},
	{counter("interface_receive_bytes", unitBytes, "Bytes received.", "IFCOUNTER_IBYTES", labelInterface), ifnet.CounterIBytes},
	{counter("interface_receive_multicast_packets", unitPackets, "Packets received for groups and for everybody.", "IFCOUNTER_IMCASTS", labelInterface), ifnet.CounterIMcasts},
	{counter("interface_receive_errors", unitPackets, "Packets that arrived broken.", "IFCOUNTER_IERRORS", labelInterface), ifnet.CounterIErrors},
	{counter("interface_receive_drops", unitPackets, "Packets dropped on the way in.", "IFCOUNTER_IQDROPS", labelInterface), ifnet.CounterIQDrops},
	{counter("interface_receive_unknown_protocol_packets", unitPackets, "Packets of a protocol that nobody takes.", "IFCOUNTER_NOPROTO", labelInterface), ifnet.CounterNoProto},
	{counter("interface_transmit_packets", unitPackets, "Packets sent.", "IFCOUNTER_OPACKETS", labelInterface), ifnet.CounterOPackets},
	{counter("interface_transmit_bytes", unitBytes, "Bytes sent.", "IFCOUNTER_OBYTES", labelInterface), ifnet.CounterOBytes},
	{counter("interface_transmit_multicast_packets", unitPackets, "Packets sent to groups and to everybody.", "IFCOUNTER_OMCASTS", labelInterface), ifnet.CounterOMcasts},
	{counter("interface_transmit_errors", unitPackets, "Packets that could not be sent.", "IFCOUNTER_OERRORS", labelInterface), ifnet.CounterOErrors},
	{counter("interface_transmit_drops", unitPackets, "Packets dropped on the way out.", "IFCOUNTER_OQDROPS", labelInterface), ifnet.CounterOQDrops},
	{counter("interface_collisions", unitTimes, "Collisions.", "IFCOUNTER_COLLISIONS", labelInterface), ifnet.CounterCollisions},
}

// ifGauges are what else is known of every interface.
var ifGauges = []reading[*ifnet.Ifnet]{
	{gauge("interface_up", unitTruth, "Whether the interface is marked up.", "IFF_UP", labelInterface),
		func(ifp *ifnet.Ifnet) float64 { return truth(ifp.Flags()&ifnet.FlagUp != 0) }},
	{gauge("interface_running", unitTruth, "Whether the driver has initialised the hardware.", "IFF_DRV_RUNNING", labelInterface),
		func(ifp *ifnet.Ifnet) float64 { return truth(ifp.DrvFlags()&ifnet.FlagRunning != 0) }},
	{gauge("interface_link_state", unitOne, "State of the link: 0 unknown, 1 down, 2 up.", "ifi_link_state", labelInterface),
		func(ifp *ifnet.Ifnet) float64 { return float64(ifp.LinkState()) }},
	{gauge("interface_mtu_bytes", unitBytes, "Longest packet without the link's header.", "ifi_mtu", labelInterface),
		func(ifp *ifnet.Ifnet) float64 { return float64(ifp.MTU()) }},
	{gauge("interface_speed_bytes_per_second", unitBytesPerSecond, "Speed of the link, an eighth of its bits a second.", "ifi_baudrate", labelInterface),
		func(ifp *ifnet.Ifnet) float64 { return float64(ifp.Baudrate()) / bitsPerByte }},
	{gauge("interface_send_queue_packets", unitPackets, "Packets in the interface's send queue, those of ALTQ included.", "if_snd.ifq_len", labelInterface),
		func(ifp *ifnet.Ifnet) float64 { return float64(ifp.Snd().Len()) }},
}

var ifInfo = gauge("interface_info", unitOne, "An interface with its place and address.", "struct ifnet",
	labelInterface, "index", "address")

func interfaceFamilies() []family {
	all := append([]family{ifInfo}, familiesOf(ifGauges)...)
	for _, e := range ifCounters {
		all = append(all, e.family)
	}
	return all
}

func (s *scrape) interfaces() {
	for _, ifp := range ifnet.List(s.k) {
		name := ifp.Name()
		s.put(ifInfo, 1, name, decimal(ifp.Index()), address(ifp))
		show(s, ifGauges, ifp, name)
		for _, e := range ifCounters {
			s.put(e.family, float64(ifp.GetCounter(e.id)), name)
		}
	}
}

// address is the station address, "" for an interface that has none.
func address(ifp *ifnet.Ifnet) string {
	if ifp.Type() == ifnet.TypeLoop {
		return ""
	}
	mac := ifp.MAC()
	return net.HardwareAddr(mac[:]).String()
}
