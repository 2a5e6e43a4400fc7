package ifnet

import (
	"slices"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// TSO limits of an interface that gives none: what 32 clusters hold, less an
// Ethernet and VLAN header, in 35 segments (spec ifnet 6.1).
const (
	tsoMaxPacket       = 65535 // IP_MAXPACKET
	tsoClusters        = 32
	tsoDefaultSegCount = 35
	tsoDefaultSegSize  = mbuf.MClBytes
)

// groupAll is the group that every interface is in.
const groupAll = "all"

// defaultBaudrate is that of an Ethernet whose driver gives none.
const defaultBaudrate = 10 * mbps

// Attach enters the interface into the machine (if_attach, spec ifnet 6.7).
func Attach(ifp *Ifnet) {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	ifp.attach()
}

func (ifp *Ifnet) attach() {
	if ifp.attached {
		panic("if_attach: " + ifp.Name() + " is attached already")
	}
	groups := []string{groupAll}
	ifp.groups.Store(&groups)
	now := int64(ifp.k.Uptime())
	ifp.lastchange.Store(now)
	ifp.epoch.Store(now)
	if ifp.methods.Load().Transmit == nil {
		ifp.setTransmit(ifp.transmitDefault)
	}
	ifp.defaultTSO()
	ifp.linkTask.Store(ifp.stack.tq.NewTask(ifp.Name()+" link state", ifp.linkStateTask))
	ifp.attached, ifp.leaving, ifp.dead = true, false, false
	s := ifp.stack
	s.mu.Lock()
	s.list = append(s.list, ifp)
	s.mu.Unlock()
	ifp.note(EventArrival)
}

func (ifp *Ifnet) defaultTSO() {
	if ifp.TSO() != (TSOLimits{}) {
		return
	}
	max := min(tsoMaxPacket, tsoClusters*mbuf.MClBytes-(EtherHdrLen+EtherVLANEncapLen))
	ifp.SetTSOMax(max, tsoDefaultSegCount, tsoDefaultSegSize)
	if ifp.Capabilities()&CapTSO != 0 {
		ifp.Printf("Using defaults for TSO: %d/%d/%d\n", max, tsoDefaultSegCount, tsoDefaultSegSize)
	}
}

// EtherAttach attaches an Ethernet interface with the given address (ether_ifattach):
// header 14, MTU 1500, Ethernet input, 10 Mbit/s if no speed is set. A driver may set
// another MTU or speed afterwards.
func EtherAttach(ifp *Ifnet, mac [EtherAddrLen]byte) {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	ifp.addrlen = EtherAddrLen
	ifp.SetHdrlen(EtherHdrLen)
	ifp.SetMTU(EtherMTU)
	ifp.mac.Store(packMAC(mac[:]))
	ifp.hwaddr.Store(packMAC(mac[:]))
	if ifp.Baudrate() == 0 {
		ifp.SetBaudrate(defaultBaudrate)
	}
	ifp.setInput(etherInput)
	ifp.attach()
	if mac != [EtherAddrLen]byte{} {
		ifp.Printf("Ethernet address: %s\n", formatMAC(mac))
	}
}

// EtherDetach detaches an Ethernet interface: taps first, then Detach
// (ether_ifdetach).
func EtherDetach(ifp *Ifnet) {
	ifp.taps.Store(nil)
	Detach(ifp)
}

// Detach takes the interface out of the machine (if_detach, spec ifnet 6.7). No
// request is served when it returns, and later ones, packets included, meet the dead
// methods: ENXIO. While the departure event runs only references may be given back. A packet that another goroutine is just handing to the driver may
// still be inside its transmit method. Detaching twice does nothing. Not from an event
// handler of the link task, which it waits for.
func Detach(ifp *Ifnet) {
	if !ifp.unlink() {
		return
	}
	// not under the lock: the task's listeners may be making requests
	if t := ifp.linkTask.Swap(nil); t != nil {
		t.Close()
	}
	ifp.publish(EventDeparture) // with the methods alive: a VLAN gives back what it asked for
	ifp.ioctl.Lock()
	defer ifp.unlock()
	ifp.multi.Store(nil)
	ifp.dead = true
	ifp.die()
}

// unlink is the first part of if_detach: out of the list, tasks drained, down, queue
// empty. false if the interface is not attached.
func (ifp *Ifnet) unlink() bool {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	if !ifp.attached {
		return false
	}
	ifp.attached, ifp.leaving = false, true
	s := ifp.stack
	s.mu.Lock()
	s.list = slices.DeleteFunc(s.list, func(o *Ifnet) bool { return o == ifp })
	s.mu.Unlock()
	ifp.groups.Store(nil)
	if ifp.Flags()&FlagUp != 0 {
		ifp.down()
	}
	ifp.sndEnabled.Store(false)
	ifp.qflushDefault()
	return true
}

// Free gives up a detached interface and its index (if_free).
func Free(ifp *Ifnet) {
	ifp.SetFlags(FlagDying, 0)
	ifp.stack.freeIndex(ifp)
}
