package ifnet

import (
	"fmt"
	"syscall"
)

// Bounds of an MTU in bytes (IF_MINMTU, IF_MAXMTU).
const (
	MinMTU = 72
	MaxMTU = 65535
)

// Ioctl makes a request to the interface (ifhwioctl): the generic rules of spec ifnet
// 6.8 in front of the driver. It may sleep; one request runs at a time. The caller has
// checked the privilege. EINVAL: data is not of the request's type; ENXIO: detached;
// EOPNOTSUPP: the driver has no Ioctl; else what the rules or the driver say.
func (ifp *Ifnet) Ioctl(cmd Ioctl, data any) error {
	if cmd == IoctlSetName {
		return ifp.rename(data)
	}
	ifp.ioctl.Lock()
	defer ifp.unlock()
	if ifp.leaving {
		return fmt.Errorf("%s on %s: %w", cmd, ifp.Name(), syscall.ENXIO)
	}
	if err := ifp.request(cmd, data); err != nil {
		return fmt.Errorf("%s on %s: %w", cmd, ifp.Name(), err)
	}
	return nil
}

// request serves a request under the lock.
func (ifp *Ifnet) request(cmd Ioctl, data any) error {
	switch cmd {
	case IoctlGetFlags, IoctlGetCap, IoctlGetCapNV, IoctlGetMTU, IoctlGetMetric, IoctlGetFIB, IoctlGetIndex,
		IoctlGetDescr, IoctlGetGroups:
		return ifp.get(cmd, data)
	case IoctlSetMetric, IoctlSetFIB, IoctlSetDescr, IoctlAddGroup, IoctlDelGroup:
		return ifp.setSoft(cmd, data)
	case IoctlSetFlags:
		return withData(cmd, data, ifp.setFlags)
	case IoctlSetCap, IoctlSetCapNV:
		return withData(cmd, data, func(req *CapReq) error { return ifp.setCap(cmd, req) })
	case IoctlSetMTU:
		return withData(cmd, data, ifp.changeMTU)
	case IoctlSetLLAddr:
		return withData(cmd, data, ifp.setLLAddr)
	case IoctlAddMulti, IoctlDelMulti:
		return withData(cmd, data, func(req MultiReq) error { return ifp.multiRequest(cmd, req) })
	}
	err := ifp.driver(cmd, data)
	if err == nil && cmd == IoctlSetMedia {
		ifp.touch()
	}
	return err
}

// withData calls fn with data of the type that it takes.
func withData[T any](cmd Ioctl, data any, fn func(T) error) error {
	v, ok := data.(T)
	if !ok {
		return badData(cmd, data)
	}
	return fn(v)
}

// driver asks the driver. EOPNOTSUPP: it has no Ioctl.
func (ifp *Ifnet) driver(cmd Ioctl, data any) error {
	fn := ifp.methods.Load().Ioctl
	if fn == nil {
		return syscall.EOPNOTSUPP
	}
	return fn(cmd, data)
}

// get serves the requests that only read what is here.
func (ifp *Ifnet) get(cmd Ioctl, data any) error {
	switch cmd {
	case IoctlGetFlags:
		return put(cmd, data, ifp.Flags()|ifp.DrvFlags())
	case IoctlGetCap:
		return put(cmd, data, CapReq{Req: ifp.Capabilities(), Cur: ifp.Capenable()})
	case IoctlGetCapNV:
		if ifp.Capabilities()&CapNV == 0 {
			return syscall.EINVAL
		}
		return put(cmd, data, CapReq{Req: ifp.Capabilities(), Cur: ifp.Capenable(),
			Req2: ifp.Capabilities2(), Cur2: ifp.Capenable2()})
	case IoctlGetMTU:
		return put(cmd, data, ifp.MTU())
	case IoctlGetMetric:
		return put(cmd, data, ifp.Metric())
	case IoctlGetFIB:
		return put(cmd, data, ifp.FIB())
	case IoctlGetIndex:
		return put(cmd, data, ifp.Index())
	case IoctlGetDescr:
		return put(cmd, data, ifp.Description())
	}
	return put(cmd, data, ifp.Groups())
}

