package e1000

import "sync/atomic"

// Scale converts between interrupt rates, in interrupts a second, and the value of a
// throttle register (ITR, EITR).
type Scale struct {
	Value func(rate int) uint32
	Rate  func(value uint32) uint64 // not called for 0
}

// Moderator paces one interrupt and counts it. The interrupt's filter owns it; Rate and
// IRQs are for any goroutine.
type Moderator struct {
	IRQs atomic.Uint64

	reg   uint64
	scale Scale
	aim   AIM
	value atomic.Uint32 // of the register
}

// InitModerator gives it its register.
func (m *Moderator) InitModerator(reg uint64, scale Scale) { m.reg, m.scale = reg, scale }

// Start notes that the register was programmed for a rate, and returns its value; before
// interrupts are enabled.
func (m *Moderator) Start(rate int) uint32 {
	v := m.scale.Value(rate)
	m.value.Store(v)
	return v
}

// Adapt fits the rate to the traffic since the last interrupt (em_newitr).
func (m *Moderator) Adapt(bar BAR, c Conditions, tx, rx Load) {
	rate := m.aim.Rate(c, tx, rx)
	if rate == 0 {
		return
	}
	if v := m.scale.Value(rate); v != m.value.Load() {
		m.value.Store(v)
		bar.Write32(m.reg, v)
	}
}

// Rate is the highest interrupt rate that the register allows, in interrupts a second, 0
// without a limit (em_sysctl_interrupt_rate_handler).
func (m *Moderator) Rate() uint64 {
	if v := m.value.Load(); v != 0 {
		return m.scale.Rate(v)
	}
	return 0
}
