// Package e1000 is what the drivers of Intel's gigabit parts (em with lem, igb, igc)
// share: access to registers, the NVM, the PHY behind MDIC, auto-negotiation, the
// statistics block, the queue of descriptors that report completion, and the walk over
// received descriptors. What differs between parts - offsets, descriptor formats, reset
// - is the drivers' own.
//
// FreeBSD counterpart: the shared code of sys/dev/e1000 (e1000_api.c, e1000_mac.c,
// e1000_nvm.c, e1000_phy.c), and what em_txrx.c and igb_txrx.c have in common.
//
//	regs := e1000.Regs{BAR: bar, Delay: kernel.Delay}
//	phy := e1000.PHY{Regs: &regs}
//	id, err := phy.ID()
package e1000
