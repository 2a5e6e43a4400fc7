package altq

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/probe"
)

// Env is what a queue needs around it.
type Env struct {
	// Kernel gives memory, and clock and tick unless Now and Arm do.
	Kernel *kern.Kernel
	// Name of the interface, for locks and errors.
	Name string
	// MaxLen is the limit of the FIFO in packets while no discipline is enabled.
	MaxLen int
	// Start sends what Dequeue gives until it gives nil (if_start). It is called
	// without the queue's lock, at ticks and by Kick, from any goroutine.
	Start func()
	// Switched tells that the queue was enabled or disabled. Without the lock.
	Switched func(enabled bool)
	// Now replaces the kernel's clock, and Arm its timer: Arm asks for a call of Tick
	// at the next tick. Tests of long times set both.
	Now func() Time
	Arm func()
}

// Queue is the send queue of an interface that can shape (struct ifaltq): a plain
// FIFO until a discipline is attached and enabled. All methods may be called from
// any goroutine; those that change the configuration, by one at a time.
type Queue struct {
	env    Env
	mu     kern.Mtx
	tick   *kern.Callout // nil with Env.Arm
	n      atomic.Int32  // packets held (ifq_len)
	onFlag atomic.Bool   // enabled, for readers without the lock
	probes *probe.Set

	// Guarded by mu.
	disc    Discipline
	timed   Timed // disc, if it has timers
	enabled bool
	closed  bool
	armed   bool // the tick is
	tbr     *tbr
	fifo    ClassQueue
	since   Time // when packets began to wait
	drops   *Drops
	cache   *mbuf.Cache
}

var _ ifnet.SendQueue = (*Queue)(nil)

// NewQueue makes a queue that is ready for ALTQ (IFQ_SET_READY) and not enabled.
// The owner must Close it.
func NewQueue(env Env) *Queue {
	q := &Queue{env: env, cache: mbuf.Of(env.Kernel).NewCache(), probes: env.Kernel.Probes}
	q.drops = NewDrops(q.cache)
	q.fifo.Limit = env.MaxLen
	q.mu.Init(env.Kernel, env.Name+":snd")
	if env.Now == nil {
		k := env.Kernel
		q.env.Now = func() Time { return TimeOf(k.Uptime()) }
	}
	if env.Arm == nil {
		q.tick = env.Kernel.NewCallout(env.Name+":tbr", nil, q.Tick)
		q.env.Arm = func() { q.tick.Reset(1, -1) }
	}
	return q
}

// Of is the interface's queue, ErrNotReady (ENXIO) if it cannot shape.
func Of(ifp *ifnet.Ifnet) (*Queue, error) {
	if q, ok := ifp.Snd().(*Queue); ok {
		return q, nil
	}
	return nil, fmt.Errorf("%s does not support altq: %w", ifp.Name(), ErrNotReady)
}

// Close drops what is queued and ends the queue; late packets are dropped. No tick
// runs or begins afterwards. Not from Start; a second call does nothing.
func (q *Queue) Close() {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.purge()
	q.disc, q.timed, q.enabled, q.tbr = nil, nil, false, nil
	q.onFlag.Store(false)
	q.closed = true
	q.mu.Unlock()
	if q.tick != nil {
		q.tick.Drain()
	}
	q.mu.Lock()
	q.cache.Close()
	q.mu.DestroyLocked()
}

// Attach gives the queue a discipline (altq_attach). An earlier one is replaced,
// also while enabled; what it held is dropped, which FreeBSD forgets (quirk Q6).
func (q *Queue) Attach(d Discipline) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return fmt.Errorf("attaching %s to %s: %w", d.Type(), q.env.Name, ErrNotReady)
	}
	if q.enabled {
		q.purge()
	}
	q.disc = d
	q.timed, _ = d.(Timed)
	return nil
}

// Enable begins to shape (altq_enable); what the FIFO holds is dropped. Enabling
// twice is no error, but without a discipline there is nothing to enable: ENXIO.
func (q *Queue) Enable() error {
	q.mu.Lock()
	if q.disc == nil {
		q.mu.Unlock()
		return fmt.Errorf("enabling altq on %s: %w", q.env.Name, ErrNotReady)
	}
	was := q.enabled
	if !was {
		q.purge()
		q.enabled = true
		q.onFlag.Store(true)
	}
	q.mu.Unlock()
	if !was {
		q.switched(true)
	}
	return nil
}

// Disable ends shaping (altq_disable); what the discipline holds is dropped.
func (q *Queue) Disable() {
	q.mu.Lock()
	was := q.enabled
	if was {
		q.purge()
		q.enabled = false
		q.onFlag.Store(false)
	}
	q.mu.Unlock()
	if was {
		q.switched(false)
	}
}

func (q *Queue) switched(on bool) {
	if q.env.Switched != nil {
		q.env.Switched(on)
	}
}

// Detach takes the discipline away (altq_detach). ErrEnabled (EBUSY): it is in use.
func (q *Queue) Detach() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.enabled {
		return fmt.Errorf("detaching altq from %s: %w", q.env.Name, ErrEnabled)
	}
	q.disc, q.timed = nil, nil
	return nil
}

// SetTBR installs a regulator with a full bucket, in place of any other (tbr_set).
// Rate 0 removes it; ErrNoTBR (ENOENT): there is none.
func (q *Queue) SetTBR(p Profile) error {
	q.mu.Lock()
	if p.Rate == 0 && q.tbr == nil {
		q.mu.Unlock()
		return fmt.Errorf("removing the regulator of %s: %w", q.env.Name, ErrNoTBR)
	}
	q.tbr = nil
	if p.Rate != 0 && !q.closed {
		q.tbr = newTBR(p, q.env.Now())
	}
	q.arm()
	q.mu.Unlock()
	// What the old one held back may be free to go.
	q.Kick()
	return nil
}

// Discipline is what is attached, nil for nothing.
func (q *Queue) Discipline() Discipline {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.disc
}

// Stats is the state of one queue of a discipline of type t. ErrOtherDiscipline
// (EBADF): another one is attached, or none. ErrNoQueue (EINVAL): no such queue.
func (q *Queue) Stats(t Type, qid QID) (ClassStats, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.disc == nil || q.disc.Type() != t {
		return ClassStats{}, fmt.Errorf("%s on %s: %w", t, q.env.Name, ErrOtherDiscipline)
	}
	s, err := q.disc.Stats(qid, q.env.Now())
	if err != nil {
		return s, fmt.Errorf("queue %d on %s: %w", qid, q.env.Name, err)
	}
	return s, nil
}

// TBRStats is the state of the regulator; ErrNoTBR (ENOENT): there is none.
func (q *Queue) TBRStats() (TBRStats, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tbr == nil {
		return TBRStats{}, fmt.Errorf("regulator of %s: %w", q.env.Name, syscall.ENOENT)
	}
	return q.tbr.stats(), nil
}
