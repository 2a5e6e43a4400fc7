package iflib

// Suspend tells the driver that the machine goes to sleep
// (iflib_device_suspend). The interface is not stopped.
func (ctx *Ctx) Suspend() error {
	return ctx.power(func(p PowerManager) error { return p.Suspend() })
}

// Shutdown tells the driver that the machine goes down
// (iflib_device_shutdown). The interface is not stopped.
func (ctx *Ctx) Shutdown() error {
	return ctx.power(func(p PowerManager) error { return p.Shutdown() })
}

// Resume wakes the driver and initialises the interface again
// (iflib_device_resume). Packets that waited in soft rings go on.
func (ctx *Ctx) Resume() error {
	err := ctx.power(func(p PowerManager) error { return p.Resume() })
	ctx.ifInit()
	ctx.kickTxqs()
	return err
}

// power calls a bus event's method under the ctx lock, if the driver has any.
func (ctx *Ctx) power(call func(PowerManager) error) error {
	p, ok := Method[PowerManager](ctx.dev)
	if !ok {
		return nil
	}
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	return call(p)
}

// kickTxqs drains what a stop or a lost link left in the soft rings.
func (ctx *Ctx) kickTxqs() {
	for _, q := range ctx.txqs {
		q.br.CheckDrainage(restartBudget)
	}
}
