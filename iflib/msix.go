package iflib

import (
	"github.com/ifsim/ifsim/sysctl"
)

// msixInit settles how the device interrupts and how many queue sets it has,
// and returns the number of vectors (iflib_msix_init, spec iflib 2.4).
func (ctx *Ctx) msixInit() int {
	s := &ctx.scctx
	ctx.verbosef("msix_init qsets capped at %d\n", max(s.NTxQSets, s.NRxQSets))
	if n, ok := ctx.tryMSIX(); ok {
		return n
	}
	return ctx.msiInit()
}

// tryMSIX obtains MSI-X vectors; false means that the device has to do with
// one interrupt.
func (ctx *Ctx) tryMSIX() (vectors int, ok bool) {
	s, adm := &ctx.scctx, ctx.sctx.AdminIntrCnt
	if s.DisableMSIX || ctx.knobs.disableMSIX.Load() != 0 {
		return 0, false
	}
	msgs := ctx.fn.MSIXCount()
	if msgs == 0 {
		ctx.verbosef("MSI-X not supported or disabled\n")
		return 0, false
	}
	if s.MSIXBAR != MSIXBARTrustDriver {
		if _, err := ctx.fn.MapBAR(s.MSIXBAR); err != nil {
			ctx.printf("Unable to map MSI-X table\n")
			return 0, false
		}
		ctx.msixMapped = s.MSIXBAR
	}
	rx, tx := ctx.queueCounts(msgs - adm)
	vectors = rx + adm
	if msgs < vectors || rx == 0 && vectors > 1 {
		ctx.printf("insufficient number of MSI-X vectors (supported %d, need %d)\n", msgs, max(vectors, adm+1))
		return 0, false
	}
	ctx.printf("Using %d RX queues %d TX queues\n", rx, tx)
	if !ctx.allocMSIX(vectors) {
		return 0, false
	}
	ctx.printf("Using MSI-X interrupts with %d vectors\n", vectors)
	s.Vectors, s.NRxQSets, s.NTxQSets, s.Intr = vectors, rx, tx, IntrMSIX
	return vectors, true
}

// queueCounts is how many queue sets the messages that the admin vectors leave
// allow: one receive set a message, transmit sets share.
func (ctx *Ctx) queueCounts(queueMsgs int) (rx, tx int) {
	s, adm, cpus := &ctx.scctx, ctx.sctx.AdminIntrCnt, ctx.cpus.Count()
	queues := max(min(cpus, queueMsgs), 0)
	ctx.verbosef("intr CPUs: %d queue msgs: %d admincnt: %d\n", cpus, queueMsgs, adm)
	rx, tx = queues, cpus
	// FreeBSD takes the admin vectors off twice here. The request counts in the
	// cases that this excludes too: it has lowered NRxQSets already.
	if n := int(ctx.knobs.overrideNRxQs.Load()); n > 0 && n < queueMsgs-adm {
		rx = n
	}
	if n := int(ctx.knobs.overrideNTxQs.Load()); n > 0 && n < queues {
		tx = n
	}
	rx, tx = min(rx, s.NRxQSets), min(tx, s.NTxQSets)
	if ctx.knobs.overrideQsEn.Load() == 0 {
		if rx != tx && ctx.k.Invariants() {
			ctx.printf("queue equality override not set, capping rx_queues at %d and tx_queues at %d\n", rx, tx)
		}
		rx = min(rx, tx)
		tx = rx
	}
	return rx, tx
}

// allocMSIX obtains exactly n vectors.
func (ctx *Ctx) allocMSIX(n int) bool {
	got, err := ctx.fn.AllocMSIX(n)
	switch {
	case err != nil:
		ctx.printf("failed to allocate %d MSI-X vectors, err: %d\n", n, sysctl.Number(err))
	case got < n:
		ctx.printf("Unable to allocate sufficient MSI-X vectors (got %d, need %d)\n", got, n)
		_ = ctx.fn.Release() // no handler is set up yet
	default:
		return true
	}
	ctx.unmapMSIX()
	return false
}

// unmapMSIX gives the mapping of the MSI-X table back.
func (ctx *Ctx) unmapMSIX() {
	if ctx.msixMapped != 0 {
		_ = ctx.fn.UnmapBAR(ctx.msixMapped) // it is mapped
		ctx.msixMapped = 0
	}
}

// msiInit is the way of a device without MSI-X: one queue each, on one MSI
// message if the device has exactly one, else on the shared line.
func (ctx *Ctx) msiInit() int {
	s := &ctx.scctx
	s.NTxQSets, s.NRxQSets, s.Vectors = 1, 1, 1
	s.Intr = IntrLegacy
	if ctx.fn.MSICount() == 1 {
		if got, err := ctx.fn.AllocMSI(1); err == nil && got == 1 {
			s.Intr = IntrMSI
			ctx.printf("Using an MSI interrupt\n")
			return 1
		}
	}
	ctx.printf("Using a Legacy interrupt\n")
	return 1
}
