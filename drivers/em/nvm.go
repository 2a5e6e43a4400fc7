package em

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/ifnet"
)

// barReg0 and the five after it are the base address registers of configuration space.
const (
	barReg0   = 0x10
	barRegEnd = 0x28
	barStep   = 4
	barIO     = 1 // low bit of an I/O BAR
)

// mapRegisters maps BAR 0 and, on 8254x, the I/O window that resets go through, on I217
// the flash (spec 1g 1).
func (sc *softc) mapRegisters() error {
	fn := sc.ctx.Function()
	bar, err := fn.MapBAR(barReg0)
	if err != nil {
		return fmt.Errorf("mapping registers: %w", err)
	}
	sc.hw = e1000.Regs{BAR: bar, Delay: sc.ctx.Kernel().Delay}
	sc.phy = e1000.PHY{Regs: &sc.hw}
	sc.path.bar = bar
	switch {
	case sc.chip.pch():
		sc.phy.Addr, sc.phy.Sem = emreg.PHYAddrBase, swFlag{&sc.hw}
		if sc.chip.mac == macPCHLPT {
			if err := sc.mapFlash(); err != nil {
				sc.unmapRegisters()
				return err
			}
		}
		return nil
	case !sc.chip.lem():
		return nil
	}
	rid := sc.ioBAR()
	io, err := fn.MapBAR(rid)
	if err != nil {
		sc.ctx.Printf("Unable to locate IO BAR\n")
		sc.unmapRegisters()
		return fmt.Errorf("mapping the I/O window: %w", err)
	}
	sc.io = io
	return nil
}

// ioBAR is the register of the first I/O BAR, barRegEnd without one.
func (sc *softc) ioBAR() int {
	rid := barReg0
	for rid < barRegEnd && sc.ctx.Function().ReadConfig32(rid)&barIO == 0 {
		rid += barStep
	}
	return rid
}

func (sc *softc) unmapRegisters() {
	fn := sc.ctx.Function()
	// Mapped by mapRegisters, so there is something to unmap.
	_ = fn.UnmapBAR(barReg0)
	if sc.io != nil {
		_ = fn.UnmapBAR(sc.ioBAR())
		sc.io = nil
	}
	if sc.flash != nil {
		_ = fn.UnmapBAR(barReg0 + emreg.FlashBAR*barStep)
		sc.flash = nil
	}
}

// identify finds the NVM and checks that the PHY is the expected one
// (e1000_setup_init_funcs).
func (sc *softc) identify() error {
	sc.nvm = sc.findNVM()
	id, err := sc.phy.ID()
	if err != nil {
		return fmt.Errorf("identifying the PHY: %w", err)
	}
	if (id^sc.chip.phyID)&sc.chip.phyMask != 0 {
		return fmt.Errorf("PHY %#x instead of %#x: %w", id, sc.chip.phyID, syscall.EIO)
	}
	return nil
}

// Word counts of the NVM (spec 1g 5.7).
const (
	nvmMinShift   = 6         // 2^(6 + EECD.SIZE_EX) words
	nvmMaxShift   = 14        // more than EERD's address has bits for
	eecdFlash     = 0x3 << 15 // 82573 and later: both bits set is a flash
	nvmFlashWords = 2048      // of a flash
)

// findNVM reads from EECD which kind of NVM there is and how big
// (e1000_init_nvm_params_82540 and _82571).
func (sc *softc) findNVM() e1000.NVM {
	if sc.chip.pch() {
		return sc.flashNVM()
	}
	eecd := sc.hw.Read32(emreg.EECD)
	if sc.chip.lem() {
		bits := emreg.MicrowireAddr6
		if eecd&emreg.EECDSize != 0 {
			bits = emreg.MicrowireAddr8
		}
		return e1000.MicrowireNVM{Regs: &sc.hw, EECD: emreg.EECD, AddrBits: bits}
	}
	shift := nvmMinShift + (eecd&emreg.EECDSizeExMask)>>emreg.EECDSizeExShift
	words := 1 << min(shift, nvmMaxShift)
	if sc.chip.mac >= mac82573 && eecd&eecdFlash == eecdFlash {
		words = nvmFlashWords
	}
	return e1000.EERDNVM{Regs: &sc.hw, Read: emreg.EERD, Write: emreg.EEWR, Words: words}
}

