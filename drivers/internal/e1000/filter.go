package e1000

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// FilterConfig is what parts differ in.
type FilterConfig struct {
	RARs       int  // receive addresses (mac.rar_entry_count)
	MTAWords   int  // dwords of the multicast table, a power of two
	VLANWrites int  // how often an entry of the VLAN table is written, 1 where no write is lost
	KeepBad    bool // bad frames are kept in promiscuous mode (hw.em.sbp)
	KeepFCS    bool // hw.em.disable_crc_stripping
}

// Filter is what a port lets in: receive addresses, the tables of groups and VLANs, and
// RCTL, which is changed under the filter's mutex, since PromiscSet comes without the ctx
// lock. A softc embeds it; then MultiSet and PromiscSet are those of iflib.Device.
// Unless a method says otherwise the ctx lock is held.
type Filter struct {
	cfg  FilterConfig
	regs *Regs
	ifp  *ifnet.Ifnet
	mtx  iflib.Mtx
	vfta [emreg.VFTACount]uint32
}

// InitFilter makes the filter of a device; DestroyFilter ends it.
func (f *Filter) InitFilter(ctx *iflib.Ctx, regs *Regs, cfg FilterConfig) {
	f.cfg, f.regs, f.ifp = cfg, regs, ctx.Ifp()
	f.mtx.Init(ctx.Kernel(), ctx.Name()+" filter")
}

// DestroyFilter ends the filter; nobody uses it any more.
func (f *Filter) DestroyFilter() { f.mtx.Destroy() }

// WriteRCTL writes the receive control between changes of the filters.
func (f *Filter) WriteRCTL(v uint32) {
	f.mtx.Lock()
	f.regs.Write32(emreg.RCTL, v)
	f.mtx.Unlock()
}

// StartReceive turns the receive unit on: set are the bits of RCTL beside those that are
// the filter's own or the same for all parts. Those of MultiSet stay.
func (f *Filter) StartReceive(set uint32) {
	f.mtx.Lock()
	defer f.mtx.Unlock()
	v := f.regs.Read32(emreg.RCTL)&(emreg.RCTLUPE|emreg.RCTLMPE) | emreg.RCTLEN | emreg.RCTLBAM | set
	if f.ifp.MTU() > ifnet.EtherMTU {
		v |= emreg.RCTLLPE
	}
	if !f.cfg.KeepFCS {
		v |= emreg.RCTLSECRC
	}
	f.regs.Write32(emreg.RCTL, v)
}

// StopReceive turns the receive unit off and leaves the filters as they are.
func (f *Filter) StopReceive() {
	f.mtx.Lock()
	f.regs.Clear(emreg.RCTL, emreg.RCTLEN)
	f.mtx.Unlock()
}

// Receive addresses from raHighFirst on are elsewhere (E1000_RAL, E1000_RAH).
const (
	raHighFirst = 16
	raHighBase  = 0x54e0
)

func raOffset(i int) uint64 {
	if i < raHighFirst {
		return emreg.RAL + uint64(i)*emreg.RAStride
	}
	return raHighBase + uint64(i-raHighFirst)*emreg.RAStride
}

// WriteRAR writes a receive address (e1000_rar_set_generic). The flushes keep a bridge
// from making one write of the halves, which some parts do not take.
func (f *Filter) WriteRAR(i int, mac [ifnet.EtherAddrLen]byte, valid bool) {
	var v uint64
	for k, b := range mac {
		v |= uint64(b) << (8 * k)
	}
	high := uint32(v >> 32)
	if valid {
		high |= emreg.RAHAV
	}
	at := raOffset(i)
	f.regs.Write32(at, uint32(v))
	f.regs.Flush()
	f.regs.Write32(at+emreg.RAH-emreg.RAL, high)
	f.regs.Flush()
}

// ReadRAR is the first receive address, which a reset loads from the NVM on 82571 and
// later.
func (f *Filter) ReadRAR() (mac [ifnet.EtherAddrLen]byte) {
	lo, hi := f.regs.Read32(emreg.RAL), f.regs.Read32(emreg.RAH)
	for i := range mac {
		mac[i] = byte((uint64(hi)<<32 | uint64(lo)) >> (8 * i))
	}
	return mac
}

// ClearVLANs forgets what the VLAN table has (e1000_clear_vfta_generic).
func (f *Filter) ClearVLANs() {
	for i := range uint64(emreg.VFTACount) {
		f.writeVFTA(i, 0)
	}
}

// InitAddresses lets frames for mac in and for no other address or group
// (e1000_init_rx_addrs_generic).
func (f *Filter) InitAddresses(mac [ifnet.EtherAddrLen]byte) {
	f.WriteRAR(0, mac, true)
	for i := 1; i < f.cfg.RARs; i++ {
		f.WriteRAR(i, [ifnet.EtherAddrLen]byte{}, false)
	}
	for i := range uint64(f.cfg.MTAWords) {
		f.regs.Write32(emreg.MTA+i*emreg.RegStride, 0)
	}
}

