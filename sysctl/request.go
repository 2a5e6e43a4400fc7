package sysctl

import (
	"fmt"
	"strings"
	"syscall"
)

// Handler serves one access to an OID (spec ifnet 1.6): output the current value
// first, then, if there is a new one, check and take it. It runs on the caller's
// goroutine with no lock of the tree held, and may run several times at once when the OID has MPSafe. Its
// error goes to the caller; EAGAIN repeats the whole request. For a tunable it runs at registration.
type Handler func(req *Request) error

// Cred says who asks; the zero value is root outside any jail.
type Cred struct {
	Unprivileged bool // not root
	Jailed       bool // inside a jail
	Capability   bool // in capability mode
}

// Request is one access under way (struct sysctl_req). It belongs to the handler's goroutine until the handler returns.
type Request struct {
	oid    *OID
	args   []int32
	cred   Cred
	sizing bool   // null buffer: only the length is wanted
	old    []byte // the caller's buffer
	oldIdx int    // bytes output so far, also beyond the buffer
	new    []byte
	hasNew bool
	newIdx int
}

// OID is the entry that is accessed.
func (r *Request) OID() *OID { return r.oid }

// Args are the path elements after a node with a handler.
func (r *Request) Args() []int32 { return r.args }

// Cred says who asks.
func (r *Request) Cred() Cred { return r.cred }

// HasNew reports whether the caller brought a new value.
func (r *Request) HasNew() bool { return r.hasNew }

// Out appends b to the old value (SYSCTL_OUT). ENOMEM: the caller's buffer is full; what fits was copied.
func (r *Request) Out(b []byte) error {
	at := r.oldIdx
	r.oldIdx += len(b)
	if r.sizing {
		return nil
	}
	n := 0
	if at < len(r.old) {
		n = copy(r.old[at:], b)
	}
	if n < len(b) {
		return syscall.ENOMEM
	}
	return nil
}

// In takes the next n bytes of the new value (SYSCTL_IN). EINVAL: there are
// fewer. More than a handler takes are ignored.
func (r *Request) In(n int) ([]byte, error) {
	if len(r.new)-r.newIdx < n {
		return nil, syscall.EINVAL
	}
	b := r.new[r.newIdx : r.newIdx+n]
	r.newIdx += n
	return b, nil
}

// HandleInt serves a number of the OID's kind: it outputs cur cut to the kind's size and takes a new
// value, extended by the kind's sign (an unsigned 64-bit value is reinterpreted). written is false, and val is cur, when
// there is no new value. A handler checks the range after it and applies val itself. EINVAL also
// for an OID that is no number.
func (r *Request) HandleInt(cur int64) (val int64, written bool, err error) {
	size := r.oid.kind.Size()
	if size == 0 {
		return cur, false, fmt.Errorf("sysctl handler of a %v wants a number: %w", r.oid.kind, syscall.EINVAL)
	}
	if err := r.Out(appendNumber(nil, size, uint64(cur))); err != nil || !r.hasNew {
		return cur, false, err
	}
	b, err := r.In(size)
	if err != nil {
		return cur, false, err
	}
	return loadNumber(b, size, r.oid.kind.Signed()), true, nil
}

// HandleString serves a string in a buffer of limit bytes: it outputs cur with its NUL and takes a
// new value of at most limit-1 bytes, EINVAL when longer. With limit 0 it is read-only. A new value ends at its first NUL.
func (r *Request) HandleString(cur string, limit int) (val string, written bool, err error) {
	if err := r.Out(append([]byte(cur), 0)); err != nil || !r.hasNew {
		return cur, false, err
	}
	n := len(r.new) - r.newIdx
	if n >= limit {
		return cur, false, syscall.EINVAL
	}
	b, err := r.In(n)
	if err != nil {
		return cur, false, err
	}
	val, _, _ = strings.Cut(string(b), "\x00")
	return val, true, nil
}

// HandleOpaque serves bytes: it outputs cur and takes as many new bytes.
func (r *Request) HandleOpaque(cur []byte) (val []byte, written bool, err error) {
	if err := r.Out(cur); err != nil || !r.hasNew {
		return cur, false, err
	}
	b, err := r.In(len(cur))
	if err != nil {
		return cur, false, err
	}
	return append([]byte(nil), b...), true, nil
}

// HandleTicks serves a number of ticks shown in milliseconds (sysctl_msec_to_ticks). EINVAL: a
// new value of less than one tick.
func (r *Request) HandleTicks(ticks, hz int) (val int, written bool, err error) {
	const msPerSecond = 1000
	ms, written, err := r.HandleInt(int64(ticks) * msPerSecond / int64(hz))
	if err != nil || !written {
		return ticks, false, err
	}
	if val = int(ms * int64(hz) / msPerSecond); val < 1 {
		return ticks, false, syscall.EINVAL
	}
	return val, true, nil
}

// constant outputs b and refuses a new value with EPERM.
func (r *Request) constant(b []byte) error {
	if err := r.Out(b); err != nil || !r.hasNew {
		return err
	}
	return syscall.EPERM
}
