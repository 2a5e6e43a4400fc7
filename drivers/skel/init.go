package skel

import (
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// qreg is the offset of register r of queue pair q (datasheet 3, 4).
func qreg(q int, r uint64) uint64 { return skelreg.QueueBase + uint64(q)*skelreg.QueueStride + r }

// TxQueuesAlloc takes the memory of the transmit rings, one ring a set.
func (sc *softc) TxQueuesAlloc(rings []iflib.QueueMem, _, ntxqsets int) error {
	sc.txqs = make([]txq, ntxqsets)
	for i := range sc.txqs {
		sc.txqs[i].ring = newRing(rings[i])
	}
	return nil
}

// RxQueuesAlloc takes the memory of the receive rings.
func (sc *softc) RxQueuesAlloc(rings []iflib.QueueMem, _, nrxqsets int) error {
	sc.rxqs = make([]rxq, nrxqsets)
	for i := range sc.rxqs {
		sc.rxqs[i].ring = newRing(rings[i])
		sc.rxqs[i].slots = make([]iflib.QIdx, sc.rxqs[i].size)
	}
	return nil
}

// QueuesFree forgets the rings: the memory is iflib's.
func (sc *softc) QueuesFree() { sc.txqs, sc.rxqs = nil, nil }

// Init programs the part from nothing: it also runs after a watchdog, when the part is
// in a state that nobody knows. Stop came before. Receive buffers come afterwards, by
// RxdRefill, and then IntrEnable.
func (sc *softc) Init() {
	sc.writeMAC()
	sc.regs.Write32(skelreg.MAXFRAME, uint32(sc.ctx.Softc().MaxFrameSize-ifnet.EtherVLANEncapLen))
	sc.writeGroups()
	sc.writeMode()
	for i := range sc.txqs {
		q := &sc.txqs[i]
		q.done.Store(0)
		q.given.Store(0)
		sc.regs.Write64(qreg(i, skelreg.TXBASELO), uint64(q.mem.Addr))
		sc.regs.Write32(qreg(i, skelreg.TXLEN), q.size)
	}
	for i := range sc.rxqs {
		q := &sc.rxqs[i]
		q.given.Store(0)
		q.bufSize = uint32(sc.ctx.Softc().RxdBufSize[0])
		sc.regs.Write64(qreg(i, skelreg.RXBASELO), uint64(q.mem.Addr))
		sc.regs.Write32(qreg(i, skelreg.RXBUF), q.bufSize)
		sc.regs.Write32(qreg(i, skelreg.RXLEN), q.size)
	}
	sc.regs.Write32(skelreg.CTRL, skelreg.CtrlRxOn|skelreg.CtrlTxOn)
}

// Stop ends all DMA: when it returns iflib frees every buffer that the part knew.
func (sc *softc) Stop() {
	sc.regs.Write32(skelreg.CTRL, 0)
	for i := range sc.txqs {
		sc.regs.Write32(qreg(i, skelreg.TXLEN), 0)
	}
	for i := range sc.rxqs {
		sc.regs.Write32(qreg(i, skelreg.RXLEN), 0)
	}
}

// writeMAC programs the address in use, which the user may have changed.
func (sc *softc) writeMAC() {
	var v uint64
	for i, b := range sc.ctx.Ifp().MAC() {
		v |= uint64(b) << (8 * i)
	}
	sc.regs.Write64(skelreg.MACLO, v)
}

// writeGroups programs the group filter. It is not exact: what comes through without
// anybody here having joined, the stack drops.
func (sc *softc) writeGroups() {
	var filter uint64
	sc.ctx.Ifp().Multiaddrs(func(mac [ifnet.EtherAddrLen]byte) bool {
		filter |= 1 << (mac[ifnet.EtherAddrLen-1] % skelreg.GroupBits)
		return true
	})
	sc.regs.Write64(skelreg.GROUPLO, filter)
}

// writeMode programs RXMODE. PromiscSet comes without the ctx lock, so this may run
// twice at a time: the lock has the one that saw the newer flags write last.
func (sc *softc) writeMode() {
	sc.modeLock.Lock()
	defer sc.modeLock.Unlock()
	var mode uint32
	flags, on := sc.ctx.Ifp().Flags(), sc.ctx.Ifp().Capenable()
	if flags&ifnet.FlagPromisc != 0 {
		mode |= skelreg.RxPromisc
	}
	if flags&ifnet.FlagAllMulti != 0 {
		mode |= skelreg.RxAllMulti
	}
	if on&ifnet.CapVLANHWTag != 0 {
		mode |= skelreg.RxTakeTag
	}
	if on&(ifnet.CapRxCsum|ifnet.CapRxCsumIPv6) != 0 {
		mode |= skelreg.RxCheck
	}
	if len(sc.rxqs) > 1 {
		mode |= skelreg.RxSpread
	}
	sc.regs.Write32(skelreg.RXMODE, mode)
}

// MultiSet rebuilds the group filter; a group was joined or left.
func (sc *softc) MultiSet() { sc.writeGroups() }

// PromiscSet follows a change of PROMISC or ALLMULTI.
func (sc *softc) PromiscSet(ifnet.Flags) error {
	sc.writeMode()
	return nil
}
