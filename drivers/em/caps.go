package em

import "github.com/ifsim/ifsim/ifnet"

// lemCaps and emCaps are LEM_CAPS and EM_CAPS (spec 1g 2.3).
const (
	lemCaps = ifnet.CapHWCsum | ifnet.CapVLANMTU | ifnet.CapVLANHWTag | ifnet.CapVLANHWCsum | ifnet.CapWOL |
		ifnet.CapVLANHWFilter | ifnet.CapTSO4 | ifnet.CapLRO | ifnet.CapVLANHWTSO | ifnet.CapJumboMTU |
		ifnet.CapHWCsumIPv6
	emCaps = lemCaps | ifnet.CapTSO6
)

// capabilities are what a part can do and what of it is on at first. TSO is off on all
// of them, because rings stalled under it (spec 1g 2.3, 8). Wake-up needs the NVM's
// consent: see readNVM.
func capabilities(c *chip, unsupportedTSO bool) (can, on ifnet.Caps) {
	can = emCaps
	if c.lem() {
		can = lemCaps
		if unsupportedTSO {
			can |= ifnet.CapTSO6
		}
	}
	if c.mac < mac82545 {
		can &^= ifnet.CapHWCsumIPv6
	}
	return can, can &^ (ifnet.CapTSO | ifnet.CapWOL)
}
