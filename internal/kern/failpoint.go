package kern

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/sysctl"
)

const (
	// failSettingLimit bounds the text of a setting.
	failSettingLimit = 1024
	// weyl is the step of the splitmix64 generator.
	weyl = 0x9e3779b97f4a7c15
)

// FailPoint is a place where faults are injected, set by the string OID
// debug.fail_point.<name> in the syntax of fail(9):
//
//	off
//	return(5)                every time, with the value 5, of 64 bits where fail(9) has 32
//	10*return(5)             ten times, then off
//	2.5%return(5)            with that probability
//	1in100->return(5)        the same as 1%return(5); not in fail(9)
//	5*return(5)->1%return(6) a term that does not fire passes to the next one
//	print                    says that it was reached; print(1) passes on then
//	yield                    a SchedPoint
//
// sleep, delay, pause, panic and break are refused with EOPNOTSUPP: a fail point
// is reached with locks held, and no setting may hang or end the process.
type FailPoint struct {
	armed atomic.Uint32               // prog is not nil; lets Eval inline
	prog  atomic.Pointer[failProgram] // nil: off
	rng   atomic.Uint64
	hits  atomic.Uint64
	k     *Kernel
	name  string

	mu sync.Mutex // guards prog and armed changing together
}

// failpoints are the fail points of a kernel.
type failpoints struct {
	armed atomic.Int32 // how many are set
	mu    sync.Mutex
	all   map[string]*FailPoint // guarded by mu
	ctx   *sysctl.Ctx
	node  *sysctl.OID // debug.fail_point
}

// FailPoint returns the point of that name, making it and its OID the first time
// (KFAIL_POINT_DEFINE). A dot in the name makes a node. The tunable of the OID's name sets it
// at once. Not for the packet path: keep the pointer.
func (k *Kernel) FailPoint(name string) *FailPoint {
	f := &k.failpoints
	f.mu.Lock()
	fp, ok := f.all[name]
	if !ok {
		fp = &FailPoint{k: k, name: name}
		h := fnv.New64a()
		h.Write([]byte(name))
		fp.rng.Store(k.seed ^ h.Sum64())
		if f.all == nil {
			f.all = make(map[string]*FailPoint)
		}
		f.all[name] = fp
	}
	f.mu.Unlock()
	if !ok {
		fp.register()
	}
	return fp
}

// register adds the point's OID, one node for each dotted part before the last.
func (fp *FailPoint) register() {
	f := &fp.k.failpoints
	parts := strings.Split(fp.name, ".")
	parent := f.node
	for _, p := range parts[:len(parts)-1] {
		parent = f.ctx.Node(parent, p, sysctl.RW, "fail points")
	}
	f.ctx.Proc(parent, parts[len(parts)-1], sysctl.RWTUN|sysctl.MPSafe, sysctl.KindString, "A", fp.handle,
		"fail point "+fp.name)
}

func (fp *FailPoint) handle(r *sysctl.Request) error {
	val, written, err := r.HandleString(fp.Setting(), failSettingLimit)
	if err != nil || !written {
		return err
	}
	return fp.Set(val)
}

// FailPointsArmed reports whether any fail point of the kernel is set: one load, for a
// path that passes several.
func (k *Kernel) FailPointsArmed() bool { return k.failpoints.armed.Load() != 0 }

// Armed reports whether Eval has anything to decide: one load, for a path that
// leaves all that is out of the ordinary to another function.
func (fp *FailPoint) Armed() bool { return fp.armed.Load() != 0 }

// Name is the name given at creation, without debug.fail_point.
func (fp *FailPoint) Name() string { return fp.name }

// Hits is how often Eval reported a hit.
func (fp *FailPoint) Hits() uint64 { return fp.hits.Load() }

// Setting is the setting in force in fail(9) syntax, with the counts that are left.
func (fp *FailPoint) Setting() string {
	if p := fp.prog.Load(); p != nil {
		return p.String()
	}
	return "off"
}

// Set replaces the setting. EINVAL: not fail(9) syntax; EOPNOTSUPP: an action that
// is refused. The old setting stays in force then.
func (fp *FailPoint) Set(setting string) error {
	p, err := parseFailProgram(setting)
	if err != nil {
		return fmt.Errorf("setting fail point %s to %q: %w", fp.name, setting, err)
	}
	if p.alwaysOff() {
		p = nil
	}
	fp.mu.Lock()
	defer fp.mu.Unlock()
	fp.install(p)
	return nil
}

// install puts p in force. The caller holds mu.
func (fp *FailPoint) install(p *failProgram) {
	was, armed := fp.armed.Load(), uint32(0)
	if p != nil {
		armed = 1
	}
	fp.k.failpoints.armed.Add(int32(armed) - int32(was))
	fp.prog.Store(p)
	fp.armed.Store(armed)
}

// retire turns the point off if p, which can fire no more, is still in force.
func (fp *FailPoint) retire(p *failProgram) {
	fp.mu.Lock()
	defer fp.mu.Unlock()
	if fp.prog.Load() == p {
		fp.install(nil)
	}
}

// Eval reports whether a fault is to be injected here and with what value
// (KFAIL_POINT_EVAL). One atomic load when off. Any goroutine; the sequence of
// answers is a function of the kernel's seed, the name and the number of calls.
func (fp *FailPoint) Eval() (value int, hit bool) {
	if fp.armed.Load() != 0 {
		return fp.eval()
	}
	return
}

// Error is Eval for points whose value is an errno: nil when there is no hit, EIO
// for a value of 0.
func (fp *FailPoint) Error() error {
	v, hit := fp.Eval()
	switch {
	case !hit:
		return nil
	case v <= 0:
		return syscall.EIO
	}
	return syscall.Errno(v)
}

func (fp *FailPoint) eval() (int, bool) {
	p := fp.prog.Load()
	if p == nil {
		return 0, false // set to off since Eval looked
	}
	for i := range p.terms {
		t := &p.terms[i]
		if !t.chance(fp.random) || !t.take() {
			continue
		}
		switch t.action {
		case failReturn:
			fp.hits.Add(1)
			return t.arg, true
		case failPrint:
			fp.k.Printf("fail point %s reached\n", fp.name)
			if t.arg != 0 {
				continue
			}
		case failYield:
			fp.k.SchedPoint()
		}
		return 0, false
	}
	if p.exhausted() {
		fp.retire(p)
	}
	return 0, false
}

// random is splitmix64, a generator that any number of goroutines may step.
func (fp *FailPoint) random() uint64 {
	z := fp.rng.Add(weyl)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
