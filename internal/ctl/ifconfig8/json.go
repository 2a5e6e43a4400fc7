package ifconfig8

import (
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
)

// jsonVersion is that of the objects below.
const jsonVersion = "1"

// jsonInterface is the object of an interface. FreeBSD's ifconfig(8) writes none.
type jsonInterface struct {
	Name        string   `json:"name"`
	Flags       []string `json:"flags"` // UP, BROADCAST, ...
	Metric      int      `json:"metric"`
	MTU         int      `json:"mtu"`
	Description string   `json:"description,omitempty"`
	Options     []string `json:"options"`                // enabled: RXCSUM, ...
	Supported   []string `json:"capabilities,omitempty"` // with -m
	Ether       string   `json:"ether,omitempty"`
	HWAddr      string   `json:"hwaddr,omitempty"` // burnt in, if it is another
	PCP         *uint8   `json:"pcp,omitempty"`

	Addresses []jsonAddress `json:"addresses"`
	Groups    []string      `json:"groups"`
	VLAN      *jsonVLAN     `json:"vlan,omitempty"`
	Media     *jsonMedia    `json:"media,omitempty"`
	Status    string        `json:"status,omitempty"` // "active", "no carrier", perhaps with why
	ND6       []string      `json:"nd6-options,omitempty"`
	Driver    string        `json:"drivername,omitempty"` // with -D and -v
}

// jsonAddress is an address of the network layer.
type jsonAddress struct {
	Family    string   `json:"family"`  // inet, inet6
	Address   string   `json:"address"` // link-local ones with their zone
	PrefixLen int      `json:"prefixlen"`
	Netmask   string   `json:"netmask,omitempty"` // inet
	Broadcast string   `json:"broadcast,omitempty"`
	ScopeID   int      `json:"scopeid,omitempty"` // inet6, link-local
	Flags     []string `json:"flags,omitempty"`   // inet6: tentative, duplicated
}

// jsonVLAN is where a VLAN interface is; nowhere if it has no parent.
type jsonVLAN struct {
	Tag    uint16 `json:"tag"`
	Proto  string `json:"proto"`
	PCP    uint8  `json:"pcp"`
	Parent string `json:"parent,omitempty"`
}

// jsonMedium is a medium.
type jsonMedium struct {
	Subtype  string   `json:"media"`
	Options  []string `json:"mediaopt,omitempty"`
	Instance int      `json:"instance,omitempty"`
}

// jsonMedia are those that are chosen, in use, and with -m supported.
type jsonMedia struct {
	Current   jsonMedium   `json:"current"`
	Active    jsonMedium   `json:"active"`
	Supported []jsonMedium `json:"supported,omitempty"`
}

// json prints interfaces as one document.
func (c *command) json(all []status) error {
	j := c.format.NewJSON(c.stdout, jsonVersion)
	j.Object("ifconfig", func() {
		j.List("interface", func() {
			for i := range all {
				j.Value(c.object(&all[i]))
			}
		})
	})
	return j.Close()
}

// object is the object of an interface.
func (c *command) object(s *status) *jsonInterface {
	o := &jsonInterface{
		Name: s.name, Flags: bitNames(uint64(s.flags), flagBits, "IFF"), Metric: s.metric, MTU: s.mtu, Description: s.description,
		Options: s.enabled.names(), Addresses: []jsonAddress{}, Groups: append([]string{}, s.groups...),
		ND6: bitNames(uint64(s.nd6), nd6Bits, "ND6_IFF"), Driver: s.driver,
	}
	if c.supported {
		o.Supported = s.supported.names()
	}
	if l := s.link; l != nil {
		o.Ether = c.shape.mac(l.mac)
		if l.burntIn != l.mac {
			o.HWAddr = c.shape.mac(l.burntIn)
		}
		if l.pcp != ifnet.PCPNone {
			o.PCP = &l.pcp
		}
	}
	for _, a := range s.addrs {
		o.Addresses = append(o.Addresses, addressObject(a))
	}
	if s.vlan != nil {
		o.VLAN = &jsonVLAN{Tag: s.vlan.VID, Proto: vlanProto(s.vlan.Proto), PCP: s.vlanPCP, Parent: s.vlan.Parent}
	}
	if m := s.media; m != nil && m.Count > 0 {
		o.Media = &jsonMedia{Current: medium(m.Current), Active: medium(m.Active)}
		o.Status = m.carrier
		if c.supported {
			for _, w := range m.List {
				o.Media.Supported = append(o.Media.Supported, medium(w))
			}
		}
	}
	return o
}

func addressObject(a inet.Addr) jsonAddress {
	o := jsonAddress{Family: "inet6", Address: scoped(a), PrefixLen: a.Prefix.Bits(), ScopeID: a.Scope, Flags: stateNames(a.State)}
	if a.Prefix.Addr().Is4() {
		o.Family, o.Netmask = "inet", maskAddr(o.PrefixLen).String()
		if a.Broadcast.IsValid() {
			o.Broadcast = a.Broadcast.String()
		}
	}
	return o
}

func medium(w ifnet.MediaWord) jsonMedium {
	return jsonMedium{Subtype: w.SubtypeName(), Options: w.Options(), Instance: w.Instance()}
}
