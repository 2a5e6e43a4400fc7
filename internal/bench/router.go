package bench

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/machine"
)

// router is a machine that forwards what one NIC receives to a neighbour of the other.
type router struct {
	arm     arm
	m       *machine.Machine
	in      *nic
	out     *nic
	driver  string
	frames  []port.RxFrame
	flooded uint64 // frames that arrived since boot
	own     uint64 // packets that the router sent on its own account, to announce its address
}

// nic is one of a router's two.
type nic struct {
	ctx  *iflib.Ctx
	ifp  *ifnet.Ifnet
	port *null.Port
}

// newRouter makes the router of an arm, which is to be configured.
func newRouter(o *ForwardOptions, a arm) (*router, error) {
	m, err := o.boot(a, routerNICs, o.Queues, o.Queues)
	if err != nil {
		return nil, err
	}
	r := &router{arm: a, m: m, driver: o.Driver}
	if r.in, err = r.nic(o.Driver + "0"); err != nil {
		return nil, closeAfter(m, err)
	}
	if r.out, err = r.nic(o.Driver + "1"); err != nil {
		return nil, closeAfter(m, err)
	}
	r.frames = flowFrames(r.in.ifp.MAC(), o.Size)
	return r, nil
}

// nic finds an interface.
func (r *router) nic(name string) (*nic, error) {
	n := &nic{ctx: r.m.Ctx(name), ifp: r.m.Ifnet(name)}
	var ok bool
	if n.port, ok = r.m.Port(name).(*null.Port); !ok {
		return nil, fmt.Errorf("%s: its port is no null port", name)
	}
	return n, nil
}

// configure waits for the links and does what rc.conf of such a router asks for.
func (r *router) configure() error {
	if err := errors.Join(awaitLink(r.in.ifp), awaitLink(r.out.ifp)); err != nil {
		return err
	}
	k := r.m.Kernel()
	receiver := netip.MustParseAddr("198.19.0.2")
	err := errors.Join(
		inet.AddAddr(r.in.ifp, netip.MustParsePrefix("198.18.0.1/24")),
		inet.AddAddr(r.out.ifp, netip.MustParsePrefix("198.19.0.1/24")),
		inet.AddNeighbour(k, inet.NeighbourReq{Addr: receiver, MAC: [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 2}}),
		inet.AddRoute(k, inet.RouteReq{Prefix: netip.MustParsePrefix("198.19.10.0/24"), Gateway: receiver}),
		k.Sysctl.SetText("net.inet.ip.forwarding", "1"),
	)
	r.own = r.out.ctx.Ledger().In
	return err
}

// passage is the account of frames on their way through a router since it was booted.
type passage struct {
	lent     uint64 // frames that the port of the receiving NIC gave it
	received iflib.RxLedger
	sent     iflib.Ledger
	wire     uint64 // frames that the other NIC sent
}

func (r *router) passage() passage {
	return passage{lent: r.in.port.Stats().RxFrames, received: r.in.ctx.RxLedger(), sent: r.out.ctx.Ledger(), wire: r.out.port.Stats().TxFrames}
}

// missed are frames for which the receiving NIC had no descriptor.
func (p passage) missed() uint64 { return p.lent - p.received.Taken }

// still is how long nothing moves before a router counts as at rest: longer than
// interrupts are held back.
const still = 5 * time.Millisecond

// atRest reports whether no packet is on its way.
func (r *router) atRest(p passage) bool {
	for i := range r.in.ctx.NRxqs() {
		if r.in.ctx.RxReady(i) {
			return false
		}
	}
	return p.lent == r.flooded && p.received.Balanced() && p.received.Handed+r.own == p.sent.In &&
		p.sent.Balanced() && p.sent.Queued == 0 && p.wire == p.sent.Handed
}

// rest waits until no packet is on its way, and returns the account.
func (r *router) rest() (passage, error) {
	end := time.Now().Add(settleTime)
	for {
		p := r.passage()
		time.Sleep(still)
		switch now := r.passage(); {
		case now == p && r.atRest(p):
			return p, nil
		case time.Now().After(end):
			return now, fmt.Errorf("%s does not come to rest: %d of %d frames reached the NIC, received %v, sent %v, hardware sent %d", r.arm.name(), now.lent, r.flooded, now.received, now.sent, now.wire)
		}
		r.out.ctx.KickTx()
	}
}

// audit checks that the receiving NIC itself counts what it missed. It tells when the
// driver asks for its statistics, which it does from time to time.
func (r *router) audit() error {
	want := r.passage().missed()
	name := fmt.Sprintf("dev.%s.0.mac_stats.missed_packets", r.driver)
	for end := time.Now().Add(settleTime); ; time.Sleep(still) {
		got, err := r.m.Kernel().Sysctl.Text(name)
		if err != nil || got == count(want) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: %s is %s, but %d frames were not taken", r.arm.name(), name, got, want)
		}
	}
}

// perQueue are the packets that each transmit queue has sent since boot.
func (r *router) perQueue() []uint64 {
	n := make([]uint64, r.out.ctx.NTxqs())
	for i := range n {
		n[i] = r.out.ctx.TxqSample(i).Packets
	}
	return n
}

// measure runs one slice.
func (r *router) measure(f *flood, d time.Duration) (slice, error) {
	before, err := r.rest()
	if err != nil {
		return slice{}, err
	}
	queues := r.perQueue()
	w := &wave{to: r, ready: make(chan struct{}), start: make(chan struct{}), done: make(chan waveReport, 1)}
	cpu := processCPU()
	f.waves <- w
	<-w.ready
	begin := time.Now()
	close(w.start)
	time.Sleep(d)
	elapsed := time.Since(begin)
	wire := r.out.port.Stats().TxFrames - before.wire
	w.stop.Store(true)
	rep := <-w.done
	r.flooded += rep.offered
	after, err := r.rest()
	if err != nil {
		return slice{}, err
	}
	s := slice{
		offered: rep.offered, cal: rep.cal,
		sent:    after.wire - before.wire,
		missed:  after.missed() - before.missed(),
		dropped: after.received.Dropped() - before.received.Dropped() + after.sent.Dropped() - before.sent.Dropped(),
		pps:     float64(wire) / elapsed.Seconds(),
	}
	if s.sent+s.dropped+s.missed != s.offered {
		return slice{}, fmt.Errorf("%s: sent %d + dropped %d + missed %d is not the offered %d", r.arm.name(), s.sent, s.dropped, s.missed, s.offered)
	}
	for i, n := range r.perQueue() {
		s.perQueue = append(s.perQueue, n-queues[i])
	}
	if s.sent != 0 {
		s.share = float64(s.sent) / float64(s.offered)
		s.cpuNs = float64(max(0, processCPU()-cpu-rep.cpu).Nanoseconds()) / float64(s.sent)
	}
	return s, nil
}
