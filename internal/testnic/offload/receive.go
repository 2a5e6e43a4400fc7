package offload

import (
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
)

// Receive is how a receive unit is set up. It is immutable: a model replaces it when
// a register changes.
type Receive struct {
	On       bool // frames are taken at all
	Promisc  bool
	AllMulti bool
	TakeVLAN bool // take 802.1Q tags out
	Csum     bool // check checksums
	MAC      [hw.EtherAddrLen]byte
	MaxFrame int // bytes without FCS and tag
	Group    func(mac [hw.EtherAddrLen]byte) bool

	RSS   *hw.Toeplitz // nil: everything goes to queue 0
	Table [nicreg.RETAEntries]uint8
}

// Outcome of the address filter.
type Outcome uint8

// Outcomes.
const (
	Take     Outcome = iota
	Filtered         // not for this station, or the receiver is off
	Faulty           // too short or too long
)

// Filter decides about a frame, tag included.
func (c *Receive) Filter(frame []byte) Outcome {
	if !c.On {
		return Filtered
	}
	limit := c.MaxFrame
	if _, tagged := hw.Tag(frame, hw.TPID8021Q); tagged {
		limit += hw.VLANLen
	}
	if len(frame) < hw.EtherHdrLen || len(frame) > limit {
		return Faulty
	}
	dst := [hw.EtherAddrLen]byte(frame)
	const groupBit, broadcast = 1, 0xff
	switch {
	case c.Promisc, dst == c.MAC,
		dst == [hw.EtherAddrLen]byte{broadcast, broadcast, broadcast, broadcast, broadcast, broadcast},
		dst[0]&groupBit != 0 && (c.AllMulti || c.Group != nil && c.Group(dst)):
		return Take
	}
	return Filtered
}

// Info is what the receive unit found out about a frame.
type Info struct {
	Hash    uint32
	Type    hw.RSSType
	Queue   uint8 // entry of the table
	VLAN    bool
	TCI     uint16
	IP, L4  hw.Verdict
	Headers hw.Headers
}

// hashed are the types that the parts can tell apart.
const hashed = hw.RSSTypes(1<<hw.RSSIPv4 | 1<<hw.RSSTCPIPv4 | 1<<hw.RSSUDPIPv4 | 1<<hw.RSSIPv6 | 1<<hw.RSSTCPIPv6 | 1<<hw.RSSUDPIPv6)

// Classify parses an accepted frame, fills in and begins g with the bytes that go to
// memory.
func (c *Receive) Classify(frame []byte, in *Info, g *hw.Gather) {
	*in = Info{}
	in.Headers.Parse(frame, len(frame))
	if c.Csum {
		in.IP, in.L4 = in.Headers.CheckIP(frame), in.Headers.CheckL4(frame)
	}
	if c.RSS != nil {
		in.Hash, in.Type = c.RSS.Hash(frame, &in.Headers, hashed)
		in.Queue = c.Table[in.Hash%nicreg.RETAEntries]
	}
	g.Reset(frame)
	if c.TakeVLAN {
		in.TCI, in.VLAN = g.Strip(hw.TPID8021Q)
	}
}

// Flags are what was found out as the descriptors of both parts say it: nicreg.Rx bits.
func (in *Info) Flags() (bits uint64) {
	if in.VLAN {
		bits |= nicreg.RxVLAN
	}
	switch in.IP {
	case hw.CsumGood:
		bits |= nicreg.RxIPChecked
	case hw.CsumBad:
		bits |= nicreg.RxIPChecked | nicreg.RxIPBad
	}
	switch in.L4 {
	case hw.CsumGood:
		bits |= nicreg.RxL4Checked
	case hw.CsumBad:
		bits |= nicreg.RxL4Checked | nicreg.RxL4Bad
	}
	return bits
}

// HashType is the RSS type of the hash, nicreg.RSSNone to nicreg.RSSUDPIPv6.
func (in *Info) HashType() uint64 {
	switch in.Type {
	case hw.RSSIPv4:
		return nicreg.RSSIPv4
	case hw.RSSTCPIPv4:
		return nicreg.RSSTCPIPv4
	case hw.RSSUDPIPv4:
		return nicreg.RSSUDPIPv4
	case hw.RSSIPv6:
		return nicreg.RSSIPv6
	case hw.RSSTCPIPv6:
		return nicreg.RSSTCPIPv6
	case hw.RSSUDPIPv6:
		return nicreg.RSSUDPIPv6
	}
	return nicreg.RSSNone
}
