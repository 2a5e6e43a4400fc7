package sysctl

// maxTunablePath bounds the name of an OID that is fetched, with its NUL.
const maxTunablePath = 96

// fetchAtRegistration gives o its value from the environment (spec ifnet 2.2).
func (t *Tree) fetchAtRegistration(o *OID) {
	t.mu.Lock()
	if o.kind == KindNode || o.flags&TUN == 0 || o.flags&NoFetch != 0 {
		t.mu.Unlock()
		return
	}
	vnet := o.flags&VNet != 0
	if !vnet {
		o.flags |= NoFetch
	}
	t.mu.Unlock()
	if vnet {
		if initial, err := t.ReadOID(o); err == nil {
			t.mu.Lock()
			o.initial = initial
			t.mu.Unlock()
		}
	}
	t.fetchTunable(o)
}

// fetchTunable delivers the environment's value of o through its handler, past
// all checks. A value that does not parse is ignored without a message.
func (t *Tree) fetchTunable(o *OID) {
	t.mu.Lock()
	name := o.fullName()
	t.mu.Unlock()
	if len(name) >= maxTunablePath {
		t.logf("OID path exceeds %d bytes\n", maxTunablePath)
		return
	}
	text, ok := t.env.Get(name)
	if !ok {
		return
	}
	value := []byte(text)
	if o.kind != KindString {
		if value, ok = parseTunable(o.kind, text); !ok {
			return
		}
	}
	t.deliver(o, name, value)
}

// deliver runs the handler of o on a new value that comes from the kernel itself.
func (t *Tree) deliver(o *OID, name string, value []byte) {
	t.mu.Lock()
	if !o.linked || o.handler == nil {
		t.mu.Unlock()
		return
	}
	if err := t.handle(newRequest(o, nil, value, Cred{})); err != nil {
		t.logf("Setting sysctl %s failed: %d\n", name, Number(err))
	}
}

// environmentChanged makes VNet tunables follow the environment; all others
// keep their value once they are registered.
func (t *Tree) environmentChanged(name, _ string, set bool) {
	t.mu.Lock()
	o, err := t.resolve(name)
	if err != nil || o.kind == KindNode || o.flags&TUN == 0 || o.flags&VNet == 0 || o.flags&NoFetch != 0 {
		t.mu.Unlock()
		return
	}
	initial := o.initial
	t.mu.Unlock()
	switch {
	case set:
		t.fetchTunable(o)
	case initial != nil && o.kind == KindString:
		t.deliver(o, name, initial[:len(initial)-1])
	case initial != nil:
		t.deliver(o, name, initial)
	}
}
