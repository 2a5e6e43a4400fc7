package emhw

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
)

const (
	// rxFrameBudget is how many frames one run takes before it lets others go first.
	rxFrameBudget = 256
	// rxIntrFrames is how many frames one raise may stand for.
	rxIntrFrames = 32
)

// rxUnit is the receive unit: one for all queues (spec 1g 5.3, Receive engine).
// Everything but keyChanged is its engine run's.
type rxUnit struct {
	n          *nic
	src        *hw.RxSource
	rings      [maxQueues]hw.Ring
	shard      hw.StatShard
	keyChanged atomic.Bool // RSSRK was written since toeplitz was made

	// Registers in this run.
	ctrl, rctl, rxcsum, mrqc uint32
	vet                      uint16
	extended                 bool // RFCTL.EXTEN
	bufSize                  int

	// The frame at hand.
	tci    uint16
	tagged bool
	cast   hw.Cast
	hdr    hw.Headers
	gather hw.Gather
	fcs    [fcsLen]byte
	meta   rxMeta

	toeplitz *hw.Toeplitz
	causes   uint32 // to be raised after RDTR
	now      uint32 // to be raised at once
}

// rxMeta is what the last descriptor of a frame says, status bits beside it.
type rxMeta struct {
	status, errors uint32
	vlan           uint16
	hash           uint32
	hashType       hw.RSSType
	queue          int
}

func newRxUnit(n *nic) *rxUnit {
	return &rxUnit{n: n, src: hw.NewRxSource(n.cfg.Port, 0), shard: n.stats.Shard(n.chip.queues)}
}

// reset drops what is at hand. The engine is paused.
func (u *rxUnit) reset() {
	u.src.Reset()
	for q := range u.rings {
		u.rings[q].Forget()
	}
	u.causes, u.now = 0, 0
	u.keyChanged.Store(true)
}

// run takes the frames that have arrived, up to the budget.
func (u *rxUnit) run() {
	u.load()
	left, batch := rxFrameBudget, 0
	for f := u.src.Peek(); f != nil && left > 0; f = u.src.Peek() {
		u.receive(f.Data)
		u.src.Next()
		left--
		if batch++; batch == rxIntrFrames {
			u.interrupt()
			batch = 0
		}
	}
	u.src.Flush()
	u.interrupt()
	if bad := u.src.Counters.Truncated + u.src.Counters.Malformed; bad != 0 {
		u.n.lost[lossBadFrame].Add(bad)
		u.src.Counters.Truncated, u.src.Counters.Malformed = 0, 0
	}
	if left != rxFrameBudget && left != 0 && u.n.pch.lpi.Load() {
		u.shard.Add(stat(emreg.RLPIC), 1)
	}
	if left == 0 {
		u.n.engine.Defer(u.n.rxWork())
	}
}

// load takes what the registers say.
func (u *rxUnit) load() {
	n := u.n
	u.ctrl, u.rctl = n.reg(emreg.CTRL), n.reg(emreg.RCTL)
	if n.pch.hung.Load() {
		u.rctl &^= emreg.RCTLEN
	}
	u.rxcsum, u.mrqc = n.reg(emreg.RXCSUM), n.reg(emreg.MRQC)
	u.vet = uint16(n.reg(emreg.VET))
	u.extended = !n.chip.lem && n.reg(emreg.RFCTL)&emreg.RFCTLEXTEN != 0
	u.bufSize = bufferSize(u.rctl)
	if u.rss() && u.keyChanged.Swap(false) {
		u.toeplitz = hw.NewToeplitz(n.rssKey())
	}
}

// bufferSize is the size of a receive buffer in bytes. BSEX with size 0 is reserved: as
// without BSEX.
func bufferSize(rctl uint32) int {
	sz := rctl & emreg.RCTLSzMask >> emreg.RCTLSzShift
	size := 2048 >> sz
	if rctl&emreg.RCTLBSEX != 0 && sz != 0 {
		size *= 16
	}
	return size
}

