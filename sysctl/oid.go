package sysctl

import (
	"slices"
	"strings"
)

// Limits of the tree (sysctl.h).
const (
	MaxName   = 24         // longest path in elements (CTL_MAXNAME)
	autoStart = 0x100      // first number automatic numbering may use (CTL_AUTO_START)
	maxNumber = 0x7fffffff // largest number, and the first automatic one
)

// Static numbers of the tree (sysctl.h, spec ifnet 1.1).
const (
	NumSysctl    = 0
	NumKern      = 1
	NumVM        = 2
	NumVFS       = 3
	NumNet       = 4
	NumDebug     = 5
	NumHW        = 6
	NumMachdep   = 7
	NumUser      = 8
	NumP1003     = 9
	NumKernIPC   = 30  // kern.ipc
	NumNetLink   = 18  // net.link (PF_LINK)
	NumLinkEther = 6   // net.link.ether (IFT_ETHER)
	NumLinkVLAN  = 135 // net.link.vlan (IFT_L2VLAN)
)

// OID is one entry of the tree (struct sysctl_oid). Fields that change are
// guarded by the tree's lock; the methods take it.
type OID struct {
	tree    *Tree
	kind    Kind
	format  string
	descr   string
	label   string
	handler Handler

	// Guarded by tree.mu.
	parent   *OID
	name     string
	number   int32
	flags    Flag
	refs     int
	running  int  // handlers at work
	linked   bool // is in parent.children
	children []*OID
	initial  []byte // value before the first fetch, for VNet tunables
}

// Name is the last component, escaped (spec ifnet 1.4).
func (o *OID) Name() string {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	return o.name
}

// FullName is the dotted path from the root.
func (o *OID) FullName() string {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	return o.fullName()
}

// Path is the list of numbers from the root; empty for the root.
func (o *OID) Path() []int32 {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	var path []int32
	for ; o.parent != nil; o = o.parent {
		path = append(path, o.number)
	}
	slices.Reverse(path)
	return path
}

// Number is the OID's number within its parent.
func (o *OID) Number() int32 {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	return o.number
}

// Flags are the flags as they are now.
func (o *OID) Flags() Flag {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	return o.flags
}

// Children returns the entries below, in ascending order of number: the order of listings.
func (o *OID) Children() []*OID {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	return slices.Clone(o.children)
}

// Parent is the entry above, nil for the root.
func (o *OID) Parent() *OID {
	o.tree.mu.Lock()
	defer o.tree.mu.Unlock()
	return o.parent
}

// Kind is the type of the value.
func (o *OID) Kind() Kind { return o.kind }

// Format is what sysctl -F prints.
func (o *OID) Format() string { return o.format }

// Descr is the description, possibly empty.
func (o *OID) Descr() string { return o.descr }

// Label is the aggregation label, usually empty.
func (o *OID) Label() string { return o.label }

// fullName joins the names above o. The lock is held.
func (o *OID) fullName() string {
	var parts []string
	for ; o.parent != nil; o = o.parent {
		parts = append(parts, o.name)
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// search finds the place of number among the children. The lock is held.
func (o *OID) search(number int32) (int, bool) {
	return slices.BinarySearchFunc(o.children, number, func(c *OID, n int32) int {
		switch {
		case c.number < n:
			return -1
		case c.number > n:
			return 1
		}
		return 0
	})
}

// byNumber finds a child. The lock is held.
func (o *OID) byNumber(number int32) *OID {
	if i, ok := o.search(number); ok {
		return o.children[i]
	}
	return nil
}

// byName finds a child. The lock is held.
func (o *OID) byName(name string) *OID {
	for _, c := range o.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// plainNode reports a node that only groups children.
func (o *OID) plainNode() bool { return o.kind == KindNode && o.handler == nil }

// word is the 32-bit oid_kind. The lock is held.
func (o *OID) word() uint32 { return uint32(o.flags) | uint32(o.kind) }
