package machine

import (
	"math"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
)

// vlanRequest is what the words about VLANs have said; they make one request.
type vlanRequest struct {
	ifnet.VLANReq
	tagged bool // VID was given
	made   bool // there is something to ask for
}

func (c *ifconfig) vlanTag(arg string) error {
	n, err := strconv.ParseUint(arg, 0, 64)
	if err != nil {
		return usageError("invalid value for vlan")
	}
	if n > math.MaxUint16 {
		return usageError("value for vlan out of range")
	}
	c.vlan.VID, c.vlan.tagged, c.vlan.made = uint16(n), true, true
	return nil
}

func (c *ifconfig) vlanDev(arg string) error {
	c.vlan.Parent, c.vlan.made = arg, true
	return nil
}

func (c *ifconfig) vlanProto(arg string) error {
	protos := map[string]uint16{"802.1q": ifnet.EtherTypeVLAN, "802.1ad": ifnet.EtherTypeQinQ}
	proto, ok := protos[strings.ToLower(arg)]
	if !ok {
		return usageError("invalid value for vlanproto")
	}
	c.vlan.Proto, c.vlan.made = proto, true
	return nil
}

// setVLAN puts the interface on its parent.
func (c *ifconfig) setVLAN() error {
	req := c.vlan
	c.vlan = vlanRequest{}
	if !req.made {
		return nil
	}
	if !req.tagged || req.Parent == "" {
		return usageError("both vlan and vlandev must be specified")
	}
	return c.request("SIOCSETVLAN", ifnet.IoctlSetVLAN, &req.VLANReq)
}
