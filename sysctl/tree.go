package sysctl

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Tree is a machine's OID tree. It is safe for concurrent use. One lock guards
// the structure; no handler runs with it held.
type Tree struct {
	env  *Kenv
	logf func(string, ...any)

	mu       sync.Mutex
	changed  *sync.Cond // a handler ended or Giant was released
	root     *OID       // fixed
	dev      *OID       // fixed
	auto     int32      // last automatic number
	giant    bool       // a handler without MPSafe is running
	secure   int32      // secure level
	yield    func()     // see SetYield
	messages []string   // log lines to write once the lock is released
}

// NewTree returns a tree with FreeBSD's static top level (sysctl, kern, vm, vfs, net, debug,
// hw, machdep, user, p1003_1b, dev, security, compat), kern.ipc, kern.features and net.link. Tunables come from env. logf writes
// to the console; its formats end in a newline, as for printf(9); nil is silence.
func NewTree(env *Kenv, logf func(string, ...any)) *Tree {
	if logf == nil {
		logf = func(string, ...any) {}
	}
	t := &Tree{env: env, logf: logf}
	t.changed = sync.NewCond(&t.mu)
	t.root = &OID{tree: t, kind: KindNode, refs: 1, linked: true}
	env.SetLog(logf)
	t.addStatic()
	env.observe(t.environmentChanged)
	return t
}

// addStatic registers what the kernel declares at compile time.
func (t *Tree) addStatic() {
	c := t.StaticCtx()
	node := func(parent *OID, name string, number int32, descr string) *OID {
		return c.Add(parent, Spec{Name: name, Kind: KindNode, Flags: RW, Descr: descr, Static: true, Number: number})
	}
	t.addIntrospection(c, node(nil, "sysctl", NumSysctl, "Sysctl internal magic"))
	kern := node(nil, "kern", NumKern, "High kernel, proc, limits &c")
	node(nil, "vm", NumVM, "Virtual memory")
	node(nil, "vfs", NumVFS, "File system")
	network := node(nil, "net", NumNet, "Network, (see socket.h)")
	node(nil, "debug", NumDebug, "Debugging")
	node(nil, "hw", NumHW, "hardware")
	node(nil, "machdep", NumMachdep, "machine dependent")
	node(nil, "user", NumUser, "user-level")
	node(nil, "p1003_1b", NumP1003, "p1003_1b, (see p1003_1b.h)")
	c.Node(nil, "compat", RW, "Compatibility code")
	c.Node(nil, "security", RW, "Security")
	t.dev = c.Node(nil, "dev", RW, "")
	node(kern, "ipc", NumKernIPC, "IPC")
	c.Node(kern, "features", RD, "Kernel Features")
	link := node(network, "link", NumNetLink, "Link layers")
	node(link, "generic", 0, "Variables global to all interfaces")
	node(link, "ether", NumLinkEther, "Ethernet")
	node(link, "vlan", NumLinkVLAN, "IEEE 802.1Q VLAN")
}

// Root is the parent of the top-level nodes.
func (t *Tree) Root() *OID { return t.root }

// Dev is the node "dev", under which devices appear.
func (t *Tree) Dev() *OID { return t.dev }

// SetYield gives the tree a function to call, without its lock, while it waits for a
// running handler. A cooperative scheduler needs it: there, blocking the
// goroutine would stop the handler that is waited for. nil blocks.
func (t *Tree) SetYield(yield func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.yield = yield
}

// SetSecureLevel sets the level that the Secure flags are compared with (kern.securelevel; 0 at boot).
func (t *Tree) SetSecureLevel(level int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.secure = level
}

// unlock releases the lock and then writes the messages collected under it, so that
// the log may itself use the tree.
func (t *Tree) unlock() {
	messages := t.messages
	t.messages = nil
	t.mu.Unlock()
	for _, m := range messages {
		t.logf("%s\n", m)
	}
}

// warn queues a log line. The lock is held.
func (t *Tree) warn(format string, a ...any) {
	t.messages = append(t.messages, fmt.Sprintf(format, a...))
}

// await returns when done reports true. The lock is held, and released while waiting.
func (t *Tree) await(done func() bool) {
	for !done() {
		if yield := t.yield; yield != nil {
			t.mu.Unlock()
			yield()
			t.mu.Lock()
		} else {
			t.changed.Wait()
		}
	}
}

// pause lets others run between two attempts of a request.
func (t *Tree) pause() {
	t.mu.Lock()
	yield := t.yield
	t.mu.Unlock()
	if yield == nil {
		yield = runtime.Gosched
	}
	yield()
}

