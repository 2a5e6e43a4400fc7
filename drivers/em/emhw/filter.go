package emhw

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

const (
	etherFlowControl = 0x8808 // EtherType of MAC control
	pauseOpcode      = 1

	maxUntagged = 1518 // longest frame without LPE, FCS included; a tag adds to it
	typeOffset  = 12   // of the EtherType in a frame
)

// accept passes a frame through the address and VLAN filters (spec 1g 5.3, Receive
// engine 2 and 3). inexact says that only a hash or a promiscuous mode let it pass.
func (u *rxUnit) accept(frame []byte) (ok, inexact bool) {
	ok, inexact = u.acceptAddress(frame)
	if !ok {
		return false, false
	}
	if u.rctl&emreg.RCTLVFE != 0 && u.tagged {
		if !u.acceptVLAN() {
			return false, false
		}
	}
	return true, inexact
}

func (u *rxUnit) acceptAddress(frame []byte) (ok, inexact bool) {
	switch u.cast {
	case hw.Broadcast:
		return u.rctl&emreg.RCTLBAM != 0, false
	case hw.Multicast:
		if u.exact(frame) {
			return true, false
		}
		mac := [hw.EtherAddrLen]byte(frame)
		h := u.n.groupHash(mac, int(u.rctl&emreg.RCTLMOMask>>emreg.RCTLMOShift))
		hit := u.n.reg(emreg.MTA+uint64(h>>5)*emreg.RegStride)>>(h&31)&1 != 0
		return hit || u.rctl&emreg.RCTLMPE != 0, true
	}
	if u.exact(frame) {
		return true, false
	}
	return u.rctl&emreg.RCTLUPE != 0, true
}

// groupHash is the bit of a group in the multicast table.
func (n *nic) groupHash(mac [hw.EtherAddrLen]byte, mo int) uint16 {
	if n.chip.pch != nil {
		return hw.MTAHashICH(mac, mo)
	}
	return hw.MTAHash(mac, mo)
}

// exact compares the destination with the receive addresses.
func (u *rxUnit) exact(frame []byte) bool {
	low, high := binary.LittleEndian.Uint32(frame), uint32(binary.LittleEndian.Uint16(frame[4:]))
	for off := uint64(0); off < emreg.RARCount*emreg.RAStride; off += emreg.RAStride {
		if rah := u.n.reg(emreg.RAH + off); rah&emreg.RAHAV != 0 && rah&halfMask == high &&
			u.n.reg(emreg.RAL+off) == low {
			return true
		}
	}
	return false
}

// acceptVLAN looks the tag up in the VLAN table; the priority tag, VLAN 0, is a VLAN
// like any other (case 19).
func (u *rxUnit) acceptVLAN() bool {
	const cfi = 1 << 12
	if u.rctl&emreg.RCTLCFIEN != 0 && (u.tci&cfi != 0) != (u.rctl&emreg.RCTLCFI != 0) {
		return false
	}
	v := u.tci & hw.VLANMask
	return u.n.reg(emreg.VFTA+uint64(v>>5)*emreg.RegStride)>>(v&31)&1 != 0
}

// fits reports whether the frame is not longer than RCTL allows; a longer one is counted.
func (u *rxUnit) fits(size int) bool {
	limit := maxUntagged
	switch {
	case u.rctl&emreg.RCTLLPE != 0:
		limit = emreg.MaxFrameSize
	case u.tagged:
		limit += hw.VLANLen
	}
	if size > limit {
		u.shard.Add(stat(emreg.ROC), 1)
		return false
	}
	return true
}

// control counts a flow control frame and reports whether it ends here: MAC control
// frames are passed to the host only with PMCF.
func (u *rxUnit) control(frame []byte) bool {
	if binary.BigEndian.Uint16(frame[typeOffset:]) != etherFlowControl {
		return false
	}
	const opcode, quanta = typeOffset + 2, typeOffset + 4
	if len(frame) >= quanta+2 && binary.BigEndian.Uint16(frame[opcode:]) == pauseOpcode {
		switch {
		case u.ctrl&emreg.CtrlRFCE == 0:
			u.shard.Add(stat(emreg.FCRUC), 1)
		case binary.BigEndian.Uint16(frame[quanta:]) != 0:
			u.shard.Add(stat(emreg.XOFFRXC), 1)
		default:
			u.shard.Add(stat(emreg.XONRXC), 1)
		}
	}
	return u.rctl&emreg.RCTLPMCF == 0
}
