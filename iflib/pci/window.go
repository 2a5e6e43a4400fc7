package pci

// window is a mapped BAR. It answers as the bus does: while the function does not
// decode, and outside the BAR, reads are all ones and writes go nowhere (master abort).
type window struct {
	f      *Function
	bar    BAR
	regs   Registers32 // behind bar if that is a Regs32, else nil: aligned words go there straight
	size   uint64
	decode uint32 // the mode bit that must be set
}

var _ BAR = (*window)(nil)

func newWindow(f *Function, b BARInfo) window {
	w := window{f: f, bar: b.BAR, size: b.Size, decode: modeMem}
	if b.Kind == IO {
		w.decode = modeIO
	}
	if r, ok := b.BAR.(Regs32); ok {
		w.regs = r.Registers32
	}
	return w
}

func (w *window) hit(off, n uint64) bool {
	return w.f.mode.Load()&w.decode != 0 && n <= w.size && off <= w.size-n
}

func (w *window) Read8(off uint64) uint8 {
	if !w.hit(off, 1) {
		return ^uint8(0)
	}
	return w.bar.Read8(off)
}

func (w *window) Read16(off uint64) uint16 {
	if !w.hit(off, 2) {
		return ^uint16(0)
	}
	return w.bar.Read16(off)
}

func (w *window) Read32(off uint64) uint32 {
	if !w.hit(off, 4) {
		return ^uint32(0)
	}
	if w.regs != nil && off&wordMask == 0 {
		return w.regs.Read32(off)
	}
	return w.bar.Read32(off)
}

func (w *window) Read64(off uint64) uint64 {
	if !w.hit(off, 8) {
		return ^uint64(0)
	}
	return w.bar.Read64(off)
}

func (w *window) Write8(off uint64, v uint8) {
	if w.hit(off, 1) {
		w.bar.Write8(off, v)
	}
}

func (w *window) Write16(off uint64, v uint16) {
	if w.hit(off, 2) {
		w.bar.Write16(off, v)
	}
}

func (w *window) Write32(off uint64, v uint32) {
	switch {
	case !w.hit(off, 4):
	case w.regs != nil && off&wordMask == 0:
		w.regs.Write32(off, v)
	default:
		w.bar.Write32(off, v)
	}
}

func (w *window) Write64(off uint64, v uint64) {
	if w.hit(off, 8) {
		w.bar.Write64(off, v)
	}
}

func (w *window) ReadBlock(off uint64, p []byte) {
	if w.hit(off, uint64(len(p))) {
		w.bar.ReadBlock(off, p)
		return
	}
	for i := range p {
		p[i] = 0xff
	}
}

func (w *window) WriteBlock(off uint64, p []byte) {
	if w.hit(off, uint64(len(p))) {
		w.bar.WriteBlock(off, p)
	}
}
