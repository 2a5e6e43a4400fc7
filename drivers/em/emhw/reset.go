package emhw

// Reset implements pci.Device: everything as after power on.
func (n *nic) Reset() {
	n.PHY.Reset()
	n.Hung.Store(false)
	n.ResetRegs(n.chip.reset, nil, n.resetRest)
}

// resetRest is what a reset does beside the registers.
func (n *nic) resetRest() {
	n.resetInterrupts()
	n.ctx = [maxQueues][contextSlots]txContext{}
	n.shared.reset()
	if n.chip.pch != nil {
		n.resetPCHState()
	}
}
