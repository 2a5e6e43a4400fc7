package offload

import (
	"github.com/ifsim/ifsim/drivers/hw"
)

// Request is what a packet's descriptors ask for. Checksum fields of layer 4 hold the
// pseudo header's sum, without the length for TSO.
type Request struct {
	VLAN   bool // insert TCI behind the addresses
	IPCsum bool // IPv4 header checksum
	L4Csum bool // TCP or UDP checksum
	TSO    bool // cut into segments of MSS
	UDP    bool // layer 4 is UDP, else TCP
	IPv6   bool

	TCI        uint16
	MSS        int // payload bytes of a segment
	L2, L3, L4 int // header lengths in bytes; L4 is used for TSO only
	MaxFrame   int // longest frame allowed on the wire, without FCS
}

// Bounds of header lengths in bytes.
const (
	maxL2 = hw.EtherHdrLen + 2*hw.VLANLen
	maxL3 = 60 // IPv4 with options
	maxL4 = 60 // TCP with options
)

// Fill writes the request for a packet of total bytes into o. The error is
// hw.ErrOffload: headers that do not fit, or a frame that would be too long.
func (r *Request) Fill(o *hw.Offload, total int) error {
	if err := r.check(total); err != nil {
		return err
	}
	*o = hw.Offload{Flags: hw.TxPad, TPID: hw.TPID8021Q, TCI: r.TCI}
	if r.VLAN {
		o.Flags |= hw.TxVLAN
	}
	l4 := r.L2 + r.L3
	if r.TSO {
		o.Flags |= hw.TxTSO
		o.TSO = hw.TSO{
			HdrLen: l4 + r.L4, L3: r.L2, L4: l4, MSS: r.MSS,
			IPv6: r.IPv6, UDP: r.UDP, IPCsum: r.IPCsum, L4Csum: r.L4Csum, Seeded: true,
			FirstFlags: hw.DefaultFirstFlags, MiddleFlags: hw.DefaultMiddleFlags, LastFlags: hw.DefaultLastFlags,
		}
		return nil
	}
	if r.IPCsum {
		o.Flags |= hw.TxCsum0
		o.Csum[0] = hw.IPv4Csum(r.L2, r.L3, true)
	}
	if r.L4Csum {
		o.Flags |= hw.TxCsum1
		o.Csum[1] = hw.TCPCsum(l4)
		if r.UDP {
			o.Csum[1] = hw.UDPCsum(l4)
		}
	}
	return nil
}

// check reports whether the request can be done to a packet of total bytes.
func (r *Request) check(total int) error {
	lo, hi := hw.IPv4HdrLen, maxL3
	if r.IPv6 {
		lo, hi = hw.IPv6HdrLen, hw.IPv6HdrLen
	}
	headers := 0
	if r.TSO || r.L4Csum || r.IPCsum {
		headers = r.L2 + r.L3
		if r.L2 < hw.EtherHdrLen || r.L2 > maxL2 || r.L3 < lo || r.L3 > hi {
			return hw.ErrOffload
		}
	}
	frame := total
	if r.TSO {
		headers += r.L4
		frame = min(total, headers+r.MSS)
	}
	if r.VLAN {
		frame += hw.VLANLen
	}
	if headers > total || frame > r.MaxFrame || r.IPCsum && r.IPv6 || r.TSO && (r.MSS <= 0 || r.L4 > maxL4) {
		return hw.ErrOffload
	}
	return nil
}
