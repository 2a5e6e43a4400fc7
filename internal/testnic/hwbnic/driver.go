package hwbnic

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicdrv"
	"github.com/ifsim/ifsim/sysctl"
)

// Limits told to iflib.
const (
	defaultTxDescs = 1024
	defaultRxDescs = 512
)

// Driver is the HWB-1's driver.
var Driver = iflib.Driver{
	Name:   "hwbnic",
	Shared: &shared,
	New:    func(ctx *iflib.Ctx) iflib.Device { return &softc{ctx: ctx} },
}

var shared = iflib.SharedCtx{
	QAlign:        hwbreg.RingAlign,
	TxMaxSize:     hwbreg.TxMaxPacket,
	TxMaxSegSize:  hwbreg.TxMaxBuf,
	TSOMaxSize:    nicdrv.TSOSizeMax + nicdrv.EtherHdrVLAN,
	TSOMaxSegSize: hwbreg.TxMaxBuf,
	RxMaxSize:     mbuf.MJumPageSize,
	RxMaxSegSize:  mbuf.MJumPageSize,
	RxNSegments:   1,
	AdminIntrCnt:  1,
	VendorInfo:    []iflib.VendorInfo{{Vendor: hwbreg.VendorID, Device: hwbreg.DeviceID, Name: "HWB-1 head write-back test NIC"}},
	Version:       "1.0",
	NRxdMin:       [iflib.MaxQueuesPerSet]int{hwbreg.MinRing},
	NRxdDefault:   [iflib.MaxQueuesPerSet]int{defaultRxDescs},
	NRxdMax:       [iflib.MaxQueuesPerSet]int{hwbreg.MaxRing},
	NTxdMin:       [iflib.MaxQueuesPerSet]int{hwbreg.MinRing},
	NTxdDefault:   [iflib.MaxQueuesPerSet]int{defaultTxDescs},
	NTxdMax:       [iflib.MaxQueuesPerSet]int{hwbreg.MaxRing},
	NFL:           1,
	NTxQs:         1,
	NRxQs:         1,
	Flags:         iflib.FlagHasAdminCQ | iflib.FlagAdminAlwaysRun | iflib.FlagNeedScratch | iflib.FlagTSOInitIP | iflib.FlagNeedZeroCsum,
}

// softc is one HWB-1. Unless a field says otherwise it is constant between
// QueuesAlloc and QueuesFree, or guarded by the ctx lock.
type softc struct {
	ctx  *iflib.Ctx
	regs pci.BAR
	mode uint32 // CTRL bits of the interrupt mode

	txqs []txq
	rxqs []rxq
	irqs []*iflib.Irq

	admin adminq
	told  uint64 // link word last told to iflib

	badWriteback atomic.Uint64 // device output out of bounds
	txHalts      atomic.Uint64 // halted queues reported
}

var (
	_ iflib.Device             = (*softc)(nil)
	_ iflib.TxRx               = (*softc)(nil)
	_ iflib.LegacyIntr         = (*softc)(nil)
	_ iflib.RxQueueIntrEnabler = (*softc)(nil)
	_ iflib.TxQueueIntrEnabler = (*softc)(nil)
	_ iflib.LinkIntrEnabler    = (*softc)(nil)
	_ iflib.AdminCompleter     = (*softc)(nil)
)

// AttachPre maps the registers, resets the part, starts the admin queue and says
// what the part can do.
func (sc *softc) AttachPre() error {
	bar, err := sc.ctx.Function().MapBAR(pci.BARReg(hwbreg.BARRegs))
	if err != nil {
		return fmt.Errorf("mapping registers: %w", err)
	}
	sc.regs = bar
	if err := sc.reset(); err != nil {
		return err
	}
	if err := sc.admin.start(sc); err != nil {
		return err
	}
	if err := sc.identify(); err != nil {
		sc.admin.stop()
		return err
	}
	nicdrv.AddMedia(sc.ctx.Media())
	return nil
}

// identify asks the part who it is.
func (sc *softc) identify() error {
	_, queues, err := sc.admin.run(hwbreg.OpVersion, 0, 0)
	if err != nil {
		return err
	}
	if queues < 1 || queues > hwbreg.MaxQueues {
		return fmt.Errorf("%d queue pairs: %w", queues, syscall.ENXIO)
	}
	mac, _, err := sc.admin.run(hwbreg.OpGetMAC, 0, 0)
	if err != nil {
		return err
	}
	sc.ctx.SetMAC(nicdrv.MACOf(mac))
	sc.describe(int(queues))
	return nil
}

