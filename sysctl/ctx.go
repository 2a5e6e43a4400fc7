package sysctl

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// Ctx remembers the OIDs one owner added (sysctl_ctx_list). It is safe for concurrent
// use; its list is guarded by the tree's lock.
//
// Adders return the OID, or nil when it was refused (a leaf of the name exists; the
// kernel's warning is logged). A nil parent is the root. In dynamic names "." becomes
// "%25". Automatic siblings list in reverse order of registration. All flavours but
// Proc set MPSafe. An OID with TUN takes its value from the environment before the adder returns.
type Ctx struct {
	tree   *Tree
	static bool
	oids   []*OID // guarded by tree.mu; in order of adding
}

// NewCtx returns an empty list.
func (t *Tree) NewCtx() *Ctx { return &Ctx{tree: t} }

// StaticCtx returns a list for OIDs a kernel declares at compile time: they
// keep dots in their names and cannot be removed.
func (t *Tree) StaticCtx() *Ctx { return &Ctx{tree: t, static: true} }

// Spec describes an OID for [Ctx.Add].
type Spec struct {
	Name    string
	Kind    Kind
	Flags   Flag
	Format  string // empty: the format of the kind
	Descr   string
	Label   string
	Handler Handler // nil for a node that groups children
	Static  bool    // Number counts; otherwise numbering is automatic
	Number  int32
}

// Free removes everything the list holds, newest first (sysctl_ctx_free), and
// returns when no handler runs on it any more. If one entry cannot be removed, all is put back as
// it was, numbers included, and the error is EBUSY. A handler must not free the list its own OID is on.
func (c *Ctx) Free() error {
	t := c.tree
	t.mu.Lock()
	defer t.unlock()
	var done []removal
	for _, o := range slices.Backward(c.oids) {
		var err error
		if done, err = t.removeLocked(o, false, done); err != nil {
			t.undo(done)
			return fmt.Errorf("freeing sysctl context at %s (%w): %w", o.name, err, syscall.EBUSY)
		}
	}
	c.oids = nil
	t.drain(done)
	return nil
}

// Del removes one entry from the list and the tree (sysctl_ctx_entry_del, sysctl_remove_oid). ENOENT: not on the list.
func (c *Ctx) Del(o *OID, recurse bool) error {
	c.tree.mu.Lock()
	i := slices.Index(c.oids, o)
	if i < 0 {
		c.tree.mu.Unlock()
		return fmt.Errorf("removing a sysctl from its context: %w", syscall.ENOENT)
	}
	c.oids = slices.Delete(c.oids, i, i+1)
	c.tree.mu.Unlock()
	return c.tree.Remove(o, recurse)
}

// Add registers an OID (sysctl_add_oid). An existing node of the name is shared: its reference count
// rises and it is returned.
func (c *Ctx) Add(parent *OID, s Spec) *OID {
	t := c.tree
	if parent == nil {
		parent = t.root
	}
	o := &OID{tree: t, name: s.Name, kind: s.Kind & kindMask, flags: s.Flags, format: s.Format,
		descr: s.Descr, label: s.Label, handler: s.Handler, number: numberAuto}
	if s.Static {
		o.number = s.Number
	}
	if o.format == "" {
		o.format = kinds[o.kind].format
	}
	if !c.static {
		o.flags |= Dyn
		o.name = strings.ReplaceAll(o.name, ".", "%25")
	}
	t.mu.Lock()
	if !parent.linked || !parent.plainNode() || o.name == "" {
		t.warn("sysctl: cannot add '%s' below '%s'", o.name, parent.fullName())
		t.unlock()
		return nil
	}
	o = t.register(parent, o)
	if o == nil {
		t.unlock()
		return nil
	}
	c.oids = append(c.oids, o)
	t.unlock()
	t.fetchAtRegistration(o)
	return o
}

// Node adds a node, or shares the one that exists.
func (c *Ctx) Node(parent *OID, name string, flags Flag, descr string) *OID {
	return c.Add(parent, Spec{Name: name, Kind: KindNode, Flags: flags, Descr: descr})
}

// leaf adds an MPSafe OID with a handler.
func (c *Ctx) leaf(parent *OID, name string, flags Flag, kind Kind, h Handler, descr string) *OID {
	return c.Add(parent, Spec{Name: name, Kind: kind, Flags: flags | MPSafe, Descr: descr, Handler: h})
}

// Int adds a 32-bit signed number.
func (c *Ctx) Int(parent *OID, name string, flags Flag, v *atomic.Int32, descr string) *OID {
	return c.leaf(parent, name, flags, KindInt, int32Handler(v), descr)
}

// S32 adds a 32-bit signed number of type int32_t.
func (c *Ctx) S32(parent *OID, name string, flags Flag, v *atomic.Int32, descr string) *OID {
	return c.leaf(parent, name, flags, KindS32, int32Handler(v), descr)
}

// Uint adds a 32-bit unsigned number.
func (c *Ctx) Uint(parent *OID, name string, flags Flag, v *atomic.Uint32, descr string) *OID {
	return c.leaf(parent, name, flags, KindUint, uint32Handler(v), descr)
}

// U8 adds an 8-bit unsigned number.
func (c *Ctx) U8(parent *OID, name string, flags Flag, v *atomic.Uint32, descr string) *OID {
	return c.leaf(parent, name, flags, KindU8, uint32Handler(v), descr)
}

