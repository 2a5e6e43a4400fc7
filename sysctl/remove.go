package sysctl

import (
	"fmt"
	"syscall"
)

// Remove takes o out of the tree, or one reference off a shared node (sysctl_remove_oid). It
// returns after the last handler running on what it deleted. recurse removes
// children too. EINVAL: nil, static, or already removed; ENOTEMPTY: children without recurse.
func (t *Tree) Remove(o *OID, recurse bool) error {
	if o == nil {
		return fmt.Errorf("removing a sysctl: %w", syscall.EINVAL)
	}
	t.mu.Lock()
	defer t.unlock()
	removed, err := t.removeLocked(o, recurse, nil)
	t.drain(removed)
	return err
}

// removal remembers one step of a removal, to undo it.
type removal struct {
	oid     *OID
	deleted bool // unlinked, not just one reference less
}

// removeLocked removes o and appends what it did to done. The lock is held.
func (t *Tree) removeLocked(o *OID, recurse bool, done []removal) ([]removal, error) {
	if o.flags&Dyn == 0 {
		t.warn("Warning: can't remove non-dynamic nodes (%s)!", o.name)
		return done, fmt.Errorf("removing sysctl %s: %w", o.fullName(), syscall.EINVAL)
	}
	if o.refs == 1 {
		for len(o.children) > 0 {
			child := o.children[0]
			if !recurse {
				t.warn("Warning: failed attempt to remove oid %s with child %s", o.name, child.name)
				return done, fmt.Errorf("removing sysctl %s: %w", o.fullName(), syscall.ENOTEMPTY)
			}
			for child.linked {
				var err error
				if done, err = t.removeLocked(child, recurse, done); err != nil {
					return done, err
				}
			}
		}
	}
	switch {
	case o.refs == 0:
		t.warn("Warning: bad oid_refcnt=%d (%s)!", o.refs, o.name)
		return done, fmt.Errorf("removing sysctl %s: %w", o.name, syscall.EINVAL)
	case o.refs > 1:
		o.refs--
		return append(done, removal{o, false}), nil
	}
	t.unlink(o)
	return append(done, removal{o, true}), nil
}

// undo puts back what removeLocked took, newest first: numbers stay, nothing is
// fetched again. The lock is held.
func (t *Tree) undo(done []removal) {
	for i := len(done) - 1; i >= 0; i-- {
		if done[i].deleted {
			t.link(done[i].oid)
		} else {
			done[i].oid.refs++
		}
	}
}

// drain marks deleted entries and waits for the handlers still running on them. The lock is held.
func (t *Tree) drain(done []removal) {
	for _, r := range done {
		if r.deleted {
			r.oid.flags |= Dying
		}
	}
	for _, r := range done {
		if r.deleted {
			t.await(func() bool { return r.oid.running == 0 })
		}
	}
}
