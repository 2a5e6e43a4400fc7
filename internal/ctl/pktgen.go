package ctl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/sysctl"
)

// Bounds of the parameters.
const (
	MinFrame   = 60      // bytes without FCS
	MaxThreads = 64      // senders
	MaxFrames  = 1 << 40 // of one run
)

// sendingSet are the NICs that a generator uses: one at a time each, since what has been
// sent is told by the NIC's account.
type sendingSet struct {
	mu   sync.Mutex
	nics map[*iflib.Ctx]bool
}

func (s *sendingSet) claim(ctx *iflib.Ctx) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nics[ctx] {
		return nil, false
	}
	if s.nics == nil {
		s.nics = make(map[*iflib.Ctx]bool)
	}
	s.nics[ctx] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.nics, ctx)
	}, true
}

// pktgen sends frames and waits until the hardware has sent them. The result is as far as
// it came, also with an error.
func (s *Server) pktgen(ctx context.Context, p PktgenParams) (PktgenResult, error) {
	g, err := s.newGenerator(p)
	if err != nil {
		return PktgenResult{}, fmt.Errorf("%s: %w", p.Interface, err)
	}
	release, ok := s.sending.claim(g.nic)
	if !ok {
		return PktgenResult{}, fmt.Errorf("%s: another pktgen sends: %s", p.Interface, sysctl.Strerror(syscall.EBUSY))
	}
	defer release()
	res, err := g.run(ctx)
	if err != nil {
		return res, fmt.Errorf("%s: %w (%d of %d frames sent)", p.Interface, err, res.Frames, p.Frames)
	}
	return res, nil
}

// generator is one run.
type generator struct {
	p       PktgenParams
	nic     *iflib.Ctx
	ifp     *ifnet.Ifnet
	port    port.Port
	dst     [ifnet.EtherAddrLen]byte
	stopped atomic.Bool // the senders shall end

	base progress
}

// progress is what interface and hardware have done with packets.
type progress struct{ handed, left uint64 }

// newGenerator checks the parameters.
func (s *Server) newGenerator(p PktgenParams) (*generator, error) {
	g := &generator{p: p, dst: ifnet.EtherBroadcast}
	ifp := s.m.Ifnet(p.Interface)
	if ifp == nil {
		return nil, errors.New("no such interface")
	}
	for _, name := range s.m.Devices() {
		if nic := s.m.Ctx(name); nic != nil && nic.Ifp() == ifp {
			g.ifp, g.nic, g.port = ifp, nic, s.m.Port(name)
		}
	}
	if p.Threads == 0 {
		g.p.Threads = 1
	}
	largest := ifp.MTU() + ifnet.EtherHdrLen
	switch {
	case g.nic == nil:
		return nil, errors.New("not a NIC's interface")
	case p.Frames < 1 || p.Frames > MaxFrames:
		return nil, fmt.Errorf("%d frames: 1 to %d", p.Frames, uint64(MaxFrames))
	case p.Size < MinFrame || p.Size > min(largest, mbuf.MJum16Bytes):
		return nil, fmt.Errorf("frames of %d bytes: %d to %d with an MTU of %d", p.Size, MinFrame, min(largest, mbuf.MJum16Bytes), ifp.MTU())
	case p.Threads < 0 || p.Threads > MaxThreads:
		return nil, fmt.Errorf("%d threads: 1 to %d", p.Threads, MaxThreads)
	case !(p.Rate >= 0): // NaN too
		return nil, fmt.Errorf("rate %v: not a number of frames a second", p.Rate)
	}
	if p.Dst != "" {
		mac, err := net.ParseMAC(p.Dst)
		if err != nil || len(mac) != ifnet.EtherAddrLen {
			return nil, fmt.Errorf("destination %q: not an Ethernet address", p.Dst)
		}
		g.dst = [ifnet.EtherAddrLen]byte(mac)
	}
	return g, nil
}

// How long a link may take to come up and an interface that moves nothing is waited for,
// and the time between looks.
const (
	linkTime  = 5 * time.Second
	stallTime = 5 * time.Second
	lookStep  = 200 * time.Microsecond
)

// run sends all frames and waits for the hardware.
func (g *generator) run(ctx context.Context) (PktgenResult, error) {
	res := PktgenResult{Size: g.p.Size}
	if err := g.awaitLink(ctx); err != nil {
		return res, err
	}
	defer context.AfterFunc(ctx, func() { g.stopped.Store(true) })()
	g.base = g.progress()
	senders := make([]*sender, g.p.Threads)
	start := time.Now()
	var wg sync.WaitGroup
	for i := range senders {
		senders[i] = g.newSender(i)
		wg.Go(senders[i].run)
	}
	wg.Wait()
	var errs error
	for _, s := range senders {
		res.Frames += s.sent
		res.Refused += s.refused
		if errs == nil {
			errs = s.err
		}
	}
	if errs == nil {
		errs = ctx.Err()
	}
	if errs == nil {
		errs = g.awaitHardware(ctx)
	}
	res.Elapsed = time.Since(start)
	return res, errs
}

// awaitLink waits for the link of an interface that is up.
func (g *generator) awaitLink(ctx context.Context) error {
	if g.ifp.Flags()&ifnet.FlagUp == 0 {
		return errors.New("the interface is down")
	}
	for end := time.Now().Add(linkTime); g.ifp.LinkState() != ifnet.LinkStateUp; {
		if time.Now().After(end) {
			return errors.New("no carrier")
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for lookStep.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lookStep):
		return nil
	}
}

func (g *generator) progress() progress {
	st := g.port.Stats()
	p := progress{handed: g.nic.Ledger().Handed, left: st.TxFrames}
	for _, n := range st.TxErrors {
		p.left += n
	}
	return p
}

// awaitHardware waits until what the interface took has been handed to the hardware and
// has left it, as long as something moves.
func (g *generator) awaitHardware(ctx context.Context) error {
	var last progress
	for end := time.Now().Add(stallTime); ; {
		l, now := g.nic.Ledger(), g.progress()
		if l.Queued == 0 && l.Balanced() && now.left-g.base.left >= now.handed-g.base.handed {
			return nil
		}
		if now != last {
			last, end = now, time.Now().Add(stallTime)
		}
		if time.Now().After(end) {
			return fmt.Errorf("frames are stuck: %v; hardware sent %d of %d", l, now.left-g.base.left, now.handed-g.base.handed)
		}
		g.nic.KickTx()
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
