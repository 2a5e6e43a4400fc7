package offload

import "github.com/ifsim/ifsim/drivers/hw"

// RETAEntries is the size of the indirection table of both parts.
const RETAEntries = 64

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
	Table [RETAEntries]uint8
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
		in.Queue = c.Table[in.Hash%RETAEntries]
	}
	g.Reset(frame)
	if c.TakeVLAN {
		in.TCI, in.VLAN = g.Strip(hw.TPID8021Q)
	}
}
