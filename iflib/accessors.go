package iflib

import (
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl"
)

// bitsPer10G is the speed from which on prefetching pays (IF_Gbps(10)).
const bitsPer10G = 10_000_000_000

// Kernel is the machine; any goroutine.
func (ctx *Ctx) Kernel() *Kernel { return ctx.k }

// Softc is what iflib and the driver agree on (iflib_get_softc_ctx). The driver
// fills it in AttachPre.
func (ctx *Ctx) Softc() *SoftcCtx { return &ctx.scctx }

// Shared is the driver's shared context (iflib_get_sctx); nobody changes it.
func (ctx *Ctx) Shared() *SharedCtx { return ctx.sctx }

// Device is the driver's softc (iflib_get_softc).
func (ctx *Ctx) Device() Device { return ctx.dev }

// Ifp is the interface (iflib_get_ifp).
func (ctx *Ctx) Ifp() *ifnet.Ifnet { return ctx.ifp }

// Name is the device's name, "em0" (device_get_nameunit).
func (ctx *Ctx) Name() string { return ctx.name }

// Unit is the device's number (device_get_unit).
func (ctx *Ctx) Unit() int { return ctx.unit }

// Function is the device's place on the bus (iflib_get_dev).
func (ctx *Ctx) Function() *pci.Function { return ctx.fn }

// Media is the interface's media list (iflib_get_media). With FlagDriverMedia it
// is the driver's own, once AttachPre returned.
func (ctx *Ctx) Media() *ifnet.Media { return ctx.media }

// SetMAC gives the address that the interface will have (iflib_set_mac). In
// AttachPre.
func (ctx *Ctx) SetMAC(mac [ifnet.EtherAddrLen]byte) { ctx.mac = mac }

// MAC is the address given with SetMAC, the hardware's own. The address in use
// is Ifp().MAC().
func (ctx *Ctx) MAC() [ifnet.EtherAddrLen]byte { return ctx.mac }

// SysctlCtx is the list that the driver's sysctls go into
// (device_get_sysctl_ctx); iflib frees it when the device has gone.
func (ctx *Ctx) SysctlCtx() *sysctl.Ctx { return ctx.devOIDs }

// SysctlNode is the node dev.<driver>.<unit> (device_get_sysctl_tree).
func (ctx *Ctx) SysctlNode() *sysctl.OID { return ctx.devNode }

// Printf writes a console line that begins with the device's name
// (device_printf). The newline is the caller's business. Any goroutine.
func (ctx *Ctx) Printf(format string, a ...any) { ctx.printf(format, a...) }

// UseExtraMSIXVectors is the sysctl use_extra_msix_vectors: how many vectors the
// user wants beyond those of the queues (iflib_get_extra_msix_vectors_sysctl).
func (ctx *Ctx) UseExtraMSIXVectors() int { return int(ctx.knobs.extraMSIX.Load()) }

// NTxqs is the number of transmit queue sets; constant from TxQueuesAlloc on.
func (ctx *Ctx) NTxqs() int { return len(ctx.txqs) }

// NRxqs is the number of receive queue sets; constant from RxQueuesAlloc on.
func (ctx *Ctx) NRxqs() int { return len(ctx.rxqs) }

// TxqState is transmit queue i as its owner last published it; any goroutine.
func (ctx *Ctx) TxqState(i int) TxqState { return ctx.txqs[i].State() }

// IsRunning reports whether traffic is admitted (iflib_is_running): from the
// end of a successful init until stop or a watchdog begins. Filters may ask;
// drivers use it instead of reading RUNNING. Any goroutine.
func (ctx *Ctx) IsRunning() bool { return ctx.admit.Load()&admitRunning != 0 }

// LinkStateChange tells iflib that the link is up or down, and its speed in
// bit/s (iflib_link_state_change). Packets are refused while it is not up. Any
// goroutine; no state lock.
func (ctx *Ctx) LinkStateChange(up bool, baudrate uint64) {
	ctx.ifp.SetBaudrate(baudrate)
	if baudrate >= bitsPer10G {
		ctx.setFlags(ctxPrefetch, 0)
	}
	state, set, clear := ifnet.LinkStateDown, uint32(0), admitLinkUp
	if up {
		state, set, clear = ifnet.LinkStateUp, admitLinkUp, 0
	}
	ctx.linkState.Store(uint32(state))
	ctx.changeAdmit(set, clear)
	ctx.ifp.LinkStateChange(state)
}

// AdminIntrDeferred runs the admin task (iflib_admin_intr_deferred). Any
// goroutine; filters too.
func (ctx *Ctx) AdminIntrDeferred() {
	if t := ctx.adminTask; t != nil {
		t.Enqueue()
	}
}

// TxIntrDeferred runs the task of a transmit queue (iflib_tx_intr_deferred).
func (ctx *Ctx) TxIntrDeferred(qid int) { ctx.txqs[qid].task.Enqueue() }

// RxIntrDeferred runs the task of a receive queue (iflib_rx_intr_deferred).
func (ctx *Ctx) RxIntrDeferred(qid int) { ctx.rxqs[qid].task.Enqueue() }

// RequestReset has the admin task stop and init the interface at its next run
// (iflib_request_reset); the caller schedules that with AdminIntrDeferred. Any
// goroutine; no state lock.
func (ctx *Ctx) RequestReset() { ctx.setFlags(ctxDoReset, 0) }

// RequestResetIfUp is RequestReset, unless the interface is down when the task
// runs (iflib_request_reset_if_up).
func (ctx *Ctx) RequestResetIfUp() { ctx.setFlags(ctxDoResetIfUp, 0) }

// InitFailed tells iflib, from inside Init, that the hardware could not be
// programmed: the interface stays down (iflib_init_failed).
func (ctx *Ctx) InitFailed() { ctx.setFlags(ctxInitFailed, 0) }

// ConfigTaskInit makes a task that runs fn on the device's admin thread
// (iflib_config_task_init). Not before the admin thread exists, that is from
// TxQueuesAlloc on.
func (ctx *Ctx) ConfigTaskInit(name string, fn func()) *Task {
	return ctx.adminq.NewTask(ctx.name+" "+name, fn)
}

// setFlags changes ifc_flags, set first, then clear. It takes the state lock.
func (ctx *Ctx) setFlags(set, clear ctxFlags) {
	ctx.stateLock.Lock()
	ctx.flags.Or(uint32(set))
	ctx.flags.And(^uint32(clear))
	ctx.stateLock.Unlock()
}

// setAdmit changes what the data path sees, set first, then clear, and the
// driver flags of the interface with it. The caller holds the state lock.
func (ctx *Ctx) setAdmit(set, clear uint32) {
	ctx.stateLock.AssertOwned()
	ctx.admit.Store((ctx.admit.Load() | set) &^ clear)
	ctx.ifp.SetDrvFlags(drvFlags(set), drvFlags(clear))
}

// changeAdmit is setAdmit for a caller that does not hold the state lock.
func (ctx *Ctx) changeAdmit(set, clear uint32) {
	ctx.stateLock.Lock()
	ctx.setAdmit(set, clear)
	ctx.stateLock.Unlock()
}

// drvFlags are the driver flags that correspond to admit bits.
func drvFlags(admit uint32) ifnet.Flags {
	var f ifnet.Flags
	if admit&admitRunning != 0 {
		f |= ifnet.FlagRunning
	}
	if admit&admitOActive != 0 {
		f |= ifnet.FlagOActive
	}
	return f
}
