package nicdrv

import (
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
)

// RSSKey is the key of Microsoft's verification suite (spec ifnet 11.2).
func RSSKey() [nicreg.RSSKeyBytes]byte { return rssKey }

var rssKey = [nicreg.RSSKeyBytes]byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
}

// rssTypes translates the RSS type of a packet.
var rssTypes = [nicreg.NumRSSTypes]mbuf.HashType{
	nicreg.RSSNone: mbuf.HashNone,
	nicreg.RSSIPv4: mbuf.HashRSSIPv4, nicreg.RSSTCPIPv4: mbuf.HashRSSTCPIPv4, nicreg.RSSUDPIPv4: mbuf.HashRSSUDPIPv4,
	nicreg.RSSIPv6: mbuf.HashRSSIPv6, nicreg.RSSTCPIPv6: mbuf.HashRSSTCPIPv6, nicreg.RSSUDPIPv6: mbuf.HashRSSUDPIPv6,
}

// SetOffloads copies nicreg.Rx bits into the packet's description, and the tag that
// they may say was taken out. Bits beyond them are ignored.
func SetOffloads(ri *iflib.RxdInfo, bits uint64, tci uint16) {
	if bits&nicreg.RxVLAN != 0 {
		ri.VTag = tci
		ri.Flags |= mbuf.FlagVLANTag
	}
	if bits&nicreg.RxIPChecked != 0 {
		ri.CsumFlags |= mbuf.CsumL3Calc
		if bits&nicreg.RxIPBad == 0 {
			ri.CsumFlags |= mbuf.CsumL3Valid
		}
	}
	if bits&(nicreg.RxL4Checked|nicreg.RxL4Bad) == nicreg.RxL4Checked {
		ri.CsumFlags |= mbuf.CsumL4Calc | mbuf.CsumL4Valid
		ri.CsumData = mbuf.CsumDataGood
	}
}

// SetHash copies a hash and its type, as the device gave them, into the packet's
// description.
func SetHash(ri *iflib.RxdInfo, hash uint32, rssType uint64) {
	ri.FlowID = hash
	ri.RSSType = mbuf.HashOpaqueHash
	if rssType < nicreg.NumRSSTypes {
		ri.RSSType = rssTypes[rssType]
	}
}
