package pktgen8

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/machine"
)

// Pktgen runs generators on the NICs of a machine. Any goroutine, several at once.
type Pktgen struct {
	m    *machine.Machine
	used claims
}

// New is a Pktgen of a machine: one for all its clients, since it keeps them apart.
func New(m *machine.Machine) *Pktgen { return &Pktgen{m: m} }

// WaitFunc waits for d of the machine's time, and ends early with an error when ctx does.
type WaitFunc = func(ctx context.Context, d time.Duration) error

// Do carries one run out and returns what was done, as far as it came also with an error.
// With a ReportMS report is called in between, in the caller's goroutine; wait waits for it.
// Both may be nil: no reports. The error is what is wrong with the parameters, or with the
// interface, or ctx's.
func (g *Pktgen) Do(ctx context.Context, p Params, wait WaitFunc, report func(Report)) (Result, error) {
	j, err := g.newJob(p)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", p.Interface, err)
	}
	release, err := g.used.claim(j.nic, j.p.directions())
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", p.Interface, err)
	}
	defer release()
	if p.ReportMS == 0 || wait == nil || report == nil {
		wait, report = nil, nil
	}
	res, err := j.run(ctx, wait, report)
	switch {
	case err != nil && p.Frames > 0:
		return res, fmt.Errorf("%s: %w (%d of %d frames %s)", p.Interface, err, res.Frames, p.Frames, j.done())
	case err != nil:
		return res, fmt.Errorf("%s: %w (%d frames %s)", p.Interface, err, res.Frames, j.done())
	}
	return res, nil
}

// newJob checks the parameters.
func (g *Pktgen) newJob(p Params) (*job, error) {
	ifp := g.m.Ifnet(p.Interface)
	if ifp == nil {
		return nil, errors.New("no such interface")
	}
	j := &job{k: g.m.Kernel(), ifp: ifp, gone: make(chan struct{}), stop: make(chan struct{})}
	for _, name := range g.m.Devices() {
		if nic := g.m.Ctx(name); nic != nil && nic.Ifp() == ifp {
			j.nic, j.port = nic, g.m.Port(name)
		}
	}
	if j.nic == nil {
		return nil, errors.New("not a NIC's interface")
	}
	j.p = settings{p}
	j.p.fill()
	if err := j.p.check(ifp.MTU()); err != nil {
		return nil, err
	}
	return j, j.addresses()
}

// addresses reads the ranges.
func (j *job) addresses() (err error) {
	w := &j.wheels
	if j.src, err = parseSpan(j.p.SrcIP, j.p.IPv6); err != nil {
		return fmt.Errorf("source %w", err)
	}
	if j.dst, err = parseSpan(j.p.DstIP, j.p.IPv6); err != nil {
		return fmt.Errorf("destination %w", err)
	}
	w[srcPort], w[srcAddr], w[dstPort], w[dstAddr] = j.src.port, j.src.addr, j.dst.port, j.dst.addr
	for _, station := range []struct {
		text, what string
		otherwise  [ifnet.EtherAddrLen]byte
		to         *wheel
	}{
		{j.p.Src, "source", j.ifp.MAC(), &w[srcStation]},
		{j.p.Dst, "destination", ifnet.EtherBroadcast, &w[dstStation]},
	} {
		if station.text == "" {
			v := stationValue(station.otherwise)
			*station.to = wheel{first: v, last: v, size: ifnet.EtherAddrLen}
		} else if *station.to, err = parseStations(station.text); err != nil {
			return fmt.Errorf("%s %w", station.what, err)
		}
	}
	return nil
}
