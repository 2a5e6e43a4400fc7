package altqbench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet"
)

// Wires runs the scenarios on wires. The process must be root of a network namespace of
// its own, as [Run] gives it.
func Wires(ctx context.Context, o Options) (res Result, err error) {
	if err := o.normalize(); err != nil {
		return res, err
	}
	runs := o.wireRuns()
	for i := range runs {
		m, err := runs[i].best(ctx, o.Duration)
		if err != nil {
			return res, fmt.Errorf("%s, %s: %w", runs[i].where(), runs[i].s.discipline, err)
		}
		res.Rows = append(res.Rows, m.rows()...)
		if runs[i].drawn {
			res.Panels = append(res.Panels, m.panel)
		}
		o.progress(OnlyWires, i+1, len(runs))
	}
	return res, nil
}

// A run during which the host stalled for more than stallLimit of the time is run again,
// up to so many times in all. The best counts.
const (
	stallLimit = 0.2
	attempts   = 3
)

// best measures until the host has not stalled too much.
func (r *wireRun) best(ctx context.Context, d time.Duration) (best *measurement, err error) {
	for range attempts {
		m, err := r.measure(ctx, d)
		if err != nil {
			return nil, err
		}
		if best == nil || m.stalled() < best.stalled() {
			best = m
		}
		if best.stalled() <= stallLimit {
			break
		}
	}
	return best, nil
}

// measure makes a wire and a machine on it, and measures.
func (r *wireRun) measure(ctx context.Context, d time.Duration) (m *measurement, err error) {
	p, err := newPeer(len(r.s.flows))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	b, err := bootBox(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.m.Close()) }()
	m = &measurement{box: b, peer: p, panel: Panel{Where: r.where(), Title: r.s.discipline + ": " + r.s.name, Bin: bin}}
	for i := range r.s.flows {
		s, err := newSender(&r.s.flows[i], i, b.ifp, ifnet.InetPfil(b.m.Kernel(), ifnet.AFInet), p.mac)
		if err != nil {
			return nil, err
		}
		m.senders = append(m.senders, s)
		m.panel.Series = append(m.panel.Series, Series{Class: s.flow.name})
	}
	return m, m.run(ctx, d)
}

// measurement is a run on a wire.
type measurement struct {
	box     *box
	peer    *peer
	senders []*sender
	panel   Panel

	mark, end snapshot
	above     float64 // bytes, at most, above what the rate allows since the mark

	// At rest, after the end.
	final        count
	account      account
	zero, others uint64 // frames of transmit queues
}

// snapshot is everything that is counted at a moment.
type snapshot struct {
	count
	offered []uint64 // frames, by flow
	tbr     altq.TBRStats
}

func (m *measurement) snapshot() (s snapshot, err error) {
	if s.count, err = m.peer.count(); err != nil {
		return s, err
	}
	for _, f := range m.senders {
		s.offered = append(s.offered, f.offered.Load())
	}
	s.tbr, err = m.box.queue.TBRStats()
	return s, err
}

// run has the senders send, measures for d, and waits until all has arrived.
func (m *measurement) run(ctx context.Context, d time.Duration) error {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, s := range m.senders {
		wg.Go(func() { s.run(done) })
	}
	err := m.sample(ctx, d)
	close(done)
	wg.Wait()
	if err != nil {
		return err
	}
	return m.rest(ctx)
}

// warmUp is how long queues fill and estimators settle.
const warmUp = time.Second

// moment takes a snapshot from which, or to which, an account is exact: the bucket is
// empty, nothing is on its way, somebody has just asked the regulator, nothing has been
// lost while the counters were read, and who gets what he offers has got it. If the host
// leaves no such moment, the last one will do.
func (m *measurement) moment(ctx context.Context) (s snapshot, err error) {
	const (
		patience = time.Second
		recent   = 2 * time.Millisecond
	)
	queue := m.box.queue
	start := time.Now()
	looked, sent := start, m.box.account().xmit
	err = await(ctx, "a quiet moment", func() (bool, error) {
		before, err := queue.TBRStats()
		if err != nil {
			return false, err
		}
		was, since := sent, time.Since(looked)
		looked, sent = time.Now(), m.box.account().xmit
		if s, err = m.snapshot(); err != nil {
			return false, err
		}
		quiet := s.tbr.Tokens <= 0 && s.frames == sent && sent != was && since < recent &&
			s.after.Sub(looked) < recent && s.tbr.Stalled == before.Stalled && s.tbr.Idle == before.Idle && m.caughtUp(&s)
		return quiet || time.Since(start) > patience, nil
	})
	return s, err
}

// caughtUp reports whether flows without a weight have few frames queued.
func (m *measurement) caughtUp(s *snapshot) bool {
	const few = 3
	for i, f := range m.senders {
		if m.box.run.s.weights[f.flow.name] == 0 && s.offered[i] > s.flows[i]+few {
			return false
		}
	}
	return true
}

// sample measures for d.
func (m *measurement) sample(ctx context.Context, d time.Duration) (err error) {
	if err := pause(ctx, min(warmUp, d)); err != nil {
		return err
	}
	if m.mark, err = m.moment(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(bin)
	defer tick.Stop()
	for last := m.mark; last.after.Sub(m.mark.before) < d; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		s, err := m.snapshot()
		if err != nil {
			return err
		}
		m.bound(&s)
		m.draw(&last, &s)
		last = s
	}
	if m.end, err = m.moment(ctx); err != nil {
		return err
	}
	m.bound(&m.end)
	return nil
}

// bound notes how far above the rate all is that has arrived since the mark.
func (m *measurement) bound(s *snapshot) {
	allowed := float64(s.tbr.Rate) / bitsPerByte * s.after.Sub(m.mark.before).Seconds()
	m.above = max(m.above, float64(s.bytes-m.mark.bytes)-allowed)
}

// draw adds what has arrived between two snapshots to the panel, in as many bins as have
// passed.
func (m *measurement) draw(from, to *snapshot) {
	begun := int(from.before.Sub(m.mark.before) / bin)
	n := int(to.before.Sub(m.mark.before)/bin) - begun
	for i := range m.panel.Series {
		bytes := float64((to.flows[i] - from.flows[i]) * uint64(m.senders[i].flow.frame()))
		for range n {
			m.panel.Series[i].Mbps = append(m.panel.Series[i].Mbps, mbps(bytes, to.before.Sub(from.before)))
		}
	}
}

// rest waits until what was queued has arrived.
func (m *measurement) rest(ctx context.Context) error {
	err := await(ctx, "the last frames", func() (arrived bool, err error) {
		empty := m.box.queue.Len() == 0 // before those who would have counted what was in it
		m.account = m.box.account()
		m.final, err = m.peer.count()
		return empty && m.final.frames == m.account.xmit, err
	})
	// What does not arrive is a figure.
	if err != nil && !errors.Is(err, errTimeout) {
		return err
	}
	m.zero, m.others, err = m.box.txqFrames()
	return err
}
