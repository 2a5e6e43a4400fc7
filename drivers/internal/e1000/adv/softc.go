package adv

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl"
)

// Settings are the tunables that the common part obeys.
type Settings struct {
	AIM         int  // enable_aim
	MaxIntrRate int  // interrupts a second without AIM
	KeepFCS     bool // disable_crc_stripping
	KeepBad     bool // sbp
	EEEOff      bool // eee_setting
}

// Softc is one controller (struct e1000_softc of igb, struct igc_softc). A driver's softc
// embeds it and has AttachPre call Attach. Fields are constant after that or guarded by
// the ctx lock, unless their group says otherwise.
type Softc struct {
	e1000.Port
	e1000.Filter
	e1000.Common
	Path

	Ctx  *iflib.Ctx
	Regs e1000.Regs
	NVM  e1000.NVM
	Part *Part

	set  Settings
	phy  e1000.PHY
	mac  [ifnet.EtherAddrLen]byte
	dmac atomic.Int32 // DMA coalescing in us, 0 off

	vectors             []*vector // of queues, by receive queue; one without MSI-X
	queueMask, linkMask uint32
	msix                bool
}

var (
	_ iflib.RxQueueIntrEnabler = (*Softc)(nil)
	_ iflib.TxQueueIntrEnabler = (*Softc)(nil)
	_ iflib.Timer              = (*Softc)(nil)
	_ iflib.Restarter          = (*Softc)(nil)
	_ iflib.LEDer              = (*Softc)(nil)
	_ iflib.PowerManager       = (*Softc)(nil)
)

// bar0 is the register of BAR 0 in configuration space.
const bar0 = 0x10

// Attach identifies the part, tells iflib what it can do and reads its address
// (em_if_attach_pre, igc_if_attach_pre; spec 1g 6.1). The errors wrap EIO for a part that
// does not answer as it should, or are those of the bus.
func (sc *Softc) Attach(ctx *iflib.Ctx, part *Part, set Settings) error {
	sc.Ctx, sc.Part, sc.set = ctx, part, set
	sc.AIMMode.Store(int32(set.AIM))
	sc.SetEEEOff(set.EEEOff)
	sc.describe()
	bar, err := ctx.Function().MapBAR(bar0)
	if err != nil {
		ctx.Printf("Allocation of PCI resources failed\n")
		return fmt.Errorf("mapping registers: %w", err)
	}
	sc.Regs = e1000.Regs{BAR: bar, Delay: ctx.Kernel().Delay}
	sc.bar, sc.errs = bar, &sc.RxErrors
	sc.InitFilter(ctx, &sc.Regs, e1000.FilterConfig{RARs: part.RARs, MTAWords: emreg.MTACount, VLANWrites: part.VLANWrites,
		KeepBad: set.KeepBad, KeepFCS: set.KeepFCS})
	if err := sc.attachHardware(); err != nil {
		sc.giveBack()
		return err
	}
	sc.KeepLED()
	ctx.SetMAC(sc.mac)
	sc.addSysctls()
	return nil
}

// attachHardware is the part of Attach that may fail with the registers mapped.
func (sc *Softc) attachHardware() error {
	if err := sc.identify(); err != nil {
		sc.Ctx.Printf("Setup of Shared code failed, error %d\n", sysctl.Number(err))
		return err
	}
	sc.InitPort(sc.Ctx, sc.phy, sc.Part.Media)
	sc.InitCommon(sc.Ctx, &sc.Regs, &sc.Port, sc.release, sc.Init)
	sc.Stats = e1000.NewStats(sc.Part.Stats)
	if err := sc.Part.Reset(sc); err != nil {
		return err
	}
	if err := sc.readNVM(); err != nil {
		return err
	}
	if text := e1000.FirmwareText(sc.NVM); text != "" {
		sc.Ctx.Printf("%s\n", text)
	}
	return nil
}

// giveBack undoes what Attach took.
func (sc *Softc) giveBack() {
	sc.DestroyFilter()
	_ = sc.Ctx.Function().UnmapBAR(bar0) // it is mapped
}

// describe fills the softc context (spec 1g 2.2, 2.3).
func (sc *Softc) describe() {
	s := sc.Ctx.Softc()
	s.NTxQSetsMax, s.NRxQSetsMax = sc.Part.Queues, sc.Part.Queues
	s.TxdSize[0], s.RxdSize[0] = e1000reg.DescSize, e1000reg.DescSize
	s.TxQSizes[0], s.RxQSizes[0] = e1000.RingBytes(s.NTxd[0]), e1000.RingBytes(s.NRxd[0])
	s.TxNSegments, s.TSOSegmentsMax = maxScatter, maxScatter
	s.TSOSizeMax, s.TSOSegSizeMax = tsoSize, segSize
	s.MaxFrameSize = ifnet.EtherMTU + e1000.FrameExtra
	s.TxCsumFlags = sc.Part.CsumFlags
	s.Capabilities = sc.Part.Caps
	s.Capenable = sc.Part.Caps &^ ifnet.CapWOL // wake-up needs the NVM's consent
	s.MSIXBAR = sc.Ctx.Function().MSIXTableBAR()
	s.TxRx = &sc.Path
	sc.intr = sc.legacyFilter
	sc.probes, sc.name = sc.Ctx.Kernel().Probes, sc.Ctx.Name()
	sc.setFormat(sc.Part.Format)
}

