package machine

import (
	"math"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
)

// vlanRequest is what the words about VLANs have said.
type vlanRequest struct {
	parent string
	vid    uint16
	proto  uint16 // 0: not said
	tagged bool   // vid was
}

// whole reports whether a VLAN can be made of it.
func (r vlanRequest) whole() bool { return r.tagged && r.parent != "" }

func (r vlanRequest) request() *ifnet.VLANReq {
	return &ifnet.VLANReq{Parent: r.parent, VID: r.vid, Proto: r.proto}
}

// onVLAN is where the interface is; not ok if it is no VLAN, or is still to be made.
func (c *ifconfig) onVLAN() (on ifnet.VLANReq, ok bool) {
	if c.ifp == nil {
		return on, false
	}
	err := c.ifp.Ioctl(ifnet.IoctlGetVLAN, &on)
	return on, err == nil
}

// vlanTag sets the tag: on the parent that the interface has, or on the one that vlandev names.
func (c *ifconfig) vlanTag(arg string) error {
	n, ok := strtoul(arg)
	switch {
	case !ok:
		return usageError("invalid value for vlan")
	case n > math.MaxUint16:
		return usageError("value for vlan out of range")
	}
	c.vlan.vid, c.vlan.tagged = uint16(n), true
	on, ok := c.onVLAN()
	if !ok {
		return nil
	}
	if on.Parent != "" {
		c.vlan.parent = on.Parent
	}
	if c.vlan.proto == 0 {
		c.vlan.proto = on.Proto
	}
	return c.setVLAN()
}

func (c *ifconfig) vlanDev(arg string) error {
	c.vlan.parent = arg
	if _, ok := c.onVLAN(); !ok {
		return nil
	}
	return c.setVLAN()
}

// vlanProto sets the type of the tag, at once on an interface that is on a parent.
func (c *ifconfig) vlanProto(arg string) error {
	proto := uint16(0)
	for name, p := range map[string]uint16{"802.1q": ifnet.EtherTypeVLAN, "802.1ad": ifnet.EtherTypeQinQ, "qinq": ifnet.EtherTypeQinQ} {
		if strings.HasPrefix(strings.ToLower(arg), name) {
			proto = p
		}
	}
	if proto == 0 {
		return usageError("invalid value for vlanproto")
	}
	c.vlan.proto = proto
	on, ok := c.onVLAN()
	if !ok {
		return nil
	}
	if on.Parent != "" {
		c.vlan = vlanRequest{parent: on.Parent, vid: on.VID, proto: proto, tagged: true}
	}
	return c.setVLAN()
}

// setVLAN puts the interface on its parent as soon as the words have named tag and parent.
func (c *ifconfig) setVLAN() error {
	if !c.vlan.whole() {
		return nil
	}
	return c.request("SIOCSETVLAN", ifnet.IoctlSetVLAN, c.vlan.request())
}

// checkVLAN refuses, at the end of the line, a tag without a parent and a parent without a
// tag. On an interface that is no VLAN the words have had no effect, and nobody says so.
func (c *ifconfig) checkVLAN() error {
	if c.vlan.tagged != (c.vlan.parent != "") {
		return usageError("both vlan and vlandev must be specified")
	}
	return nil
}

// vlanOff takes the interface off its parent. An argument may follow, as FreeBSD once had
// the parent's name there.
func (c *ifconfig) vlanOff() error {
	if len(c.args) > 0 {
		c.next()
	}
	if err := c.request("SIOCGETVLAN", ifnet.IoctlGetVLAN, &ifnet.VLANReq{}); err != nil {
		return err
	}
	return c.request("SIOCSETVLAN", ifnet.IoctlSetVLAN, &ifnet.VLANReq{})
}

// vlanPCP sets the priority in the tags.
func (c *ifconfig) vlanPCP(arg string) error {
	n, err := priority("vlanpcp", arg)
	if err != nil {
		return err
	}
	if c.ifp.Type() != ifnet.TypeVLAN {
		return requestError("SIOCSVLANPCP", syscall.EINVAL)
	}
	return c.request("SIOCSVLANPCP", ifnet.IoctlSetLANPCP, n)
}
