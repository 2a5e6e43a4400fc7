package skel

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Driver is what a machine is given (DRIVER_MODULE).
var Driver = iflib.Driver{
	Name:   "skel",
	Shared: &shared,
	New:    func(ctx *iflib.Ctx) iflib.Device { return &softc{ctx: ctx, linkTold: linkUnknown} },
}

// Sizes in bytes, and descriptors of a ring unless the user asks for others.
const (
	etherHdrVLAN = ifnet.EtherHdrLen + ifnet.EtherVLANEncapLen
	maxMTU       = skelreg.MaxFrame - etherHdrVLAN

	defaultTxDescs = 1024
	defaultRxDescs = 512
)

// shared is what holds for every SKEL-1 there is (struct if_shared_ctx). iflib reads it
// before it has a device, so nothing here may depend on one.
var shared = iflib.SharedCtx{
	VendorInfo: []iflib.VendorInfo{
		{Vendor: skelreg.VendorID, Device: skelreg.DeviceID, Name: "SKEL-1 network controller"},
	},
	Version: "1.0",

	// What busdma must make of packets and of rings.
	QAlign:       skelreg.RingAlign,
	TxMaxSize:    skelreg.MaxFrame,
	TxMaxSegSize: skelreg.MaxFrame,
	RxMaxSize:    mbuf.MJumPageSize,
	RxMaxSegSize: mbuf.MJumPageSize,
	RxNSegments:  1,

	// A queue set is one ring each way, with one list of receive buffers.
	NTxQs: 1, NRxQs: 1, NFL: 1,
	NTxdMin:     [iflib.MaxQueuesPerSet]int{skelreg.MinRing},
	NTxdDefault: [iflib.MaxQueuesPerSet]int{defaultTxDescs},
	NTxdMax:     [iflib.MaxQueuesPerSet]int{skelreg.MaxRing},
	NRxdMin:     [iflib.MaxQueuesPerSet]int{skelreg.MinRing},
	NRxdDefault: [iflib.MaxQueuesPerSet]int{defaultRxDescs},
	NRxdMax:     [iflib.MaxQueuesPerSet]int{skelreg.MaxRing},

	AdminIntrCnt: 1, // the vector of the link
}

// Offloads of the part. What is listed works: the stack leaves it to us.
const (
	caps = ifnet.CapHWCsum | ifnet.CapHWCsumIPv6 | ifnet.CapVLANMTU | ifnet.CapVLANHWTag |
		ifnet.CapVLANHWCsum | ifnet.CapJumboMTU | ifnet.CapLinkState
	txCsum = mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumIPUDP | mbuf.CsumIP6TCP | mbuf.CsumIP6UDP
)

// softc is one SKEL-1. Unless a field says otherwise the ctx lock guards it, or it is
// constant while the queues exist.
type softc struct {
	ctx  *iflib.Ctx
	regs pci.BAR

	txqs []txq
	rxqs []rxq
	irqs []*iflib.Irq

	modeLock iflib.Mtx // orders writes to RXMODE
	linkTold uint32    // STATUS as iflib knows it

	badWriteback atomic.Uint64 // device output that cannot be; any goroutine
}

var (
	_ iflib.Device             = (*softc)(nil)
	_ iflib.TxRx               = (*softc)(nil)
	_ iflib.RxQueueIntrEnabler = (*softc)(nil)
	_ iflib.TxQueueIntrEnabler = (*softc)(nil)
	_ iflib.LinkIntrEnabler    = (*softc)(nil)
	_ iflib.LegacyIntr         = (*softc)(nil)
)

// AttachPre finds the registers, resets the part and tells iflib what it can do. If it
// fails, Detach is not called: it must leave nothing behind.
func (sc *softc) AttachPre() error {
	regs, err := sc.ctx.Function().MapBAR(pci.BARReg(skelreg.BARRegs))
	if err != nil {
		return fmt.Errorf("mapping registers: %w", err)
	}
	sc.regs = regs
	if err := sc.reset(); err != nil {
		return err
	}
	mac, err := sc.readMAC()
	if err != nil {
		return err
	}
	sc.ctx.SetMAC(mac)
	sc.describe()
	sc.addMedia()
	sc.modeLock.Init(sc.ctx.Kernel(), sc.ctx.Name()+":rxmode")
	return nil
}

