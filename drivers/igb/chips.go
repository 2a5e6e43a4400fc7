package igb

import (
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igb/igbreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/adv"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// macType orders the parts as enum e1000_mac_type does: comparisons with < and >= mean
// something.
type macType uint8

const (
	mac82575 macType = iota
	mac82576
	mac82580
	macI350
	macI210
	macI211
)

// chip is what is special about a device id (spec 1g 1).
type chip struct {
	device uint16
	name   string
	mac    macType
	phyID  uint32
	queues int
	rars   int
}

var chips = []chip{
	{igbreg.Dev82575EBCopper, "Intel(R) PRO/1000 82575EB (Copper)", mac82575, igbreg.PHYIDIGP03, 4, 16},
	{igbreg.Dev82576, "Intel(R) PRO/1000 82576", mac82576, igbreg.PHYIDIGP03, 8, 24},
	{igbreg.Dev82580Copper, "Intel(R) I340 82580 (Copper)", mac82580, igbreg.PHYID82580, 8, 24},
	{igbreg.DevI350Copper, "Intel(R) I350 (Copper)", macI350, igbreg.PHYIDI350, 8, 32},
	{igbreg.DevI210Copper, "Intel(R) I210 (Copper)", macI210, igbreg.PHYIDI210, 4, 16},
	{igbreg.DevI210CopperNoNVM, "Intel(R) I210 Flashless (Copper)", macI210, igbreg.PHYIDI210, 4, 16},
	{igbreg.DevI211Copper, "Intel(R) I211 (Copper)", macI211, igbreg.PHYIDI210, 2, 16},
}

// vendorInfo is the identity table for iflib.
func vendorInfo() []iflib.VendorInfo {
	v := make([]iflib.VendorInfo, len(chips))
	for i, c := range chips {
		v[i] = iflib.VendorInfo{Vendor: emreg.VendorIntel, Device: c.device, Name: c.name}
	}
	return v
}

// partOf describes the part with a device id; nil if the driver does not know it.
func partOf(device uint16) *adv.Part {
	for _, c := range chips {
		if c.device == device {
			return c.part()
		}
	}
	return nil
}

const (
	maxFrame    = 9234        // with FCS (spec 1g 2.3)
	linkDelay   = time.Second // I210_LINK_DELAY
	eeeModes    = 3 << 2      // IPCNFG_EEE_1G_AN, IPCNFG_EEE_100M_AN
	hysteresis8 = 8           // of 82575 and 82576, whose marks count 8 bytes
	hysteresis  = 16
	txdctl      = igbreg.TxPthresh | igbreg.TxHthresh<<emreg.DCTLHthreshShift | e1000reg.DCTLEnable
)

func (c chip) part() *adv.Part {
	p := &adv.Part{
		Device: c.device, Name: c.name, PHYID: c.phyID, PHYMask: emreg.PHYRevisionMask,
		Queues: c.queues, RARs: c.rars, MaxFrame: maxFrame,
		Caps: adv.Caps | ifnet.CapVLANHWFilter, CsumFlags: adv.CsumFlags,
		Media: e1000.GigabitMedia(),
		Stats: append(e1000.StatTable(), e1000.EEEStats()...),
		Intrs: e1000.InterruptStats(),

		VLANWrites: 1, PacketBuffer: c.packetBuffer, Hysteresis: hysteresis, Scale: adv.EITR(), TXDCTL: txdctl,
		RxWthresh: c.rxWthresh, RXCSUM: c.rxcsum, Route: adv.RouteByPairs, EEEAdvertise: eeeModes,

		Reset: c.reset, NVM: c.findNVM, Sections: c.sections,
	}
	p.Format.SwapLB = c.mac == macI350
	switch c.mac {
	case mac82575:
		p.Route, p.Scale = nil, adv.EITR82575()
		p.CsumFlags &^= adv.CsumSCTP
		p.Hysteresis = hysteresis8
	case mac82576:
		p.Route, p.Hysteresis = route82576, hysteresis8
	case macI350:
		p.VLANWrites = igbreg.VFTAWritesI350
		p.HasDMAC, p.HasEEE, p.CountsLPI = true, true, true
	case macI210:
		p.HasDMAC, p.HasEEE, p.CountsLPI, p.LinkDelay = true, true, true, linkDelay
	case macI211:
		p.HasEEE, p.CountsLPI, p.LinkDelay = true, true, linkDelay
	}
	return p
}

// route82576 is where IVAR0 has a queue of 82576.
func route82576(q int) (reg uint64, shift int) {
	return e1000reg.IVAR0 + uint64(q%e1000reg.IVAR82576)*emreg.RegStride, q / e1000reg.IVAR82576 * e1000reg.IVAROdd
}

// rxWthresh is how many descriptors are written back together: one on 82576 with MSI-X,
// which would lose interrupts otherwise (spec 1g 8).
func (c chip) rxWthresh(msix bool) uint32 {
	if c.mac == mac82576 && msix {
		return 1
	}
	return igbreg.RxWthresh
}

// rxcsum is RXCSUM for the enabled capabilities (spec 1g 6.4 receive unit 3).
func (c chip) rxcsum(old uint32, on ifnet.Caps, queues int) uint32 {
	offload := uint32(emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL)
	if c.mac > mac82575 {
		offload |= e1000reg.RXCSUMCRCOFL
	}
	v := old &^ offload
	if on&ifnet.CapRxCsum != 0 {
		v |= offload
	}
	if queues > 1 {
		v |= emreg.RXCSUMPCSD
	}
	return v
}

// bufferSizes are the KiB that RXPBS of 82580 and I350 names (e1000_82580_rxpbs_table).
var bufferSizes = [...]uint32{36, 72, 144, 1, 2, 4, 8, 16, 35, 70, 140}

// packetBuffer is the KiB of the packet buffer that the receive side gets (spec 1g 6.3
// step 2).
func (c chip) packetBuffer(r *e1000.Regs) uint32 {
	const pba82575, pbaI210 = 32, 34
	switch c.mac {
	case mac82575:
		return pba82575
	case mac82576:
		return r.Read32(e1000reg.RXPBS) & igbreg.RXPBS82576Mask
	case mac82580, macI350:
		if size := r.Read32(e1000reg.RXPBS); size < uint32(len(bufferSizes)) {
			return bufferSizes[size]
		}
		return 0
	}
	return pbaI210
}
