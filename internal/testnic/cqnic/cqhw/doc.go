// Package cqhw is the model of the CQ-1 network controller. Its datasheet is the
// documentation of package cqnic; section numbers in comments are of that. FreeBSD
// has no counterpart: there this is the silicon.
//
// Everything of a transmit queue but its completion queue belongs to the engine's
// work function of that queue, everything of all receive queues to one more; a
// register write that starts or stops a queue pauses that work first. Completion
// queues have a lock, since any goroutine may arm them. How frames are received is an
// immutable value, replaced when a register changes.
package cqhw
