package hw

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/internal/kern"
)

// DefaultAutoneg is how long two PHYs take to agree (spec 1g 5.4).
const DefaultAutoneg = 500 * time.Millisecond

// LinkConfig says what a Link is made of.
type LinkConfig struct {
	Kernel  *kern.Kernel
	Name    string
	Port    port.Port
	Faults  *Faults
	Speeds  []int           // Mbit/s that the PHY can do, ascending, at least one
	Autoneg time.Duration   // until the link is up; 0: at once
	Changed func(LinkState) // called without a lock when the state changed; LSC is raised here
}

// LinkState is what the status register shows.
type LinkState struct {
	Up         bool
	FullDuplex bool
	Speed      int // Mbit/s, 0 when down
}

const (
	linkUpBit     = 1 << 0
	linkFDBit     = 1 << 1
	linkSpeedFrom = 2
)

func (s LinkState) pack() uint64 {
	if !s.Up {
		return 0
	}
	v := uint64(s.Speed)<<linkSpeedFrom | linkUpBit
	if s.FullDuplex {
		v |= linkFDBit
	}
	return v
}

func unpackLink(v uint64) LinkState {
	return LinkState{Up: v&linkUpBit != 0, FullDuplex: v&linkFDBit != 0, Speed: int(v >> linkSpeedFrom)}
}

// Link is a PHY whose cable is the port: after the port's link comes up, and while the
// MAC asks for it, it negotiates and is up; it goes down at once (spec 1g 5.4). Any
// goroutine.
type Link struct {
	cfg   LinkConfig
	state atomic.Uint64 // LinkState packed
	neg   *timer        // negotiation
	flap  *timer        // end of an injected outage

	mu       sync.Mutex // guards what follows; held while state changes
	enabled  bool
	limit    int  // Mbit/s, 0: none
	agreeing bool // negotiation runs
	settled  bool // negotiation has ended
	flapping bool
}

// NewLink returns a link that is down until SetEnabled.
func NewLink(cfg LinkConfig) *Link {
	l := &Link{cfg: cfg}
	l.neg = newTimer(cfg.Kernel, cfg.Name+" autoneg", l.agreed)
	l.flap = newTimer(cfg.Kernel, cfg.Name+" link flap", l.flapped)
	return l
}

// State returns the link as the status register shows it: one atomic load.
func (l *Link) State() LinkState { return unpackLink(l.state.Load()) }

// Up reports whether the link is up.
func (l *Link) Up() bool { return l.state.Load()&linkUpBit != 0 }

// PortChanged looks at the port again: call it from port.Client.LinkChanged.
func (l *Link) PortChanged() { l.update(func() {}) }

// SetEnabled says whether the MAC wants a link (CTRL.SLU, interface up).
func (l *Link) SetEnabled(on bool) { l.update(func() { l.enabled = on }) }

// SetLimit bounds the speed: forced, or the best that is advertised; 0 is no bound. If
// the link is up it is renegotiated.
func (l *Link) SetLimit(mbps int) {
	l.update(func() {
		if l.limit != mbps {
			l.limit = mbps
			l.drop()
		}
	})
}

// Restart takes the link down and negotiates anew (BMCR restart-AN or reset).
func (l *Link) Restart() { l.update(l.drop) }

// Poll passes the link_flap fail point: call it where the driver reads the status. With
// return(n) the link is down for n ms.
func (l *Link) Poll() {
	ms, hit := l.cfg.Faults.LinkFlap.Eval()
	if !hit {
		return
	}
	l.update(func() { l.flapping = true })
	l.flap.start(time.Duration(max(ms, 1)) * time.Millisecond)
}

func (l *Link) flapped() { l.update(func() { l.flapping = false }) }

// agreed is the end of the negotiation.
func (l *Link) agreed() {
	l.update(func() { l.settled, l.agreeing = l.agreeing, false })
}

// drop takes the link down; settle takes it up again if it may. The caller holds mu.
func (l *Link) drop() {
	l.agreeing, l.settled = false, false
	l.neg.stop()
	l.state.Store(0)
}

// update makes a change and brings the state in line with port, MAC and negotiation.
// The port is asked without the lock, and again afterwards: calls of two goroutines may
// overtake each other.
func (l *Link) update(change func()) {
	for p := l.cfg.Port.Link(); ; {
		l.mu.Lock()
		before := l.state.Load()
		change()
		between := l.state.Load()
		l.settle(p)
		after := l.state.Load()
		l.mu.Unlock()
		if after != before || between != before { // down and up again is a change too
			l.cfg.Changed(unpackLink(after))
		}
		now := l.cfg.Port.Link()
		if now == p {
			return
		}
		p, change = now, func() {}
	}
}

// settle derives the state. The caller holds mu.
func (l *Link) settle(p port.Link) {
	switch {
	case !p.Up || !l.enabled || l.flapping:
		l.drop()
	case l.settled || l.cfg.Autoneg <= 0:
		l.settled = true
		l.state.Store(l.best(p).pack())
	case !l.agreeing:
		l.agreeing = true
		l.neg.start(l.cfg.Autoneg)
	}
}

// best is the state that port and PHY agree on: the highest speed both can do.
func (l *Link) best(p port.Link) LinkState {
	s := LinkState{Up: true, FullDuplex: p.FullDuplex, Speed: l.cfg.Speeds[0]}
	for _, speed := range l.cfg.Speeds {
		if (p.Speed == 0 || speed <= p.Speed) && (l.limit == 0 || speed <= l.limit) {
			s.Speed = speed
		}
	}
	return s
}

// Close ends the link's timers. Not from Changed.
func (l *Link) Close() {
	l.neg.close()
	l.flap.close()
}
