// Package e1000 is what the drivers of Intel's gigabit parts (em with lem, igb, igc)
// share: access to registers, the NVM, the PHY behind MDIC, the copper port with
// negotiation and flow control, filters, the statistics block, moderation, sysctls; and
// of the data path the rings, the queue of descriptors that report completion, and the
// walk over received descriptors. What differs between parts - offsets, descriptor
// formats, reset - is the drivers' own; what igb and igc have in common beyond this is
// package adv.
//
// FreeBSD counterpart: the shared code of sys/dev/e1000 (e1000_api.c, e1000_mac.c,
// e1000_nvm.c, e1000_phy.c), and what if_em.c, if_igc.c and their data paths have in
// common.
//
// A softc embeds Port, Filter and Common, which bring most of the methods that iflib asks
// for:
//
//	regs := e1000.Regs{BAR: bar, Delay: kernel.Delay}
//	sc.InitFilter(ctx, &regs, e1000.FilterConfig{RARs: 16, MTAWords: 128, VLANWrites: 1})
//	sc.InitPort(ctx, e1000.PHY{Regs: &regs}, e1000.GigabitMedia())
//	sc.InitCommon(ctx, &regs, &sc.Port, sc.release, sc.Init)
package e1000
