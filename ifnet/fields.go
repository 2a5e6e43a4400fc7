package ifnet

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Flags are the stack's flags (if_flags), one atomic load.
func (ifp *Ifnet) Flags() Flags { return Flags(ifp.flags.Load()) }

// SetFlags changes flags of the stack's half: first set, then clear. Drivers set
// the constant ones (owner i of spec ifnet 6.2) before attach; afterwards flags
// change through IoctlSetFlags and Promisc.
func (ifp *Ifnet) SetFlags(set, clear Flags) { setBits(&ifp.flags, uint32(set), uint32(clear)) }

// DrvFlags are the driver's flags RUNNING and OACTIVE (if_drv_flags), one atomic load.
func (ifp *Ifnet) DrvFlags() Flags { return Flags(ifp.drvFlags.Load()) }

// SetDrvFlags changes the driver's flags, set first, then clear (if_setdrvflagbits).
func (ifp *Ifnet) SetDrvFlags(set, clear Flags) {
	setBits(&ifp.drvFlags, uint32(set), uint32(clear))
}

// setBits replaces bits in one step. When nothing changes it stores nothing, so
// that the cache line stays shared.
func setBits(w *atomic.Uint32, set, clear uint32) {
	for {
		old := w.Load()
		bits := (old | set) &^ clear
		if bits == old || w.CompareAndSwap(old, bits) {
			return
		}
	}
}

// ReportedFlags is what SIOCGIFFLAGS and netlink report: both halves, and LOWER_UP
// when the operational state is up (spec ifnet 6.2). It asks the driver for the
// media status and may sleep.
func (ifp *Ifnet) ReportedFlags() Flags {
	f := ifp.Flags() | ifp.DrvFlags()
	if ifp.operationalUp() {
		f |= FlagLowerUp
	}
	return f
}

func (ifp *Ifnet) operationalUp() bool {
	if ifp.typ != TypeEther && ifp.typ != TypeVLAN {
		return ifp.Flags()&FlagUp != 0
	}
	if ifp.Flags()&FlagMonitor != 0 {
		return false
	}
	var req MediaReq
	if err := ifp.Ioctl(IoctlGetMedia, &req); err != nil {
		return false
	}
	return req.Status&(MediaAValid|MediaActive) == MediaAValid|MediaActive
}

// Capabilities are the supported capabilities (if_capabilities).
func (ifp *Ifnet) Capabilities() Caps { return Caps(ifp.caps.Load()) }

// SetCapabilities changes the supported capabilities, set first, then clear
// (if_setcapabilitiesbit).
func (ifp *Ifnet) SetCapabilities(set, clear Caps) { setBits(&ifp.caps, uint32(set), uint32(clear)) }

// Capenable are the enabled capabilities (if_capenable), one atomic load.
func (ifp *Ifnet) Capenable() Caps { return Caps(ifp.capenable.Load()) }

// SetCapenable changes the enabled capabilities, set first, then clear
// (if_setcapenablebit).
func (ifp *Ifnet) SetCapenable(set, clear Caps) {
	setBits(&ifp.capenable, uint32(set), uint32(clear))
}

// ToggleCapenable flips enabled capabilities (if_togglecapenable).
func (ifp *Ifnet) ToggleCapenable(bits Caps) {
	for {
		old := ifp.capenable.Load()
		if ifp.capenable.CompareAndSwap(old, old^uint32(bits)) {
			return
		}
	}
}

// Capabilities2 is the second word of the supported capabilities (bits 32 and up).
func (ifp *Ifnet) Capabilities2() Caps2 { return Caps2(ifp.caps2.Load()) }

// SetCapabilities2 changes the second word of the supported capabilities.
func (ifp *Ifnet) SetCapabilities2(set, clear Caps2) {
	setBits(&ifp.caps2, uint32(set), uint32(clear))
}

// Capenable2 is the second word of the enabled capabilities.
func (ifp *Ifnet) Capenable2() Caps2 { return Caps2(ifp.capenable2.Load()) }

