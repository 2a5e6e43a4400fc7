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
	EngineInline EngineMode = iota // the register write that rings the doorbell
	EngineThread                   // a goroutine of the model
)

// String returns the mode as the hint has it.
func (m EngineMode) String() string {
	if m == EngineThread {
		return "thread"
	}
	return "inline"
}

// ParseEngine reads the hint's value for a NIC on the port given ("null", "pair:wire0").
// The empty value is inline for null and pair ports and thread for the others. The
// error wraps EINVAL.
func ParseEngine(s, portSpec string) (EngineMode, error) {
	switch s {
	case "inline":
		return EngineInline, nil
	case "thread":
		return EngineThread, nil
	case "":
		kind, _, _ := strings.Cut(portSpec, ":")
		if kind == "null" || kind == "pair" {
			return EngineInline, nil
		}
		return EngineThread, nil
	}
	return EngineInline, fmt.Errorf("engine %q is neither inline nor thread: %w", s, syscall.EINVAL)
}
