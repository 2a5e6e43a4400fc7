package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jsimonetti/rtnetlink/v2"
	"github.com/jsimonetti/rtnetlink/v2/driver"
	mdpacket "github.com/mdlayher/packet"
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// insideEnv is set in the process that has namespaces of its own.
const insideEnv = "IFSIM_VETH_TEST_INSIDE"

// inside runs the calling test again in user and network namespaces of its own, which
// works with and without privilege, and reports whether it is that second run.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideEnv) != "" {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // Pdeathsig is about the thread
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(t.Context(), self, "-test.run="+samePattern(t), "-test.v", "-test.timeout="+flagValue("test.timeout"))
	if testing.Short() {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		unavailable(t, "no user and network namespaces: %v", err)
	}
	switch err := cmd.Wait(); {
	case err != nil:
		t.Errorf("in namespaces: %v\n%s", err, &out)
	case strings.Contains(out.String(), "--- SKIP: "):
		t.Skipf("in namespaces:\n%s", &out)
	default:
		t.Logf("in namespaces:\n%s", &out)
	}
	return false
}

// samePattern chooses this test, and of its parts those that -run chooses.
func samePattern(t *testing.T) string {
	_, parts, some := strings.Cut(flagValue("test.run"), "/")
	pattern := "^" + t.Name() + "$"
	if some {
		pattern += "/" + parts
	}
	return pattern
}

// unavailable skips a test that cannot be run here, but fails in CI.
func unavailable(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// netns is a network namespace; nil is the one that the machine boots in.
type netns struct{ file *os.File }

func newNetns(t testing.TB) *netns {
	t.Helper()
	ns, errs := &netns{}, make(chan error, 1)
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

// run runs fn in the namespace, with the processes that it starts. fn must not fail the
// test itself.
func (ns *netns) run(t testing.TB, fn func() error) {
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

// change does something to an interface.
func (ns *netns) change(t testing.TB, name string, fn func(c *rtnetlink.Conn, index uint32) error) {
	t.Helper()
	ns.run(t, func() error {
		c, err := rtnetlink.Dial(nil)
		if err != nil {
			return err
		}
		defer c.Close()
		i, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		return fn(c, uint32(i.Index))
	})
}

func (ns *netns) setFlags(t testing.TB, name string, flags, mask uint32) {
	t.Helper()
	ns.change(t, name, func(c *rtnetlink.Conn, index uint32) error {
		return c.Link.Set(&rtnetlink.LinkMessage{Index: index, Flags: flags, Change: mask})
	})
}

// silence turns ARP and IPv6 off.
func (ns *netns) silence(t testing.TB, name string) {
	t.Helper()
	var err error
	ns.run(t, func() error {
		err = os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0)
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6
		unavailable(t, "IPv6 stays on: %v", err)
	}
	ns.setFlags(t, name, unix.IFF_NOARP, unix.IFF_NOARP)
}

// counters are what the kernel has counted on an interface.
func (ns *netns) counters(t testing.TB, name string) (line procfs.NetDevLine) {
	t.Helper()
	ns.run(t, func() error {
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

// Ends of a cable: the machine's, and the host's in a namespace of its own.
const (
	nicEnd  = "nic0"
	hostEnd = "host0"
)

// cable is a veth pair, silent but for what the test sends.
type cable struct{ host *netns }

func newCable(t testing.TB) *cable {
	t.Helper()
	c := &cable{host: newNetns(t)}
	c.plug(t)
	t.Cleanup(func() {
		if _, err := net.InterfaceByName(nicEnd); err == nil {
			c.unplug(t)
		}
	})
	return c
}

// plug makes the interfaces and brings them up.
func (c *cable) plug(t testing.TB) {
	t.Helper()
	peer := &rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{
		Name: hostEnd, NetNS: rtnetlink.NetNSForFD(uint32(c.host.file.Fd())),
	}}
	conn, err := rtnetlink.Dial(nil)
	check(t, err)
	defer conn.Close()
	if err := conn.Link.New(&rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{
		Name: nicEnd, Info: &rtnetlink.LinkInfo{Kind: "veth", Data: &driver.Veth{PeerInfo: peer}},
	}}); err != nil {
		unavailable(t, "no veth: %v", err)
	}
	var here *netns
	here.silence(t, nicEnd)
	c.host.silence(t, hostEnd)
	here.setFlags(t, nicEnd, unix.IFF_UP, unix.IFF_UP)
	c.host.setFlags(t, hostEnd, unix.IFF_UP, unix.IFF_UP)
}

// unplug deletes the host's end, and the other with it.
func (c *cable) unplug(t testing.TB) {
	t.Helper()
	c.host.change(t, hostEnd, func(conn *rtnetlink.Conn, index uint32) error { return conn.Link.Delete(index) })
	eventually(t, nicEnd+" is there", func() bool {
		_, err := net.InterfaceByName(nicEnd)
		return err != nil
	})
}

// address gives the host's end an address.
func (c *cable) address(t testing.TB, ip net.IP, bits uint8) {
	t.Helper()
	c.host.change(t, hostEnd, func(conn *rtnetlink.Conn, index uint32) error {
		return conn.Address.New(&rtnetlink.AddressMessage{
			Family: unix.AF_INET, PrefixLength: bits, Index: index,
			Attributes: &rtnetlink.AddressAttributes{Address: ip, Local: ip},
		})
	})
}

// neighbour gives the host a permanent entry.
func (c *cable) neighbour(t testing.TB, ip net.IP, mac net.HardwareAddr) {
	t.Helper()
	c.host.change(t, hostEnd, func(conn *rtnetlink.Conn, index uint32) error {
		return conn.Neigh.New(&rtnetlink.NeighMessage{
			Family: unix.AF_INET, Index: index, State: unix.NUD_PERMANENT,
			Attributes: &rtnetlink.NeighAttributes{Address: ip, LLAddress: mac},
		})
	})
}

// socket sends frames as they are from the host's end.
func (c *cable) socket(t testing.TB) (send func(b []byte), mac net.HardwareAddr) {
	t.Helper()
	var conn *mdpacket.Conn
	c.host.run(t, func() (err error) {
		i, err := net.InterfaceByName(hostEnd)
		if err != nil {
			return err
		}
		mac = i.HardwareAddr
		conn, err = mdpacket.Listen(i, mdpacket.Raw, 0, nil)
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	to := &mdpacket.Addr{HardwareAddr: mac}
	return func(b []byte) {
		if _, err := conn.WriteTo(b, to); err != nil {
			t.Errorf("sending from the host: %v", err)
		}
	}, mac
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until something is so.
func eventually(t testing.TB, otherwise string, is func() bool) {
	t.Helper()
	const step = 5 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s after %v", otherwise, patience)
		}
	}
}
