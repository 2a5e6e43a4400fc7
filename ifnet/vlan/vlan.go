package vlan

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// vlan is an interface (struct ifvlan).
type vlan struct {
	s   *state
	ifp *ifnet.Ifnet

	cfg atomic.Pointer[config] // nil without a parent; stored with the request lock held

	// what the parent was asked for; guarded by the request lock
	joined   map[[ifnet.EtherAddrLen]byte]bool
	promisc  bool
	allmulti bool

	capMu sync.Mutex
	off   ifnet.Caps // guarded by capMu: what the user does not want
}

// config is where an interface is, constant.
type config struct {
	parent *ifnet.Ifnet
	vid    uint16
	proto  uint16
}

// fudge is what the tag takes from the MTU: the parent may have no room for it.
func (c *config) fudge() int {
	if c.parent.Capenable()&ifnet.CapVLANMTU != 0 {
		return 0
	}
	return ifnet.EtherVLANEncapLen
}

// parentFlags are what an interface must have that shall carry VLANs.
const parentFlags = ifnet.FlagBroadcast | ifnet.FlagMulticast

func (s *state) newVLAN() *vlan {
	v := &vlan{s: s, ifp: ifnet.Alloc(s.k, ifnet.TypeVLAN), joined: make(map[[ifnet.EtherAddrLen]byte]bool)}
	v.ifp.SetFlags(parentFlags|ifnet.FlagSimplex, 0)
	v.ifp.SetMethods(ifnet.Methods{Ioctl: v.ioctl, Transmit: v.transmit, QFlush: func() {}})
	return v
}

// ioctl serves requests (vlan_ioctl).
func (v *vlan) ioctl(cmd ifnet.Ioctl, data any) error {
	switch cmd {
	case ifnet.IoctlSetVLAN, ifnet.IoctlGetVLAN:
		req, ok := data.(*ifnet.VLANReq)
		if !ok || req == nil {
			return syscall.EINVAL
		}
		if cmd == ifnet.IoctlSetVLAN {
			return v.configure(*req)
		}
		*req = ifnet.VLANReq{}
		if c := v.cfg.Load(); c != nil {
			*req = ifnet.VLANReq{Parent: c.parent.Name(), VID: c.vid, Proto: c.proto}
		}
		return nil
	case ifnet.IoctlSetFlags:
		return v.followFlags()
	case ifnet.IoctlAddMulti, ifnet.IoctlDelMulti:
		return v.followGroups()
	case ifnet.IoctlSetMTU:
		mtu, _ := data.(int)
		return v.setMTU(mtu)
	case ifnet.IoctlSetCap:
		req, ok := data.(*ifnet.CapReq)
		if !ok {
			return syscall.EINVAL
		}
		v.capMu.Lock()
		v.off = ^req.Req
		v.capMu.Unlock()
		v.capabilities()
		return nil
	case ifnet.IoctlGetMedia, ifnet.IoctlGetXMedia:
		return v.media(cmd, data)
	case ifnet.IoctlSetMedia:
		return fmt.Errorf("media of a VLAN: %w", syscall.EINVAL)
	}
	return ifnet.EtherIoctl(v.ifp, cmd, data)
}

