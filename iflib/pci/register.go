package pci

// Writer32 is the part of a [BAR] that a [Register] needs.
type Writer32 interface{ Write32(off uint64, v uint32) }

// RegisterFinder is 32-bit hardware some of whose registers can be written by themselves.
type RegisterFinder interface {
	// Register returns the register at off, an aligned offset inside the BAR, or nil:
	// then a write is one of the BAR. It is asked once for each [Register] made; the
	// answer holds as long as the hardware is in its slot.
	Register(off uint64) RegisterWriter
}

// RegisterWriter is one register of hardware. WriteRegister does all that a write through
// its BAR does; any goroutine.
type RegisterWriter interface{ WriteRegister(v uint32) }

// Register is a 32-bit register that a driver writes again and again: a doorbell. A real
// bus decodes its address in hardware; here it is found once, and a write then costs one
// call. Constant once made, and as good as [BAR.Write32] for any goroutine: a function
// that does not decode loses the write.
type Register struct {
	bar Writer32
	off uint64

	own    RegisterWriter // nil: the write goes through bar
	f      *Function
	decode uint32
}

// RegisterAt is the register at off of a BAR, or of anything that writes as one does.
func RegisterAt(bar Writer32, off uint64) Register {
	r := Register{bar: bar, off: off}
	w, ok := bar.(*window)
	if !ok || off&wordMask != 0 || w.size < wordSize || off > w.size-wordSize {
		return r
	}
	if hw, ok := w.regs.(RegisterFinder); ok {
		r.own, r.f, r.decode = hw.Register(off), w.f, w.decode
	}
	return r
}

// Offset is where the register is in its BAR, in bytes.
func (r *Register) Offset() uint64 { return r.off }

// Write writes the register.
func (r *Register) Write(v uint32) {
	if r.own != nil && r.f.mode.Load()&r.decode != 0 {
		r.own.WriteRegister(v)
		return
	}
	r.bar.Write32(r.off, v)
}
