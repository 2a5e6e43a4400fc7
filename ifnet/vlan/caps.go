package vlan

import (
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	csumCaps = ifnet.CapRxCsum | ifnet.CapTxCsum | ifnet.CapRxCsumIPv6 | ifnet.CapTxCsumIPv6

	assist4 = mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumIPUDP | mbuf.CsumIPSCTP
	// copiedCaps work on a VLAN as on its parent.
	copiedCaps = ifnet.CapTOE | ifnet.CapLinkState | ifnet.CapMEXTPG | ifnet.CapTxTLS4 | ifnet.CapTxTLS6

	assist6 = mbuf.CsumIP6TCP | mbuf.CsumIP6UDP | mbuf.CsumIP6SCTP
)

// capabilities computes what the interface can and does (vlan_capabilities): what the
// parent does on tagged packets, less what the user does not want.
func (v *vlan) capabilities() {
	v.capMu.Lock()
	defer v.capMu.Unlock()
	var have, on ifnet.Caps
	var assist mbuf.CsumFlags
	if c := v.cfg.Load(); c != nil {
		p := c.parent
		have, on, assist = inherited(p.Capabilities(), p.Capenable()&^v.off, p.Capenable(), p.HWAssist())
		t := p.TSO()
		v.ifp.SetTSOMax(t.Max, t.SegCount, t.SegSize)
	}
	v.ifp.SetCapabilities(have, ^have)
	v.ifp.SetCapenable(on, ^on)
	v.ifp.SetHWAssist(assist)
}

// inherited is what of a parent's capabilities works with a tag: have of those that it can,
// on of those that are wanted; enabled are the parent's.
func inherited(can, wanted, enabled ifnet.Caps, parent mbuf.CsumFlags) (have, on ifnet.Caps, assist mbuf.CsumFlags) {
	const tagged = ifnet.CapVLANHWCsum | ifnet.CapVLANHWTag
	have, on = can&copiedCaps, wanted&copiedCaps
	if can&ifnet.CapVLANHWCsum != 0 {
		have |= can & (csumCaps | ifnet.CapLRO)
	}
	if enabled&tagged == tagged {
		on |= wanted & csumCaps
		if on&ifnet.CapTxCsum != 0 {
			assist |= parent & assist4
		}
		if on&ifnet.CapTxCsumIPv6 != 0 {
			assist |= parent & assist6
		}
	}
	if enabled&ifnet.CapVLANHWCsum != 0 {
		on |= wanted & ifnet.CapLRO
	}
	if can&ifnet.CapVLANHWTSO != 0 {
		have |= can & ifnet.CapTSO
	}
	if enabled&ifnet.CapVLANHWTSO != 0 {
		on |= wanted & ifnet.CapTSO
		if on&ifnet.CapTSO4 != 0 {
			assist |= parent & mbuf.CsumIPTSO
		}
		if on&ifnet.CapTSO6 != 0 {
			assist |= parent & mbuf.CsumIP6TSO
		}
	}
	return have, on & have, assist
}