// configure puts the interface on a parent (vlan_config), or takes it off if req names none.
// On the parent that it has it may change its tag and protocol.
func (v *vlan) configure(req ifnet.VLANReq) error {
	if req.Parent == "" {
		v.unconfigure()
		return nil
	}
	if req.Proto == 0 {
		req.Proto = ifnet.EtherTypeVLAN
	}
	parent := ifnet.ByName(v.s.k, req.Parent)
	have := v.cfg.Load()
	switch {
	case parent == nil:
		return fmt.Errorf("no interface %s: %w", req.Parent, syscall.ENOENT)
	case parent.Type() != ifnet.TypeEther || parent.Flags()&parentFlags != parentFlags:
		return fmt.Errorf("%s carries no VLANs: %w", req.Parent, syscall.EPROTONOSUPPORT)
	case req.VID == 0 || req.VID >= numVIDs-1:
		return fmt.Errorf("tag %d: %w", req.VID, syscall.EINVAL)
	case req.Proto != ifnet.EtherTypeVLAN && req.Proto != ifnet.EtherTypeQinQ:
		return fmt.Errorf("protocol %#x: %w", req.Proto, syscall.EINVAL)
	case have != nil && have.parent != parent:
		return fmt.Errorf("%s is on %s: %w", v.ifp.Name(), have.parent.Name(), syscall.EBUSY)
	}
	c := &config{parent: parent, vid: req.VID, proto: req.Proto}
	if have != nil && have.vid == c.vid {
		v.cfg.Store(c)
		return nil
	}
	if !v.s.enter(v, c) {
		return fmt.Errorf("tag %d on %s: %w", c.vid, req.Parent, syscall.EEXIST)
	}
	v.cfg.Store(c)
	if have != nil {
		v.s.exit(have)
		parent.VLANUnconfig(have.vid)
		parent.VLANConfig(c.vid)
		return nil
	}
	v.ifp.SetMTU(parent.MTU() - c.fudge())
	v.ifp.SetBaudrate(parent.Baudrate())
	v.ifp.SetMAC(parent.MAC())
	v.capabilities()
	v.ifp.SetDrvFlags(ifnet.FlagRunning, 0)
	v.ifp.LinkStateChange(parent.LinkState())
	err := errors.Join(v.followFlags(), v.followGroups())
	parent.VLANConfig(c.vid)
	return err
}

// unconfigure takes the interface off its parent, which is given back what it was asked
// for (vlan_unconfig).
func (v *vlan) unconfigure() {
	c := v.cfg.Load()
	if c == nil {
		return
	}
	// the parent may be on its way out: what it refuses is gone with it
	for mac := range v.joined {
		_ = c.parent.DelMulti(mac)
	}
	clear(v.joined)
	if v.promisc {
		_ = c.parent.Promisc(false)
	}
	if v.allmulti {
		_ = c.parent.AllMulti(false)
	}
	v.promisc, v.allmulti = false, false
	v.cfg.Store(nil)
	v.s.exit(c)
	c.parent.VLANUnconfig(c.vid)
	v.ifp.SetDrvFlags(0, ifnet.FlagRunning)
	v.ifp.SetMTU(ifnet.EtherMTU)
	v.ifp.LinkStateChange(ifnet.LinkStateUnknown)
	v.capabilities()
}

// leave is unconfigure for a caller without the request lock.
func (v *vlan) leave() {
	// ENXIO: the interface is being detached and has left already
	_ = v.ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{})
}

// followFlags has the parent take part in promiscuous and allmulti mode (vlan_setflags).
func (v *vlan) followFlags() error {
	c := v.cfg.Load()
	if c == nil {
		return nil
	}
	flags := v.ifp.Flags()
	for _, mode := range []struct {
		flag ifnet.Flags
		have *bool
		set  func(on bool) error
	}{{ifnet.FlagPromisc, &v.promisc, c.parent.Promisc}, {ifnet.FlagAllMulti, &v.allmulti, c.parent.AllMulti}} {
		want := flags&mode.flag != 0
		if want == *mode.have {
			continue
		}
		if err := mode.set(want); err != nil {
			return err
		}
		*mode.have = want
	}
	return nil
}

// followGroups has the parent receive the interface's groups (vlan_setmulti).
func (v *vlan) followGroups() error {
	c := v.cfg.Load()
	if c == nil {
		return nil
	}
	var errs []error
	want := make(map[[ifnet.EtherAddrLen]byte]bool)
	for mac := range v.ifp.Multiaddrs {
		want[mac] = true
		if !v.joined[mac] {
			errs = append(errs, c.parent.AddMulti(mac))
		}
	}
	for mac := range v.joined {
		if !want[mac] {
			errs = append(errs, c.parent.DelMulti(mac))
		}
	}
	v.joined = want
	return errors.Join(errs...)
}

