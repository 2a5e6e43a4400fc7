// Package netns gives processes and threads network namespaces of the host, with and
// without privilege, and changes the interfaces in them.
package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/jsimonetti/rtnetlink/v2"
	"github.com/jsimonetti/rtnetlink/v2/driver"
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Attr are the attributes of a process with a user and a network namespace of its own,
// in which it is root. The caller's thread must not end before the process.
func Attr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
}

// ErrUnavailable: the host gives this process no namespaces.
var ErrUnavailable = errors.New("no user and network namespaces")

// Run runs a command in a process of [Attr]. The command ends with the calling process.
// ErrUnavailable: it could not be started there.
func Run(cmd *exec.Cmd) error {
	runtime.LockOSThread() // Pdeathsig is about the thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = Attr()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return cmd.Wait()
}

// NS is a network namespace; nil is the one that the caller runs in. Any goroutine may
// call its methods.
type NS struct{ file *os.File }

// New makes a namespace, which goes when it is closed and empty.
func New() (*NS, error) {
	ns, errs := &NS{}, make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			ns.file, err = os.Open("/proc/thread-self/ns/net")
		}
		errs <- err
	}()
	if err := <-errs; err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	return ns, nil
}

// Close lets the namespace go.
func (ns *NS) Close() error { return ns.file.Close() }

// FD is a descriptor of the namespace, not of nil.
func (ns *NS) FD() uint32 { return uint32(ns.file.Fd()) }

// Run runs fn in the namespace, with the processes that it starts.
func (ns *NS) Run(fn func() error) error {
	errs := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if ns != nil {
			if err := unix.Setns(int(ns.file.Fd()), unix.CLONE_NEWNET); err != nil {
				errs <- fmt.Errorf("entering a network namespace: %w", err)
				return
			}
		}
		errs <- fn()
	}()
	return <-errs
}

// Netlink runs fn with a route connection of the namespace.
func (ns *NS) Netlink(fn func(c *rtnetlink.Conn) error) error {
	return ns.Run(func() error {
		c, err := rtnetlink.Dial(nil)
		if err != nil {
			return err
		}
		defer c.Close()
		return fn(c)
	})
}

// Change does something to an interface of the namespace.
func (ns *NS) Change(name string, fn func(c *rtnetlink.Conn, index uint32) error) error {
	return ns.Netlink(func(c *rtnetlink.Conn) error {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		return fn(c, uint32(i.Index))
	})
}

// SetFlags changes the flags in mask of an interface.
func (ns *NS) SetFlags(name string, flags, mask uint32) error {
	return ns.Change(name, func(c *rtnetlink.Conn, index uint32) error {
		return c.Link.Set(&rtnetlink.LinkMessage{Index: index, Flags: flags, Change: mask})
	})
}

// Silence turns ARP and IPv6 off, so that an interface sends only what it is given.
func (ns *NS) Silence(name string) error {
	if err := ns.DisableIPv6(name); err != nil {
		return err
	}
	return ns.SetFlags(name, unix.IFF_NOARP, unix.IFF_NOARP)
}

// DisableIPv6 turns IPv6 off on an interface, if the kernel has it.
func (ns *NS) DisableIPv6(name string) error {
	return ns.Run(func() error {
		err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
}

// AddVeth makes a pair of veth interfaces, which are down: name in this namespace, peer
// in another or, with nil, in this one too.
func (ns *NS) AddVeth(name, peer string, in *NS) error {
	info := &rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{Name: peer}}
	if in != nil {
		info.Attributes.NetNS = rtnetlink.NetNSForFD(in.FD())
	}
	return ns.Netlink(func(c *rtnetlink.Conn) error {
		err := c.Link.New(&rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{
			Name: name, Info: &rtnetlink.LinkInfo{Kind: "veth", Data: &driver.Veth{PeerInfo: info}},
		}})
		if err != nil {
			return fmt.Errorf("no veth: %w", err)
		}
		return nil
	})
}

// Counters are what the kernel has counted on an interface.
func (ns *NS) Counters(name string) (line procfs.NetDevLine, err error) {
	err = ns.Run(func() error {
		fs, err := procfs.NewFS("/proc/thread-self")
		if err != nil {
			return err
		}
		devs, err := fs.NetDev()
		line = devs[name]
		return err
	})
	return line, err
}

// DeleteLink deletes an interface, a veth with its peer.
func (ns *NS) DeleteLink(name string) error {
	return ns.Change(name, func(c *rtnetlink.Conn, index uint32) error { return c.Link.Delete(index) })
}