// identify finds the NVM and checks that the PHY is the expected one
// (e1000_setup_init_funcs).
func (sc *Softc) identify() error {
	share := func(bits uint32) e1000.SyncSemaphore { return e1000.SyncSemaphore{Regs: &sc.Regs, Bits: bits} }
	sc.NVM = e1000.SharedNVM{NVM: sc.Part.NVM(&sc.Regs), Sem: share(e1000reg.SyncNVM)}
	sc.phy = e1000.PHY{Regs: &sc.Regs, Sem: share(phyBit(sc.Function()))}
	id, err := sc.phy.ID()
	if err != nil {
		return fmt.Errorf("identifying the PHY: %w", err)
	}
	if (id^sc.Part.PHYID)&sc.Part.PHYMask != 0 {
		return fmt.Errorf("PHY %#x instead of %#x: %w", id, sc.Part.PHYID, syscall.EIO)
	}
	return nil
}

// Function is which port of the chip this is (bus.func).
func (sc *Softc) Function() int {
	return int(sc.Regs.Read32(emreg.STATUS) & emreg.StatusFunc >> funcShift)
}

const funcShift = 2

// phyBit is the bit of SW_FW_SYNC that a port's PHY has (e1000_acquire_phy_base).
func phyBit(function int) uint32 {
	return [...]uint32{e1000reg.SyncPHY0, e1000reg.SyncPHY1, e1000reg.SyncPHY2, e1000reg.SyncPHY3}[function]
}

// errChecksum and errMAC are what is wrong with an NVM that answers.
var (
	errChecksum = errors.New("NVM checksum is wrong")
	errMAC      = errors.New("MAC address is none")
)

// readNVM checks the NVM and reads the address and the consent to wake-up (spec 1g 6.1
// steps 11 to 15). The checksum gets a second chance: a part may just wake up.
func (sc *Softc) readNVM() error {
	err := sc.checkNVM()
	if err != nil {
		err = sc.checkNVM()
	}
	if err != nil {
		sc.Ctx.Printf("The EEPROM Checksum Is Not Valid\n")
		return err
	}
	if sc.mac = sc.ReadRAR(); sc.mac == ([ifnet.EtherAddrLen]byte{}) || ifnet.IsMulticastMAC(sc.mac) {
		sc.Ctx.Printf("Invalid MAC address\n")
		return fmt.Errorf("%x: %w: %w", sc.mac, errMAC, syscall.EIO)
	}
	if w, err := sc.NVM.ReadWord(emreg.NVMInitCtrl3A); err == nil && w != noWord && w&emreg.NVMAPMEnable != 0 {
		sc.Ctx.Softc().Capenable |= ifnet.CapWOLMagic
	}
	return nil
}

// noWord is a word of an NVM that was never written.
const noWord = 0xffff

func (sc *Softc) checkNVM() error {
	sections, err := sc.Part.Sections(sc.NVM)
	if err != nil {
		return err
	}
	for _, first := range sections {
		switch ok, err := e1000.NVMChecksumOK(sc.NVM, first); {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("section at %#x: %w: %w", first, errChecksum, syscall.EIO)
		}
	}
	return nil
}

// AttachPost tells of the media and takes the hardware over (em_if_attach_post).
func (sc *Softc) AttachPost() error {
	tx, rx := sc.headsAndTails()
	vector := func(i int) *e1000.Moderator { return &sc.vectors[i].Moderator }
	return sc.FinishAttach(sc.resetAndInit, sc.UpdateAdminStatus, tx, rx, vector)
}

// Detach releases the hardware (em_if_detach).
func (sc *Softc) Detach() error {
	sc.release()
	sc.giveBack()
	return nil
}

// TxQueuesAlloc takes over the memory of the transmit rings.
func (sc *Softc) TxQueuesAlloc(rings []iflib.QueueMem, _, nsets int) error {
	sc.tx = make([]txRing, nsets)
	for i := range sc.tx {
		sc.tx[i].Init(rings[i], sc.Ctx.Softc().NTxd[0], pci.RegisterAt(sc.bar, e1000reg.TxQueue(i)+e1000reg.TAIL))
		if sc.Part.Route == nil {
			sc.tx[i].idx = uint32(i) << e1000reg.TxdIdxShift
		}
	}
	return nil
}

// RxQueuesAlloc takes over the memory of the receive rings.
func (sc *Softc) RxQueuesAlloc(rings []iflib.QueueMem, _, nsets int) error {
	sc.rx = make([]rxRing, nsets)
	sc.vectors = make([]*vector, nsets)
	for i := range sc.rx {
		sc.rx[i].Init(rings[i], sc.Ctx.Softc().NRxd[0], e1000reg.RxQueue(i)+e1000reg.TAIL)
		sc.vectors[i] = newVector(sc, i)
	}
	return nil
}

// QueuesFree forgets the rings; nobody peeks any more.
func (sc *Softc) QueuesFree() {
	sc.FreeIrqs()
	sc.tx, sc.rx = nil, nil
}

// MTUSet checks that frames of the MTU fit.
func (sc *Softc) MTUSet(mtu int) error { return sc.SetMTU(mtu, sc.Part.MaxFrame) }

// UpdateAdminStatus follows the link and the statistics (em_if_update_admin_status;
// spec 1g 6.8).
func (sc *Softc) UpdateAdminStatus() {
	sc.UpdateLink(func(int32) {
		if d := sc.Part.LinkDelay; d > 0 {
			sc.Regs.Delay(d)
		}
	})
	sc.UpdateStats()
}

// SettingsOf are the settings of hw.em or hw.igc.
func SettingsOf(t map[string]int) Settings {
	return Settings{
		AIM:         t["enable_aim"],
		MaxIntrRate: t["max_interrupt_rate"],
		KeepFCS:     t["disable_crc_stripping"] != 0,
		KeepBad:     t["sbp"] != 0,
		EEEOff:      t["eee_setting"] != 0,
	}
}
