// Package skelhw is the SKEL-1 network controller, made with the kit of package hw. Its
// datasheet is the documentation of package skel; section numbers in comments are of
// that. FreeBSD has no counterpart: there this is the silicon.
//
// Registers are atomic words. A transmit queue belongs to the engine's work function of
// that queue, all of reception to one more; a register write that starts or stops a
// queue pauses its work first. No lock is held while the port is called.
package skelhw
