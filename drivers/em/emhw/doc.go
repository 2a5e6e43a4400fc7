// Package emhw is the hardware behind the em driver: register-level models of 8254x (the
// lem class: legacy descriptors, one queue, INTx), 82574 (extended receive descriptors,
// two queues, MSI-X), and I217 and I219. What all gigabit parts share is e1000hw's: core,
// queues, receive unit, PHY, NVM, statistics; here are the registers, contexts and
// interrupts of these. FreeBSD has no counterpart: there it is the card. The facts are
// those of the 8254x and 82574 datasheets as spec 1g sections 3 and 5 give them; names
// of registers and fields are emreg's.
//
//	nic, err := emhw.New("82574L", hw.Config{Kernel: k, Name: "em0", Port: p, MAC: mac})
//	fn, err := pci.Of(k).Insert(loc, nic)
//
// Who touches what is as e1000hw says; a lock more hands a context to the other queue of
// a part that shares them, one guards microwire and one the flash.
//
// What the datasheet forbids is refused, counted and, the first time, named in a
// console line (see rules.go). Not modelled, beside what e1000hw lists: microwire writes.
package emhw
