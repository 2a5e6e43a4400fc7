package adv

import (
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Part is what a chip, or its driver, does otherwise than the others. Funcs run on the
// control path with the ctx lock, unless a comment says otherwise.
type Part struct {
	Device         uint16 // PCI id
	Name           string
	PHYID, PHYMask uint32

	Queues    int // the driver's, in each direction
	RARs      int
	MaxFrame  int // longest frame with FCS
	Caps      ifnet.Caps
	CsumFlags mbuf.CsumFlags
	Format    Format
	Media     []e1000.Medium
	Stats     []e1000.Stat
	Intrs     []e1000.Stat // leaves of the node interrupts

	VLANWrites   int                        // how often an entry of the VLAN table is written
	PacketBuffer func(r *e1000.Regs) uint32 // KiB of the receive side
	Hysteresis   uint32                     // between the flow control marks
	Scale        e1000.Scale                // of EITR
	TXDCTL       uint32                     // with its enable bit
	RxWthresh    func(msix bool) uint32
	RXCSUM       func(old uint32, on ifnet.Caps, queues int) uint32
	Route        func(q int) (reg uint64, shift int) // IVAR0 byte of receive queue q; nil: MSIXBM
	LinkDelay    time.Duration                       // from finding a link to using it
	HasDMAC      bool
	HasEEE       bool
	CountsLPI    bool   // TLPIC and RLPIC
	EEEAdvertise uint32 // bits of IPCNFG

	// Reset puts the part into its reset state (e1000_reset_hw).
	Reset func(sc *Softc) error
	// NVM finds the NVM; it is used under SyncNVM.
	NVM func(r *e1000.Regs) e1000.NVM
	// Sections are the first words of the NVM's sections with a checksum.
	Sections func(n e1000.NVM) ([]int, error)
}

// Numbers of the shared and softc contexts that are the same for both drivers (spec 1g
// 2.1, 2.2).
const (
	maxScatter = 40    // EM_MAX_SCATTER, IGC_MAX_SCATTER
	tsoSize    = 65535 // EM_TSO_SIZE
	segSize    = 4096  // EM_TSO_SEG_SIZE
)

// CsumFlags is what the transmit side of all parts computes (isc_tx_csum_flags); SCTP is
// left out on 82575.
const CsumFlags = mbuf.CsumIPTCP | mbuf.CsumIPUDP | mbuf.CsumTSO | mbuf.CsumIP6TCP | mbuf.CsumIP6UDP | CsumSCTP

// CsumSCTP are the checksums of SCTP.
const CsumSCTP = mbuf.CsumIPSCTP | mbuf.CsumIP6SCTP

// Caps are the capabilities without the VLAN filter (IGC_CAPS; spec 1g 2.3).
const Caps = ifnet.CapHWCsum | ifnet.CapVLANMTU | ifnet.CapVLANHWTag | ifnet.CapVLANHWCsum | ifnet.CapWOL | ifnet.CapTSO4 |
	ifnet.CapLRO | ifnet.CapVLANHWTSO | ifnet.CapJumboMTU | ifnet.CapHWCsumIPv6 | ifnet.CapTSO6

// FrameErrors are the errors that make a frame bad for igb; igc looks at RXE alone.
const FrameErrors = emreg.RxdExtErrFrameMask

// RouteByPairs is Route of 82580 and later: two queues a register.
func RouteByPairs(q int) (reg uint64, shift int) {
	return e1000reg.IVAR0 + uint64(q/2)*emreg.RegStride, q % 2 * e1000reg.IVAROdd
}

// EITR is the Scale of EITR: microseconds, beside a bit that keeps the running interval
// (spec 1g 6.6).
func EITR() e1000.Scale { return e1000.Scale{Value: eitrOf, Rate: eitrRate} }

// EITR82575 is EITR with the interval twice.
func EITR82575() e1000.Scale {
	return e1000.Scale{Rate: eitrRate, Value: func(rate int) uint32 {
		v := eitrOf(rate) & e1000reg.EITRMask
		return v<<eitrSecond | v
	}}
}

const (
	usPerSecond = 1_000_000
	eitrSecond  = 16 // shift of 82575's second interval
)

func eitrOf(rate int) uint32 {
	us := min(usPerSecond/max(rate, 1), e1000reg.EITRMask>>e1000reg.EITRShift)
	return uint32(us)<<e1000reg.EITRShift | e1000reg.EITRCntIgnr
}

func eitrRate(v uint32) uint64 {
	if us := v & e1000reg.EITRMask >> e1000reg.EITRShift; us != 0 {
		return usPerSecond / uint64(us)
	}
	return 0
}
