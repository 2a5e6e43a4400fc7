package packet_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jsimonetti/rtnetlink/v2"
	"github.com/jsimonetti/rtnetlink/v2/driver"
	mdpacket "github.com/mdlayher/packet"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"net"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/packet"
	"github.com/ifsim/ifsim/internal/nstest"
)

const (
	insideEnv = "IFSIM_PACKET_TEST_INSIDE" // set in the process that has namespaces of its own
	deadline  = 20 * time.Second
	etherType = 0x88b5 // local experimental
)

// errOutside says why there are no namespaces.
var errOutside error

// TestMain runs the tests in user, network and mount namespaces of their own: that works
// with and without privilege.
func TestMain(m *testing.M) {
	if os.Getenv(insideEnv) != "" {
		if err := mountRun(); err != nil {
			fmt.Fprintln(os.Stderr, "preparing /run:", err)
			os.Exit(1)
		}
		goleak.VerifyTestMain(m)
		return
	}
	var code int
	if code, errOutside = runInside(); errOutside == nil {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// runInside runs this test binary again. The error says that it could not be started.
func runInside() (int, error) {
	runtime.LockOSThread() // Pdeathsig is about the thread
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Cmd{Path: self, Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	cmd.SysProcAttr = nstest.Attr()
	cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWNS
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// mountRun gives the process a /run/netns of its own.
func mountRun() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
		return err
	}
	return os.Mkdir("/run/netns", 0o755)
}

// here is the namespace that the tests run in.
var here *nstest.NS

// needNamespaces skips a test that cannot be run, but fails in CI.
func needNamespaces(t testing.TB) {
	t.Helper()
	if errOutside != nil {
		nstest.Unavailable(t, "no user and network namespaces: %v", errOutside)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for end := time.Now().Add(deadline); !cond(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// cable is a pair of veth interfaces; b may be in another namespace than a.
type cable struct {
	a, b string
	bNS  *nstest.NS
}

var cables atomic.Uint32

// newCable returns a cable whose ends are up, without IPv6 and ARP.
func newCable(t testing.TB) *cable {
	t.Helper()
	c := plainCable(t, nil)
	c.up(t)
	return c
}

// plainCable returns a cable whose ends are down.
func plainCable(t testing.TB, bNS *nstest.NS) *cable {
	t.Helper()
	needNamespaces(t)
	n := cables.Add(1)
	c := &cable{a: fmt.Sprintf("a%d", n), b: fmt.Sprintf("b%d", n), bNS: bNS}
	c.plug(t)
	t.Cleanup(func() {
		if _, err := net.InterfaceByName(c.a); err == nil {
			c.remove(t)
		}
	})
	return c
}

// plug makes the interfaces.
func (c *cable) plug(t testing.TB) {
	t.Helper()
	peer := &rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{Name: c.b}}
	if c.bNS != nil {
		peer.Attributes.NetNS = rtnetlink.NetNSForFD(c.bNS.FD())
	}
	here.Netlink(t, func(conn *rtnetlink.Conn) error {
		return conn.Link.New(&rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{
			Name: c.a, Info: &rtnetlink.LinkInfo{Kind: "veth", Data: &driver.Veth{PeerInfo: peer}},
		}})
	})
}

func (c *cable) remove(t testing.TB) {
	t.Helper()
	here.Change(t, c.a, func(conn *rtnetlink.Conn, index uint32) error { return conn.Link.Delete(index) })
}

// up brings both ends up, silent but for what the test sends.
func (c *cable) up(t testing.TB) {
	t.Helper()
	here.Silence(t, c.a)
	c.bNS.Silence(t, c.b)
	setUp(t, nil, c.a, true)
	setUp(t, c.bNS, c.b, true)
	here.AwaitUp(t, c.a)
	c.bNS.AwaitUp(t, c.b)
}

func setUp(t testing.TB, ns *nstest.NS, name string, up bool) {
	t.Helper()
	var flags uint32
	if up {
		flags = unix.IFF_UP
	}
	ns.SetFlags(t, name, flags, unix.IFF_UP)
}

func setMTU(t testing.TB, ns *nstest.NS, name string, mtu uint32) {
	t.Helper()
	ns.Change(t, name, func(c *rtnetlink.Conn, index uint32) error {
		return c.Link.Set(&rtnetlink.LinkMessage{Index: index, Attributes: &rtnetlink.LinkAttributes{MTU: mtu}})
	})
}

// client records what a port tells it.
type client struct {
	mu    sync.Mutex
	links []bool
	tx    map[int]int
	rx    atomic.Int64
	ready chan struct{}
	room  chan struct{}
}

func newClient() *client {
	return &client{tx: map[int]int{}, ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func (c *client) TxReady(q int) {
	c.mu.Lock()
	c.tx[q]++
	c.mu.Unlock()
	poke(c.room)
}

func (c *client) RxReady(int) {
	c.rx.Add(1)
	poke(c.ready)
}

func (c *client) LinkChanged(l port.Link) {
	c.mu.Lock()
	c.links = append(c.links, l.Up)
	c.mu.Unlock()
}

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// events returns what the client was told of the link.
func (c *client) events() []bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]bool(nil), c.links...)
}

func (c *client) kicks(q int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tx[q]
}

func fabric() *port.Fabric { return port.NewFabric(packet.Kind()) }

// openPort returns a bound port on an interface. opts is "" or ",ns=...".
func openPort(t testing.TB, arg string) (port.Port, *client) {
	t.Helper()
	p, err := fabric().Open("packet:" + arg)
	check(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c := newClient()
	check(t, p.Bind(c))
	return p, c
}

// frame returns a frame of n bytes that carries seq.
func frame(n int, seq uint32) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(seq)
	}
	copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2})
	if n >= 14 {
		binary.BigEndian.PutUint16(b[12:], etherType)
	}
	if n >= 18 {
		binary.BigEndian.PutUint32(b[14:], seq)
	}
	return b
}

