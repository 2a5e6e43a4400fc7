package iflib

import "github.com/ifsim/ifsim/ifnet"

// maxVLANEvent is the highest tag an event is taken for.
const maxVLANEvent = 4095

// registerVLANEvents subscribes to VLANs coming to and leaving the interface;
// detach unsubscribes (spec iflib 2.13).
func (ctx *Ctx) registerVLANEvents() {
	ctx.events = append(ctx.events,
		ifnet.OnVLANConfig(ctx.k, func(parent *ifnet.Ifnet, vid uint16) { ctx.vlanEvent(parent, vid, true) }),
		ifnet.OnVLANUnconfig(ctx.k, func(parent *ifnet.Ifnet, vid uint16) { ctx.vlanEvent(parent, vid, false) }))
}

// vlanEvent is iflib_vlan_register and iflib_vlan_unregister. A driver that
// needs a restart gets it even when the interface is down, as in FreeBSD.
func (ctx *Ctx) vlanEvent(parent *ifnet.Ifnet, vtag uint16, register bool) {
	if parent != ctx.ifp || vtag == 0 || vtag > maxVLANEvent {
		return
	}
	if register && ctx.flags.Load()&uint32(ctxInDetach) != 0 {
		return
	}
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	if ctx.needsRestart(RestartVLANConfig) {
		ctx.stop()
	}
	if d, ok := Method[VLANRegisterer](ctx.dev); ok {
		if register {
			d.VLANRegister(vtag)
		} else {
			d.VLANUnregister(vtag)
		}
	}
	if ctx.needsRestart(RestartVLANConfig) {
		ctx.initLocked()
	}
}

// needsRestart asks the driver; a driver that does not say needs none (hazard
// 26).
func (ctx *Ctx) needsRestart(ev RestartEvent) bool {
	d, ok := Method[Restarter](ctx.dev)
	return ok && d.NeedsRestart(ev)
}
