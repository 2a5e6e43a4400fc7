package sysctl

import (
	"errors"
	"fmt"
	"syscall"
)

// minName is the shortest path a system call accepts.
const minName = 2

// Sysctl is __sysctl(2): it reads the value at path into old, and writes new if it is not nil; old
// nil asks for the length only. n is the length of the value, or the bytes copied when old was too small (ENOMEM). The checks
// are made in the order of spec ifnet 1.5: EINVAL for a bad path length, ENOENT, ENOTDIR, EISDIR, EPERM, then what the handler says.
func (t *Tree) Sysctl(path []int32, old, newValue []byte, cred Cred) (n int, err error) {
	if len(path) < minName || len(path) > MaxName {
		return 0, fmt.Errorf("sysctl path of %d elements: %w", len(path), syscall.EINVAL)
	}
	return t.retry(func() (*Request, error) {
		t.mu.Lock()
		o, args, err := t.locate(path)
		if err != nil {
			t.mu.Unlock()
			return &Request{}, err
		}
		r := newRequest(o, old, newValue, cred)
		r.args = args
		return r, t.serve(r)
	})
}

// SysctlByName is __sysctlbyname(2): Sysctl with a dotted name. EINVAL: the
// name is empty or longer than 1024 bytes; ENAMETOOLONG: exactly 1024. On any error n is 0.
func (t *Tree) SysctlByName(name string, old, newValue []byte, cred Cred) (n int, err error) {
	if name == "" || len(name) > maxNameLen {
		return 0, fmt.Errorf("sysctl name of %d bytes: %w", len(name), syscall.EINVAL)
	}
	o, err := t.Lookup(name)
	if err != nil {
		return 0, err
	}
	if n, err = t.access(o, old, newValue, cred); err != nil {
		return 0, err
	}
	return n, nil
}

// ReadOID returns the value of o as bytes. ENOENT: removed or dormant; EISDIR: a
// plain node; else what the handler says.
func (t *Tree) ReadOID(o *OID) ([]byte, error) {
	for size := 0; ; {
		n, err := t.access(o, nil, nil, Cred{})
		if err != nil {
			return nil, err
		}
		size = max(size, n) * 2 // the value may grow between the two calls
		buf := make([]byte, size)
		n, err = t.access(o, buf, nil, Cred{})
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, syscall.ENOMEM) || n < size {
			return nil, err
		}
	}
}

// WriteOID writes the bytes of a new value as root. EPERM: not writable; EINVAL: fewer
// bytes than the OID takes (more are ignored); else what the handler says.
func (t *Tree) WriteOID(o *OID, newValue []byte) error {
	if newValue == nil {
		newValue = []byte{}
	}
	_, err := t.access(o, nil, newValue, Cred{})
	return err
}

// access is Sysctl for an OID at hand.
func (t *Tree) access(o *OID, old, newValue []byte, cred Cred) (n int, err error) {
	return t.retry(func() (*Request, error) {
		t.mu.Lock()
		if !o.linked || o.flags&Dormant != 0 {
			t.mu.Unlock()
			return &Request{}, fmt.Errorf("sysctl: %w", syscall.ENOENT)
		}
		r := newRequest(o, old, newValue, cred)
		return r, t.serve(r)
	})
}

func newRequest(o *OID, old, newValue []byte, cred Cred) *Request {
	return &Request{oid: o, cred: cred, sizing: old == nil, old: old, new: newValue, hasNew: newValue != nil}
}

// retry runs attempts until one does not end in EAGAIN.
func (t *Tree) retry(attempt func() (*Request, error)) (int, error) {
	for {
		r, err := attempt()
		if !errors.Is(err, syscall.EAGAIN) {
			n := r.oldIdx
			if !r.sizing {
				n = min(n, len(r.old))
			}
			return n, err
		}
		t.pause()
	}
}

// locate walks path: the entry it names, with what follows a node with a handler. The lock is held.
func (t *Tree) locate(path []int32) (*OID, []int32, error) {
	o := t.root
	for i, number := range path {
		o = o.byNumber(number)
		switch {
		case o == nil:
			return nil, nil, fmt.Errorf("sysctl: %w", syscall.ENOENT)
		case o.kind == KindNode && o.handler != nil:
			return o, path[i+1:], nil
		case o.kind == KindNode:
			continue
		case i < len(path)-1:
			return nil, nil, fmt.Errorf("sysctl %s: %w", o.fullName(), syscall.ENOTDIR)
		case o.flags&Dormant != 0:
			return nil, nil, fmt.Errorf("sysctl %s: %w", o.fullName(), syscall.ENOENT)
		}
	}
	return o, nil, nil
}

// serve makes the checks and runs the handler. The lock is held on entry and released on return.
func (t *Tree) serve(r *Request) error {
	o := r.oid
	name := o.fullName()
	if err := t.permit(r); err != nil {
		t.mu.Unlock()
		return fmt.Errorf("sysctl %s: %w", name, err)
	}
	if err := t.handle(r); err != nil {
		return fmt.Errorf("sysctl %s: %w", name, err)
	}
	return nil
}

// permit makes the checks 3 to 8 of spec ifnet 1.5. The lock is held.
func (t *Tree) permit(r *Request) error {
	flags := r.oid.flags
	if r.oid.plainNode() {
		return syscall.EISDIR
	}
	if r.hasNew && flags&WR == 0 {
		return syscall.EPERM
	}
	if r.cred.Capability && (!r.hasNew && flags&CapRD == 0 || r.hasNew && flags&CapWR == 0) {
		return syscall.EPERM
	}
	if r.hasNew && flags&Secure != 0 && t.secure > int32(flags&SecureMask>>secureShift) {
		return syscall.EPERM
	}
	if r.hasNew && flags&AnyBody == 0 && (r.cred.Unprivileged || r.cred.Jailed && flags&(Prison|VNet) == 0) {
		return syscall.EPERM
	}
	if r.oid.handler == nil {
		return syscall.EINVAL
	}
	return nil
}

// handle runs the handler without the lock, under Giant if it is not MPSafe. The lock is held on
// entry and released on return.
func (t *Tree) handle(r *Request) error {
	o := r.oid
	o.running++
	giant := o.flags&MPSafe == 0 || o.flags&NeedGiant != 0
	if giant {
		t.await(func() bool { return !t.giant })
		t.giant = true
	}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		if giant {
			t.giant = false
		}
		o.running--
		t.changed.Broadcast()
		t.mu.Unlock()
	}()
	return o.handler(r)
}
