package e1000

import "github.com/ifsim/ifsim/drivers/em/emreg"

// rssKey is Microsoft's key of its verification suite (spec ifnet 11.2). FreeBSD draws
// one at random; a fixed one makes runs repeatable.
var rssKey = [emreg.RSSRKCount]uint32{
	0xda565a6d, 0xc20e5b25, 0x3d256741, 0xb08fa343, 0xcb2bcad0,
	0xb4307bae, 0xa32dcb77, 0x0cf23080, 0x3bb7426a, 0xfa01acbe,
}

// WriteRSSKey programs the key of the receive hash.
func WriteRSSKey(r *Regs) {
	for i, k := range rssKey {
		r.Write32(emreg.RSSRK+uint64(i)*emreg.RegStride, k)
	}
}
