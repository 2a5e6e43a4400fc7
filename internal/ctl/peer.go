package ctl

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// checkPeer checks that whoever connected is the user that runs the machine, or root. The
// kernel says so (SO_PEERCRED), whatever the mode of the socket has become.
func checkPeer(conn net.Conn) error {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("a client that is not on this host: %w", syscall.EACCES)
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return fmt.Errorf("asking who the client is: %w", err)
	}
	var peer *syscall.Ucred
	if cerr := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); cerr != nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("asking who the client is: %w", err)
	}
	if self := uint32(os.Geteuid()); !mayConnect(peer.Uid, self) {
		return fmt.Errorf("user %d may not use the machine of user %d: %w", peer.Uid, self, syscall.EACCES)
	}
	return nil
}

// mayConnect reports whether a user may use the machine of another.
func mayConnect(uid, self uint32) bool { return uid == 0 || uid == self }
