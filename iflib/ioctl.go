package iflib

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
)

// ioctl is iflib_if_ioctl, the interface's requests behind the generic rules of
// ifnet (spec iflib 2.12). It may sleep.
func (ctx *Ctx) ioctl(cmd ifnet.Ioctl, data any) error {
	switch cmd {
	case ifnet.IoctlSetAddr:
		return with(cmd, data, ctx.setAddr)
	case ifnet.IoctlSetMTU:
		return with(cmd, data, ctx.setMTU)
	case ifnet.IoctlSetFlags:
		return ctx.ifFlagsChanged()
	case ifnet.IoctlAddMulti, ifnet.IoctlDelMulti:
		ctx.setMulti()
		return nil
	case ifnet.IoctlSetMedia:
		ctx.mediaSet()
		return ctx.media.Ioctl(cmd, data)
	case ifnet.IoctlGetMedia, ifnet.IoctlGetXMedia:
		return ctx.media.Ioctl(cmd, data)
	case ifnet.IoctlGetI2C, ifnet.IoctlGetI2CPB:
		return with(cmd, data, func(req *ifnet.I2CReq) error { return ctx.i2c(req, cmd == ifnet.IoctlGetI2CPB) })
	case ifnet.IoctlSetCap:
		return with(cmd, data, ctx.setCap)
	case ifnet.IoctlGetPrivate0, ifnet.IoctlGetDrvSpec, ifnet.IoctlSetDrvSpec:
		return locked(ctx, cmd, func(d PrivIoctler) error { return d.PrivIoctl(cmd, data) })
	case ifnet.IoctlGetDownReason:
		return with(cmd, data, ctx.downReason)
	case ifnet.IoctlGetRSSKey, ifnet.IoctlSetRSSKey, ifnet.IoctlGetRSSHash, ifnet.IoctlGetRSSTable, ifnet.IoctlSetRSSTable:
		return ctx.rssIoctl(cmd, data)
	}
	return ifnet.EtherIoctl(ctx.ifp, cmd, data)
}

// with calls fn with data of the type that it takes.
func with[T any](cmd ifnet.Ioctl, data any, fn func(T) error) error {
	v, ok := data.(T)
	if !ok {
		return fmt.Errorf("%s with data of type %T: %w", cmd, data, syscall.EINVAL)
	}
	return fn(v)
}

// locked calls an optional method of the driver under the ctx lock. EOPNOTSUPP:
// the driver has none.
func locked[T any](ctx *Ctx, cmd ifnet.Ioctl, fn func(T) error) error {
	d, ok := Method[T](ctx.dev)
	if !ok {
		return fmt.Errorf("%s: the driver has no method for it: %w", cmd, syscall.EOPNOTSUPP)
	}
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	return fn(d)
}

// setAddr serves SIOCSIFADDR: an internet address brings the interface up. The
// announcement of the address is ifnet/inet's.
func (ctx *Ctx) setAddr(req ifnet.AddrReq) error {
	if req.Family != ifnet.AFInet && req.Family != ifnet.AFInet6 {
		return ifnet.EtherIoctl(ctx.ifp, ifnet.IoctlSetAddr, req)
	}
	ctx.ifp.SetFlags(ifnet.FlagUp, 0)
	if ctx.ifp.DrvFlags()&ifnet.FlagRunning == 0 {
		ctx.ifInit()
	}
	return nil
}

// drvFlagMask are the flags that setMTU and setCap save and restore.
const drvFlagMask = admitRunning | admitOActive

// restoreAdmit brings RUNNING and OACTIVE back to what they were before a stop
// and init, unless that init failed (hazard 24). As in FreeBSD, the hardware of
// a downed interface stays initialised. The ctx lock is held.
func (ctx *Ctx) restoreAdmit(saved uint32) {
	ctx.stateLock.Lock()
	defer ctx.stateLock.Unlock()
	if ctx.flags.Load()&uint32(ctxInitFailed) == 0 {
		ctx.setAdmit(saved&drvFlagMask, ^saved&drvFlagMask)
	}
}

// setMTU serves SIOCSIFMTU. The hardware is initialised also when the driver
// refuses.
func (ctx *Ctx) setMTU(mtu int) error {
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	if mtu == ctx.ifp.MTU() {
		return nil
	}
	saved := ctx.admit.Load()
	ctx.stop()
	err := ctx.dev.MTUSet(mtu)
	if err == nil {
		if mtu > ctx.maxFLBuf {
			ctx.setFlags(ctxMultiSeg, 0)
		} else {
			ctx.setFlags(0, ctxMultiSeg)
		}
		ctx.ifp.SetMTU(mtu)
	}
	ctx.initLocked()
	ctx.restoreAdmit(saved)
	return err
}

// ifFlagsChanged serves SIOCSIFFLAGS: the flags are in the interface already.
func (ctx *Ctx) ifFlagsChanged() error {
	reinit, err := ctx.applyFlags()
	if reinit {
		ctx.ifInit()
	}
	return err
}

