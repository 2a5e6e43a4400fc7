package e1000hw

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

const (
	// rxFrameBudget is how many frames one run takes before it lets others go first.
	rxFrameBudget = 256
	// rxIntrFrames is how many frames one raise may stand for.
	rxIntrFrames = 32
)

// RxConfig says what the receive unit of a part is like.
type RxConfig struct {
	Ring     func(q int) uint64 // offset of a queue's registers
	Advanced bool               // igb, igc: advanced descriptors and what queues have then
	Lem      bool               // 8254x: legacy descriptors only, IPV6OFL

	RARs         int  // receive addresses
	ShortMTA     bool // the multicast table has 1024 bits
	UTA          bool // there is a unicast table
	NoVLANFilter bool

	MRQC      uint32 // what enables RSS; 0: no RSS
	HashTypes int    // fields of MRQC that the part has
	RETAShift uint32 // of the queue in a byte of RETA
	RETAMask  uint32 // of the queue then

	// Raise asks for interrupts: for the receive queues that a bit of queues is set of,
	// and for the causes at once.
	Raise func(queues, causes uint32)
}

// RxUnit is the receive unit: one for all queues (spec 1g 5.3, Receive engine).
// Everything but keyChanged is its engine run's.
type RxUnit struct {
	c          *Core
	cfg        *RxConfig
	src        *hw.RxSource
	rings      []rxRing
	shard      hw.StatShard
	keyChanged atomic.Bool // RSSRK was written since toeplitz was made

	// Registers in this run.
	ctrl, rctl, rxcsum, mrqc, rfctl uint32
	vet                             uint16
	extended                        bool // RFCTL.EXTEN
	longest                         int  // frame with RCTL.LPE

	// The frame at hand.
	tci    uint16
	tagged bool
	cast   hw.Cast
	hdr    hw.Headers
	gather hw.Gather
	fcs    [fcsLen]byte
	meta   rxMeta

	toeplitz *hw.Toeplitz
	queues   uint32 // that have got frames
	now      uint32 // causes to be raised at once
}

// rxMeta is what the last descriptor of a frame says, status bits beside it.
type rxMeta struct {
	status, errors uint32
	packet         uint32 // type, of an advanced descriptor
	vlan           uint16
	hash           uint32
	hashType       hw.RSSType
	queue          int
}

// NewRxUnit makes the receive unit of a part.
func NewRxUnit(c *Core, queues int, cfg *RxConfig) *RxUnit {
	u := &RxUnit{c: c, cfg: cfg, src: hw.NewRxSource(c.Cfg.Port, 0), shard: c.Stats.Shard(queues),
		rings: make([]rxRing, queues)}
	for q := range u.rings {
		u.rings[q].q, u.rings[q].off = q, cfg.Ring(q)
	}
	return u
}

// reset drops what is at hand. The engine is paused.
func (u *RxUnit) reset() {
	u.src.Reset()
	for q := range u.rings {
		u.rings[q].ring.Forget()
	}
	u.queues, u.now = 0, 0
	u.keyChanged.Store(true)
}

// NewKey says that RSSRK was written. Any goroutine.
func (u *RxUnit) NewKey() { u.keyChanged.Store(true) }

// Run implements hw.Runner: it takes the frames that have arrived, up to the budget.
func (u *RxUnit) Run() {
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
		u.c.lost[lossBadFrame].Add(bad)
		u.src.Counters.Truncated, u.src.Counters.Malformed = 0, 0
	}
	if left != rxFrameBudget && left != 0 && u.c.LPI.Load() {
		u.shard.Add(Stat(e1000reg.RLPIC), 1)
	}
	if left == 0 {
		u.c.Engine.Defer(u.c.RxWork())
	}
}

// load takes what the registers say.
func (u *RxUnit) load() {
	c := u.c
	u.ctrl, u.rctl = c.Reg(emreg.CTRL), c.Reg(emreg.RCTL)
	if c.Hung.Load() {
		u.rctl &^= emreg.RCTLEN
	}
	u.rxcsum, u.mrqc = c.Reg(emreg.RXCSUM), c.Reg(emreg.MRQC)
	u.vet, u.rfctl = uint16(c.Reg(emreg.VET)), c.Reg(emreg.RFCTL)
	u.extended = !u.cfg.Lem && u.rfctl&emreg.RFCTLEXTEN != 0
	u.longest = emreg.MaxFrameSize
	if u.cfg.Advanced {
		u.longest = min(u.longest, int(c.Reg(e1000reg.RLPML)))
	}
	if u.rss() && u.keyChanged.Swap(false) {
		u.toeplitz = hw.NewToeplitz(u.rssKey())
	}
}

