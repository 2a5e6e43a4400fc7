package cqnic

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicdrv"
	"github.com/ifsim/ifsim/sysctl"
)

// Rings of a set, by index: the order of the arrays in SharedCtx.
const (
	txCQ   = 0 // transmit completion queue
	txRing = 1 // transmit descriptors

	rxCQ = 0 // receive completion queue
	rxFL = 1 // free list n is ring rxFL+n

	numTxRings   = 2
	numRxRings   = 3
	numFreeLists = 2
)

// Limits told to iflib.
const (
	smallBuf        = mbuf.MClBytes     // buffers of free list 0
	aggBuf          = mbuf.MJumPageSize // buffers of free list 1
	defaultTxDescs  = 512
	defaultRxDescs  = 512
	defaultRxAggs   = 256
	defaultTxCQSize = 256
	defaultRxCQSize = 1024 // a packet takes up to one entry a buffer
)

// Driver is the CQ-1's driver.
var Driver = iflib.Driver{
	Name:   "cqnic",
	Shared: &shared,
	New:    func(ctx *iflib.Ctx) iflib.Device { return &softc{ctx: ctx} },
}

var shared = iflib.SharedCtx{
	QAlign:        cqreg.RingAlign,
	TxMaxSize:     cqreg.TxMaxPacket,
	TxMaxSegSize:  cqreg.TxMaxBuf,
	TSOMaxSize:    nicdrv.TSOSizeMax + nicdrv.EtherHdrVLAN,
	TSOMaxSegSize: cqreg.TxMaxBuf,
	RxMaxSize:     aggBuf,
	RxMaxSegSize:  aggBuf,
	RxNSegments:   1,
	AdminIntrCnt:  1,
	VendorInfo:    []iflib.VendorInfo{{Vendor: cqreg.VendorID, Device: cqreg.DeviceID, Name: "CQ-1 completion queue test NIC"}},
	Version:       "1.0",
	NRxdMin:       [iflib.MaxQueuesPerSet]int{cqreg.MinRing, cqreg.MinRing, cqreg.MinRing},
	NRxdDefault:   [iflib.MaxQueuesPerSet]int{defaultRxCQSize, defaultRxDescs, defaultRxAggs},
	NRxdMax:       [iflib.MaxQueuesPerSet]int{cqreg.MaxRing, cqreg.MaxRing, cqreg.MaxRing},
	NTxdMin:       [iflib.MaxQueuesPerSet]int{cqreg.MinRing, cqreg.MinRing},
	NTxdDefault:   [iflib.MaxQueuesPerSet]int{defaultTxCQSize, defaultTxDescs},
	NTxdMax:       [iflib.MaxQueuesPerSet]int{cqreg.MaxRing, cqreg.MaxRing},
	NFL:           numFreeLists,
	NTxQs:         numTxRings,
	NRxQs:         numRxRings,
	Flags:         iflib.FlagHasRxCQ | iflib.FlagHasTxCQ | iflib.FlagNeedEtherPad,
}

// softc is one CQ-1. Unless a field says otherwise it is constant between
// QueuesAlloc and QueuesFree, or guarded by the ctx lock.
type softc struct {
	ctx  *iflib.Ctx
	regs pci.BAR

	txqs []txq
	rxqs []rxq
	irqs []*iflib.Irq

	linkUp bool
	speed  int // Mbit/s

	badWriteback   atomic.Uint64 // device output out of bounds
	doorbellFaults atomic.Uint64 // TxdFlush values that were not what TxdEncap had written
	txRefused      atomic.Uint64 // packets that the device completed with an error
	notes          atomic.Uint64 // NOTE completions seen
}

var (
	_ iflib.Device             = (*softc)(nil)
	_ iflib.TxRx               = (*softc)(nil)
	_ iflib.LegacyIntr         = (*softc)(nil)
	_ iflib.RxQueueIntrEnabler = (*softc)(nil)
	_ iflib.TxQueueIntrEnabler = (*softc)(nil)
	_ iflib.LinkIntrEnabler    = (*softc)(nil)
)

// AttachPre maps the registers, resets the part and says what it can do.
func (sc *softc) AttachPre() error {
	bar, err := sc.ctx.Function().MapBAR(pci.BARReg(cqreg.BARRegs))
	if err != nil {
		return fmt.Errorf("mapping registers: %w", err)
	}
	sc.regs = bar
	if err := sc.reset(); err != nil {
		return err
	}
	hwcap := bar.Read32(cqreg.HWCAP)
	ntx, nrx := int(hwcap&0xff), int(hwcap>>8&0xff)
	if ntx < 1 || ntx > cqreg.MaxQueues || nrx < 1 || nrx > cqreg.MaxQueues {
		return fmt.Errorf("reading HWCAP %#x: %w", hwcap, syscall.ENXIO)
	}
	sc.ctx.SetMAC(sc.readMAC())
	sc.describe(ntx, nrx)
	nicdrv.AddMedia(sc.ctx.Media())
	return nil
}