// describe fills the softc ctx. The head word lies behind the transmit ring.
func (sc *softc) describe(queues int) {
	s := sc.ctx.Softc()
	nicdrv.Describe(s, queues, queues)
	s.TxQSizes[0] = uint64(s.NTxd[0])*hwbreg.EntrySize + hwbreg.HeadBytes
	s.RxQSizes[0] = uint64(s.NRxd[0]) * hwbreg.EntrySize
	s.TxdSize[0], s.RxdSize[0] = hwbreg.EntrySize, hwbreg.EntrySize
	s.TSOSegSizeMax = hwbreg.TxMaxBuf
	s.MSIXBAR = pci.BARReg(hwbreg.BARMSIX)
	s.TxRx = sc
	sc.setFrameSize(ifnet.EtherMTU)
}

// setFrameSize derives the longest frame and the receive buffer size from an MTU.
func (sc *softc) setFrameSize(mtu int) {
	s := sc.ctx.Softc()
	s.MaxFrameSize = mtu + nicdrv.EtherHdrVLAN
	s.RxdBufSize[0] = mbuf.MClBytes
	if s.MaxFrameSize > mbuf.MClBytes {
		s.RxdBufSize[0] = mbuf.MJumPageSize
	}
}

// AttachPost sets the interrupt mode, adds the sysctls of dev.hwbnic.N and lets the
// admin queue interrupt from now on, up or down.
func (sc *softc) AttachPost() error {
	switch sc.ctx.Softc().Intr {
	case iflib.IntrMSIX:
		sc.mode = hwbreg.CtrlMSIX
	case iflib.IntrMSI:
		sc.mode = hwbreg.CtrlMSI
	}
	sc.regs.Write32(hwbreg.CTRL, sc.mode)
	c, node := sc.ctx.SysctlCtx(), sc.ctx.SysctlNode()
	const ro = sysctl.RD | sysctl.Stats | sysctl.MPSafe
	c.U64(node, "bad_writeback", ro, &sc.badWriteback, "Device output that was out of bounds")
	c.U64(node, "tx_halts", ro, &sc.txHalts, "Transmit queues that the device halted")
	c.U64(node, "admin_timeouts", ro, &sc.admin.timeouts, "Admin commands without an answer")
	link, _, err := sc.admin.run(hwbreg.OpGetLink, 0, 0)
	if err != nil {
		return err
	}
	sc.admin.link.Store(link)
	sc.tellLink()
	sc.LinkIntrEnable()
	return nil
}

// Detach leaves the part silent and gives the admin queue's memory back.
func (sc *softc) Detach() error {
	err := sc.reset()
	for _, irq := range sc.irqs {
		sc.ctx.IrqFree(irq)
	}
	sc.irqs = nil
	sc.admin.stop()
	return err
}

func (sc *softc) reset() error { return nicdrv.Reset(sc.ctx, sc.regs, hwbreg.CTRL, hwbreg.CtrlReset) }

// MTUSet changes the longest frame; iflib has stopped the interface.
func (sc *softc) MTUSet(mtu int) error {
	if err := nicdrv.CheckMTU(mtu); err != nil {
		return err
	}
	sc.setFrameSize(mtu)
	return nil
}

// MediaStatus reports the only medium there is.
func (sc *softc) MediaStatus(req *ifnet.MediaReq) {
	sc.tellLink()
	nicdrv.MediaStatus(req, sc.told&hwbreg.LinkUp != 0)
}

// MediaChange accepts automatic selection, which is all there is.
func (sc *softc) MediaChange() error { return nil }

// UpdateAdminStatus passes on what AdminCompletionHandle has learnt.
func (sc *softc) UpdateAdminStatus() { sc.tellLink() }

// tellLink reports the link if it changed since the last report.
func (sc *softc) tellLink() {
	link := sc.admin.link.Load()
	if link == sc.told {
		return
	}
	sc.told = link
	const mbit = 1_000_000
	sc.ctx.LinkStateChange(link&hwbreg.LinkUp != 0, link>>hwbreg.LinkSpeedShift*mbit)
}

// GetCounter adds what only the hardware knows.
func (sc *softc) GetCounter(c ifnet.Counter) uint64 { return nicdrv.GetCounter(sc.ctx, sc.regs, c) }

// errHalted says that the device does not understand what was written.
var errHalted = errors.New("queue halted")

// halted handles the event of a transmit queue that the device has halted.
func (sc *softc) halted(qid uint64) {
	sc.badWriteback.Add(1)
	if qid >= uint64(len(sc.txqs)) {
		return // no such queue: nothing is halted
	}
	sc.txHalts.Add(1)
	sc.ctx.TxGarbage(int(qid), errHalted)
}
