package adv

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

// RETA holds this many entries a register; on 82575 the queue is in the upper bits.
const (
	retaBytes      = 4
	retaBits       = 8
	retaShift82575 = 6
)

// initRSS spreads received flows over the queues (igb_initialize_rss_mapping,
// igc_initialize_rss_mapping; spec 1g 6.5).
func (sc *Softc) initRSS() {
	r := &sc.Regs
	shift := 0
	if sc.Part.Route == nil {
		shift = retaShift82575
	}
	for i := range emreg.RETACount {
		var reta uint32
		for k := range retaBytes {
			queue := (i*retaBytes + k) % len(sc.rx)
			reta |= uint32(queue<<shift) << (retaBits * k)
		}
		r.Write32(emreg.RETA+uint64(i)*emreg.RegStride, reta)
	}
	e1000.WriteRSSKey(r)
	r.Write32(emreg.MRQC, e1000reg.MRQCRSS|emreg.MRQCIPv4|emreg.MRQCTCPIPv4|emreg.MRQCIPv6|emreg.MRQCTCPIPv6|
		emreg.MRQCTCPIPv6Ex|e1000reg.MRQCUDPIPv4|e1000reg.MRQCUDPIPv6|e1000reg.MRQCUDPIPv6Ex)
}
