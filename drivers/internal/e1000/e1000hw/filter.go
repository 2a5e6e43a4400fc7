package e1000hw

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

const (
	etherFlowControl = 0x8808 // EtherType of MAC control
	pauseOpcode      = 1

	maxUntagged = 1518 // longest frame without LPE, FCS included; a tag adds to it
	typeOffset  = 12   // of the EtherType in a frame
	halfMask    = 0xffff
)

// accept passes a frame through the address and VLAN filters (spec 1g 5.3, Receive
// engine 2 and 3). inexact says that only a hash or a promiscuous mode let it pass.
func (u *RxUnit) accept(frame []byte) (ok, inexact bool) {
	ok, inexact = u.acceptAddress(frame)
	if !ok {
		return false, false
	}
	if u.rctl&emreg.RCTLVFE != 0 && u.tagged && !u.cfg.NoVLANFilter {
		if !u.acceptVLAN() {
			return false, false
		}
	}
	return true, inexact
}

func (u *RxUnit) acceptAddress(frame []byte) (ok, inexact bool) {
	switch u.cast {
	case hw.Broadcast:
		return u.rctl&emreg.RCTLBAM != 0, false
	case hw.Multicast:
		if u.exact(frame) {
			return true, false
		}
		mac := [hw.EtherAddrLen]byte(frame)
		return u.rctl&emreg.RCTLMPE != 0 || u.hashed(emreg.MTA, mac), true
	}
	if u.exact(frame) {
		return true, false
	}
	if u.rctl&emreg.RCTLUPE != 0 {
		return true, true
	}
	return u.cfg.UTA && u.hashed(e1000reg.UTA, [hw.EtherAddrLen]byte(frame)), true
}

// hashed looks an address up in the hash table at off.
func (u *RxUnit) hashed(off uint64, mac [hw.EtherAddrLen]byte) bool {
	mo := int(u.rctl & emreg.RCTLMOMask >> emreg.RCTLMOShift)
	h := hw.MTAHash(mac, mo)
	if u.cfg.ShortMTA {
		h = hw.MTAHashICH(mac, mo)
	}
	return u.c.Reg(off+uint64(h>>5)*emreg.RegStride)>>(h&31)&1 != 0
}

// exact compares the destination with the receive addresses.
func (u *RxUnit) exact(frame []byte) bool {
	low, high := binary.LittleEndian.Uint32(frame), uint32(binary.LittleEndian.Uint16(frame[4:]))
	for i := range u.cfg.RARs {
		ral := uint64(emreg.RAL + i*emreg.RAStride)
		if i >= e1000reg.RAHighFirst {
			ral = uint64(e1000reg.RAHigh + (i-e1000reg.RAHighFirst)*emreg.RAStride)
		}
		if rah := u.c.Reg(ral + emreg.RegStride); rah&emreg.RAHAV != 0 && rah&halfMask == high && u.c.Reg(ral) == low {
			return true
		}
	}
	return false
}

// acceptVLAN looks the tag up in the VLAN table; the priority tag, VLAN 0, is a VLAN
// like any other (case 19).
func (u *RxUnit) acceptVLAN() bool {
	const cfi = 1 << 12
	if u.rctl&emreg.RCTLCFIEN != 0 && (u.tci&cfi != 0) != (u.rctl&emreg.RCTLCFI != 0) {
		return false
	}
	v := u.tci & hw.VLANMask
	return u.c.Reg(emreg.VFTA+uint64(v>>5)*emreg.RegStride)>>(v&31)&1 != 0
}

// fits reports whether the frame is not longer than RCTL and RLPML allow; a longer one is
// counted.
func (u *RxUnit) fits(size int) bool {
	limit := maxUntagged
	switch {
	case u.rctl&emreg.RCTLLPE != 0:
		limit = u.longest
	case u.tagged:
		limit += hw.VLANLen
	}
	if size > limit {
		u.shard.Add(Stat(emreg.ROC), 1)
		return false
	}
	return true
}

// control counts a flow control frame and reports whether it ends here: MAC control
// frames are passed to the host only with PMCF.
func (u *RxUnit) control(frame []byte) bool {
	if binary.BigEndian.Uint16(frame[typeOffset:]) != etherFlowControl {
		return false
	}
	const opcode, quanta = typeOffset + 2, typeOffset + 4
	if len(frame) >= quanta+2 && binary.BigEndian.Uint16(frame[opcode:]) == pauseOpcode {
		switch {
		case u.ctrl&emreg.CtrlRFCE == 0:
			u.shard.Add(Stat(emreg.FCRUC), 1)
		case binary.BigEndian.Uint16(frame[quanta:]) != 0:
			u.shard.Add(Stat(emreg.XOFFRXC), 1)
		default:
			u.shard.Add(Stat(emreg.XONRXC), 1)
		}
	}
	return u.rctl&emreg.RCTLPMCF == 0
}