// interrupt raises what the frames since the last call ask for.
func (u *rxUnit) interrupt() {
	now, later := u.now, u.causes
	if now|later == 0 {
		return
	}
	u.now, u.causes = 0, 0
	if !u.n.msix() {
		later &^= vectorCauses
	}
	if now&emreg.ICRRXDMT0 != 0 {
		u.n.stats.Add(stat(emreg.ICRXDMTC), 1)
	}
	if now&emreg.ICRRXO != 0 {
		u.n.stats.Add(stat(emreg.ICRXOC), 1)
	}
	if now != 0 {
		u.n.raise(now)
	}
	if later != 0 {
		u.n.delays.rx.event(later)
	}
}

// receive is the way of a frame from the wire into memory, in the order of spec 1g 5.3.
func (u *rxUnit) receive(frame []byte) {
	if u.rctl&emreg.RCTLEN == 0 || !u.n.link.Up() {
		u.n.lost[lossDisabled].Add(1)
		return
	}
	u.tci, u.tagged = hw.Tag(frame, u.vet)
	u.cast = hw.CastOf(frame)
	size := max(len(frame), hw.MinFrame) + fcsLen
	if !u.fits(size) {
		return
	}
	if u.control(frame) {
		u.n.lost[lossPause].Add(1)
		return
	}
	ok, inexact := u.accept(frame)
	if !ok {
		u.n.lost[lossFiltered].Add(1)
		return
	}
	u.meta = rxMeta{}
	if inexact {
		u.meta.status = emreg.RxdStatPIF
	}
	u.classify(frame)
	u.assemble(frame)
	if u.deliver() {
		countRx(u.shard, size, u.cast)
	}
}

// classify does what needs the headers: checksums and hash.
func (u *rxUnit) classify(frame []byte) {
	const both = emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL
	if u.rxcsum&both == 0 {
		u.meta.status |= emreg.RxdStatIXSM
		if !u.rss() {
			return
		}
	}
	u.hdr.Parse(frame, len(frame))
	u.checksums(frame)
	if u.rss() {
		u.hash(frame)
	}
}

// checksums judges the checksums that RXCSUM asks for (spec 1g 5.3, Receive engine 4).
func (u *rxUnit) checksums(frame []byte) {
	m := &u.meta
	if u.rxcsum&emreg.RXCSUMIPOFL != 0 {
		switch u.hdr.CheckIP(frame) {
		case hw.CsumGood:
			m.status |= emreg.RxdStatIPCS
		case hw.CsumBad:
			m.status |= emreg.RxdStatIPCS
			m.errors |= emreg.RxdErrIPE
		}
	}
	if u.rxcsum&emreg.RXCSUMTUOFL == 0 || !u.hdr.Has(hw.TCP) && !u.hdr.Has(hw.UDP) {
		return
	}
	if u.n.chip.lem && u.hdr.Has(hw.IPv6) && u.rxcsum&emreg.RXCSUMIPV6OFL == 0 {
		return
	}
	verdict := u.hdr.CheckL4(frame)
	if verdict == hw.NotChecked {
		return
	}
	m.status |= emreg.RxdStatTCPCS
	if u.hdr.Has(hw.UDP) {
		m.status |= emreg.RxdStatUDPCS
	}
	if verdict == hw.CsumBad {
		m.errors |= emreg.RxdErrTCPE
	}
}

// assemble makes the bytes that go into memory: without the tag if CTRL.VME, padded,
// with the FCS unless SECRC.
func (u *rxUnit) assemble(frame []byte) {
	u.gather.Reset(frame)
	if u.tagged && u.ctrl&emreg.CtrlVME != 0 {
		u.gather.Strip(u.vet)
		u.meta.status |= emreg.RxdStatVP
		u.meta.vlan = u.tci
	}
	pad := hw.Pad(len(frame))
	u.gather.Append(pad)
	if u.rctl&emreg.RCTLSECRC == 0 {
		binary.LittleEndian.PutUint32(u.fcs[:], hw.FCS(frame, pad))
		u.gather.Append(u.fcs[:])
	}
}
