package pci

// RaiseMSIX sends the message of a vector (0-based). Masked, or while the function may
// not write memory, it becomes pending and goes out when that ends. While MSI-X is off,
// without a handler, or beyond the table it is lost and counted. Any goroutine; posts,
// never runs the filter, never blocks, allocates nothing.
func (f *Function) RaiseMSIX(vector int) {
	if uint(vector) >= uint(len(f.msix.entries)) {
		f.lost.Add(1)
		return
	}
	f.raise(&f.msix.entries[vector].vector, modeMSIX)
}

// RaiseMSI sends message msg of the MSI capability, as RaiseMSIX. A function that was
// granted fewer messages than it knows folds them (PCI 3.0 section 6.8.3.4).
func (f *Function) RaiseMSI(msg int) {
	granted := uint(1)<<(f.mode.Load()>>modeGrantShift) - 1
	if msg < 0 || len(f.msi) == 0 {
		f.lost.Add(1)
		return
	}
	f.raise(&f.msi[uint(msg)&granted], modeMSI)
}

// SetINTx asserts or deasserts the level-triggered interrupt line. While it is
// asserted the filter runs again and again. Any goroutine, as RaiseMSIX.
func (f *Function) SetINTx(asserted bool) {
	f.intxLine.Store(asserted)
	if asserted {
		f.postINTx()
	}
}

// MSIXEnabled reports to the hardware that its interrupts go out as MSI-X.
func (f *Function) MSIXEnabled() bool { return f.mode.Load()&modeMSIX != 0 }

// MSIEnabled reports to the hardware that its interrupts go out as MSI.
func (f *Function) MSIEnabled() bool { return f.mode.Load()&modeMSI != 0 }

// LostInterrupts counts messages that reached nobody: raised while their kind was
// off, without a handler, or thrown away by the failpoint pci.lose_intr.
func (f *Function) LostInterrupts() uint64 { return f.lost.Load() }

func (f *Function) raise(v *vector, kind uint32) {
	mode := f.mode.Load()
	switch {
	case mode&kind == 0:
		f.lost.Add(1)
	case sendable(mode, kind) && v.state.Load() == 0:
		f.send(v)
	case v.state.Load()&vecPending == 0:
		v.state.Or(vecPending)
		f.retry(v, kind)
	}
}

// sendable reports whether the function can send messages of a kind.
func sendable(mode, kind uint32) bool {
	return mode&kind != 0 && mode&modeMaster != 0 && (kind != modeMSIX || mode&modeMSIXMask == 0)
}

// retry sends a pending message if nothing holds it back any more.
func (f *Function) retry(v *vector, kind uint32) {
	if sendable(f.mode.Load(), kind) && v.state.Load() == vecPending && v.takePending() {
		f.send(v)
	}
}

func (f *Function) send(v *vector) {
	if _, lose := f.bus.loseIntr.Eval(); lose {
		f.lost.Add(1)
		return
	}
	i := v.intr.Load()
	if i == nil {
		f.lost.Add(1)
		return
	}
	i.Post()
}

// postINTx lets the handler run if the line is asserted and reaches it: a function
// that uses messages does not drive INTx.
func (f *Function) postINTx() {
	if !f.intxLine.Load() || f.mode.Load()&(modeINTxOff|modeMSI|modeMSIX) != 0 {
		return
	}
	if i := f.intx.intr.Load(); i != nil {
		i.Post()
	}
}
