// Package vlan has VLAN interfaces: what is sent on one leaves its parent with a tag, and
// what arrives at the parent with that tag comes in on it. FreeBSD's counterpart is
// sys/net/if_vlan.c, vlan(4); spec ifnet 8.
//
//	ifp, err := vlan.Create(k, "vlan300")
//	err = ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{Parent: "em0", VID: 300})
//
// An interface's configuration changes under its request lock, which comes before its
// parent's. Packets read it with atomic loads. A VLAN on a VLAN is refused.
package vlan
