package hw

import (
	"sync/atomic"
	"time"
)

const (
	calibrationLoops = 20000
	calibrationRuns  = 5
)

// MMIO makes register accesses as slow as a bus would: a doorbell costs 100 ns and more
// on a real one. Busy waiting counts steps and reads no clock. Any goroutine.
type MMIO struct {
	write, read uint32 // steps; 0 is no delay
	spun        atomic.Uint32
}

// NewMMIO calibrates the delays of a configuration; without delays that takes no time.
func NewMMIO(cfg *Config) *MMIO {
	m := &MMIO{}
	if cfg.MMIOWriteNs <= 0 && cfg.MMIOReadNs <= 0 {
		return m
	}
	best := time.Duration(1<<63 - 1)
	for range calibrationRuns {
		start := time.Now()
		m.spin(calibrationLoops)
		best = min(best, time.Since(start))
	}
	best = max(best, 1)
	steps := func(ns int) uint32 {
		return uint32(min(max(int64(ns), 0)*calibrationLoops/int64(best), 1<<31))
	}
	m.write, m.read = steps(cfg.MMIOWriteNs), steps(cfg.MMIOReadNs)
	return m
}

// Write waits as long as a posted write takes.
func (m *MMIO) Write() {
	if m.write != 0 {
		m.spin(m.write)
	}
}

// Read waits as long as a read takes.
func (m *MMIO) Read() {
	if m.read != 0 {
		m.spin(m.read)
	}
}

// spin takes steps turns of a chain of multiplications, which a neighbour on the same
// core does not slow down.
//
//go:noinline
func (m *MMIO) spin(steps uint32) {
	const mul, add = 1664525, 1013904223
	x := steps
	for range steps {
		x = x*mul + add
	}
	if x == 0 {
		m.spun.Store(x) // keeps the chain
	}
}
