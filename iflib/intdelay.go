package iflib

import "github.com/ifsim/ifsim/sysctl"

// AddIntDelaySysctl makes an interrupt delay tunable at run time
// (iflib_add_int_delay_sysctl, spec iflib 2.16): dev.<driver>.<unit>.<name>,
// which shows info.Value and hands both reads and writes to the driver's
// IntDelayer. offset is the register, value the delay in microseconds at
// attach. info must live as long as the device.
func (ctx *Ctx) AddIntDelaySysctl(name, descr string, info *IntDelayInfo, offset uint64, value int) {
	*info = IntDelayInfo{Offset: offset, Value: value}
	ctx.SysctlCtx().Proc(ctx.SysctlNode(), name, sysctl.RW|sysctl.MPSafe, sysctl.KindInt, "",
		func(req *sysctl.Request) error { return ctx.intDelay(req, info) }, descr)
}

// intDelay is iflib_sysctl_int_delay. A write stores the new value before the
// driver is asked, so that the driver may round it; a refusal restores it.
func (ctx *Ctx) intDelay(req *sysctl.Request, info *IntDelayInfo) error {
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	d, ok := Method[IntDelayer](ctx.dev)
	if ok && !req.HasNew() {
		info.New, info.Write = 0, false
		if err := d.SysctlIntDelay(info); err != nil {
			return err
		}
	}
	old := info.Value
	val, written, err := req.HandleInt(int64(old))
	if err != nil || !written || !ok {
		return err
	}
	info.Value, info.New, info.Write = int(val), int(val), true
	if err := d.SysctlIntDelay(info); err != nil {
		info.Value = old
		return err
	}
	return nil
}