// RARs is how many receive addresses there are.
func (f *Filter) RARs() int { return f.cfg.RARs }

// maxGroups is how many multicast addresses are filtered; more, and all are taken
// (MAX_NUM_MULTICAST_ADDRESSES).
const maxGroups = 128

// Bits of a table's dword, and of the part of an address that is hashed.
const (
	tableBits  = 32
	hashedBits = 16
)

// groupHash is the bit of a multicast address in a table of so many dwords: the upper
// bits of the address's last two bytes (e1000_hash_mc_addr_generic with RCTL.MO = 0;
// spec 1g 5.3 receive engine 2).
func groupHash(mac [ifnet.EtherAddrLen]byte, words int) uint32 {
	return (uint32(mac[5])<<8 | uint32(mac[4])) * uint32(words*tableBits) >> hashedBits
}

// MultiSet rebuilds the multicast table from the interface's groups (em_if_multi_set;
// spec 1g 6.7).
func (f *Filter) MultiSet() {
	var table [emreg.MTACount]uint32
	groups := 0
	for mac := range f.ifp.Multiaddrs {
		if groups++; groups > maxGroups {
			break
		}
		h := groupHash(mac, f.cfg.MTAWords)
		table[h/tableBits] |= 1 << (h % tableBits)
	}
	f.mtx.Lock()
	defer f.mtx.Unlock()
	for i := f.cfg.MTAWords - 1; i >= 0; i-- {
		f.regs.Write32(emreg.MTA+uint64(i)*emreg.RegStride, table[i])
	}
	f.regs.Flush()
	f.regs.Change(emreg.RCTL, emreg.RCTLUPE|emreg.RCTLMPE, promiscBits(f.ifp.Flags(), groups))
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
func (f *Filter) PromiscSet(flags ifnet.Flags) error {
	clear := uint32(emreg.RCTLSBP | emreg.RCTLUPE | emreg.RCTLMPE | emreg.RCTLVFE | emreg.RCTLCFIEN)
	set := promiscBits(flags, f.ifp.MultiCount())
	switch {
	case flags&ifnet.FlagPromisc == 0 && f.ifp.Capenable()&ifnet.CapVLANHWFilter != 0:
		set |= emreg.RCTLVFE
	case flags&ifnet.FlagPromisc != 0 && f.cfg.KeepBad:
		set |= emreg.RCTLSBP
	}
	f.mtx.Lock()
	defer f.mtx.Unlock()
	f.regs.Change(emreg.RCTL, clear, set)
	return nil
}

// vlanWordMask keeps the words of the table that a tag can name.
const vlanWordMask = emreg.VFTACount - 1

// AddVLAN lets frames of a VLAN in (em_if_vlan_register).
func (f *Filter) AddVLAN(vtag uint16) {
	f.changeVLAN(vtag, func(word *uint32, bit uint32) { *word |= bit })
}

// RemoveVLAN keeps them out again (em_if_vlan_unregister).
func (f *Filter) RemoveVLAN(vtag uint16) {
	f.changeVLAN(vtag, func(word *uint32, bit uint32) { *word &^= bit })
}

func (f *Filter) changeVLAN(vtag uint16, change func(word *uint32, bit uint32)) {
	f.mtx.Lock()
	defer f.mtx.Unlock()
	i := vtag / tableBits & vlanWordMask
	change(&f.vfta[i], 1<<(vtag%tableBits))
	f.writeVFTA(uint64(i), f.vfta[i])
}

func (f *Filter) writeVFTA(i uint64, v uint32) {
	for range f.cfg.VLANWrites {
		f.regs.Write32(emreg.VFTA+i*emreg.RegStride, v)
	}
}

// StripsTags reports whether the part takes tags out of frames. Tags stay in frames whose
// FCS does: the part would strip neither.
func (f *Filter) StripsTags() bool {
	return f.ifp.Capenable()&ifnet.CapVLANHWTag != 0 && !f.cfg.KeepFCS
}

// SetupVLAN programs tag stripping and the VLAN filter after a reset, which cleared both
// (em_setup_vlan_hw_support). Frames of VLAN 0 carry a priority and always pass.
func (f *Filter) SetupVLAN() {
	var vme uint32
	if f.StripsTags() {
		vme = emreg.CtrlVME
	}
	f.regs.Change(emreg.CTRL, emreg.CtrlVME, vme)
	f.mtx.Lock()
	defer f.mtx.Unlock()
	if f.ifp.Capenable()&ifnet.CapVLANHWFilter == 0 {
		f.regs.Clear(emreg.RCTL, emreg.RCTLVFE|emreg.RCTLCFIEN)
		return
	}
	f.vfta[0] |= 1
	for i, v := range f.vfta {
		f.writeVFTA(uint64(i), v)
	}
	f.regs.Change(emreg.RCTL, emreg.RCTLCFIEN, emreg.RCTLVFE)
}
