package em

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/sysctl"
)

// Numbers of the shared and softc contexts (spec 1g 2.1, 2.2).
const (
	maxScatter = 40    // EM_MAX_SCATTER
	tsoSize    = 65535 // EM_TSO_SIZE
	segSize    = 4096  // EM_TSO_SEG_SIZE
	rxMaxSize  = 9216  // MJUM9BYTES
)

// txCsumFlags is what the transmit side computes (isc_tx_csum_flags).
const txCsumFlags = mbuf.CsumIPTCP | mbuf.CsumIPUDP | mbuf.CsumIPTSO | mbuf.CsumIP6TCP | mbuf.CsumIP6UDP

// Driver is em: class em, with lem for 8254x.
var Driver = iflib.Driver{
	Name:   "em",
	Shared: &shared,
	New:    func(ctx *iflib.Ctx) iflib.Device { return &softc{ctx: ctx} },
}

var shared = e1000.SharedCtx("7.7.8-fbsd", vendorInfo(), rxMaxSize)

// softc is one controller (struct e1000_softc). Fields are constant after AttachPre or
// guarded by the ctx lock, unless their group says otherwise.
type softc struct {
	e1000.Port
	e1000.Filter
	e1000.Common

	ctx   *iflib.Ctx
	hw    e1000.Regs
	io    e1000.BAR // window of 8254x, nil without
	flash pci.BAR   // flash registers of I217, nil without
	phy   e1000.PHY
	nvm   e1000.NVM
	chip  *chip
	mac   [ifnet.EtherAddrLen]byte

	path     dataPath
	vectors  []*vector // of queues, by receive queue; one without MSI-X
	ivar     uint32    // IVAR routing
	queueIMS uint32    // causes of the queues, with MSI-X
	msix     bool

	tun           tunables
	wideDMA       atomic.Bool // allow_64bit_dma
	delays        delays
	tsoAutomasked ifnet.Caps
}

var (
	_ iflib.Device             = (*softc)(nil)
	_ iflib.RxQueueIntrEnabler = (*softc)(nil)
	_ iflib.TxQueueIntrEnabler = (*softc)(nil)
	_ iflib.Timer              = (*softc)(nil)
	_ iflib.VLANRegisterer     = (*softc)(nil)
	_ iflib.Restarter          = (*softc)(nil)
	_ iflib.IntDelayer         = (*softc)(nil)
	_ iflib.LEDer              = (*softc)(nil)
	_ iflib.PowerManager       = (*softc)(nil)
)

// AttachPre identifies the part, tells iflib what it can do and reads its address
// (em_if_attach_pre, spec 1g 6.1).
func (sc *softc) AttachPre() error {
	if sc.chip = chipOf(sc.ctx.Function().Identity().Device); sc.chip == nil {
		return fmt.Errorf("device %#x: %w", sc.ctx.Function().Identity().Device, syscall.ENXIO)
	}
	if err := sc.loadTunables(); err != nil {
		return err
	}
	sc.describe()
	if err := sc.mapRegisters(); err != nil {
		sc.ctx.Printf("Allocation of PCI resources failed\n")
		return err
	}
	sc.InitFilter(sc.ctx, &sc.hw, e1000.FilterConfig{RARs: sc.chip.addresses(), MTAWords: sc.chip.groups(), VLANWrites: 1,
		KeepBad: sc.tun.sbp, KeepFCS: sc.tun.keepFCS})
	if err := sc.identify(); err != nil {
		sc.ctx.Printf("Setup of Shared code failed, error %d\n", sysctl.Number(err))
		return sc.failAttach(err)
	}
	sc.limitDMA()
	if sc.chip.mac == mac82574 && sc.ctx.Function().MSIXCount() > 0 {
		if err := sc.enableVectors82574(); err != nil {
			return sc.failAttach(err)
		}
	}
	sc.InitPort(sc.ctx, sc.phy, e1000.GigabitMedia())
	sc.InitCommon(sc.ctx, &sc.hw, &sc.Port, sc.release, sc.Init)
	sc.Stats = e1000.NewStats(statTable(sc.chip))
	sc.addDelaySysctls()
	if err := sc.reset(); err != nil {
		return sc.failAttach(err)
	}
	if err := sc.readNVM(); err != nil {
		return sc.failAttach(err)
	}
	sc.KeepLED()
	sc.ctx.SetMAC(sc.mac)
	sc.addSysctls()
	if sc.chip.pch() {
		sc.AddEEE(true)
	}
	return nil
}