// describe fills the softc ctx.
func (sc *softc) describe(ntx, nrx int) {
	s := sc.ctx.Softc()
	nicdrv.Describe(s, ntx, nrx)
	for i := range numTxRings {
		s.TxQSizes[i] = uint64(s.NTxd[i]) * cqreg.EntrySize
		s.TxdSize[i] = cqreg.EntrySize
	}
	for i := range numRxRings {
		s.RxQSizes[i] = uint64(s.NRxd[i]) * cqreg.EntrySize
		s.RxdSize[i] = cqreg.EntrySize
	}
	s.RxdBufSize[rxFL], s.RxdBufSize[rxFL+1] = smallBuf, aggBuf
	s.TSOSegSizeMax = cqreg.TxMaxBuf
	s.MaxFrameSize = ifnet.EtherMTU + nicdrv.EtherHdrVLAN
	s.MSIXBAR = pci.BARReg(cqreg.BARMSIX)
	s.TxRx = sc
}

// AttachPost adds the sysctls of dev.cqnic.N.
func (sc *softc) AttachPost() error {
	c, node := sc.ctx.SysctlCtx(), sc.ctx.SysctlNode()
	const ro = sysctl.RD | sysctl.Stats | sysctl.MPSafe
	c.U64(node, "bad_writeback", ro, &sc.badWriteback, "Device output that was out of bounds")
	c.U64(node, "doorbell_faults", ro, &sc.doorbellFaults, "Doorbell values that did not match the packets written")
	c.U64(node, "tx_refused", ro, &sc.txRefused, "Packets completed with an error")
	c.U64(node, "rx_notes", ro, &sc.notes, "Empty free list notes received")
	sc.updateLink()
	return nil
}

// Detach leaves the part silent.
func (sc *softc) Detach() error {
	sc.IntrDisable()
	for _, irq := range sc.irqs {
		sc.ctx.IrqFree(irq)
	}
	sc.irqs = nil
	return sc.reset()
}

func (sc *softc) reset() error { return nicdrv.Reset(sc.ctx, sc.regs, cqreg.CTRL, cqreg.CtrlReset) }

func (sc *softc) readMAC() [ifnet.EtherAddrLen]byte {
	lo, hi := sc.regs.Read32(cqreg.MACLO), sc.regs.Read32(cqreg.MACHI)
	return nicdrv.MACOf(uint64(hi)<<32 | uint64(lo))
}

// MTUSet changes the longest frame; iflib has stopped the interface.
func (sc *softc) MTUSet(mtu int) error {
	if err := nicdrv.CheckMTU(mtu); err != nil {
		return err
	}
	sc.ctx.Softc().MaxFrameSize = mtu + nicdrv.EtherHdrVLAN
	return nil
}

// MediaStatus reports the only medium there is.
func (sc *softc) MediaStatus(req *ifnet.MediaReq) {
	sc.updateLink()
	nicdrv.MediaStatus(req, sc.linkUp)
}

// MediaChange accepts automatic selection, which is all there is.
func (sc *softc) MediaChange() error { return nil }

// UpdateAdminStatus brings the link state up to date.
func (sc *softc) UpdateAdminStatus() { sc.updateLink() }

func (sc *softc) updateLink() {
	st := sc.regs.Read32(cqreg.STATUS)
	up, speed := st&cqreg.StatusLinkUp != 0, int(st>>cqreg.StatusSpeedShift)
	if up == sc.linkUp && speed == sc.speed {
		return
	}
	sc.linkUp, sc.speed = up, speed
	const mbit = 1_000_000
	sc.ctx.LinkStateChange(up, uint64(speed)*mbit)
}

// GetCounter adds what only the hardware knows.
func (sc *softc) GetCounter(c ifnet.Counter) uint64 { return nicdrv.GetCounter(sc.ctx, sc.regs, c) }

// bad counts output of the device about a transmit queue that is out of bounds, and has
// the interface reset.
func (sc *softc) bad(qid int, err error) {
	sc.badWriteback.Add(1)
	sc.ctx.TxGarbage(qid, err)
}