// Lookup resolves a dotted name as the kernel does (name2oid, spec ifnet 1.5): one trailing
// dot is accepted. Dormant leaves are found. ENOENT: no such name; ENAMETOOLONG: 1024 bytes or more.
func (t *Tree) Lookup(name string) (*OID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, err := t.resolve(name)
	if err != nil {
		return nil, fmt.Errorf("looking up sysctl %q: %w", name, err)
	}
	return o, nil
}

// maxNameLen bounds the text of a name (MAXPATHLEN).
const maxNameLen = 1024

// resolve is Lookup with the lock held.
func (t *Tree) resolve(name string) (*OID, error) {
	if len(name) >= maxNameLen {
		return nil, syscall.ENAMETOOLONG
	}
	name, _, _ = strings.Cut(name, "\x00")
	name = strings.TrimSuffix(name, ".")
	o := t.root
	for depth, part := range strings.Split(name, ".") {
		if part == "" || depth == MaxName || !o.plainNode() {
			return nil, syscall.ENOENT
		}
		if o = o.byName(part); o == nil {
			return nil, syscall.ENOENT
		}
	}
	return o, nil
}

// register puts o below parent, by the rules of spec ifnet 1.4. It returns the entry
// to use, which is an existing node of the name if there is one, or nil. The lock is held.
func (t *Tree) register(parent, o *OID) *OID {
	if old := parent.byName(o.name); old != nil {
		if old.kind == KindNode {
			old.refs++
			return old
		}
		t.warn("sysctl_warn_reuse: can't re-use a leaf (%s)!", old.fullName())
		return nil
	}
	o.parent = parent
	wanted := o.number
	o.number = t.assignNumber(parent, wanted)
	if wanted >= 0 && wanted < autoStart && o.number >= autoStart {
		t.warn("sysctl: OID number(%d) is already in use for '%s'", wanted, o.name)
	}
	t.link(o)
	return o
}

// link inserts o, whose number is free, into its parent. The lock is held.
func (t *Tree) link(o *OID) {
	i, _ := o.parent.search(o.number)
	o.parent.children = slices.Insert(o.parent.children, i, o)
	o.linked = true
	o.refs = 1
}

// unlink takes o out of its parent. The lock is held.
func (t *Tree) unlink(o *OID) {
	if i, ok := o.parent.search(o.number); ok && o.linked {
		o.parent.children = slices.Delete(o.parent.children, i, i+1)
	}
	o.linked = false
	o.refs = 0
}

// assignNumber applies automatic numbering and the collision rule of spec ifnet 1.1. The lock is held.
func (t *Tree) assignNumber(parent *OID, number int32) int32 {
	if number < 0 {
		if t.auto--; t.auto < autoStart {
			t.auto = maxNumber
		}
		number = t.auto
	}
	const restarts = 2
	left := restarts
	i, taken := parent.search(number)
	for taken {
		if number < autoStart || number == maxNumber {
			if left == 0 {
				panic("sysctl: Out of OID numbers")
			}
			left--
			number = autoStart
			i, taken = parent.search(number)
			continue
		}
		i, number = i+1, number+1
		taken = i < len(parent.children) && parent.children[i].number == number
	}
	return number
}

// Enable ends the dormant state of a leaf (sysctl_enable_oid).
func (t *Tree) Enable(o *OID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o.flags &^= Dormant
}

// Disable makes a leaf dormant (sysctl_disable_oid).
func (t *Tree) Disable(o *OID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o.kind != KindNode {
		o.flags |= Dormant
	}
}

// Rename replaces the name in place; the number stays, so does the place in
// listings (sysctl_rename_oid).
func (t *Tree) Rename(o *OID, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o.name = name
}

// Move puts o below another parent with an automatic number (sysctl_move_oid).
// EEXIST: the name is taken there; EINVAL: parent is no plain node, or lies below o.
func (t *Tree) Move(o, parent *OID) error {
	t.mu.Lock()
	defer t.unlock()
	if o.parent == parent {
		return nil
	}
	if !o.linked || o.parent == nil || !parent.plainNode() {
		return fmt.Errorf("moving sysctl %s: %w", o.fullName(), syscall.EINVAL)
	}
	for p := parent; p != nil; p = p.parent {
		if p == o {
			return fmt.Errorf("moving sysctl %s: %w", o.fullName(), syscall.EINVAL)
		}
	}
	if parent.byName(o.name) != nil {
		return fmt.Errorf("moving sysctl %s: %w", o.fullName(), syscall.EEXIST)
	}
	refs := o.refs
	t.unlink(o)
	o.parent = parent
	o.number = t.assignNumber(parent, numberAuto)
	t.link(o)
	o.refs = refs
	return nil
}

// numberAuto asks for automatic numbering (OID_AUTO).
const numberAuto = -1