// U16 adds a 16-bit unsigned number.
func (c *Ctx) U16(parent *OID, name string, flags Flag, v *atomic.Uint32, descr string) *OID {
	return c.leaf(parent, name, flags, KindU16, uint32Handler(v), descr)
}

// U32 adds a 32-bit unsigned number of type uint32_t.
func (c *Ctx) U32(parent *OID, name string, flags Flag, v *atomic.Uint32, descr string) *OID {
	return c.leaf(parent, name, flags, KindU32, uint32Handler(v), descr)
}

// S64 adds a 64-bit signed number (SYSCTL_ADD_S64, SYSCTL_ADD_QUAD).
func (c *Ctx) S64(parent *OID, name string, flags Flag, v *atomic.Int64, descr string) *OID {
	return c.leaf(parent, name, flags, KindS64, int64Handler(v), descr)
}

// Long adds a 64-bit signed number of type long.
func (c *Ctx) Long(parent *OID, name string, flags Flag, v *atomic.Int64, descr string) *OID {
	return c.leaf(parent, name, flags, KindLong, int64Handler(v), descr)
}

// U64 adds a 64-bit unsigned number (SYSCTL_ADD_U64, SYSCTL_ADD_UQUAD).
func (c *Ctx) U64(parent *OID, name string, flags Flag, v *atomic.Uint64, descr string) *OID {
	return c.leaf(parent, name, flags, KindU64, uint64Handler(v), descr)
}

// Ulong adds a 64-bit unsigned number of type unsigned long.
func (c *Ctx) Ulong(parent *OID, name string, flags Flag, v *atomic.Uint64, descr string) *OID {
	return c.leaf(parent, name, flags, KindUlong, uint64Handler(v), descr)
}

// Bool adds a truth value, type U8: any nonzero write stores true, and only numbers
// are taken from the environment.
func (c *Ctx) Bool(parent *OID, name string, flags Flag, v *atomic.Bool, descr string) *OID {
	return c.leaf(parent, name, flags, KindU8, boolHandler(v), descr)
}

// Counter adds a 64-bit statistic (SYSCTL_ADD_COUNTER_U64): any write calls zero.
func (c *Ctx) Counter(parent *OID, name string, flags Flag, read func() uint64, zero func(), descr string) *OID {
	return c.leaf(parent, name, flags|Stats, KindU64, counterHandler(read, zero), descr)
}

// String adds a string of at most limit-1 bytes, limit being the size of FreeBSD's buffer. A nil pointer
// in v reads as the empty string. Without WR and TUN, or with limit 0, it is read-only.
func (c *Ctx) String(parent *OID, name string, flags Flag, v *atomic.Pointer[string], limit int, descr string) *OID {
	return c.leaf(parent, name, flags, KindString, stringHandler(v, limit), descr)
}

// ConstString adds a string that never changes.
func (c *Ctx) ConstString(parent *OID, name string, flags Flag, s, descr string) *OID {
	return c.FuncString(parent, name, flags&^WR, func() string { return s }, descr)
}

// ConstInt adds a number that never changes; writing it is EPERM even with WR.
func (c *Ctx) ConstInt(parent *OID, name string, flags Flag, v int32, descr string) *OID {
	return c.Func(parent, name, flags, KindInt, func() uint64 { return uint64(int64(v)) }, descr)
}

// Func adds a number of the kind that read computes at each access, on the reader's
// goroutine. Writing it is EPERM even with WR.
func (c *Ctx) Func(parent *OID, name string, flags Flag, kind Kind, read func() uint64, descr string) *OID {
	return c.leaf(parent, name, flags, kind, funcHandler(read), descr)
}

// FuncString adds a read-only string that read computes at each access.
func (c *Ctx) FuncString(parent *OID, name string, flags Flag, read func() string, descr string) *OID {
	return c.leaf(parent, name, flags, KindString, func(r *Request) error {
		_, _, err := r.HandleString(read(), 0)
		return err
	}, descr)
}

// Opaque adds bytes described by format (as "S,timeval") that read computes at each
// access. Writing it is EPERM.
func (c *Ctx) Opaque(parent *OID, name string, flags Flag, format string, read func() []byte, descr string) *OID {
	return c.Add(parent, Spec{Name: name, Kind: KindOpaque, Flags: flags | MPSafe, Format: format, Descr: descr,
		Handler: func(r *Request) error { return r.constant(read()) }})
}

// Proc adds an OID with a handler of its own. Without MPSafe in flags, handlers are serialised by one
// lock of the tree, FreeBSD's Giant; such a handler must not access another such OID.
func (c *Ctx) Proc(parent *OID, name string, flags Flag, kind Kind, format string, h Handler, descr string) *OID {
	return c.Add(parent, Spec{Name: name, Kind: kind, Flags: flags, Format: format, Descr: descr, Handler: h})
}

// Feature adds kern.features.<name> with the value 1 (FEATURE).
func (c *Ctx) Feature(name, descr string) *OID {
	features, err := c.tree.Lookup("kern.features")
	if err != nil {
		return nil
	}
	return c.Add(features, Spec{Name: name, Kind: KindInt, Flags: RD | CapRD | MPSafe, Descr: descr, Label: "feature",
		Handler: funcHandler(func() uint64 { return 1 })})
}