// msixVectors82574 is NVM word 0x1B's count, less one.
const msixVectors82574 = 4

// enableVectors82574 sees to it that the part offers all its vectors: an NVM that says
// less is rewritten, effective at the next power-up (em_enable_vectors_82574; spec 1g 8).
func (sc *softc) enableVectors82574() error {
	w, err := sc.nvm.ReadWord(emreg.NVMPCIeCtrl)
	if err != nil {
		return fmt.Errorf("reading the vector count: %w", err)
	}
	if w&emreg.NVMMSIXMask == msixVectors82574<<emreg.NVMMSIXShift {
		return nil
	}
	sc.ctx.Printf("Writing to eeprom: increasing reported MSI-X vectors from %d to %d...\n",
		w&emreg.NVMMSIXMask>>emreg.NVMMSIXShift+1, msixVectors82574+1)
	w = w&^emreg.NVMMSIXMask | msixVectors82574<<emreg.NVMMSIXShift
	if err := sc.nvm.WriteWord(emreg.NVMPCIeCtrl, w); err != nil {
		return fmt.Errorf("writing the vector count: %w", err)
	}
	if err := e1000.UpdateNVMChecksum(sc.nvm); err != nil {
		return fmt.Errorf("writing the vector count: %w", err)
	}
	return nil
}

// errChecksum and errMAC are what is wrong with an NVM that answers.
var (
	errChecksum = errors.New("NVM checksum is wrong")
	errMAC      = errors.New("MAC address is none")
)

// readNVM checks the NVM and reads the address and the consent to wake-up (spec 1g 6.1
// steps 11 to 15). The checksum gets a second chance: a part may just wake up.
func (sc *softc) readNVM() error {
	ok, err := sc.checksumOK()
	if err != nil || !ok {
		ok, err = sc.checksumOK()
	}
	if err == nil && !ok {
		err = fmt.Errorf("%w: %w", errChecksum, syscall.EIO)
	}
	if err != nil {
		sc.ctx.Printf("The EEPROM Checksum Is Not Valid\n")
		return err
	}
	if sc.mac, err = sc.readMAC(); err != nil {
		sc.ctx.Printf("EEPROM read error while reading MAC address\n")
		return err
	}
	if sc.mac == ([ifnet.EtherAddrLen]byte{}) || ifnet.IsMulticastMAC(sc.mac) {
		sc.ctx.Printf("Invalid MAC address\n")
		return fmt.Errorf("%x: %w: %w", sc.mac, errMAC, syscall.EIO)
	}
	if sc.mayWake() {
		sc.ctx.Softc().Capenable |= ifnet.CapWOLMagic
	}
	return nil
}

// checksumOK checks the NVM, if it has a checksum.
func (sc *softc) checksumOK() (bool, error) {
	if has, err := sc.hasChecksum(); err != nil || !has {
		return true, err
	}
	return e1000.NVMChecksumOK(sc.nvm, 0)
}

// mayWake reports whether the NVM consents to wake-up by magic packets; pch parts load
// that into a register (em_get_wakeup).
func (sc *softc) mayWake() bool {
	if sc.chip.pch() {
		return sc.hw.Read32(emreg.WUC)&emreg.WUCAPME != 0
	}
	w, err := sc.nvm.ReadWord(emreg.NVMInitCtrl3A)
	return err == nil && w&emreg.NVMAPMEnable != 0
}

// readMAC reads the address: 8254x leave it in the NVM, later parts load it into RAR 0.
func (sc *softc) readMAC() (mac [ifnet.EtherAddrLen]byte, err error) {
	if sc.chip.lem() {
		return e1000.MACFromNVM(sc.nvm)
	}
	return sc.ReadRAR(), nil
}
