package ifconfig8

import (
	"fmt"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/machine"
)

// status is what is shown of an interface; parts that do not apply are nil or empty.
type status struct {
	name        string
	flags       ifnet.Flags
	metric, mtu int
	description string

	enabled, supported capWord // supported with -m
	link               *link
	addrs              []inet.Addr
	groups             []string
	vlan               *ifnet.VLANReq
	vlanPCP            uint8
	media              *media
	nd6                inet.ND6Flags
	text               string // the driver's
	module             string // lines about what is plugged in
	driver             string
}

// link is the link level: an address, the burnt-in one if it is another, and the priority
// of frames, ifnet.PCPNone for none.
type link struct {
	mac, burntIn [ifnet.EtherAddrLen]byte
	pcp          uint8
}

// show shows interfaces.
func (c *command) show(list []*ifnet.Ifnet) error {
	var all []status
	for _, ifp := range list {
		all = append(all, c.status(ifp))
	}
	if c.format.JSON {
		return c.json(all)
	}
	for i := range all {
		if err := c.text(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// status collects what is shown of an interface. With a family it is what the interface
// itself has, and that family.
func (c *command) status(ifp *ifnet.Ifnet) status {
	s := status{
		name: ifp.Name(), flags: ifp.ReportedFlags(), metric: ifp.Metric(), mtu: ifp.MTU(), description: ifp.Description(),
		enabled: capWord{ifp.Capenable(), ifp.Capenable2()}, supported: capWord{ifp.Capabilities(), ifp.Capabilities2()},
	}
	if c.shows(ifnet.AFLink) && isEther(ifp) {
		s.link = linkOf(ifp)
	}
	for _, a := range inet.Addrs(ifp) {
		if c.shows(familyOf(a)) {
			s.addrs = append(s.addrs, a)
		}
	}
	if c.family == "" {
		s.groups = ownGroups(ifp)
		s.vlan, s.vlanPCP = vlanOf(ifp)
		s.media = mediaOf(ifp)
	}
	if c.shows(ifnet.AFInet6) {
		s.nd6 = inet.ND6Options(ifp)
	}
	_ = ifp.Ioctl(ifnet.IoctlGetStatus, &s.text) // most have none
	if c.verbose > 0 {
		s.module = moduleText(ifp)
	}
	if c.driver || c.verbose > 0 {
		s.driver = fmt.Sprintf("%s%d", ifp.DName(), ifp.DUnit())
	}
	return s
}

// shows reports whether lines of a family are wanted.
func (c *command) shows(af ifnet.AF) bool {
	only, _ := machine.AddressFamily(c.family)
	return c.family == "" || only == af
}

func linkOf(ifp *ifnet.Ifnet) *link {
	l := &link{mac: ifp.MAC(), burntIn: ifp.HWAddr(), pcp: ifnet.PCPNone}
	if l.burntIn == [ifnet.EtherAddrLen]byte{} {
		l.burntIn = l.mac
	}
	if ifp.Type() == ifnet.TypeEther {
		l.pcp = ifp.PCP()
	}
	return l
}

// ownGroups are all groups but the one that every interface is in.
func ownGroups(ifp *ifnet.Ifnet) (own []string) {
	for _, g := range ifp.Groups() {
		if g != "all" {
			own = append(own, g)
		}
	}
	return own
}

// vlanOf is where a VLAN interface is, and the priority in its tags; nil if it is none.
func vlanOf(ifp *ifnet.Ifnet) (on *ifnet.VLANReq, pcp uint8) {
	on = &ifnet.VLANReq{}
	if err := ifp.Ioctl(ifnet.IoctlGetVLAN, on); err != nil {
		return nil, 0
	}
	if pcp = ifp.PCP(); pcp == ifnet.PCPNone {
		pcp = 0
	}
	return on, pcp
}
