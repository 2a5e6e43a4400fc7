// Package hwbhw is the model of the HWB-1 network controller. Its datasheet is the
// documentation of package hwbnic; section numbers in comments are of that. FreeBSD
// has no counterpart: there this is the silicon.
//
// Everything of a transmit queue but its registers belongs to the engine's work
// function of that queue, everything of all receive queues to one more, the admin
// rings to a third; a register write that starts or stops one pauses that work first.
// How frames are received is an immutable value, replaced when a command changes it.
package hwbhw
