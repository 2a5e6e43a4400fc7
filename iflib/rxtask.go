package iflib

// taskFn is _task_fn_rx, the work of a receive interrupt (spec iflib 4.5).
func (q *Rxq) taskFn() {
	ctx := q.ctx
	if d := ctx.g.dbg; d != nil {
		d.taskFnRx.Add(1)
	}
	if ctx.admit.Load()&admitRunning == 0 {
		// The interrupt stays masked; init enables it again.
		if q.hungry.Load() {
			q.armRetry()
		}
		return
	}
	if q.hungry.Load() {
		q.hungry.Store(false)
	}
	q.own.stat.tasks++
	budget := int(ctx.knobs.rxBudget.Load())
	if budget == 0 {
		budget = rxDefaultBudget
	}
	res := q.rxeof(budget)
	if res&rxMore == 0 {
		q.own.stat.intrEnables++
		q.intrEnable()
	}
	if ctx.admit.Load()&admitRunning == 0 {
		return
	}
	switch {
	case res&rxMore != 0:
		q.task.Enqueue()
	case res&rxEmpty != 0:
		// A hardware without buffers raises no interrupt (hazard 17).
		q.armRetry()
	}
}

// intrEnable unmasks what wakes the task.
func (q *Rxq) intrEnable() {
	if d := q.ctx.g.dbg; d != nil {
		d.rxIntrEnables.Add(1)
	}
	if q.ctx.flags.Load()&uint32(ctxLegacy) != 0 {
		q.ctx.dev.IntrEnable()
		return
	}
	q.ctx.rxQueueIntrEnable(q.id)
}

// armRetry has the task run one tick from now.
func (q *Rxq) armRetry() { q.retry.Reset(1, q.task.CPU()) }
