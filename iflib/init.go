package iflib

import (
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// stopSettle is how long stop waits before and after the driver's Stop.
const stopSettle = time.Millisecond

// ifInit is the interface's Init method (iflib_if_init).
func (ctx *Ctx) ifInit() {
	ctx.ctxLock.Lock()
	ctx.ifInitLocked()
	ctx.ctxLock.Unlock()
}

// ifInitLocked stops and initialises (iflib_if_init_locked); init without stop
// is not safe (hazard 19). The ctx lock is held.
func (ctx *Ctx) ifInitLocked() {
	ctx.stop()
	ctx.initLocked()
}

// initLocked programs the hardware and lets traffic in (iflib_init_locked, spec
// iflib 2.8). The ctx lock is held.
func (ctx *Ctx) initLocked() {
	ctx.ctxLock.AssertXLocked()
	ctx.changeAdmit(admitOActive, admitRunning)
	ctx.dev.IntrDisable()
	ctx.ifp.SetHWAssist(ctx.hwassist())
	for _, q := range ctx.txqs {
		q.stopTimer()
	}
	ctx.rxMbufSize = mbuf.MJumPageSize
	if ctx.scctx.MaxFrameSize <= mbuf.MClBytes {
		ctx.rxMbufSize = mbuf.MClBytes
	}
	ctx.setFlags(0, ctxInitFailed)
	before := ctx.ifp.DrvFlags()
	ctx.dev.Init()
	if now := ctx.ifp.DrvFlags(); now != before {
		ctx.breach(nil, "ifdi_init: driver flags changed from %#x to %#x", before, now)
		ctx.ifp.SetDrvFlags(before, now&^before)
	}
	failed := ctx.flags.Load()&uint32(ctxInitFailed) != 0
	if p := ctx.k.Probes; p.On() {
		p.Fire1(probeInit, ctx.name, -1, boolBit(failed))
	}
	if failed {
		return
	}
	for _, rxq := range ctx.rxqs {
		// A list that stays empty has said so on the console and tries again by
		// itself; the interface comes up with the others.
		_ = rxq.fillFreeLists()
	}
	ctx.changeAdmit(admitRunning, admitOActive)
	ctx.dev.IntrEnable()
	for _, q := range ctx.txqs {
		q.startTimer()
	}
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// hwassist is the set of offloads that the enabled capabilities allow
// (iflib_set_hwassist of init).
func (ctx *Ctx) hwassist() mbuf.CsumFlags {
	const (
		csum4 = mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumIPUDP | mbuf.CsumIPSCTP
		csum6 = mbuf.CsumIP6TCP | mbuf.CsumIP6UDP | mbuf.CsumIP6SCTP
	)
	var assist mbuf.CsumFlags
	on := ctx.ifp.Capenable()
	if on&ifnet.CapTxCsum != 0 {
		assist |= ctx.scctx.TxCsumFlags & csum4
	}
	if on&ifnet.CapTxCsumIPv6 != 0 {
		assist |= ctx.scctx.TxCsumFlags & csum6
	}
	if on&ifnet.CapTSO4 != 0 {
		assist |= mbuf.CsumIPTSO
	}
	if on&ifnet.CapTSO6 != 0 {
		assist |= mbuf.CsumIP6TSO
	}
	return assist
}

// stop ends traffic and takes back every buffer (iflib_stop, spec iflib 2.9).
// The ctx lock is held; no mutex is.
func (ctx *Ctx) stop() {
	ctx.ctxLock.AssertXLocked()
	if p := ctx.k.Probes; p.On() {
		p.Fire1(probeStop, ctx.name, -1, uint64(ctx.flags.Load()))
	}
	ctx.changeAdmit(admitOActive, admitRunning)
	ctx.dev.IntrDisable()
	ctx.k.Delay(stopSettle)
	ctx.dev.Stop()
	ctx.k.Delay(stopSettle)
	ctx.g.dbg.reset()
	for _, q := range ctx.txqs {
		q.stopLocked()
	}
	for _, rxq := range ctx.rxqs {
		rxq.stop()
	}
}
