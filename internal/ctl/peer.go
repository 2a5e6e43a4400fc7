package ctl

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkPeer checks that whoever connected is the user that runs the machine, or root. The
// kernel says so (SO_PEERCRED), whatever the mode of the socket has become.
func checkPeer(conn net.Conn) error {
	var peer *unix.Ucred
	err := ask(conn, func(fd int) (err error) {
		peer, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
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

// unread reports whether the client has sent something that nobody has read yet.
func unread(conn net.Conn) bool {
	n := 0
	err := ask(conn, func(fd int) (err error) {
		n, err = unix.IoctlGetInt(fd, unix.TIOCINQ)
		return err
	})
	return err == nil && n > 0
}

// ask asks the kernel something of a connection. EACCES: it is not one of this host.
func ask(conn net.Conn, question func(fd int) error) error {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return syscall.EACCES
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	if cerr := raw.Control(func(fd uintptr) { err = question(int(fd)) }); cerr != nil {
		return cerr
	}
	return err
}
