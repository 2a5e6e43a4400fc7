package sysctl

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// Second element of the paths below {0} (CTL_SYSCTL_*, spec ifnet 1.7).
const (
	QueryName       = 1 // the dotted name of the path that follows
	QueryNext       = 2 // the entry after it, passing over Skip
	QueryNameToOID  = 3 // the path of the name given as the new value
	QueryFormat     = 4 // the 32-bit kind and flags, then the format with a NUL
	QueryDescr      = 5 // the description with a NUL
	QueryLabel      = 6 // the label with a NUL
	QueryNextNoSkip = 7 // the entry after it, nodes and Skip included
)

// addIntrospection registers the children of {0}.
func (t *Tree) addIntrospection(c *Ctx, parent *OID) {
	add := func(name string, number int32, kind Kind, flags Flag, h Handler) {
		c.Add(parent, Spec{Name: name, Kind: kind, Flags: flags | MPSafe, Handler: h, Static: true, Number: number})
	}
	add("name", QueryName, KindNode, RD|CapRD, t.queryName)
	add("next", QueryNext, KindNode, RD|CapRD, func(r *Request) error { return t.queryNext(r, false) })
	add("name2oid", QueryNameToOID, KindInt, RW|AnyBody|CapRW, t.queryNameToOID)
	add("oidfmt", QueryFormat, KindNode, RD|CapRD, t.queryFormat)
	add("oiddescr", QueryDescr, KindNode, RD|CapRD, func(r *Request) error {
		return t.queryText(r, func(o *OID) (string, bool) { return o.descr, true })
	})
	add("oidlabel", QueryLabel, KindNode, RD|CapRD, func(r *Request) error {
		return t.queryText(r, func(o *OID) (string, bool) { return o.label, o.label != "" })
	})
	add("nextnoskip", QueryNextNoSkip, KindNode, RD|CapRD, func(r *Request) error { return t.queryNext(r, true) })
}

// queryName outputs names as far as there are entries, then numbers.
func (t *Tree) queryName(r *Request) error {
	t.mu.Lock()
	o := t.root
	parts := make([]string, 0, len(r.args))
	for _, number := range r.args {
		if o != nil && o.plainNode() {
			o = o.byNumber(number)
		} else {
			o = nil
		}
		if o != nil {
			parts = append(parts, o.name)
		} else {
			parts = append(parts, strconv.Itoa(int(number)))
		}
	}
	t.mu.Unlock()
	return r.Out(append([]byte(strings.Join(parts, ".")), 0))
}

func (t *Tree) queryNext(r *Request, noSkip bool) error {
	t.mu.Lock()
	o := next(t.root, r.args, noSkip)
	t.mu.Unlock()
	if o == nil {
		return syscall.ENOENT
	}
	return r.Out(pathBytes(o.Path()))
}

// next finds the first entry strictly after path below node, depth first in
// ascending order (sysctl_sysctl_next). The lock is held.
func next(node *OID, path []int32, noSkip bool) *OID {
	if len(path) == 0 {
		return first(node.children, noSkip)
	}
	i, found := node.search(path[0])
	if found {
		at := node.children[i]
		if at.plainNode() && (noSkip || at.flags&Skip == 0) {
			if o := next(at, path[1:], noSkip); o != nil {
				return o
			}
		}
		i++
	}
	return first(node.children[i:], noSkip)
}

// first finds the first entry a walk stops at in list or below it. The lock is held.
func first(list []*OID, noSkip bool) *OID {
	for _, o := range list {
		if o.flags&Dormant != 0 || !noSkip && o.flags&Skip != 0 {
			continue
		}
		if noSkip || !o.plainNode() {
			return o
		}
		if found := first(o.children, noSkip); found != nil {
			return found
		}
	}
	return nil
}

func (t *Tree) queryNameToOID(r *Request) error {
	if !r.hasNew || len(r.new) == 0 {
		return syscall.ENOENT
	}
	if len(r.new) >= maxNameLen {
		return syscall.ENAMETOOLONG
	}
	name, err := r.In(len(r.new))
	if err != nil {
		return err
	}
	o, err := t.Lookup(string(name))
	if err != nil {
		return err
	}
	return r.Out(pathBytes(o.Path()))
}

func (t *Tree) queryFormat(r *Request) error {
	t.mu.Lock()
	o, _, err := t.locate(r.args)
	if err != nil {
		t.mu.Unlock()
		return err
	}
	word := o.word()
	t.mu.Unlock()
	return r.Out(append(binary.LittleEndian.AppendUint32(nil, word), o.format+"\x00"...))
}

// queryText outputs a string of the entry; ENOENT when it has none.
func (t *Tree) queryText(r *Request, text func(*OID) (string, bool)) error {
	t.mu.Lock()
	o, _, err := t.locate(r.args)
	t.mu.Unlock()
	if err != nil {
		return err
	}
	s, ok := text(o)
	if !ok {
		return fmt.Errorf("sysctl %s has no such text: %w", o.FullName(), syscall.ENOENT)
	}
	return r.Out(append([]byte(s), 0))
}

// pathBytes encodes a path as the array of C ints that crosses the system call.
func pathBytes(path []int32) []byte {
	var b []byte
	for _, n := range path {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// Next returns the entry after o in the order of listings, nil at the end. noSkip includes
// plain nodes and entries flagged Skip. Start at Root.
func (t *Tree) Next(o *OID, noSkip bool) *OID {
	path := o.Path()
	t.mu.Lock()
	defer t.mu.Unlock()
	return next(t.root, path, noSkip)
}
