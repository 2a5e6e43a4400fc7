package iflib

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// VFLRHandler hears of function-level resets of virtual functions
// (IFDI_VFLR_HANDLE); a Device may implement it. The ctx lock is held.
type VFLRHandler interface{ VFLRHandle() }

// adminRequests is what the admin task was asked to do and the state of the
// interface at that moment.
type adminRequests struct {
	flags  ctxFlags // the requests, and ctxInDetach
	active bool     // RUNNING or OACTIVE
}

// adminFault makes the admin task miss a run: the fail point
// debug.fail_point.iflib.admin_task, for the device that
// debug.iflib.admin_task_device names, every one when empty.
type adminFault struct {
	point  *kern.FailPoint
	device atomic.Pointer[string]
}

func (f *adminFault) init(k *kern.Kernel) {
	f.point = k.FailPoint("iflib.admin_task")
	c := k.Sysctl.StaticCtx()
	debug := c.Node(nil, "debug", sysctl.RW, "Debugging")
	node := c.Node(debug, "iflib", sysctl.RW, "iflib debugging")
	c.String(node, "admin_task_device", sysctl.RWTUN, &f.device, deviceNameLimit,
		"device that the fail point of the admin task applies to, empty = all")
}

// hits reports whether the run of this device is to be missed.
func (f *adminFault) hits(name string) bool {
	if only := f.device.Load(); only != nil && *only != "" && *only != name {
		return false
	}
	_, hit := f.point.Eval()
	return hit
}

// takeRequests reads the state and takes the requests in one step.
func (ctx *Ctx) takeRequests() adminRequests {
	const requests = uint32(ctxDoReset | ctxDoResetIfUp | ctxDoWatchdog)
	ctx.stateLock.Lock()
	defer ctx.stateLock.Unlock()
	active := ctx.admit.Load()&(admitRunning|admitOActive) != 0
	return adminRequests{flags: ctxFlags(ctx.flags.And(^requests)), active: active}
}

// adminTaskFn is _task_fn_admin, the interface's slow work: link state, admin
// queue, resets (spec iflib 2.14). It runs on the interface's own thread.
// Requests of an interface that is down are lost, as in FreeBSD.
func (ctx *Ctx) adminTaskFn() {
	if ctx.g.adminFault.hits(ctx.name) {
		return
	}
	r := ctx.takeRequests()
	if !r.active && ctx.sctx.Flags&FlagAdminAlwaysRun == 0 || r.flags&ctxInDetach != 0 {
		return
	}
	ctx.ctxLock.Lock()
	ctx.adminLocked(r.flags)
	ctx.ctxLock.Unlock()
	if ctx.admit.Load()&admitLinkUp == 0 {
		return
	}
	// This is how traffic restarts after the link came up.
	ctx.kickTxqs()
}

// adminLocked is the part of the admin task under the ctx lock.
func (ctx *Ctx) adminLocked(requests ctxFlags) {
	for _, q := range ctx.txqs {
		q.stopTimer()
	}
	if ctx.sctx.Flags&FlagHasAdminCQ != 0 {
		if d, ok := Method[AdminCompleter](ctx.dev); ok {
			d.AdminCompletionHandle()
		}
	}
	if requests&ctxDoWatchdog != 0 {
		ctx.txWatchdogEvents.Add(1)
		if d, ok := Method[WatchdogResetter](ctx.dev); ok {
			d.WatchdogReset()
		}
	}
	ctx.dev.UpdateAdminStatus()
	for _, q := range ctx.txqs {
		q.startTimer()
	}
	if d, ok := Method[LinkIntrEnabler](ctx.dev); ok {
		d.LinkIntrEnable()
	}
	if requests&ctxDoReset != 0 || requests&ctxDoResetIfUp != 0 && ctx.ifp.Flags()&ifnet.FlagUp != 0 {
		ctx.ifInitLocked()
	}
}

// vflrTaskFn is _task_fn_iov.
func (ctx *Ctx) vflrTaskFn() {
	if ctx.flags.Load()&uint32(ctxInDetach) != 0 ||
		ctx.admit.Load()&admitRunning == 0 && ctx.sctx.Flags&FlagAdminAlwaysRun == 0 {
		return
	}
	d, ok := Method[VFLRHandler](ctx.dev)
	if !ok {
		return
	}
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	d.VFLRHandle()
}
