package pf

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// PF is a machine's packet filter. Methods may be called from any goroutine that may
// sleep; the hook from any.
type PF struct {
	k      *kern.Kernel
	rules  atomic.Pointer[ruleset] // never nil
	states stateTable
	timer  *kern.Callout

	// Packets dropped for other reasons than a rule.
	short  atomic.Uint64 // headers cut off or wrong (PFRES_SHORT)
	memory atomic.Uint64 // no room for a state (PFRES_MEMORY)

	mu      kern.Sx // guards what follows; held while disciplines are put into place
	running bool    // pf_status.running
	shaping bool    // V_pf_altq_running
	closed  bool
	ifs     []*ifQueues // active, in order of definition
	names   nameTable
	ticket  uint64 // of the active queues; grows with each commit
	cancel  func()
}

// Errors of Enable and Disable, which pfctl has its own words for.
var (
	// ErrEnabled: already enabled.
	ErrEnabled error = syscall.EEXIST
	// ErrDisabled: not enabled.
	ErrDisabled error = syscall.ENOENT
)

// Init puts the packet filter into a machine, disabled and without rules. A second call
// does nothing.
func Init(k *kern.Kernel) error {
	if _, ok := kern.Lookup[*PF](k); ok {
		return nil
	}
	if err := ifnet.Init(k); err != nil {
		return fmt.Errorf("starting the packet filter: %w", err)
	}
	p := &PF{k: k}
	p.mu.Init(k, "pf")
	p.rules.Store(&ruleset{})
	p.states.init(conf.Config{})
	p.timer = k.NewCallout("pf", nil, p.second)
	p.cancel = ifnet.OnEvent(k, p.event)
	kern.Attach(k, p)
	k.OnClose(p.close)
	return nil
}

// Of is the machine's packet filter. ENXIO: Init has not run.
func Of(k *kern.Kernel) (*PF, error) {
	if p, ok := kern.Lookup[*PF](k); ok {
		return p, nil
	}
	return nil, fmt.Errorf("packet filter: %w", syscall.ENXIO)
}

func (p *PF) close() {
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.running {
		p.unhook()
	}
	p.timer.Drain()
	p.replaceQueues(nil)
}

// families are those whose packets are looked at.
var families = [...]ifnet.AF{ifnet.AFInet, ifnet.AFInet6}

// Enable begins to filter and to shape (DIOCSTART, DIOCSTARTALTQ). ErrEnabled: it does
// already.
func (p *PF) Enable() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("enabling pf: %w", syscall.ENXIO)
	}
	if p.running {
		return fmt.Errorf("enabling pf: %w", ErrEnabled)
	}
	p.states.tick(p.k.Uptime())
	for _, af := range families {
		ifnet.InetPfil(p.k, af).Add(p)
	}
	p.running, p.shaping = true, true
	p.timer.Reset(p.k.Hz(), -1)
	for _, i := range p.ifs {
		i.enable()
	}
	return nil
}

// Disable ends both (DIOCSTOP, DIOCSTOPALTQ). States stay. ErrDisabled: it is so.
func (p *PF) Disable() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running {
		return fmt.Errorf("disabling pf: %w", ErrDisabled)
	}
	p.unhook()
	p.timer.Drain()
	for _, i := range p.ifs {
		i.disable()
	}
	return nil
}

// unhook takes the hooks away. mu is held.
func (p *PF) unhook() {
	for _, af := range families {
		ifnet.InetPfil(p.k, af).Remove(p)
	}
	p.running, p.shaping = false, false
}

// Enabled reports whether packets are filtered.
func (p *PF) Enabled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running
}

// second runs once a second while enabled: it moves the states' clock on and removes
// some of those that have expired (pf_purge_thread).
func (p *PF) second() {
	p.states.tick(p.k.Uptime())
	p.states.purgeSome()
	p.timer.Reset(p.k.Hz(), -1)
}

// Load puts a configuration into force: queues, rules and options, all or nothing. What
// fails leaves everything as it was. Existing states keep their queues. Errors are
// RequestErrors: a discipline that refuses a queue, more names than numbers, an interface
// that cannot shape.
func (p *PF) Load(cfg conf.Config) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("loading pf: %w", syscall.ENXIO)
	}
	names, err := p.names.renew(cfg)
	if err != nil {
		return err
	}
	ifs, err := p.buildQueues(cfg.Altqs, names)
	if err != nil {
		return err
	}
	p.names = names
	p.replaceQueues(ifs)
	p.states.configure(cfg)
	p.rules.Store(compile(cfg, names))
	return nil
}

// FlushQueues takes all queues away (pfctl -F queue). Rules that name them stay.
func (p *PF) FlushQueues() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replaceQueues(nil)
}

// FlushRules takes all rules away (pfctl -F rules).
func (p *PF) FlushRules() {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.rules.Load()
	p.rules.Store(&ruleset{skip: old.skip})
}

// FlushStates forgets all states and returns how many there were (pfctl -F states).
func (p *PF) FlushStates() int { return p.states.flush() }

// RuleInfo is a rule with its counters.
type RuleInfo struct {
	conf.Rule
	Evaluations, Packets, Bytes, States uint64
}

// Rules are the rules in force, in order.
func (p *PF) Rules() []RuleInfo {
	set := p.rules.Load()
	list := make([]RuleInfo, len(set.rules))
	for i := range set.rules {
		r := &set.rules[i]
		list[i] = RuleInfo{Rule: *r.conf, Evaluations: r.evaluations.Load(), Packets: r.packets.Load(), Bytes: r.bytes.Load(), States: r.states.Load()}
	}
	return list
}

// Counters are what no rule counts.
type Counters struct {
	States int    // current
	Short  uint64 // packets dropped since their headers are cut off
	Memory uint64 // packets dropped since there is no room for another state
}

// Counters reads them.
func (p *PF) Counters() Counters {
	return Counters{States: p.states.len(), Short: p.short.Load(), Memory: p.memory.Load()}
}

// Parse reads a text for the interfaces of this machine; o.Interface is its own.
func (p *PF) Parse(file, text string, o conf.Options) (cfg conf.Config, messages []conf.Message, ok bool) {
	o.Interface = func(name string) (conf.Interface, bool) {
		ifp := ifnet.ByName(p.k, name)
		if ifp == nil {
			return conf.Interface{}, false
		}
		i := conf.Interface{Speed: ifp.Baudrate(), MTU: ifp.MTU()}
		for _, a := range inet.Addrs(ifp) {
			i.Addrs = append(i.Addrs, a.Prefix)
		}
		return i, true
	}
	return conf.Parse(file, text, o)
}

// RequestError is a request of the kernel that failed.
type RequestError struct {
	Request string // "DIOCADDALTQ"
	What    string // that it was about
	Err     error  // an errno
}

// Error has FreeBSD's text of the errno.
func (e *RequestError) Error() string {
	return e.Request + ": " + e.What + ": " + sysctl.Strerror(e.Err)
}

// Unwrap is the errno.
func (e *RequestError) Unwrap() error { return e.Err }

// addError is a refused interface or queue.
func addError(err error, format string, a ...any) error {
	return &RequestError{Request: "DIOCADDALTQ", What: fmt.Sprintf(format, a...), Err: err}
}