// bufferSize is the size of a receive buffer in bytes as RCTL has it. BSEX with size 0
// is reserved: as without BSEX.
func bufferSize(rctl uint32) int {
	sz := rctl & emreg.RCTLSzMask >> emreg.RCTLSzShift
	size := 2048 >> sz
	if rctl&emreg.RCTLBSEX != 0 && sz != 0 {
		size *= 16
	}
	return size
}

// interrupt raises what the frames since the last call ask for.
func (u *RxUnit) interrupt() {
	now, queues := u.now, u.queues
	if now|queues == 0 {
		return
	}
	u.now, u.queues = 0, 0
	if now&emreg.ICRRXDMT0 != 0 {
		u.c.Stats.Add(Stat(emreg.ICRXDMTC), 1)
	}
	if now&emreg.ICRRXO != 0 && !u.cfg.Advanced {
		u.c.Stats.Add(Stat(emreg.ICRXOC), 1)
	}
	u.cfg.Raise(queues, now)
}

// receive is the way of a frame from the wire into memory, in the order of spec 1g 5.3.
func (u *RxUnit) receive(frame []byte) {
	if u.rctl&emreg.RCTLEN == 0 || !u.c.Link.Up() {
		u.c.lost[lossDisabled].Add(1)
		return
	}
	u.tci, u.tagged = hw.Tag(frame, u.vet)
	u.cast = hw.CastOf(frame)
	size := max(len(frame), hw.MinFrame) + fcsLen
	if !u.fits(size) {
		return
	}
	if u.control(frame) {
		u.c.lost[lossPause].Add(1)
		return
	}
	ok, inexact := u.accept(frame)
	if !ok {
		u.c.lost[lossFiltered].Add(1)
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

// classify does what needs the headers: checksums, packet type and hash.
func (u *RxUnit) classify(frame []byte) {
	const both = emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL
	if u.cfg.Advanced {
		u.parse(frame)
	} else {
		if u.rxcsum&both == 0 {
			u.meta.status |= emreg.RxdStatIXSM
			if !u.rss() {
				return
			}
		}
		u.hdr.Parse(frame, len(frame))
	}
	u.checksums(frame)
	if u.rss() {
		u.hash(frame)
	}
}

// packetTypes are the bits of an advanced descriptor's packet type.
var packetTypes = [...]struct {
	kind hw.Kind
	bit  uint32
}{
	{hw.IPv4, e1000reg.RxdPktIPv4}, {hw.IPv4Opts, e1000reg.RxdPktIPv4Ex},
	{hw.IPv6, e1000reg.RxdPktIPv6}, {hw.IPv6Ext, e1000reg.RxdPktIPv6Ex},
	{hw.TCP, e1000reg.RxdPktTCP}, {hw.UDP, e1000reg.RxdPktUDP}, {hw.SCTP, e1000reg.RxdPktSCTP},
	{hw.ESP, e1000reg.RxdPktESP}, {hw.AH, e1000reg.RxdPktAH},
}

// parse finds the headers and the packet type as the advanced parts do: behind IPv6
// extension headers only if RFCTL lets them look.
func (u *RxUnit) parse(frame []byte) {
	u.hdr.Parse(frame, len(frame))
	if u.hdr.Has(hw.IPv6Ext) && u.rfctl&emreg.RFCTLIPv6ExDis != 0 {
		u.hdr.Kind &^= hw.TCP | hw.UDP | hw.SCTP | hw.ESP | hw.AH
		u.hdr.L4 = 0
	}
	for i := range packetTypes {
		if t := &packetTypes[i]; u.hdr.Kind&t.kind != 0 {
			u.meta.packet |= t.bit
		}
	}
}

// checksums judges the checksums that RXCSUM asks for (spec 1g 5.3, Receive engine 4).
func (u *RxUnit) checksums(frame []byte) {
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
	if !u.checksL4() {
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

// checksL4 reports whether RXCSUM asks for the checksum of the frame's transport.
func (u *RxUnit) checksL4() bool {
	if u.hdr.Has(hw.SCTP) {
		return u.cfg.Advanced && u.rxcsum&e1000reg.RXCSUMCRCOFL != 0
	}
	if u.rxcsum&emreg.RXCSUMTUOFL == 0 || !u.hdr.Has(hw.TCP) && !u.hdr.Has(hw.UDP) {
		return false
	}
	return !u.cfg.Lem || !u.hdr.Has(hw.IPv6) || u.rxcsum&emreg.RXCSUMIPV6OFL != 0
}

// assemble makes the bytes that go into memory: without the tag if CTRL.VME, padded,
// with the FCS unless SECRC.
func (u *RxUnit) assemble(frame []byte) {
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
