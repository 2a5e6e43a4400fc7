package adv

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/sysctl"
)

// DMA coalescing (spec 1g 5.1, 6.3 step 8; igb_init_dmac).
const (
	fcrtc          = 0x2170 // FCRTC
	fcrtcShift     = 4
	fcrtcMask      = 0x3fff0
	dmacrEnable    = 1 << 31 // DMACR_DMAC_EN
	dmacrLx        = 3 << 28 // DMACR_DMAC_LX_MASK
	dmacrThrMask   = 0xff << 16
	dmacrThrShift  = 16
	dmacrUnitShift = 5 // of the watchdog timer: 32 us
	dmctlxDelay    = 4
	txBufferSize   = 20408  // IGB_TXPBSIZE
	txUnitShift    = 6      // of DMCTXTH: 64 bytes
	pcieLxDecision = 1 << 7 // PCIEMISC_LX_DECISION
	hwmUnitsPerKiB = 64     // of FCRTC: 16 bytes
	hwmUnit        = 16     // bytes
	hwmReserve     = 6      // KiB
	dmacUnitFrame  = 512    // bytes of a frame that cost a KiB of the threshold
	dmacReserve    = 10     // KiB
)

// dmacValues are the values of the sysctl dmac in us; 1 is the default of 1000.
var dmacValues = []int64{0, 250, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000}

const dmacDefault = 1000

// initDMAC programs DMA coalescing: the part collects received frames and wakes the bus
// for several at once.
func (sc *Softc) initDMAC(pba uint32, frame int) {
	r, us := &sc.Regs, uint32(sc.dmac.Load())
	if us == 0 {
		r.Write32(e1000reg.DMACR, 0)
		return
	}
	sc.Ctx.Printf("DMA Coalescing enabled\n")
	r.Write32(e1000reg.DMCTXTH, 0)
	hwm := max(hwmUnitsPerKiB*int(pba)-frame/hwmUnit, hwmUnitsPerKiB*(int(pba)-hwmReserve))
	r.Change(fcrtc, fcrtcMask, uint32(hwm)<<fcrtcShift&fcrtcMask)
	threshold := max(int(pba)-frame/dmacUnitFrame, int(pba)-dmacReserve)
	r.Write32(e1000reg.DMACR, uint32(threshold)<<dmacrThrShift&dmacrThrMask|dmacrEnable|dmacrLx|us>>dmacrUnitShift)
	r.Write32(e1000reg.DMCRTRH, 0)
	r.Set(e1000reg.DMCTLX, dmctlxDelay)
	r.Write32(e1000reg.DMCTXTH, uint32(max(txBufferSize-2*frame, 0))>>txUnitShift)
	r.Clear(e1000reg.PCIEMISC, pcieLxDecision)
}

// dmacHandler serves dmac (igb_sysctl_dmac). The error wraps EINVAL for a time that is
// none of the values; coalescing is off then. The interface is initialised anew.
func (sc *Softc) dmacHandler(req *sysctl.Request) error {
	val, written, err := req.HandleInt(int64(sc.dmac.Load()))
	if err != nil || !written {
		return err
	}
	if val == 1 {
		val = dmacDefault
	}
	if !slices.Contains(dmacValues, val) {
		sc.dmac.Store(0)
		return fmt.Errorf("DMA coalescing of %d us: %w", val, syscall.EINVAL)
	}
	sc.dmac.Store(int32(val))
	sc.Reinit()
	return nil
}

// Bits of EEER (EEER_TX_LPI_EN, _RX_LPI_EN, _LPI_FC).
const eeerBits = 7 << 16

// initEEE lets the port negotiate energy-efficient Ethernet, or not (e1000_set_eee_i350,
// igc_set_eee_i225).
func (sc *Softc) initEEE() {
	var advertise, enable uint32
	if sc.EEEOff.Load() == 0 {
		advertise, enable = sc.Part.EEEAdvertise, eeerBits
	}
	sc.Regs.Change(e1000reg.IPCNFG, sc.Part.EEEAdvertise, advertise)
	sc.Regs.Change(e1000reg.EEER, eeerBits, enable)
	sc.Regs.Flush()
}
