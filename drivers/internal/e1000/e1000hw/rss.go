package e1000hw

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

// rssFields are the fields of MRQC and what they enable, from MRQCTCPIPv4 on; em has no
// UDP.
var rssFields = [...]hw.RSSType{hw.RSSTCPIPv4, hw.RSSIPv4, hw.RSSTCPIPv6Ex, hw.RSSIPv6Ex, hw.RSSIPv6, hw.RSSTCPIPv6,
	hw.RSSUDPIPv4, hw.RSSUDPIPv6, hw.RSSUDPIPv6Ex}

const (
	rssFieldShift = 16
	retaMask      = 127
)

// rss reports whether frames are hashed.
func (u *RxUnit) rss() bool {
	return u.cfg.MRQC != 0 && u.mrqc&emreg.MRQCEnableMask == u.cfg.MRQC
}

// rssKey reads the key registers: byte 4i+j in bits 8j and up of register i.
func (u *RxUnit) rssKey() []byte {
	key := make([]byte, 0, hw.RSSKeyLen)
	for i := range uint64(emreg.RSSRKCount) {
		key = binary.LittleEndian.AppendUint32(key, u.c.Reg(emreg.RSSRK+i*emreg.RegStride))
	}
	return key
}

// hash computes hash, type and queue (spec 1g 5.3, Receive engine 5). Hash and type are
// reported only with PCSD.
func (u *RxUnit) hash(frame []byte) {
	var enabled hw.RSSTypes
	for i, t := range rssFields[:u.cfg.HashTypes] {
		if u.mrqc>>(rssFieldShift+i)&1 != 0 {
			enabled |= t.Set()
		}
	}
	hash, typ := u.toeplitz.Hash(frame, &u.hdr, enabled)
	if typ == hw.RSSNone {
		return
	}
	if u.rxcsum&emreg.RXCSUMPCSD != 0 {
		u.meta.hash, u.meta.hashType = hash, typ
	}
	i := hash & retaMask
	entry := u.c.Reg(emreg.RETA+uint64(i/4)*emreg.RegStride) >> (i % 4 * 8)
	u.meta.queue = int(entry >> u.cfg.RETAShift & u.cfg.RETAMask)
}
