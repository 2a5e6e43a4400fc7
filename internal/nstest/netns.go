package nstest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/jsimonetti/rtnetlink/v2"
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// NS is a network namespace; nil is the one that the test runs in.
type NS struct{ file *os.File }

// New makes a namespace, which goes with the test.
func New(t testing.TB) *NS {
	t.Helper()
	ns, errs := &NS{}, make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			ns.file, err = os.Open("/proc/thread-self/ns/net")
		}
		errs <- err
	}()
	check(t, <-errs)
	t.Cleanup(func() { _ = ns.file.Close() })
	return ns
}

// FD is a descriptor of the namespace, not of nil.
func (ns *NS) FD() uint32 { return uint32(ns.file.Fd()) }

// Path is the namespace, not nil, as a file of this process.
func (ns *NS) Path() string { return fmt.Sprintf("/proc/self/fd/%d", ns.FD()) }

// Run runs fn in the namespace, with the processes that it starts. fn must not fail the
// test itself.
func (ns *NS) Run(t testing.TB, fn func() error) {
	t.Helper()
	errs := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if ns != nil {
			if err := unix.Setns(int(ns.file.Fd()), unix.CLONE_NEWNET); err != nil {
				errs <- err
				return
			}
		}
		errs <- fn()
	}()
	check(t, <-errs)
}

// Netlink runs fn with a route connection of the namespace.
func (ns *NS) Netlink(t testing.TB, fn func(c *rtnetlink.Conn) error) {
	t.Helper()
	ns.Run(t, func() error {
		c, err := rtnetlink.Dial(nil)
		if err != nil {
			return err
		}
		defer c.Close()
		return fn(c)
	})
}

// Change does something to an interface of the namespace.
func (ns *NS) Change(t testing.TB, name string, fn func(c *rtnetlink.Conn, index uint32) error) {
	t.Helper()
	ns.Netlink(t, func(c *rtnetlink.Conn) error {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		return fn(c, uint32(i.Index))
	})
}

// SetFlags changes the flags in mask of an interface.
func (ns *NS) SetFlags(t testing.TB, name string, flags, mask uint32) {
	t.Helper()
	ns.Change(t, name, func(c *rtnetlink.Conn, index uint32) error {
		return c.Link.Set(&rtnetlink.LinkMessage{Index: index, Flags: flags, Change: mask})
	})
}

// Silence turns ARP and IPv6 off, so that an interface sends what the test sends.
func (ns *NS) Silence(t testing.TB, name string) {
	t.Helper()
	ns.DisableIPv6(t, name)
	ns.SetFlags(t, name, unix.IFF_NOARP, unix.IFF_NOARP)
}

// DisableIPv6 turns IPv6 off on an interface, if the kernel has it.
func (ns *NS) DisableIPv6(t testing.TB, name string) {
	t.Helper()
	ns.Run(t, func() error {
		err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
}

// Counters are what the kernel has counted on an interface.
func (ns *NS) Counters(t testing.TB, name string) (line procfs.NetDevLine) {
	t.Helper()
	ns.Run(t, func() error {
		fs, err := procfs.NewFS("/proc/thread-self")
		if err != nil {
			return err
		}
		devs, err := fs.NetDev()
		line = devs[name]
		return err
	})
	return line
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
