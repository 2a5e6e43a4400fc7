package em

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/sysctl"
)

// conventionalWidth is how many bits of an address a part drives on a conventional bus.
const conventionalWidth = 32

// limitDMA keeps a part on a conventional PCI bus to addresses of 32 bits, unless
// dev.em.N.allow_64bit_dma says that the bus can do more (spec 1g 2.2, 7.2). Only such a
// part has the knob.
func (sc *softc) limitDMA() {
	if !sc.chip.lem() || sc.hw.Read32(emreg.STATUS)&emreg.StatusPCIXMode != 0 {
		return
	}
	sc.ctx.SysctlCtx().Bool(sc.ctx.SysctlNode(), "allow_64bit_dma", sysctl.RDTUN, &sc.wideDMA,
		"Allow 64-bit DMA on conventional PCI")
	if !sc.wideDMA.Load() {
		sc.ctx.Softc().DMAWidth = conventionalWidth
	}
}

// stopSmartPowerDown lets the PHY of 82571 stay awake without a link, which it finds
// sooner so, unless hw.em.smart_pwr_down is set (em_reset; spec 1g 7.1).
func (sc *softc) stopSmartPowerDown() error {
	if sc.chip.mac != mac82571 || sc.tun.smartPowerDown {
		return nil
	}
	v, err := sc.phy.ReadReg(emreg.IGP2PowerMgmt)
	if err != nil {
		return err
	}
	return sc.phy.WriteReg(emreg.IGP2PowerMgmt, v&^emreg.IGP2SmartPowerDown)
}