const (
	resetTries = 100
	resetWait  = 10 * time.Microsecond
)

// reset stops everything and brings the registers into a known state (datasheet 2).
func (sc *softc) reset() error {
	sc.regs.Write32(skelreg.CTRL, skelreg.CtrlReset)
	for range resetTries {
		if sc.regs.Read32(skelreg.CTRL)&skelreg.CtrlReset == 0 {
			return nil
		}
		sc.ctx.Kernel().Delay(resetWait)
	}
	return fmt.Errorf("resetting: %w", syscall.ETIMEDOUT)
}

// readMAC returns the address that reset has loaded from the NVM.
func (sc *softc) readMAC() (mac [ifnet.EtherAddrLen]byte, err error) {
	v := uint64(sc.regs.Read32(skelreg.MACHI))<<32 | uint64(sc.regs.Read32(skelreg.MACLO))
	for i := range mac {
		mac[i] = byte(v >> (8 * i))
	}
	const group = 1 // in the first byte
	if mac[0]&group != 0 || v == 0 {
		return mac, fmt.Errorf("station address %x in the NVM: %w", mac, syscall.EIO)
	}
	return mac, nil
}

// describe fills what iflib and we agree on for this device (struct if_softc_ctx).
func (sc *softc) describe() {
	s := sc.ctx.Softc()
	s.TxRx = sc
	s.MSIXBAR = pci.BARReg(skelreg.BARMSIX)
	s.NTxQSetsMax, s.NRxQSetsMax = skelreg.QueuePairs, skelreg.QueuePairs
	// NTxd and NRxd have been chosen by now; how many bytes that is, we know.
	s.TxQSizes[0] = uint64(s.NTxd[0]) * skelreg.DescBytes
	s.RxQSizes[0] = uint64(s.NRxd[0]) * skelreg.DescBytes
	s.TxdSize[0], s.RxdSize[0] = skelreg.DescBytes, skelreg.DescBytes
	s.TxNSegments = skelreg.MaxChain
	s.TxCsumFlags = txCsum
	s.Capabilities, s.Capenable = caps, caps
	sc.setFrameSize(ifnet.EtherMTU)
}

// setFrameSize derives the longest frame and the receive buffers from an MTU. iflib has
// buffers of 2 and of 4 KiB; a longer frame fills several.
func (sc *softc) setFrameSize(mtu int) {
	s := sc.ctx.Softc()
	s.MaxFrameSize = mtu + etherHdrVLAN
	s.RxdBufSize[0] = mbuf.MClBytes
	if s.MaxFrameSize > mbuf.MClBytes {
		s.RxdBufSize[0] = mbuf.MJumPageSize
	}
}

// AttachPost runs when the interface exists: sysctls, and the link as it is.
func (sc *softc) AttachPost() error {
	sc.addSysctls()
	sc.UpdateAdminStatus()
	return nil
}

// Detach leaves the part silent. It also runs after an attach that failed anywhere
// behind AttachPre, so it finds things half done.
func (sc *softc) Detach() error {
	err := sc.reset()
	for _, irq := range sc.irqs {
		sc.ctx.IrqFree(irq)
	}
	sc.irqs = nil
	sc.modeLock.Destroy()
	return err
}

// MTUSet says what frames the next Init shall prepare for; iflib has stopped us. If we
// refuse, iflib goes on with the old MTU.
func (sc *softc) MTUSet(mtu int) error {
	if mtu > maxMTU {
		return fmt.Errorf("MTU %d: %w", mtu, syscall.EINVAL)
	}
	sc.setFrameSize(mtu)
	return nil
}
