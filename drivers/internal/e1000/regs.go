package e1000

import "time"

// BAR is the part of pci.BAR that these drivers use: 32-bit registers at byte offsets.
type BAR interface {
	Read32(off uint64) uint32
	Write32(off uint64, v uint32)
}

// statusReg is STATUS: reading it flushes posted writes (E1000_WRITE_FLUSH).
const statusReg = 0x0008

// Regs are the registers of one part. Delay waits (usec_delay and msec_delay of the
// shared code). Any goroutine; read-modify-write needs the caller's lock.
type Regs struct {
	BAR
	Delay func(time.Duration)
}

// Set sets bits of a register.
func (r *Regs) Set(off uint64, bits uint32) { r.Write32(off, r.Read32(off)|bits) }

// Clear clears bits of a register.
func (r *Regs) Clear(off uint64, bits uint32) { r.Write32(off, r.Read32(off)&^bits) }

// Change clears bits of a register and sets others, in one write.
func (r *Regs) Change(off uint64, clear, set uint32) {
	r.Write32(off, r.Read32(off)&^clear|set)
}

// Flush waits until the part has seen the writes so far.
func (r *Regs) Flush() { r.Read32(statusReg) }

// Poll reads a register up to tries times, step apart, until the bits of mask are want.
// It returns the last value and whether they are.
func (r *Regs) Poll(off uint64, mask, want uint32, step time.Duration, tries int) (uint32, bool) {
	var v uint32
	for range tries {
		if v = r.Read32(off); v&mask == want {
			return v, true
		}
		r.Delay(step)
	}
	return v, false
}
