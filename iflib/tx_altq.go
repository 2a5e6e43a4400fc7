package iflib

import "github.com/ifsim/ifsim/ifnet/mbuf"

// transmitALTQ is iflib_altq_if_transmit: an interface whose send queue shapes
// gives the packet to the discipline and then sends what the discipline
// releases; any other takes the normal path (spec iflib 3.10).
func (ctx *Ctx) transmitALTQ(m *mbuf.Mbuf) error {
	if !ctx.ifp.SndEnabled() {
		return ctx.transmit(m)
	}
	if err := ctx.ifp.Snd().Enqueue(m); err != nil {
		ctx.txqs[0].ledger.in.Add(1)
		ctx.txqs[0].ledger.altq.Add(1)
		return err
	}
	ctx.startALTQ()
	return nil
}

// startALTQ is iflib_altq_if_start: everything the discipline releases now goes
// through the mp_ring of queue 0, in front of which the discipline sits.
func (ctx *Ctx) startALTQ() {
	snd := ctx.ifp.Snd()
	for m := snd.Dequeue(); m != nil; m = snd.Dequeue() {
		// A full ring drops what the discipline has counted as sent; the
		// ledger and OQDROPS have it.
		_ = ctx.transmitMPRing(m)
	}
}
