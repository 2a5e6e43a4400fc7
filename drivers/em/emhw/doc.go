// Package emhw is the hardware behind the em driver: register-level models of 8254x (the
// lem class: legacy descriptors, one queue, INTx) and 82574 (extended receive
// descriptors, two queues, MSI-X). FreeBSD has no counterpart: there it is the card. The
// facts are those of the 8254x and 82574 datasheets as spec 1g sections 3 and 5 give
// them; names of registers and fields are emreg's.
//
//	nic, err := emhw.New("82574L", hw.Config{Kernel: k, Name: "em0", Port: p, MAC: mac})
//	fn, err := pci.Of(k).Insert(loc, nic)
//
// Who touches what: registers are words accessed atomically, from any goroutine. Each
// transmit queue, and the receive unit, is owned by its run of the engine (hw.Engine);
// nothing there takes a lock, except for handing a context to the other queue of a
// part that shares them. Microwire and PHY have a lock for their registers, the
// interrupt line has one so that its level follows the last change, and resets are one
// at a time. No lock is held while the port is called.
//
// What the datasheet forbids is refused, counted and, the first time, named in a
// console line (see rules.go).
//
// Not modelled: half duplex, flow control (pause frames are counted and not obeyed), the
// packet checksum of receive descriptors (0), loopback, wake-up, microwire writes. The
// FCS is always the hardware's: IFCS is not looked at.
package emhw
