package hwbnic

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicdrv"
)

// qreg is the offset of register r in queue pair q's block.
func qreg(q int, r uint64) uint64 { return hwbreg.QueueBase + uint64(q)*hwbreg.QueueStride + r }

// TxQueuesAlloc takes the memory of the transmit rings.
func (sc *softc) TxQueuesAlloc(rings []iflib.QueueMem, ntxqs, ntxqsets int) error {
	sc.txqs = make([]txq, ntxqsets)
	for i := range sc.txqs {
		sc.txqs[i].bind(rings[i*ntxqs], uint32(sc.ctx.Softc().NTxd[0]))
	}
	return nil
}

// RxQueuesAlloc takes the memory of the receive rings.
func (sc *softc) RxQueuesAlloc(rings []iflib.QueueMem, nrxqs, nrxqsets int) error {
	sc.rxqs = make([]rxq, nrxqsets)
	for i := range sc.rxqs {
		sc.rxqs[i].bind(rings[i*nrxqs])
	}
	return nil
}

// QueuesFree forgets the rings.
func (sc *softc) QueuesFree() { sc.txqs, sc.rxqs = nil, nil }

// Init programs the part: filters and RSS by admin commands, queues by registers.
func (sc *softc) Init() {
	if err := sc.configure(); err != nil {
		sc.ctx.Kernel().Printf("%s: %v\n", sc.ctx.Name(), err)
		sc.ctx.InitFailed()
		return
	}
	for i := range sc.txqs {
		sc.initTx(i)
	}
	for i := range sc.rxqs {
		sc.initRx(i)
	}
	sc.regs.Write32(hwbreg.CTRL, sc.mode|hwbreg.CtrlRxEnable|hwbreg.CtrlTxEnable)
}

// configure runs the admin commands of Init.
func (sc *softc) configure() error {
	var addr [8]byte
	mac := sc.ctx.Ifp().MAC()
	copy(addr[:], mac[:])
	if _, _, err := sc.admin.run(hwbreg.OpSetMAC, binary.LittleEndian.Uint64(addr[:]), 0); err != nil {
		return err
	}
	if _, _, err := sc.admin.run(hwbreg.OpMaxFrame, uint64(sc.ctx.Softc().MaxFrameSize), 0); err != nil {
		return err
	}
	if err := sc.setRSS(); err != nil {
		return err
	}
	return sc.setFilter(sc.ctx.Ifp().Flags())
}

// setRSS spreads over the receive queues in turn.
func (sc *softc) setRSS() error {
	var b [hwbreg.RSSBytes]byte
	key := nicdrv.RSSKey()
	table := b[copy(b[:], key[:]):]
	for i := range table {
		table[i] = byte(i % len(sc.rxqs))
	}
	return sc.admin.runBuffer(hwbreg.OpRSS, b[:], hwbreg.RSSBytes)
}

// setFilter sets the receive mode and the multicast list; more addresses than the
// part has room for become all-multicast.
func (sc *softc) setFilter(flags ifnet.Flags) error {
	var list [hwbreg.MaxMcast * hwbreg.McastEntry]byte
	n := 0
	sc.ctx.Ifp().Multiaddrs(func(mac [6]byte) bool {
		if n < hwbreg.MaxMcast {
			copy(list[n*hwbreg.McastEntry:], mac[:])
		}
		n++
		return true
	})
	mode := sc.rxMode(flags)
	if n > hwbreg.MaxMcast {
		mode |= hwbreg.RxModeAllMulti
		n = 0
	}
	if err := sc.admin.runBuffer(hwbreg.OpMcast, list[:n*hwbreg.McastEntry], uint64(n)); err != nil {
		return err
	}
	_, _, err := sc.admin.run(hwbreg.OpRxMode, mode, 0)
	return err
}

func (sc *softc) rxMode(flags ifnet.Flags) uint64 {
	var mode uint64
	if flags&ifnet.FlagPromisc != 0 {
		mode |= hwbreg.RxModePromisc
	}
	if flags&ifnet.FlagAllMulti != 0 {
		mode |= hwbreg.RxModeAllMulti
	}
	capen := sc.ctx.Softc().Capenable
	if capen&ifnet.CapVLANHWTag != 0 {
		mode |= hwbreg.RxModeVLANTake
	}
	if capen&(ifnet.CapRxCsum|ifnet.CapRxCsumIPv6) != 0 {
		mode |= hwbreg.RxModeCsum
	}
	return mode
}

// initTx starts transmit queue i (datasheet 3).
func (sc *softc) initTx(i int) {
	q, r := &sc.txqs[i], sc.regs
	q.reset()
	r.Write64(qreg(i, hwbreg.TXBASELO), uint64(q.mem.Addr))
	r.Write32(qreg(i, hwbreg.TXLEN), q.size)
	r.Write64(qreg(i, hwbreg.TXHWBLO), uint64(q.mem.Addr)+uint64(q.size)*hwbreg.EntrySize)
	r.Write32(qreg(i, hwbreg.QVEC), sc.vector(i))
	r.Write32(qreg(i, hwbreg.TXCTL), hwbreg.QCtlEnable)
}

// initRx starts receive queue i (datasheet 4); iflib fills it next.
func (sc *softc) initRx(i int) {
	q, r := &sc.rxqs[i], sc.regs
	q.reset()
	r.Write64(qreg(i, hwbreg.RXBASELO), uint64(q.mem.Addr))
	r.Write32(qreg(i, hwbreg.RXLEN), q.size)
	r.Write32(qreg(i, hwbreg.RXBUF), uint32(sc.ctx.Softc().RxdBufSize[0]))
	r.Write32(qreg(i, hwbreg.QVEC), sc.vector(i))
	r.Write32(qreg(i, hwbreg.RXCTL), hwbreg.QCtlEnable)
}

// Stop disables the queues: no DMA to or from them happens after it. The admin
// queue goes on.
func (sc *softc) Stop() {
	sc.regs.Write32(hwbreg.CTRL, sc.mode)
	for i := range sc.txqs {
		sc.regs.Write32(qreg(i, hwbreg.TXCTL), 0)
	}
	for i := range sc.rxqs {
		sc.regs.Write32(qreg(i, hwbreg.RXCTL), 0)
	}
}

// PromiscSet changes the address filter; it may come without the ctx lock.
func (sc *softc) PromiscSet(flags ifnet.Flags) error { return sc.setFilter(flags) }

// MultiSet rebuilds the multicast filter.
func (sc *softc) MultiSet() {
	if err := sc.setFilter(sc.ctx.Ifp().Flags()); err != nil {
		sc.ctx.Kernel().Printf("%s: %v\n", sc.ctx.Name(), err)
	}
}
