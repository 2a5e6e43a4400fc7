package hw

import (
	"slices"
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
)

var gigabit = []int{10, 100, 1000}

func newLink(t *testing.T, cfg LinkConfig) (*Link, *[]LinkState, func(time.Duration)) {
	k := newKernel(t, stepped(0))
	var seen []LinkState
	cfg.Kernel, cfg.Name, cfg.Faults, cfg.Speeds = k, "em0", NewFaults(k, "em0"), gigabit
	cfg.Changed = func(s LinkState) { seen = append(seen, s) }
	l := NewLink(cfg)
	t.Cleanup(l.Close)
	return l, &seen, func(d time.Duration) { k.Advance(d) }
}

func up(speed int) LinkState { return LinkState{Up: true, FullDuplex: true, Speed: speed} }

func expectStates(t *testing.T, seen *[]LinkState, want ...LinkState) {
	t.Helper()
	if !slices.Equal(*seen, want) {
		t.Errorf("changes %+v, want %+v", *seen, want)
	}
	*seen = nil
}

func TestLinkComesUpAfterNegotiation(t *testing.T) {
	p := &fakePort{link: port.Link{Up: true, FullDuplex: true}}
	l, seen, advance := newLink(t, LinkConfig{Port: p, Autoneg: DefaultAutoneg})
	l.PortChanged()
	advance(time.Second)
	expectStates(t, seen) // the MAC does not want it yet
	l.SetEnabled(true)
	advance(499 * ms)
	expectStates(t, seen)
	advance(2 * ms)
	expectStates(t, seen, up(1000))
	l.PortChanged()
	expectStates(t, seen) // nothing new
	p.link = port.Link{}
	l.PortChanged()
	expectStates(t, seen, LinkState{})
	p.link = port.Link{Up: true, FullDuplex: true, Speed: 100}
	l.PortChanged()
	advance(100 * ms)
	l.Restart()
	advance(450 * ms)
	expectStates(t, seen) // began anew
	advance(100 * ms)
	expectStates(t, seen, up(100))
	if !l.Up() || l.State() != up(100) {
		t.Errorf("state %+v", l.State())
	}
}

func TestLinkWithoutDelayReportsARestart(t *testing.T) {
	p := &fakePort{link: port.Link{Up: true, Speed: 10000}}
	l, seen, _ := newLink(t, LinkConfig{Port: p})
	l.SetEnabled(true)
	l.Restart()
	l.SetLimit(100)
	l.SetLimit(100)
	l.SetEnabled(false)
	half := LinkState{Up: true, Speed: 1000}
	expectStates(t, seen, half, half, LinkState{Up: true, Speed: 100}, LinkState{})
}

func TestLinkFlapFault(t *testing.T) {
	p := &fakePort{link: port.Link{Up: true, FullDuplex: true}}
	l, seen, advance := newLink(t, LinkConfig{Port: p})
	l.SetEnabled(true)
	l.Poll()
	expectStates(t, seen, up(1000))
	must(t, l.cfg.Faults.LinkFlap.Set("1*return(20)"))
	l.Poll()
	l.Poll()
	expectStates(t, seen, LinkState{})
	advance(19 * ms)
	expectStates(t, seen)
	advance(2 * ms)
	expectStates(t, seen, up(1000))
}
