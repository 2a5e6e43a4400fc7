package ifnet

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Type is if_type, the IANA number of the kind of interface (IFT_*).
type Type uint8

// Types of interface.
const (
	TypeEther Type = 0x06 // IFT_ETHER
	TypeLoop  Type = 0x18 // IFT_LOOP
	TypeVLAN  Type = 0x87 // IFT_L2VLAN
)

// PCPNone is the priority of an interface that has none (IFNET_PCP_NONE).
const PCPNone = 0xff

// DUnitNone is the unit of an interface without one (IF_DUNIT_NONE).
const DUnitNone = -1

// Ifnet is an interface (struct ifnet). Made by Alloc. All methods may be called
// from any goroutine unless they say otherwise.
type Ifnet struct {
	// What every packet reads; written rarely.
	transmit   atomic.Pointer[transmitFunc]
	input      atomic.Pointer[inputFunc]
	taps       cowList[*tapEntry]
	snd        atomic.Pointer[sendQueueBox]
	flags      atomic.Uint32
	drvFlags   atomic.Uint32
	capenable  atomic.Uint32
	sndEnabled atomic.Bool
	pcp        atomic.Uint32
	mac        atomic.Uint64 // six bytes, first one highest
	trunk      atomic.Pointer[VLANTrunk]
	linkPfil   PfilHead

	k     *kern.Kernel
	stack *stack
	zones *mbuf.Zones
	typ   Type
	index int

	name        atomic.Pointer[string]
	dname       string
	dunit       int
	description atomic.Pointer[string]

	caps       atomic.Uint32
	caps2      atomic.Uint32
	capenable2 atomic.Uint32
	hwassist   atomic.Uint32
	hdrlen     atomic.Int32
	addrlen    int
	mtu        atomic.Int32
	metric     atomic.Int32
	fib        atomic.Uint32
	baudrate   atomic.Uint64
	hwaddr     atomic.Uint64
	linkState  atomic.Uint32
	linkChange atomic.Int32 // changes that the link task has not seen
	linkTask   atomic.Pointer[kern.Task]
	epoch      atomic.Int64 // uptime at attach, ns
	lastchange atomic.Int64 // uptime of the last administrative change, ns
	tso        atomic.Pointer[TSOLimits]
	groups     atomic.Pointer[[]string]

	methods  atomic.Pointer[Methods]
	counters [NumCounters]*kern.Counter
	sources  cowList[func(Counter) uint64]
	multi    atomic.Pointer[[]maddr] // newest first

	// ioctl serializes requests (the struct comment of the package). Below it:
	ioctl    kern.Sx
	attached bool
	leaving  bool // detach has begun: only references are still given back
	dead     bool
	pcount   int         // references on PROMISC
	amcount  int         // references on ALLMULTI
	later    []EventKind // to publish when the lock is released
}

var _ mbuf.RcvIf = (*Ifnet)(nil)

// Alloc makes an interface of the given type with the smallest free index
// (if_alloc, spec ifnet 6.7). It has no name and no methods yet. The first call
// for a kernel does what Init does.
func Alloc(k *kern.Kernel, typ Type) *Ifnet {
	s := stackOf(k)
	ifp := &Ifnet{k: k, stack: s, zones: s.zones, typ: typ, dunit: DUnitNone}
	for i := range ifp.counters {
		ifp.counters[i] = kern.NewCounter()
	}
	ifp.pcp.Store(PCPNone)
	empty := ""
	ifp.name.Store(&empty)
	ifp.ioctl.Init(k, fmt.Sprintf("if_ioctl type %d", typ))
	ifp.methods.Store(&Methods{})
	ifp.setTransmit(discardNoMethod)
	ifp.setInput(dropInput)
	ifp.SetSendQueue(NewFIFO(int(s.ifqMaxLen.Load())))
	s.allocIndex(ifp)
	return ifp
}

// InitName sets driver name, unit and the name built of both (if_initname). Before
// attach; DUnitNone leaves the number out.
func (ifp *Ifnet) InitName(dname string, unit int) {
	ifp.dname, ifp.dunit = dname, unit
	name := dname
	if unit != DUnitNone {
		name = fmt.Sprintf("%s%d", dname, unit)
	}
	ifp.name.Store(&name)
}

// Name is the name as it is now (if_xname).
func (ifp *Ifnet) Name() string { return *ifp.name.Load() }

// DName is the driver's name, which a rename leaves alone (if_dname).
func (ifp *Ifnet) DName() string { return ifp.dname }

// DUnit is the driver's unit, DUnitNone without one (if_dunit).
func (ifp *Ifnet) DUnit() int { return ifp.dunit }

// Index is if_index, from 1. It is reused after Free.
func (ifp *Ifnet) Index() int { return ifp.index }

// Type is if_type.
func (ifp *Ifnet) Type() Type { return ifp.typ }

// Kernel is the machine of the interface.
func (ifp *Ifnet) Kernel() *kern.Kernel { return ifp.k }

// Zones are the packet buffers of the machine.
func (ifp *Ifnet) Zones() *mbuf.Zones { return ifp.zones }

// Printf writes a console line that begins with the interface's name (if_printf).
func (ifp *Ifnet) Printf(format string, a ...any) {
	ifp.k.Printf("%s: %s", ifp.Name(), fmt.Sprintf(format, a...))
}

// Description is the text set with IoctlSetDescr, empty by default (if_description).
func (ifp *Ifnet) Description() string {
	if d := ifp.description.Load(); d != nil {
		return *d
	}
	return ""
}

// Epoch is the uptime at attach (if_epoch).
func (ifp *Ifnet) Epoch() time.Duration { return time.Duration(ifp.epoch.Load()) }

// LastChange is the uptime of the last administrative change (if_lastchange).
func (ifp *Ifnet) LastChange() time.Duration { return time.Duration(ifp.lastchange.Load()) }

func (ifp *Ifnet) touch() { ifp.lastchange.Store(int64(ifp.k.Uptime())) }
