package nstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/jsimonetti/rtnetlink/v2"
	"github.com/prometheus/procfs"

	"github.com/ifsim/ifsim/internal/netns"
)

// NS is a network namespace whose errors fail the test; nil is the one that the test
// runs in.
type NS netns.NS

// New makes a namespace, which goes with the test.
func New(t testing.TB) *NS {
	t.Helper()
	ns, err := netns.New()
	check(t, err)
	t.Cleanup(func() { _ = ns.Close() })
	return (*NS)(ns)
}

func (ns *NS) ns() *netns.NS { return (*netns.NS)(ns) }

// FD is a descriptor of the namespace, not of nil.
func (ns *NS) FD() uint32 { return ns.ns().FD() }

// Path is the namespace, not nil, as a file of this process.
func (ns *NS) Path() string { return fmt.Sprintf("/proc/self/fd/%d", ns.FD()) }

// Run runs fn in the namespace, with the processes that it starts. fn must not fail the
// test itself.
func (ns *NS) Run(t testing.TB, fn func() error) {
	t.Helper()
	check(t, ns.ns().Run(fn))
}

// Netlink runs fn with a route connection of the namespace.
func (ns *NS) Netlink(t testing.TB, fn func(c *rtnetlink.Conn) error) {
	t.Helper()
	check(t, ns.ns().Netlink(fn))
}

// Change does something to an interface of the namespace.
func (ns *NS) Change(t testing.TB, name string, fn func(c *rtnetlink.Conn, index uint32) error) {
	t.Helper()
	check(t, ns.ns().Change(name, fn))
}

// SetFlags changes the flags in mask of an interface.
func (ns *NS) SetFlags(t testing.TB, name string, flags, mask uint32) {
	t.Helper()
	check(t, ns.ns().SetFlags(name, flags, mask))
}

// AwaitUp waits until an interface is operational: a new one that says RUNNING may still
// throw away what is sent, until the kernel has dealt with its carrier.
func (ns *NS) AwaitUp(t testing.TB, name string) {
	t.Helper()
	const (
		patience = 20 * time.Second
		step     = time.Millisecond
	)
	up := false
	tick := time.NewTicker(step)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		ns.Change(t, name, func(c *rtnetlink.Conn, index uint32) error {
			l, err := c.Link.Get(index)
			up = err == nil && l.Attributes.OperationalState == rtnetlink.OperStateUp
			return err
		})
		if up {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not operational after %v", name, patience)
		}
	}
}

// Silence turns ARP and IPv6 off, so that an interface sends what the test sends.
func (ns *NS) Silence(t testing.TB, name string) {
	t.Helper()
	check(t, ns.ns().Silence(name))
}

// DisableIPv6 turns IPv6 off on an interface, if the kernel has it.
func (ns *NS) DisableIPv6(t testing.TB, name string) {
	t.Helper()
	check(t, ns.ns().DisableIPv6(name))
}

// Counters are what the kernel has counted on an interface.
func (ns *NS) Counters(t testing.TB, name string) procfs.NetDevLine {
	t.Helper()
	line, err := ns.ns().Counters(name)
	check(t, err)
	return line
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
