package iflibtest

import (
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// encapping has the fault change what the driver is told of a packet.
func encapping(change func(d *faulty, pi *iflib.PktInfo)) func(d *faulty) {
	return func(d *faulty) {
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error {
			change(d, pi)
			return d.good().TxdEncap(pi)
		}
	}
}

// receiving has the fault change what the driver says of a packet.
func receiving(change func(d *faulty, ri *iflib.RxdInfo)) func(d *faulty) {
	return func(d *faulty) {
		d.path.pktGet = func(d *faulty, ri *iflib.RxdInfo) error {
			err := d.good().RxdPktGet(ri)
			if err == nil {
				change(d, ri)
			}
			return err
		}
	}
}

// shorten takes a byte off the end of a packet.
func shorten(pi *iflib.PktInfo) {
	pi.Segs[len(pi.Segs)-1].Len--
	pi.Len--
}

var trafficMutants = []mutant{
	{name: "a packet round the end loses a byte", good: hwb, breaks: "index-wrap", also: append([]string{"checksum-verdicts", "flow-hash"}, crossing...),
		set: encapping(func(d *faulty, pi *iflib.PktInfo) {
			if int(pi.Pidx)+len(pi.Segs) > d.ctx.Softc().NTxd[0] {
				shorten(pi)
			}
		})},
	{name: "the padding is cut off", good: hwb, breaks: "short-frames", also: crossing, set: receiving(func(_ *faulty, ri *iflib.RxdInfo) {
		if ri.Len == shapes.MinFrame && ri.NFrags == 1 {
			ri.Len--
			ri.Frags[0].Len--
		}
	})},
	{name: "tags are off by one", good: cq, breaks: "vlan-tags", also: append([]string{"short-frames"}, crossing...), set: encapping(func(_ *faulty, pi *iflib.PktInfo) {
		pi.VTag ^= 1
	})},
	{name: "UDP checksums are not computed", good: cq, breaks: "checksum-offload", also: crossing, set: encapping(func(_ *faulty, pi *iflib.PktInfo) {
		pi.CsumFlags &^= mbuf.CsumIPUDP
	})},
	{name: "every checksum is vouched for", good: cq, breaks: "checksum-verdicts", set: receiving(func(_ *faulty, ri *iflib.RxdInfo) {
		ri.CsumFlags |= mbuf.CsumL4Calc | mbuf.CsumL4Valid
	})},
	{name: "the end of a long chain is lost", good: hwb, breaks: "packet-shapes", also: crossing, set: encapping(func(_ *faulty, pi *iflib.PktInfo) {
		const most = 12
		if len(pi.Segs) > most {
			shorten(pi)
		}
	})},
	{name: "a first buffer of 15 bytes loses one", good: hwb, breaks: "split-headers", also: []string{"jumbo-frames", "offload-combinations"},
		set: encapping(func(_ *faulty, pi *iflib.PktInfo) {
			const special = 15
			if len(pi.Segs) == 2 && pi.Segs[0].Len == special {
				shorten(pi)
			}
		})},
	{name: "an MTU of 9000 is accepted and not set", good: cq, breaks: "jumbo-frames", also: []string{"mtu-under-load"}, set: func(d *faulty) {
		d.mtuSet = func(d *faulty, mtu int) error {
			if mtu == jumboMTU {
				return nil
			}
			return d.Device.MTUSet(mtu)
		}
	}},
	{name: "a packet that was sent is overwritten", good: cq, breaks: "shared-data", races: true, set: func(d *faulty) {
		var last iflib.PktInfo
		later := d.ctx.Kernel().NewCallout("mutant", nil, func() {
			if n := len(last.Segs); n > 0 {
				s := last.Segs[n-1]
				d.ctx.Kernel().Mem.Bytes(s.Addr, s.Len)[s.Len-1] ^= 0xff
			}
			last.Segs = nil
		})
		d.path.encap = func(d *faulty, pi *iflib.PktInfo) error {
			last = *pi
			last.Segs = append(last.Segs[:0:0], pi.Segs...)
			later.Reset(1, 0)
			return d.good().TxdEncap(pi)
		}
		d.detach = func(d *faulty) error {
			later.Drain()
			return d.Device.Detach()
		}
	}},
	{name: "segments are two bytes too short", good: cq, breaks: "tso", also: []string{"offload-combinations", ruleDoorbell}, set: encapping(func(_ *faulty, pi *iflib.PktInfo) {
		if pi.TSOSegSz > minMSS {
			pi.TSOSegSz -= 2
		}
	})},
	{name: "VLANs are never taken out of the filter", good: em82574, breaks: "vlan-filter", set: func(d *faulty) {
		d.vlanRemove = func(*faulty, uint16) {}
	}},
	{name: "tags are wrong without checksum offload", good: cq, breaks: "offload-combinations", set: encapping(func(d *faulty, pi *iflib.PktInfo) {
		if d.ctx.Ifp().Capenable()&ifnet.CapTxCsum == 0 {
			pi.VTag ^= 1
		}
	})},
	{name: "promiscuous mode is not left", good: cq, breaks: "address-filter", set: func(d *faulty) {
		d.promiscSet = func(d *faulty, flags ifnet.Flags) error {
			if flags&ifnet.FlagPromisc == 0 {
				return nil
			}
			return d.Device.PromiscSet(flags)
		}
	}},
	{name: "UDP packets have a hash type of TCP", good: cq, breaks: "flow-hash", set: receiving(func(_ *faulty, ri *iflib.RxdInfo) {
		if ri.RSSType == mbuf.HashRSSUDPIPv4 {
			ri.RSSType = mbuf.HashRSSTCPIPv4
		}
	})},
}
