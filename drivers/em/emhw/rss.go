package emhw

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

// rssFields are the fields of MRQC and what they enable, from MRQCTCPIPv4 on.
var rssFields = [...]hw.RSSType{hw.RSSTCPIPv4, hw.RSSIPv4, hw.RSSTCPIPv6Ex, hw.RSSIPv6Ex, hw.RSSIPv6, hw.RSSTCPIPv6}

const (
	rssFieldShift = 16
	retaMask      = 127
)

// rss reports whether frames are hashed.
func (u *rxUnit) rss() bool {
	return len(u.n.tx) > 1 && u.mrqc&emreg.MRQCEnableMask == emreg.MRQCRSS2Queues
}

// rssKey reads the key registers: byte 4i+j in bits 8j and up of register i.
func (n *nic) rssKey() []byte {
	key := make([]byte, 0, hw.RSSKeyLen)
	for i := range uint64(emreg.RSSRKCount) {
		key = binary.LittleEndian.AppendUint32(key, n.reg(emreg.RSSRK+i*emreg.RegStride))
	}
	return key
}

// hash computes hash, type and queue (spec 1g 5.3, Receive engine 5). Hash and type are
// reported only with PCSD.
func (u *rxUnit) hash(frame []byte) {
	var enabled hw.RSSTypes
	for i, t := range rssFields {
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
	entry := u.n.reg(emreg.RETA+uint64(i/4)*emreg.RegStride) >> (i % 4 * 8)
	if entry&emreg.RETAQueueBit != 0 {
		u.meta.queue = 1
	}
}