// failAttach gives back what AttachPre took; iflib does not call Detach after it.
func (sc *softc) failAttach(err error) error {
	sc.DestroyFilter()
	sc.unmapRegisters()
	return err
}

// describe fills the softc context (spec 1g 2.2, 2.3).
func (sc *softc) describe() {
	s := sc.ctx.Softc()
	n := sc.chip.queues()
	s.NTxQSetsMax, s.NRxQSetsMax = n, n
	spare := 0
	if sc.chip.lem() {
		spare = 1 // EM rings of lem have one descriptor more than is used
	}
	s.TxdSize[0], s.RxdSize[0] = emreg.DescSize, emreg.DescSize
	s.TxQSizes[0] = e1000.RingBytes(s.NTxd[0] + spare)
	s.RxQSizes[0] = e1000.RingBytes(s.NRxd[0] + spare)
	s.TxNSegments, s.TSOSegmentsMax = maxScatter, maxScatter
	s.TSOSizeMax, s.TSOSegSizeMax = tsoSize, segSize
	s.MaxFrameSize = ifnet.EtherMTU + e1000.FrameExtra
	s.TxCsumFlags = txCsumFlags
	s.Capabilities, s.Capenable = capabilities(sc.chip, sc.tun.unsupportedTSO)
	switch {
	case sc.chip.lem():
		s.MSIXBAR = 0
		s.TxRx = lemTxRx{&sc.path}
	case sc.chip.mac == mac82574 && sc.ctx.Function().MSIXCount() > 0:
		s.MSIXBAR = sc.ctx.Function().MSIXTableBAR()
		s.TxRx = &sc.path
	default:
		s.MSIXBAR, s.DisableMSIX = iflib.MSIXBARTrustDriver, true
		s.TxRx = &sc.path
	}
	sc.path.legacyIntr, sc.path.errs = sc.legacyFilter, &sc.RxErrors
	sc.path.probes, sc.path.name = sc.ctx.Kernel().Probes, sc.ctx.Name()
}

// AttachPost tells of the media and takes the hardware over (em_if_attach_post).
func (sc *softc) AttachPost() error {
	tx, rx := sc.headsAndTails()
	vector := func(i int) *e1000.Moderator { return &sc.vectors[i].Moderator }
	return sc.FinishAttach(sc.resetAndInit, sc.UpdateAdminStatus, tx, rx, vector)
}

// Detach releases the hardware (em_if_detach).
func (sc *softc) Detach() error {
	sc.release()
	sc.DestroyFilter()
	sc.unmapRegisters()
	return nil
}

// TxQueuesAlloc takes over the memory of the transmit rings.
func (sc *softc) TxQueuesAlloc(rings []iflib.QueueMem, _, nsets int) error {
	sc.path.tx = make([]txRing, nsets)
	for i := range sc.path.tx {
		sc.path.tx[i].Init(rings[i], sc.ctx.Softc().NTxd[0], pci.RegisterAt(sc.path.bar, emreg.TDT+uint64(i)*emreg.RingStride))
		sc.path.tx[i].reuse = nsets == 1
	}
	return nil
}

// RxQueuesAlloc takes over the memory of the receive rings.
func (sc *softc) RxQueuesAlloc(rings []iflib.QueueMem, _, nsets int) error {
	sc.path.rx = make([]rxRing, nsets)
	for i := range sc.path.rx {
		sc.path.rx[i].Init(rings[i], sc.ctx.Softc().NRxd[0], emreg.RDT+uint64(i)*emreg.RingStride)
	}
	sc.vectors = make([]*vector, nsets)
	for i := range sc.vectors {
		sc.vectors[i] = newVector(sc, i)
	}
	return nil
}

// QueuesFree forgets the rings; nobody peeks any more.
func (sc *softc) QueuesFree() {
	sc.FreeIrqs()
	sc.path.tx, sc.path.rx = nil, nil
}

// MTUSet checks that frames of the MTU fit.
func (sc *softc) MTUSet(mtu int) error { return sc.SetMTU(mtu, sc.chip.maxFrame()) }

// VLANRegister lets frames of a VLAN in (em_if_vlan_register).
func (sc *softc) VLANRegister(vtag uint16) { sc.AddVLAN(vtag) }

// VLANUnregister keeps them out again (em_if_vlan_unregister).
func (sc *softc) VLANUnregister(vtag uint16) { sc.RemoveVLAN(vtag) }
