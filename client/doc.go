// Package client talks to a machine that `ifsim boot` runs, through its control socket:
// it is for scripts, tests and tools. What ifsim sysctl, ifsim ifconfig and the others
// print comes from here, too.
//
//	m, err := client.New("") // the socket that ifsim uses
//	...
//	mtu, err := m.Run(ctx, "ifconfig", "em0", "mtu", "9000")
//	freq, err := m.Sysctl(ctx, "kern.ostype")
//	err = m.Follow(ctx, show, "netstat", "-I", "em0", "-w", "1")
//
// A tool runs in the machine and is FreeBSD's in arguments, output and exit status. Each
// call is a conversation of its own, so a Client may be used by many goroutines, and a
// machine that was booted anew needs no new Client.
//
// [Request] and [Reply] are the protocol itself, as docs/control.md has it; most callers
// need neither.
package client
