package ifnet

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

type (
	transmitFunc func(m *mbuf.Mbuf) error
	inputFunc    func(c *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf)
)

// Methods are what a driver gives its interface (spec ifnet 6.6). Transmit and
// QFlush come together or not at all; without them packets go through the send
// queue and Start. A nil method of the others does nothing; a nil Ioctl refuses
// with EOPNOTSUPP.
type Methods struct {
	// Init programs the hardware and sets RUNNING (if_init). It may be called while running.
	Init func()
	// Ioctl serves a request, unknown ones through EtherIoctl (if_ioctl). It may sleep;
	// the interface's request lock is held. data is nil for Add- and DelMulti and SetFlags.
	Ioctl func(cmd Ioctl, data any) error
	// Transmit takes m in any case, also with an error (if_transmit). Any goroutine.
	Transmit func(m *mbuf.Mbuf) error
	// QFlush drops what is queued (if_qflush).
	QFlush func()
	// Start drains the send queue (if_start, legacy).
	Start func()
	// GetCounter reads a counter without side effects (if_get_counter); counters that
	// the driver does not own come from Ifnet.GetCounterDefault.
	GetCounter func(c Counter) uint64
}

// SetMethods gives the driver's methods to the interface. Before attach, once.
func (ifp *Ifnet) SetMethods(m Methods) {
	if (m.Transmit == nil) != (m.QFlush == nil) {
		panic("transmit and qflush must both either be set or both be NULL")
	}
	ifp.methods.Store(&m)
	if m.Transmit != nil {
		ifp.setTransmit(m.Transmit)
	} else {
		ifp.setTransmit(ifp.transmitDefault)
	}
}

// SetTransmit replaces the transmit method of a live interface (if_settransmitfn).
// Packets that are inside the old one finish there.
func (ifp *Ifnet) SetTransmit(fn func(m *mbuf.Mbuf) error) { ifp.setTransmit(fn) }

func (ifp *Ifnet) setTransmit(fn transmitFunc) { ifp.transmit.Store(&fn) }
func (ifp *Ifnet) setInput(fn inputFunc)       { ifp.input.Store(&fn) }

// Transmit gives a packet with its link header to the interface (if_transmit). m is
// the interface's in any case. ENOBUFS: the queue is full; ENETDOWN; ENXIO: detached.
func (ifp *Ifnet) Transmit(m *mbuf.Mbuf) error { return (*ifp.transmit.Load())(m) }

// InputCache takes a list of received packets through NextPkt and handles each, in
// order, before it returns (if_input). Each has a packet header, RcvIf set and the
// Ethernet header in its first mbuf. c is the caller's cache.
func (ifp *Ifnet) InputCache(c *mbuf.Cache, m *mbuf.Mbuf) { (*ifp.input.Load())(c, ifp, m) }

// Input is InputCache for a caller without a cache.
func (ifp *Ifnet) Input(m *mbuf.Mbuf) {
	c := ifp.zones.Borrow()
	ifp.InputCache(c, m)
	ifp.zones.Return(c)
}

// QFlush drops what is queued in the interface (if_qflush).
func (ifp *Ifnet) QFlush() {
	m := ifp.methods.Load()
	switch {
	case m.QFlush != nil:
		m.QFlush()
	case m.Transmit == nil:
		ifp.qflushDefault()
	}
}

// InitIf calls the driver's Init (if_init).
func (ifp *Ifnet) InitIf() {
	if fn := ifp.methods.Load().Init; fn != nil {
		fn()
	}
}

// die replaces all methods (if_dead): transmit frees and says ENXIO, ioctl says
// ENXIO, input frees, counters read 0.
func (ifp *Ifnet) die() {
	ifp.methods.Store(&Methods{
		Ioctl: func(cmd Ioctl, _ any) error {
			return fmt.Errorf("%s of a detached interface: %w", cmd, syscall.ENXIO)
		},
		Transmit:   transmitDead,
		QFlush:     func() {},
		GetCounter: func(Counter) uint64 { return 0 },
	})
	ifp.setTransmit(transmitDead)
	ifp.setInput(dropInput)
	ifp.sndEnabled.Store(false)
}

func transmitDead(m *mbuf.Mbuf) error {
	mbuf.FreeChain(m)
	return syscall.ENXIO
}

func discardNoMethod(m *mbuf.Mbuf) error {
	mbuf.FreeChain(m)
	return syscall.EOPNOTSUPP
}

// dropInput frees a list of packets.
func dropInput(c *mbuf.Cache, _ *Ifnet, m *mbuf.Mbuf) {
	for m != nil {
		next := m.NextPkt
		m.NextPkt = nil
		c.FreeChain(m)
		m = next
	}
}

// transmitDefault is if_transmit_default: the send queue and Start (spec ifnet 6.6).
func (ifp *Ifnet) transmitDefault(m *mbuf.Mbuf) error {
	n, mcast := uint64(m.Pkt.Len), m.Flags&mbuf.FlagMcast != 0
	if err := ifp.Snd().Enqueue(m); err != nil {
		ifp.IncCounter(CounterOQDrops, 1)
		return fmt.Errorf("queueing on %s: %w", ifp.Name(), err)
	}
	ifp.IncCounter(CounterOBytes, n)
	if mcast {
		ifp.IncCounter(CounterOMcasts, 1)
	}
	if start := ifp.methods.Load().Start; start != nil && ifp.DrvFlags()&FlagOActive == 0 {
		start()
	}
	return nil
}

// qflushDefault drops what the send queue holds.
func (ifp *Ifnet) qflushDefault() {
	c := ifp.zones.Borrow()
	ifp.Snd().Purge(c)
	ifp.zones.Return(c)
}
