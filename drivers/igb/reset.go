package igb

import (
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/adv"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/ifnet"
)

// reset82580 is how long 82580 and later take.
const reset82580 = 5 * time.Millisecond

// Bits of GCR (GCR_CMPL_TMOUT_MASK, _10ms, _RESEND).
const (
	gcrTimeoutMask   = 0xf000
	gcrTimeout10ms   = 0x1000
	gcrTimeoutResend = 0x10000
)

// reset puts the part into its reset state (e1000_reset_hw_82575, _82580; spec 1g 6.2).
func (c chip) reset(sc *adv.Softc) error {
	r := &sc.Regs
	if c.mac <= mac82576 {
		c.setCompletionTimeout(sc)
		sc.ResetMAC(0)
		sc.EndReset()
		return c.useAlternateMAC(sc)
	}
	sc.ResetMAC(reset82580)
	r.Set(emreg.STATUS, e1000reg.StatusDevRSTSet)
	sc.EndReset()
	return nil
}

// setCompletionTimeout gives the bus 10 ms to answer, where the part leaves it to the
// driver and was not told otherwise (e1000_set_pcie_completion_timeout).
func (c chip) setCompletionTimeout(sc *adv.Softc) {
	gcr := sc.Regs.Read32(emreg.GCR)
	if gcr&gcrTimeoutMask == 0 && gcr&emreg.GCRCapVer2 == 0 {
		gcr |= gcrTimeout10ms
	}
	sc.Regs.Write32(emreg.GCR, gcr&^gcrTimeoutResend)
}

// Words of the alternate address of one port (E1000_ALT_MAC_ADDRESS_OFFSET_LAN1 and so
// on).
const alternateWords = 3

// useAlternateMAC puts the address that the NVM has beside the first one, for blades, into
// the first receive address (e1000_check_alt_mac_addr_generic).
func (c chip) useAlternateMAC(sc *adv.Softc) error {
	at, err := sc.NVM.ReadWord(emreg.NVMAltMacPtr)
	if err != nil {
		return err
	}
	if at == 0 || at == noWord {
		return nil
	}
	var mac [ifnet.EtherAddrLen]byte
	for i := range alternateWords {
		w, err := sc.NVM.ReadWord(int(at) + sc.Function()*alternateWords + i)
		if err != nil {
			return err
		}
		mac[2*i], mac[2*i+1] = byte(w), byte(w>>8)
	}
	if !ifnet.IsMulticastMAC(mac) {
		sc.WriteRAR(0, mac, true)
	}
	return nil
}