// put stores a reply where data points to.
func put[T any](cmd Ioctl, data any, v T) error {
	p, ok := data.(*T)
	if !ok || p == nil {
		return badData(cmd, data)
	}
	*p = v
	return nil
}

// setCap asks the driver to enable exactly what req names.
func (ifp *Ifnet) setCap(cmd Ioctl, req *CapReq) error {
	if req == nil {
		return badData(cmd, req)
	}
	if cmd == IoctlSetCapNV && ifp.Capabilities()&CapNV == 0 {
		return syscall.EINVAL
	}
	if req.Req&^ifp.Capabilities() != 0 || cmd == IoctlSetCapNV && req.Req2&^ifp.Capabilities2() != 0 {
		return syscall.EINVAL
	}
	if err := ifp.driver(cmd, req); err != nil {
		return err
	}
	if t := ifp.trunk.Load(); t != nil && t.Changed != nil {
		t.Changed(ifp)
	}
	ifp.touch()
	return nil
}

// changeMTU serves IoctlSetMTU: bounds, the driver, and the event if it changed.
func (ifp *Ifnet) changeMTU(mtu int) error {
	if mtu < MinMTU || mtu > MaxMTU {
		return fmt.Errorf("mtu %d outside %d..%d: %w", mtu, MinMTU, MaxMTU, syscall.EINVAL)
	}
	old := ifp.MTU()
	if err := ifp.driver(IoctlSetMTU, mtu); err != nil {
		return err
	}
	ifp.touch()
	if ifp.MTU() != old {
		ifp.note(EventMTU)
	}
	return nil
}

// setLLAddr changes the address in use; a running driver is told by a change of UP
// (if_setlladdr).
func (ifp *Ifnet) setLLAddr(addr []byte) error {
	if len(addr) != ifp.addrlen || len(addr) == 0 {
		return fmt.Errorf("address of %d bytes: %w", len(addr), syscall.EINVAL)
	}
	if ifp.typ != TypeEther && ifp.typ != TypeVLAN {
		return syscall.ENODEV
	}
	ifp.mac.Store(packMAC(addr))
	if ifp.Flags()&FlagUp != 0 {
		// as in FreeBSD, what the driver answers does not count
		ifp.SetFlags(0, FlagUp)
		_ = ifp.driver(IoctlSetFlags, nil)
		ifp.SetFlags(FlagUp, 0)
		_ = ifp.driver(IoctlSetFlags, nil)
	}
	ifp.note(EventLLAddr)
	return nil
}

// EtherIoctl serves what an Ethernet driver does not serve itself (ether_ioctl): it is
// called from a driver's Ioctl method. EINVAL: an unknown request, an MTU above 1500,
// a priority above 7. ifnet/inet announces an address after IoctlSetAddr.
func EtherIoctl(ifp *Ifnet, cmd Ioctl, data any) error {
	switch cmd {
	case IoctlSetAddr:
		ifp.SetFlags(FlagUp, 0)
		ifp.InitIf()
		return nil
	case IoctlSetMTU:
		return withData(cmd, data, func(mtu int) error {
			if mtu > EtherMTU {
				return fmt.Errorf("mtu %d above %d: %w", mtu, EtherMTU, syscall.EINVAL)
			}
			ifp.SetMTU(mtu)
			return nil
		})
	case IoctlGetLANPCP:
		return put(cmd, data, ifp.PCP())
	case IoctlSetLANPCP:
		return withData(cmd, data, func(pcp uint8) error {
			if pcp > maxPCP && pcp != PCPNone {
				return fmt.Errorf("priority %d: %w", pcp, syscall.EINVAL)
			}
			ifp.SetPCP(pcp)
			return nil
		})
	}
	return fmt.Errorf("%s: %w", cmd, syscall.EINVAL)
}

// maxPCP is the highest 802.1p priority.
const maxPCP = 7
