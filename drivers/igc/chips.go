package igc

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igc/igcreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/adv"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// chip is a device id (spec 1g 1): the parts are alike.
type chip struct {
	device uint16
	name   string
}

var chips = []chip{
	{igcreg.DevI225LM, "Intel(R) Ethernet Controller I225-LM"},
	{igcreg.DevI225V, "Intel(R) Ethernet Controller I225-V"},
	{igcreg.DevI225K, "Intel(R) Ethernet Controller I225-K"},
	{igcreg.DevI225I, "Intel(R) Ethernet Controller I225-I"},
	{igcreg.DevI220V, "Intel(R) Ethernet Controller I220-V"},
	{igcreg.DevI225K2, "Intel(R) Ethernet Controller I225-K(2)"},
	{igcreg.DevI225LMvP, "Intel(R) Ethernet Controller I225-LMvP(2)"},
	{igcreg.DevI226K, "Intel(R) Ethernet Controller I226-K"},
	{igcreg.DevI226LMvP, "Intel(R) Ethernet Controller I226-LMvP"},
	{igcreg.DevI225IT, "Intel(R) Ethernet Controller I225-IT(2)"},
	{igcreg.DevI226LM, "Intel(R) Ethernet Controller I226-LM"},
	{igcreg.DevI226V, "Intel(R) Ethernet Controller I226-V"},
	{igcreg.DevI226IT, "Intel(R) Ethernet Controller I226-IT"},
	{igcreg.DevI221V, "Intel(R) Ethernet Controller I221-V"},
	{igcreg.DevI226Blank, "Intel(R) Ethernet Controller I226(blankNVM)"},
	{igcreg.DevI225Blank, "Intel(R) Ethernet Controller I225(blankNVM)"},
}

// vendorInfo is the identity table for iflib.
func vendorInfo() []iflib.VendorInfo {
	v := make([]iflib.VendorInfo, len(chips))
	for i, c := range chips {
		v[i] = iflib.VendorInfo{Vendor: emreg.VendorIntel, Device: c.device, Name: c.name}
	}
	return v
}

// Numbers of the parts (spec 1g 1, 2.2, 2.3, 6.3).
const (
	queues       = 4
	rars         = 16
	maxFrame     = 9234 // with FCS
	hysteresis   = 16
	packetBuffer = 34     // KiB of the receive side
	eeeModes     = 7 << 2 // IPCNFG_EEE_1G_AN, _100M_AN and _2_5G_AN
	rxWthresh    = 4      // IGC_RX_WTHRESH

	// Prefetch below 31 cached descriptors, host and write-back thresholds of 1.
	txdctl = 0x1f | 1<<emreg.DCTLHthreshShift | 1<<emreg.DCTLWthreshShift | emreg.TXDCTLCountDesc | emreg.DCTLGran |
		e1000reg.DCTLEnable
)

// partOf describes the part with a device id; nil if the driver does not know it.
func partOf(device uint16) *adv.Part {
	for _, c := range chips {
		if c.device == device {
			return c.part()
		}
	}
	return nil
}

func (c chip) part() *adv.Part {
	return &adv.Part{
		Device: c.device, Name: c.name, PHYID: igcreg.PHYIDI225, PHYMask: igcreg.PHYIDMask,
		Queues: queues, RARs: rars, MaxFrame: maxFrame, Caps: adv.Caps, CsumFlags: adv.CsumFlags,
		Format: receiveFormat(), Media: media(), Stats: stats(), Intrs: interrupts(),

		VLANWrites: 1, PacketBuffer: func(*e1000.Regs) uint32 { return packetBuffer }, Hysteresis: hysteresis,
		Scale: adv.EITR(), TXDCTL: txdctl, RxWthresh: func(bool) uint32 { return rxWthresh }, RXCSUM: rxcsum,
		Route: adv.RouteByPairs, HasDMAC: true, HasEEE: true, EEEAdvertise: eeeModes,

		Reset: reset, NVM: findNVM, Sections: sections,
	}
}

// media are a gigabit port's and 2.5 Gbit/s (igc_setup_interface).
func media() []e1000.Medium {
	m := e1000.GigabitMedia()
	last := len(m) - 1
	return append(m[:last], e1000.Medium{Word: ifnet.Media2500T, Mode: e1000.Mode2500FD},
		e1000.Medium{Word: ifnet.MediaAuto, Mode: e1000.ModesAll | e1000.Mode2500FD})
}

// rxcsum is RXCSUM for the enabled capabilities. IP, TCP and UDP are checked from the
// reset on (spec 1g 6.4 receive unit 3).
func rxcsum(old uint32, on ifnet.Caps, queues int) uint32 {
	v := old &^ e1000reg.RXCSUMCRCOFL
	if on&ifnet.CapRxCsum != 0 {
		v |= e1000reg.RXCSUMCRCOFL
	}
	if queues > 1 {
		return v | emreg.RXCSUMPCSD
	}
	return v | emreg.RXCSUMIPPCSE
}

// reset puts the part into its reset state (igc_reset_hw_i225; spec 1g 6.2).
func reset(sc *adv.Softc) error {
	sc.ResetMAC(0)
	sc.EndReset()
	return nil
}

// Word counts of the NVM (spec 1g 5.7).
const (
	nvmMinShift = 6
	nvmMaxShift = 14
	noWord      = 0xffff
)

// findNVM reads from EECD whether there is a flash and how big
// (igc_init_nvm_params_i225).
func findNVM(r *e1000.Regs) e1000.NVM {
	eecd := r.Read32(emreg.EECD)
	if eecd&e1000reg.EECDFlashPresent == 0 {
		return blank{}
	}
	shift := nvmMinShift + (eecd&emreg.EECDSizeExMask)>>emreg.EECDSizeExShift
	return e1000.EERDNVM{Regs: r, Read: igcreg.EERD, Write: igcreg.EEWR, Words: 1 << min(shift, nvmMaxShift)}
}

// blank is the NVM of a part without flash.
type blank struct{}

// ReadWord reads what is not there.
func (blank) ReadWord(int) (uint16, error) { return noWord, nil }

// WriteWord refuses.
func (blank) WriteWord(word int, _ uint16) error {
	return fmt.Errorf("writing NVM word %#x of a part without flash: %w", word, syscall.EIO)
}

// sections are the first words of the sections of the NVM that have a checksum.
func sections(n e1000.NVM) ([]int, error) {
	if shared, ok := n.(e1000.SharedNVM); ok && shared.NVM == (blank{}) {
		return nil, nil
	}
	return []int{0}, nil
}