// applyFlags does what the flags ask for and reports whether the interface is
// to be initialised, which takes the ctx lock itself.
func (ctx *Ctx) applyFlags() (reinit bool, err error) {
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	flags := ctx.ifp.Flags()
	running := ctx.ifp.DrvFlags()&ifnet.FlagRunning != 0
	switch up := flags&ifnet.FlagUp != 0; {
	case up && !running:
		reinit = true
	case up && (flags^ctx.ifFlags)&(ifnet.FlagPromisc|ifnet.FlagAllMulti) != 0:
		ctx.ctxLock.Unlock()
		err = ctx.dev.PromiscSet(flags)
		ctx.ctxLock.Lock()
	case !up && running:
		ctx.stop()
	}
	ctx.ifFlags = ctx.ifp.Flags()
	return reinit, err
}

// setMulti serves SIOCADDMULTI and SIOCDELMULTI: the driver rebuilds its filter
// from the interface's list.
func (ctx *Ctx) setMulti() {
	if ctx.ifp.DrvFlags()&ifnet.FlagRunning == 0 {
		return
	}
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	ctx.dev.IntrDisable()
	ctx.dev.MultiSet()
	ctx.dev.IntrEnable()
}

// mediaSet tells a driver that wants to know that a media request comes.
func (ctx *Ctx) mediaSet() {
	if d, ok := Method[MediaSetter](ctx.dev); ok {
		ctx.ctxLock.Lock()
		defer ctx.ctxLock.Unlock()
		d.MediaSet()
	}
}

// mediaChange is iflib_media_change, the callback of the framework's own media
// list: what the driver takes is brought into force by stop and init.
func (ctx *Ctx) mediaChange() error {
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	if err := ctx.dev.MediaChange(); err != nil {
		return err
	}
	ctx.ifInitLocked()
	return nil
}

// mediaStatus is iflib_media_status.
func (ctx *Ctx) mediaStatus(req *ifnet.MediaReq) {
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	ctx.dev.UpdateAdminStatus()
	ctx.dev.MediaStatus(req)
}

// i2c serves SIOCGI2C and, with page and bank, SIOCGI2CPB.
func (ctx *Ctx) i2c(req *ifnet.I2CReq, paged bool) error {
	if req.DevAddr != ifnet.I2CAddrA0 && req.DevAddr != ifnet.I2CAddrA2 || req.Len > ifnet.I2CDataLen {
		return fmt.Errorf("reading %d bytes of I2C device %#x: %w", req.Len, req.DevAddr, syscall.EINVAL)
	}
	if !paged {
		req.Page, req.Bank = 0, 0
	} else if ctx.sctx.Flags&FlagI2CPageBank == 0 {
		return fmt.Errorf("reading page %d bank %d of a module: %w", req.Page, req.Bank, syscall.EINVAL)
	}
	d, ok := Method[I2CRequester](ctx.dev)
	if !ok {
		return fmt.Errorf("reading a module: the driver has no method for it: %w", syscall.EOPNOTSUPP)
	}
	return d.I2CReq(req)
}

// changeableCaps are the capabilities that SIOCSIFCAP may change (IFCAP_FLAGS
// and IFCAP_WOL); TOE is not built.
const changeableCaps = ifnet.CapHWCsum | ifnet.CapHWCsumIPv6 | ifnet.CapLRO | ifnet.CapTSO | ifnet.CapVLANHWTag |
	ifnet.CapHWStats | ifnet.CapVLANMTU | ifnet.CapVLANHWFilter | ifnet.CapVLANHWTSO | ifnet.CapVLANHWCsum |
	ifnet.CapMEXTPG | ifnet.CapWOL

// rxCsumCaps change together.
const rxCsumCaps = ifnet.CapRxCsum | ifnet.CapRxCsumIPv6

// setCap serves SIOCSIFCAP. Everything but wake-on-LAN needs stop and init.
func (ctx *Ctx) setCap(req *ifnet.CapReq) error {
	supported := ctx.scctx.Capabilities | ifnet.CapMEXTPG
	change := (req.Req ^ ctx.ifp.Capenable()) & supported & changeableCaps
	if change&rxCsumCaps != 0 {
		change |= ctx.scctx.Capabilities & rxCsumCaps
	}
	if change == 0 {
		return nil
	}
	ctx.ctxLock.Lock()
	defer ctx.ctxLock.Unlock()
	saved := ctx.admit.Load()
	restart := saved&admitRunning != 0 && change&^ifnet.CapWOL != 0
	if restart {
		ctx.stop()
	}
	ctx.stateLock.Lock()
	ctx.ifp.ToggleCapenable(change)
	ctx.scctx.Capenable ^= change
	ctx.stateLock.Unlock()
	if restart {
		ctx.initLocked()
	}
	ctx.restoreAdmit(saved)
	return nil
}

// downReason serves SIOCGIFDOWNREASON.
func (ctx *Ctx) downReason(reply *ifnet.DownReason) error {
	return locked(ctx, ifnet.IoctlGetDownReason, func(d DownReasoner) error {
		text, err := d.DownReason()
		if err != nil {
			return err
		}
		*reply = ifnet.DownReason{Kind: ifnet.DownReasonMsg, Text: text}
		return nil
	})
}
