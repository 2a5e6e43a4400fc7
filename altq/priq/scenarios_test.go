package priq_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
)

// link is a 10 Mb/s link unless cfg says otherwise.
func link(t *testing.T, d altq.Discipline, cfg altqsim.Config) *altqsim.Link {
	t.Helper()
	if cfg.Rate == 0 {
		cfg.Rate, cfg.Depth = 10e6, 6000
	}
	return altqtest.Link(t, d, cfg)
}

const frame = 1514

// Scenarios T1 to T4 of spec altq 6.2: what the regulator lets through.
func TestRegulatorRates(t *testing.T) {
	for _, row := range []struct {
		name   string
		cfg    altqsim.Config
		source float64
		want   float64
		within float64
		time   time.Duration
	}{
		{"T1 every kick", altqsim.Config{}, 20e6, 10e6, 0.002, 20 * time.Second},
		{"T2 timer at 100 Hz", altqsim.Config{TimerOnly: true, Hz: 100}, 20e6, 4 * frame * 8 * 100, 0.005, 20 * time.Second},
		{"T3 timer, 8 frames deep", altqsim.Config{TimerOnly: true, Rate: 100e6, Depth: 12000}, 200e6, 8 * frame * 8 * 1000, 0.005, 2 * time.Second},
		{"T4 timer, 24 frames deep", altqsim.Config{TimerOnly: true, Rate: 1e9, Depth: 36000}, 2e9, 24 * frame * 8 * 1000, 0.005, 400 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := link(t, build(t, 1), row.cfg)
			f := l.Add(altqsim.Source{QID: 1, Size: frame, Rate: row.source})
			altqtest.Measure(l, row.time/10, row.time)
			altqtest.Near(t, "rate", f.Rate(), row.want, row.within)
		})
	}
}

// Scenarios P1 to P3: the higher priority gets what it asks for, the lower the rest.
func TestStrictPriority(t *testing.T) {
	for _, row := range []struct {
		name             string
		hi               float64
		wantHi, wantLo   float64
		hiDrops          float64
		loDelay, hiDelay time.Duration // 0: not looked at
	}{
		{"P1", 4e6, 4e6, 6e6, 0, 101 * time.Millisecond, 2300 * time.Microsecond},
		{"P2", 9e6, 9e6, 1e6, 0, 606 * time.Millisecond, 0},
		{"P3", 12e6, 10e6, 0, 0.167, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := link(t, build(t, 2), altqsim.Config{})
			hi := l.Add(altqsim.Source{QID: 1, Size: frame, Rate: row.hi})
			lo := l.Add(altqsim.Source{QID: 2, Size: frame, Rate: 20e6, Start: 300 * time.Microsecond})
			altqtest.Measure(l, 3*time.Second, 25*time.Second)
			altqtest.Near(t, "high priority", hi.Rate(), row.wantHi, 0.005)
			altqtest.Near(t, "low priority", lo.Rate(), row.wantLo, 0.005)
			altqtest.Within(t, "drops of the high priority", hi.DropShare(), row.hiDrops, 0.003)
			if row.loDelay != 0 {
				altqtest.Near(t, "delay of the low priority", lo.MeanDelay().Seconds(), row.loDelay.Seconds(), 0.03)
			}
			if d := hi.DelayQuantile(1); row.hiDelay != 0 && d > row.hiDelay {
				t.Errorf("a packet of the high priority waited %v, want at most %v", d, row.hiDelay)
			}
		})
	}
}
