// Package e1000hw is what the register-level models of Intel's gigabit parts share. em's
// (drivers/em/emhw) takes the [Core], the [TxQueue], the [RxUnit], [Causes], PHY, NVM and
// statistics from here and adds its registers and contexts. Those of igb and igc have
// everything from here: the advanced model is a NIC with advanced descriptors, per-queue
// registers and MSI-X by IVAR, which a [Family] of [Chip] values makes. FreeBSD has no
// counterpart: there it is the card. The facts are those of the datasheets as spec 1g
// sections 3 and 5 give them.
//
// Who touches what: registers are words accessed atomically, from any goroutine. Each
// transmit queue, and the receive unit, is owned by its run of the engine (hw.Engine);
// nothing there takes a lock. The PHY and the NVM have locks for their registers, the
// interrupt line has one so that its level follows the last change, and resets are one
// at a time. No lock is held while the port is called.
//
// What the datasheet forbids is refused, counted and, the first time, named in a console
// line (see rules.go).
//
// Not modelled: half duplex, flow control (pause frames are counted and not obeyed), the
// packet checksum of receive descriptors (0), loopback, wake-up, time stamps; of the
// advanced parts virtual functions and pools, legacy and split-header descriptors,
// write-back thresholds (what asks for a report is written back at once), the stall of
// the port when a queue without DROP_EN has no descriptors (the frame is missed). The
// FCS is always the hardware's: IFCS is not looked at.
package e1000hw
