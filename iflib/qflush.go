package iflib

// qflush is the interface's QFlush method (iflib_if_qflush, spec iflib 3.9): it
// frees what waits in the soft rings and the send queue. A ring that is stalled
// is left as it is.
func (ctx *Ctx) qflush() {
	ctx.setFlags(ctxQFlush, 0)
	for _, q := range ctx.txqs {
		for !q.br.IsIdle() && !q.br.IsStalled() {
			q.br.CheckDrainage(0)
			ctx.k.SchedPoint()
		}
		if q.sbr != nil {
			q.mtx.Lock()
			q.flushDeferred()
			q.mtx.Unlock()
		}
	}
	ctx.setFlags(0, ctxQFlush)
	c := ctx.ifp.Zones().Borrow()
	ctx.ifp.Snd().Purge(c)
	ctx.ifp.Zones().Return(c)
}

// flushDeferred frees everything in the simple_tx ring, for if_qflush; the
// caller holds the queue mutex.
func (q *Txq) flushDeferred() {
	for m := q.sbr.Dequeue(); m != nil; m = q.sbr.Dequeue() {
		q.ledger.flushed.Add(1)
		q.cache.FreeChain(m)
	}
}
