package hw

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
)

// NIC is what a model's constructor returns.
type NIC interface{ pci.Device }

// Config is what every model is made with.
type Config struct {
	Kernel *kern.Kernel
	Name   string    // of the device, "em0": for messages, probes and fail points
	Port   port.Port // not bound yet; the model binds and closes it
	Engine EngineMode
	MAC    [EtherAddrLen]byte

	// MMIOWriteNs and MMIOReadNs are what a posted write and a read of a register cost
	// in ns (hint.<drv>.<n>.mmio_ns and mmio_read_ns); 0 is nothing.
	MMIOWriteNs, MMIOReadNs int

	// Work is shared by all models that can reach each other through pair ports, of
	// other machines too. nil makes the engine one of its own.
	Work *WorkList
}

// EngineMode says who does the descriptor work (hint.<drv>.<n>.engine).
type EngineMode uint8

// The modes.
const (
	EngineDefault EngineMode = iota // inline on null and pair ports, else thread
	EngineInline                    // the register write that rings the doorbell
	EngineThread                    // a goroutine of the model
)

// String returns the mode as the hint has it; "" for EngineDefault.
func (m EngineMode) String() string {
	switch m {
	case EngineInline:
		return "inline"
	case EngineThread:
		return "thread"
	}
	return ""
}

// ParseEngine reads the hint's value: "inline", "thread", or "" for EngineDefault. The
// error wraps EINVAL.
func ParseEngine(s string) (EngineMode, error) {
	for _, m := range [...]EngineMode{EngineDefault, EngineInline, EngineThread} {
		if s == m.String() {
			return m, nil
		}
	}
	return EngineDefault, fmt.Errorf("engine %q is neither inline nor thread: %w", s, syscall.EINVAL)
}

// For returns the mode for a NIC on port p: m, or the default of the port's kind. No
// port is as good as null.
func (m EngineMode) For(p port.Port) EngineMode {
	if m != EngineDefault {
		return m
	}
	if p == nil {
		return EngineInline
	}
	switch kind, _, _ := strings.Cut(p.Name(), ":"); kind {
	case "null", "pair":
		return EngineInline
	}
	return EngineThread
}