func seqOf(b []byte) uint32 { return binary.BigEndian.Uint32(b[14:]) }

// split makes a gather list of a frame.
func split(b []byte) port.Frame {
	cut := min(10, len(b))
	return port.Frame{Segs: [][]byte{b[:cut], nil, b[cut:]}}
}

// frames returns numbered frames.
func frames(n, size int, first uint32) []port.Frame {
	fs := make([]port.Frame, n)
	for i := range fs {
		fs[i] = split(frame(size, first+uint32(i)))
	}
	return fs
}

// sendAll sends, and waits for room as often as needed.
func sendAll(t testing.TB, p port.Port, c *client, q int, fs []port.Frame) {
	t.Helper()
	for {
		n := p.Send(q, fs)
		if fs = fs[n:]; len(fs) == 0 {
			return
		}
		select {
		case <-c.room:
		case <-time.After(deadline):
			t.Fatal("no TxReady")
		}
	}
}

// receive returns the next n frames as a NIC would see them.
func receive(t testing.TB, c *client, src *hw.RxSource, n int) [][]byte {
	t.Helper()
	var got [][]byte
	late := time.After(deadline)
	for len(got) < n {
		f := src.Peek()
		if f == nil {
			src.Flush()
			select {
			case <-c.ready:
				continue
			case <-late:
				t.Fatalf("received %d frames of %d", len(got), n)
			}
		}
		got = append(got, append([]byte(nil), f.Data...))
		src.Next()
	}
	src.Flush()
	return got
}

// rawSender returns a socket that sends as is on an interface.
func rawSender(t testing.TB, name string) func(b []byte) error {
	t.Helper()
	ifi, err := net.InterfaceByName(name)
	check(t, err)
	c, err := mdpacket.Listen(ifi, mdpacket.Raw, 0, nil)
	check(t, err)
	t.Cleanup(func() { _ = c.Close() })
	to := &mdpacket.Addr{HardwareAddr: ifi.HardwareAddr}
	return func(b []byte) error {
		_, err := c.WriteTo(b, to)
		return err
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	return len(names)
}

func wantText(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want %q in it", err, text)
	}
}
