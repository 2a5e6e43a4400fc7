package iflib

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
)

// Detach takes the interface away and gives everything back
// (iflib_device_deregister, spec iflib 2.10). EBUSY while VLANs use the
// interface: nothing has changed then. Once, from any goroutine that is not
// work of the device.
//
// FreeBSD removes the sysctls even if it then refuses to detach.
func (ctx *Ctx) Detach() error {
	if ctx.ifp.Trunk() != nil {
		ctx.printf("Vlan in use, detach first\n")
		return fmt.Errorf("%s: detaching: %w", ctx.name, syscall.EBUSY)
	}
	ctx.freeSysctls()
	ctx.closeSight()
	ctx.setFlags(ctxInDetach, 0)
	ctx.unregisterEvents()
	ctx.drainAdmin()
	ifnet.EtherDetach(ctx.ifp)
	ctx.snd.Close()
	ctx.ctxLock.Lock()
	ctx.stop()
	ctx.ctxLock.Unlock()
	ctx.drainAdmin()
	ctx.freeQueueIrqs()
	ctx.stopTasks()
	ctx.freeQueues()
	ctx.ctxLock.Lock()
	// The device is gone whatever the driver says.
	_ = ctx.dev.Detach()
	ctx.dev.QueuesFree()
	ctx.ctxLock.Unlock()
	ctx.release()
	return nil
}

// unregisterEvents ends the subscriptions, newest first.
func (ctx *Ctx) unregisterEvents() {
	for _, cancel := range slices.Backward(ctx.events) {
		cancel()
	}
	ctx.events = nil
}

// drainAdmin waits for the admin thread's work. No lock of the device is held:
// that work takes them (hazard 21).
func (ctx *Ctx) drainAdmin() {
	if ctx.adminq != nil {
		ctx.adminq.Drain()
	}
}

// stopTasks ends timers and tasks of the queues.
func (ctx *Ctx) stopTasks() {
	for _, q := range ctx.txqs {
		q.timer.Drain()
		q.task.Close()
	}
	for _, q := range ctx.rxqs {
		q.task.Close()
		q.retry.Drain()
	}
}

// release gives back what a device has without queues: admin thread,
// interrupts, interface, sysctls, locks, the CPU offset record.
func (ctx *Ctx) release() {
	if ctx.adminq != nil {
		ctx.adminq.Close()
	}
	ctx.freeIntrMem()
	ctx.fn.DisableBusMaster()
	ctx.freeDeviceNode()
	ifnet.Free(ctx.ifp)
	ctx.dropCoreOffset()
	ctx.stateLock.Destroy()
	ctx.ctxLock.Destroy()
}
