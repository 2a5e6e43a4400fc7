package ifnet

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/sysctl"
)

// Numbers of the interface MIB (net/if_mib.h).
const (
	mibSystem     = 1 // IFMIB_SYSTEM
	mibIfCount    = 1 // IFMIB_IFCOUNT
	mibIfData     = 2 // IFMIB_IFDATA
	mibGeneral    = 1 // IFDATA_GENERAL
	mibDriverName = 3 // IFDATA_DRIVERNAME
	mibArgs       = 2 // interface index and one of the two above
)

// addMIB registers net.link.generic.system.ifcount and net.link.generic.ifdata.
func (s *stack) addMIB(c *sysctl.Ctx, generic *sysctl.OID) {
	system := c.Add(generic, sysctl.Spec{Name: "system", Kind: sysctl.KindNode, Flags: sysctl.RW,
		Descr: "Variables global to all interfaces", Static: true, Number: mibSystem})
	c.Add(system, sysctl.Spec{Name: "ifcount", Kind: sysctl.KindInt, Flags: sysctl.RD | sysctl.MPSafe,
		Descr: "Maximum known interface index", Static: true, Number: mibIfCount,
		Handler: func(req *sysctl.Request) error {
			_, _, err := req.HandleInt(int64(s.maxIndex()))
			return err
		}})
	c.Add(generic, sysctl.Spec{Name: "ifdata", Kind: sysctl.KindNode, Flags: sysctl.RD | sysctl.MPSafe,
		Descr: "Interface table", Static: true, Number: mibIfData, Handler: s.ifdata})
}

// ifdata serves net.link.generic.ifdata.<index>.<what> (sysctl_ifdata). EINVAL: a path
// of another length; ENOENT: no such interface or no such row.
func (s *stack) ifdata(req *sysctl.Request) error {
	args := req.Args()
	if len(args) != mibArgs {
		return fmt.Errorf("interface table with %d numbers: %w", len(args), syscall.EINVAL)
	}
	ifp := ByIndex(s.k, int(args[0]))
	if ifp == nil {
		return fmt.Errorf("interface %d: %w", args[0], syscall.ENOENT)
	}
	switch args[1] {
	case mibGeneral:
		return req.Out(ifp.appendMIB(nil))
	case mibDriverName:
		_, _, err := req.HandleString(fmt.Sprintf("%s%d", ifp.dname, ifp.dunit), 0)
		return err
	}
	return fmt.Errorf("row %d of an interface: %w", args[1], syscall.ENOENT)
}

// Sizes in bytes of the two structures.
const (
	mibNameLen   = NameMax + 1 // IFNAMSIZ
	mibFillerLen = 16          // ifmd_filler
	ifDataLen    = 152         // sizeof(struct if_data)
)

// appendMIB appends the interface as struct ifmibdata.
func (ifp *Ifnet) appendMIB(b []byte) []byte {
	var name [mibNameLen]byte
	copy(name[:NameMax], ifp.Name())
	b = append(b, name[:]...)
	ifp.ioctl.Lock()
	pcount := ifp.pcount
	ifp.ioctl.Unlock()
	for _, v := range []uint32{uint32(pcount), uint32(ifp.Flags() | ifp.DrvFlags()), uint32(ifp.Snd().Len()),
		uint32(ifp.Snd().MaxLen()), uint32(ifp.GetCounter(CounterOQDrops))} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = append(b, make([]byte, mibFillerLen)...)
	return ifp.appendIfData(b)
}

// appendIfData appends the interface's struct if_data.
func (ifp *Ifnet) appendIfData(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, byte(ifp.typ), 0, byte(ifp.addrlen), byte(ifp.Hdrlen()), byte(ifp.LinkState()), 0)
	b = le.AppendUint16(b, ifDataLen)
	b = le.AppendUint32(b, uint32(ifp.MTU()))
	b = le.AppendUint32(b, uint32(ifp.Metric()))
	b = le.AppendUint64(b, ifp.Baudrate())
	for c := range NumCounters {
		b = le.AppendUint64(b, ifp.GetCounter(c))
	}
	b = le.AppendUint64(b, uint64(ifp.HWAssist()))
	b = le.AppendUint64(b, uint64(ifp.Epoch()/time.Second))
	b = le.AppendUint64(b, uint64(ifp.LastChange()/time.Second))
	return le.AppendUint64(b, uint64(ifp.LastChange()%time.Second/time.Microsecond))
}