// SetCapenable2 changes the second word of the enabled capabilities.
func (ifp *Ifnet) SetCapenable2(set, clear Caps2) {
	setBits(&ifp.capenable2, uint32(set), uint32(clear))
}

// HWAssist is the set of CSUM requests the interface serves now (if_hwassist).
func (ifp *Ifnet) HWAssist() mbuf.CsumFlags { return mbuf.CsumFlags(ifp.hwassist.Load()) }

// SetHWAssist stores if_hwassist; the driver keeps it in step with Capenable.
func (ifp *Ifnet) SetHWAssist(f mbuf.CsumFlags) { ifp.hwassist.Store(uint32(f)) }

// SetHWAssistBits changes bits of if_hwassist, set first, then clear (if_sethwassistbits).
func (ifp *Ifnet) SetHWAssistBits(set, clear mbuf.CsumFlags) {
	setBits(&ifp.hwassist, uint32(set), uint32(clear))
}

// Hdrlen is the length of the link header in bytes (if_hdrlen).
func (ifp *Ifnet) Hdrlen() int { return int(ifp.hdrlen.Load()) }

// SetHdrlen stores if_hdrlen (if_setifheaderlen).
func (ifp *Ifnet) SetHdrlen(n int) { ifp.hdrlen.Store(int32(n)) }

// MTU is the payload of a frame in bytes (if_mtu).
func (ifp *Ifnet) MTU() int { return int(ifp.mtu.Load()) }

// SetMTU stores if_mtu without any check: what a driver does once the hardware
// agreed (if_setmtu).
func (ifp *Ifnet) SetMTU(mtu int) { ifp.mtu.Store(int32(mtu)) }

// Metric is if_metric.
func (ifp *Ifnet) Metric() int { return int(ifp.metric.Load()) }

// FIB is the routing table of packets that arrive (if_fib).
func (ifp *Ifnet) FIB() int { return int(ifp.fib.Load()) }

// PCP is the default 802.1p priority, 0 to 7 or PCPNone (if_pcp).
func (ifp *Ifnet) PCP() uint8 { return uint8(ifp.pcp.Load()) }

// SetPCP stores if_pcp (SIOCSLANPCP does it with a check).
func (ifp *Ifnet) SetPCP(pcp uint8) { ifp.pcp.Store(uint32(pcp)) }

// Baudrate is the speed in bit/s (if_baudrate).
func (ifp *Ifnet) Baudrate() uint64 { return ifp.baudrate.Load() }

// SetBaudrate stores the speed in bit/s.
func (ifp *Ifnet) SetBaudrate(bps uint64) { ifp.baudrate.Store(bps) }

// MAC is the link-level address in use (IF_LLADDR).
func (ifp *Ifnet) MAC() [EtherAddrLen]byte { return unpackMAC(ifp.mac.Load()) }

// SetMAC stores the link-level address in use and tells nobody: what an interface does that
// takes over another one's. Others use IoctlSetLLAddr.
func (ifp *Ifnet) SetMAC(mac [EtherAddrLen]byte) { ifp.mac.Store(packMAC(mac[:])) }

// HWAddr is the address burnt into the hardware (if_hw_addr).
func (ifp *Ifnet) HWAddr() [EtherAddrLen]byte { return unpackMAC(ifp.hwaddr.Load()) }

// TSOLimits are the limits of a TSO packet (if_hw_tsomax, tsomaxsegcount, tsomaxsegsize).
type TSOLimits struct {
	Max      int // bytes of the packet without link header
	SegCount int // segments of the chain
	SegSize  int // bytes of a segment
}

// TSO reports the limits of a TSO packet.
func (ifp *Ifnet) TSO() TSOLimits {
	if l := ifp.tso.Load(); l != nil {
		return *l
	}
	return TSOLimits{}
}

// SetTSOMax stores the limits of a TSO packet (if_sethwtsomax and its relatives).
// All 0 at attach means the defaults.
func (ifp *Ifnet) SetTSOMax(size, segcount, segsize int) {
	ifp.tso.Store(&TSOLimits{Max: size, SegCount: segcount, SegSize: segsize})
}
