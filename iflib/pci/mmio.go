package pci

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/sysctl"
)

// MMIOCost is what a register access costs the CPU on top of the model's own work. A
// doorbell costs 100 ns and more on a real bus and nothing here. The wait is a busy one
// in host time, whatever the kernel's clock; a single one is some 50 ns at least, the
// price of reading the clock.
type MMIOCost struct {
	Write, Read time.Duration // one posted write, one read; 0 is free
}

// maxMMIOCost bounds a hint: more is a mistake in the unit.
const maxMMIOCost = time.Millisecond

// MMIOCostFromHints reads hint.<driver>.<unit>.mmio_ns and .mmio_read_ns. Absent hints
// cost nothing; what is no number is sysctl's error, a number above 1 ms is EINVAL.
func MMIOCostFromHints(env *sysctl.Kenv, driver string, unit int) (MMIOCost, error) {
	var c MMIOCost
	for _, h := range []struct {
		resource string
		d        *time.Duration
	}{{"mmio_ns", &c.Write}, {"mmio_read_ns", &c.Read}} {
		n, err := env.HintInt(driver, unit, h.resource)
		if errors.Is(err, syscall.ENOENT) {
			continue
		}
		d := time.Duration(n)
		if err == nil && (d < 0 || d > maxMMIOCost) {
			err = syscall.EINVAL
		}
		if err != nil {
			return MMIOCost{}, fmt.Errorf("hint.%s.%d.%s: %w", driver, unit, h.resource, err)
		}
		*h.d = d
	}
	return c, nil
}

// spin waits for d of host time.
func spin(d time.Duration) {
	if d <= 0 {
		return
	}
	for start := time.Now(); time.Since(start) < d; {
	}
}

// costlyWindow is a window whose accesses take their time.
type costlyWindow struct {
	window
	cost MMIOCost
}

var _ BAR = (*costlyWindow)(nil)

func (w *costlyWindow) Read8(off uint64) uint8 {
	spin(w.cost.Read)
	return w.window.Read8(off)
}

func (w *costlyWindow) Read16(off uint64) uint16 {
	spin(w.cost.Read)
	return w.window.Read16(off)
}

func (w *costlyWindow) Read32(off uint64) uint32 {
	spin(w.cost.Read)
	return w.window.Read32(off)
}

func (w *costlyWindow) Read64(off uint64) uint64 {
	spin(w.cost.Read)
	return w.window.Read64(off)
}

func (w *costlyWindow) Write8(off uint64, v uint8) {
	spin(w.cost.Write)
	w.window.Write8(off, v)
}

func (w *costlyWindow) Write16(off uint64, v uint16) {
	spin(w.cost.Write)
	w.window.Write16(off, v)
}

func (w *costlyWindow) Write32(off uint64, v uint32) {
	spin(w.cost.Write)
	w.window.Write32(off, v)
}

func (w *costlyWindow) Write64(off uint64, v uint64) {
	spin(w.cost.Write)
	w.window.Write64(off, v)
}

// beat is what the bus moves in one access of a block.
const beat = 8

func beats(p []byte) time.Duration { return time.Duration((len(p) + beat - 1) / beat) }

func (w *costlyWindow) ReadBlock(off uint64, p []byte) {
	spin(w.cost.Read * beats(p))
	w.window.ReadBlock(off, p)
}

func (w *costlyWindow) WriteBlock(off uint64, p []byte) {
	spin(w.cost.Write * beats(p))
	w.window.WriteBlock(off, p)
}
