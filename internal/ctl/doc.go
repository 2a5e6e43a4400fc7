// Package ctl is the control socket of a running machine: what sysctl, ifconfig,
// netstat, pktgen and the other tools of the command line talk to.
//
// It is a UNIX stream socket that its owner alone may use (mode 0600, and SO_PEERCRED). A
// client sends one JSON object in one line, a Request, and reads one back, a Reply, or
// several; then the connection ends. docs/control.md has the schema. The tools run on the
// machine's side, so that a client is a few lines in any language:
//
//	echo '{"command":"sysctl","args":["net.iflib"]}' | nc -U $XDG_RUNTIME_DIR/ifsim.sock
//
// The server:
//
//	ln, err := ctl.Listen(path)
//	m, err := machine.Boot(cfg)
//	s := ctl.Serve(ln, m)
//	defer s.Close() // before the machine
package ctl
