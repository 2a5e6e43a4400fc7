package cqnic

import (
	"hash/crc32"
	"math/bits"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicdrv"
)

// qreg is the offset of register r in queue q's block.
func qreg(q int, r uint64) uint64 { return cqreg.QueueBase + uint64(q)*cqreg.QueueStride + r }

// TxQueuesAlloc takes the memory of the transmit sets.
func (sc *softc) TxQueuesAlloc(rings []iflib.QueueMem, ntxqs, ntxqsets int) error {
	sc.txqs = make([]txq, ntxqsets)
	for i := range sc.txqs {
		set := rings[i*ntxqs:]
		sc.txqs[i].bind(set[txCQ], set[txRing])
	}
	return nil
}

// RxQueuesAlloc takes the memory of the receive sets.
func (sc *softc) RxQueuesAlloc(rings []iflib.QueueMem, nrxqs, nrxqsets int) error {
	sc.rxqs = make([]rxq, nrxqsets)
	for i := range sc.rxqs {
		set := rings[i*nrxqs:]
		q := &sc.rxqs[i]
		q.cq.bind(set[rxCQ])
		for fl := range q.fls {
			q.fls[fl].bind(set[rxFL+fl])
		}
	}
	return nil
}

// QueuesFree forgets the rings.
func (sc *softc) QueuesFree() { sc.txqs, sc.rxqs = nil, nil }

// Init programs the part (datasheet 2 to 4).
func (sc *softc) Init() {
	r := sc.regs
	mac := sc.ctx.Ifp().MAC()
	r.Write32(cqreg.MACLO, uint32(mac[0])|uint32(mac[1])<<8|uint32(mac[2])<<16|uint32(mac[3])<<24)
	r.Write32(cqreg.MACHI, uint32(mac[4])|uint32(mac[5])<<8)
	r.Write32(cqreg.MAXFRM, uint32(sc.ctx.Softc().MaxFrameSize))
	sc.initRSS()
	for i := range sc.txqs {
		sc.initTx(i)
	}
	for i := range sc.rxqs {
		sc.initRx(i)
	}
	sc.MultiSet()
	sc.writeCtrl(sc.ctx.Ifp().Flags())
	sc.updateLink() // a change while the part was reset raised no event
}

// initTx starts transmit queue i (datasheet 3).
func (sc *softc) initTx(i int) {
	q, r := &sc.txqs[i], sc.regs
	q.reset()
	r.Write64(qreg(i, cqreg.TXBASELO), uint64(q.mem.Addr))
	r.Write32(qreg(i, cqreg.TXLEN), q.size)
	r.Write64(qreg(i, cqreg.TXCQLO), uint64(q.cq.mem.Addr))
	r.Write32(qreg(i, cqreg.TXCQLEN), q.cq.size)
	r.Write32(qreg(i, cqreg.TXVEC), sc.txVector(i))
	r.Write32(qreg(i, cqreg.TXCTL), cqreg.QCtlEnable)
}

// initRx starts receive queue i (datasheet 4); iflib fills the free lists next.
func (sc *softc) initRx(i int) {
	q, r := &sc.rxqs[i], sc.regs
	q.reset()
	r.Write64(qreg(i, cqreg.RXCQLO), uint64(q.cq.mem.Addr))
	r.Write32(qreg(i, cqreg.RXCQLEN), q.cq.size)
	r.Write64(qreg(i, cqreg.RXFL0LO), uint64(q.fls[0].mem.Addr))
	r.Write32(qreg(i, cqreg.RXFL0LEN), q.fls[0].size)
	r.Write64(qreg(i, cqreg.RXFL1LO), uint64(q.fls[1].mem.Addr))
	r.Write32(qreg(i, cqreg.RXFL1LEN), q.fls[1].size)
	r.Write32(qreg(i, cqreg.RXVEC), sc.rxVector(i))
	r.Write32(qreg(i, cqreg.RXCTL), cqreg.QCtlEnable)
}

// initRSS spreads over the receive queues in turn.
func (sc *softc) initRSS() {
	key := nicdrv.RSSKey()
	for i := range uint64(cqreg.RSSKeyRegs) {
		k := key[4*i:]
		sc.regs.Write32(cqreg.RSSKEY+4*i, uint32(k[0])|uint32(k[1])<<8|uint32(k[2])<<16|uint32(k[3])<<24)
	}
	n := len(sc.rxqs)
	for i := range cqreg.RETARegs {
		var v uint32
		for j := range 4 {
			v |= uint32((4*i+j)%n) << (8 * j)
		}
		sc.regs.Write32(cqreg.RETA+4*uint64(i), v)
	}
	sc.regs.Write32(cqreg.RSSCTL, 1)
}

// Stop resets the part: no DMA happens after it.
func (sc *softc) Stop() {
	if sc.reset() != nil {
		sc.ctx.InitFailed()
	}
}

// writeCtrl sets CTRL for the interface flags and enabled capabilities.
func (sc *softc) writeCtrl(flags ifnet.Flags) {
	s := sc.ctx.Softc()
	v := uint32(cqreg.CtrlRxEnable | cqreg.CtrlTxEnable)
	if flags&ifnet.FlagPromisc != 0 {
		v |= cqreg.CtrlPromisc
	}
	if flags&ifnet.FlagAllMulti != 0 {
		v |= cqreg.CtrlAllMulti
	}
	if s.Capenable&ifnet.CapVLANHWTag != 0 {
		v |= cqreg.CtrlVLANTake
	}
	if s.Capenable&(ifnet.CapRxCsum|ifnet.CapRxCsumIPv6) != 0 {
		v |= cqreg.CtrlRxCsum
	}
	switch s.Intr {
	case iflib.IntrMSIX:
		v |= cqreg.CtrlMSIX
	case iflib.IntrMSI:
		v |= cqreg.CtrlMSI
	}
	sc.regs.Write32(cqreg.CTRL, v)
}

// PromiscSet changes the address filter.
func (sc *softc) PromiscSet(flags ifnet.Flags) error {
	sc.writeCtrl(flags)
	return nil
}

// MultiSet rebuilds the multicast hash filter (datasheet 2).
func (sc *softc) MultiSet() {
	var filter uint64
	sc.ctx.Ifp().Multiaddrs(func(mac [6]byte) bool {
		filter |= 1 << multicastBucket(mac)
		return true
	})
	sc.regs.Write32(cqreg.MCHLO, uint32(filter))
	sc.regs.Write32(cqreg.MCHHI, uint32(filter>>32))
}

// multicastBucket is bits 31:26 of the CRC-32 as Ethernet sends it, most
// significant bit first.
func multicastBucket(mac [6]byte) uint32 {
	const bucketShift = 26
	return bits.Reverse32(^crc32.ChecksumIEEE(mac[:])) >> bucketShift
}
