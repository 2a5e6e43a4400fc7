package em

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/ifnet"
)

// maxGroups is how many multicast addresses are filtered; more, and all are taken
// (MAX_NUM_MULTICAST_ADDRESSES).
const maxGroups = 128

// writeRAR writes a receive address (e1000_rar_set_generic). The flushes keep a bridge
// from making one write of the halves, which some parts do not take.
func (sc *softc) writeRAR(i int, mac [ifnet.EtherAddrLen]byte, valid bool) {
	var v uint64
	for k, b := range mac {
		v |= uint64(b) << (8 * k)
	}
	high := uint32(v >> 32)
	if valid {
		high |= emreg.RAHAV
	}
	at := uint64(i) * emreg.RAStride
	sc.hw.Write32(emreg.RAL+at, uint32(v))
	sc.hw.Flush()
	sc.hw.Write32(emreg.RAH+at, high)
	sc.hw.Flush()
}

// Bits of the multicast hash (spec 1g 5.3 receive engine 2, RCTL.MO = 0).
const (
	hashShiftLow  = 4 // of the fifth byte, to the right; of the last, to the left
	hashMask      = 0xfff
	hashWordShift = 5
	hashBitMask   = 31
)

// groupHash is the bit of a multicast address in the table (e1000_hash_mc_addr_generic).
func groupHash(mac [ifnet.EtherAddrLen]byte) uint32 {
	return (uint32(mac[4])>>hashShiftLow | uint32(mac[5])<<hashShiftLow) & hashMask
}

// MultiSet rebuilds the multicast table from the interface's groups (em_if_multi_set;
// spec 1g 6.7).
func (sc *softc) MultiSet() {
	ifp := sc.ctx.Ifp()
	var table [emreg.MTACount]uint32
	groups := 0
	for mac := range ifp.Multiaddrs {
		if groups++; groups > maxGroups {
			break
		}
		h := groupHash(mac)
		table[h>>hashWordShift] |= 1 << (h & hashBitMask)
	}
	sc.filterMtx.Lock()
	defer sc.filterMtx.Unlock()
	for i := emreg.MTACount - 1; i >= 0; i-- {
		sc.hw.Write32(emreg.MTA+uint64(i)*emreg.RegStride, table[i])
	}
	sc.hw.Flush()
	sc.hw.Change(emreg.RCTL, emreg.RCTLUPE|emreg.RCTLMPE, promiscBits(ifp.Flags(), groups))
}

// promiscBits are the bits of RCTL that let more frames in than the filters do.
func promiscBits(flags ifnet.Flags, groups int) uint32 {
	switch {
	case flags&ifnet.FlagPromisc != 0:
		return emreg.RCTLUPE | emreg.RCTLMPE
	case flags&ifnet.FlagAllMulti != 0 || groups >= maxGroups:
		return emreg.RCTLMPE
	}
	return 0
}

// PromiscSet follows the flags of the interface (em_if_set_promisc; spec 1g 6.7). It may
// come without the ctx lock.
func (sc *softc) PromiscSet(flags ifnet.Flags) error {
	sc.setPromisc(flags)
	return nil
}

func (sc *softc) setPromisc(flags ifnet.Flags) {
	ifp := sc.ctx.Ifp()
	clear := uint32(emreg.RCTLSBP | emreg.RCTLUPE | emreg.RCTLMPE | emreg.RCTLVFE | emreg.RCTLCFIEN)
	set := promiscBits(flags, ifp.MultiCount())
	switch {
	case flags&ifnet.FlagPromisc == 0 && ifp.Capenable()&ifnet.CapVLANHWFilter != 0:
		set |= emreg.RCTLVFE
	case flags&ifnet.FlagPromisc != 0 && sc.tun.sbp:
		set |= emreg.RCTLSBP
	}
	sc.filterMtx.Lock()
	defer sc.filterMtx.Unlock()
	sc.hw.Change(emreg.RCTL, clear, set)
}

// Position of a VLAN in its table.
const (
	vlanWordShift = 5
	vlanWordMask  = 0x7f
	vlanBitMask   = 0x1f
)

// VLANRegister lets frames of a VLAN in (em_if_vlan_register).
func (sc *softc) VLANRegister(vtag uint16) {
	sc.filterMtx.Lock()
	defer sc.filterMtx.Unlock()
	i := vtag >> vlanWordShift & vlanWordMask
	sc.vfta[i] |= 1 << (vtag & vlanBitMask)
	sc.writeVFTA(int(i))
}

// VLANUnregister keeps them out again (em_if_vlan_unregister).
func (sc *softc) VLANUnregister(vtag uint16) {
	sc.filterMtx.Lock()
	defer sc.filterMtx.Unlock()
	i := vtag >> vlanWordShift & vlanWordMask
	sc.vfta[i] &^= 1 << (vtag & vlanBitMask)
	sc.writeVFTA(int(i))
}

func (sc *softc) writeVFTA(i int) {
	sc.hw.Write32(emreg.VFTA+uint64(i)*emreg.RegStride, sc.vfta[i])
}

// setupVLAN programs tag stripping and the filter after a reset, which cleared both
// (em_setup_vlan_hw_support). Frames of VLAN 0 carry a priority and always pass. Tags
// stay in frames whose FCS does: the part would strip neither.
func (sc *softc) setupVLAN() {
	on := sc.ctx.Ifp().Capenable()
	var vme uint32
	if on&ifnet.CapVLANHWTag != 0 && sc.crcStrip {
		vme = emreg.CtrlVME
	}
	sc.hw.Change(emreg.CTRL, emreg.CtrlVME, vme)
	sc.filterMtx.Lock()
	defer sc.filterMtx.Unlock()
	if on&ifnet.CapVLANHWFilter == 0 {
		sc.hw.Clear(emreg.RCTL, emreg.RCTLVFE|emreg.RCTLCFIEN)
		return
	}
	sc.vfta[0] |= 1
	for i := range sc.vfta {
		sc.writeVFTA(i)
	}
	sc.hw.Change(emreg.RCTL, emreg.RCTLCFIEN, emreg.RCTLVFE)
}