// minEtherPayload is the least payload of a frame without padding (ETHERMIN).
const minEtherPayload = 46

func (v *vlan) setMTU(mtu int) error {
	c := v.cfg.Load()
	if c == nil || mtu < minEtherPayload-c.fudge() || mtu > c.parent.MTU()-c.fudge() {
		return fmt.Errorf("mtu %d: %w", mtu, syscall.EINVAL)
	}
	v.ifp.SetMTU(mtu)
	return nil
}

// media is the parent's, of which only the current entry is shown.
func (v *vlan) media(cmd ifnet.Ioctl, data any) error {
	c := v.cfg.Load()
	req, ok := data.(*ifnet.MediaReq)
	if c == nil || !ok {
		return syscall.EINVAL
	}
	listed := req.Count != 0
	if err := c.parent.Ioctl(cmd, req); err != nil {
		return err
	}
	if req.Count > 1 {
		req.Count = 1
		if listed {
			req.List = []ifnet.MediaWord{req.Current}
		}
	}
	return nil
}

// transmit sends a packet with its tag through the parent (vlan_transmit).
func (v *vlan) transmit(m *mbuf.Mbuf) error {
	c := v.cfg.Load()
	if c == nil {
		return v.drop(m)
	}
	if v.ifp.TapOn() {
		v.ifp.Tap(m)
	}
	if !running(c.parent) {
		return v.drop(m)
	}
	size, group := uint64(m.Pkt.Len), m.Flags&mbuf.FlagMcast != 0
	if !v.s.knobs.pad(c.parent, m) {
		mbuf.FreeChain(m)
		v.ifp.Printf("cannot pad short frame\n")
		v.ifp.IncCounter(ifnet.CounterOErrors, 1)
		return nil
	}
	if m = v.tag(c, m); m == nil {
		v.ifp.Printf("unable to prepend 802.1Q header\n")
		v.ifp.IncCounter(ifnet.CounterOErrors, 1)
		return nil
	}
	if err := c.parent.Transmit(m); err != nil {
		v.ifp.IncCounter(ifnet.CounterOErrors, 1)
		return err
	}
	v.ifp.IncCounter(ifnet.CounterOPackets, 1)
	v.ifp.IncCounter(ifnet.CounterOBytes, size)
	if group {
		v.ifp.IncCounter(ifnet.CounterOMcasts, 1)
	}
	return nil
}

func (v *vlan) drop(m *mbuf.Mbuf) error {
	v.ifp.IncCounter(ifnet.CounterOErrors, 1)
	mbuf.FreeChain(m)
	return syscall.ENETDOWN
}

// tag gives a packet its tag: out of band if the parent inserts tags (ether_8021q_frame).
// nil: no memory, m is freed.
func (v *vlan) tag(c *config, m *mbuf.Mbuf) *mbuf.Mbuf {
	pcp := v.ifp.PCP()
	if m.Flags&mbuf.FlagVLANTag != 0 {
		pcp = ifnet.PriorityOfTag(m.Pkt.EtherVtag)
	} else if pcp == ifnet.PCPNone {
		pcp = 0
	}
	if p, ok := v.s.knobs.priority(m); ok {
		pcp = p
	}
	tci := ifnet.MakeTag(c.vid, pcp)
	if c.proto == ifnet.EtherTypeVLAN && c.parent.Capenable()&ifnet.CapVLANHWTag != 0 {
		m.Pkt.EtherVtag = tci
		m.Flags |= mbuf.FlagVLANTag
		return m
	}
	m.Flags &^= mbuf.FlagVLANTag
	z := v.ifp.Zones()
	cache := z.Borrow()
	m = ifnet.VLANEncap(cache, m, tci, c.proto)
	z.Return(cache)
	return m
}
