package ctl

import (
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl/pktgen8"
)

// hostile are clients that do not do what clients do. Each has a new connection; what is
// left of it is closed when the test ends.
var hostile = []func(conn net.Conn){
	func(conn net.Conn) { conn.Close() },
	func(net.Conn) {}, // says nothing
	func(conn net.Conn) { write(conn, "GET / HTTP/1.1\r\n\r\n") },
	func(conn net.Conn) { write(conn, `{"command":"sysctl","ar`) },
	func(conn net.Conn) { write(conn, strings.Repeat("\x00\xff", client.MaxRequest)) },
	func(conn net.Conn) { write(conn, `{"command":"sysctl","args":["-a"]}`+"\n") }, // does not read
	func(conn net.Conn) { write(conn, `{"command":"sysctl","args":["-a"]}`+"\n"); conn.Close() },
	func(conn net.Conn) { write(conn, `{"command":"netstat","args":["-w","1"]}`+"\n"); conn.Close() },
	func(conn net.Conn) {
		write(conn, `{"command":"pktgen","pktgen":{"interface":"em0","frames":1000000000,"size":60,"rate":10}}`+"\n")
		conn.Close()
	},
}

// write sends what the machine takes of a text.
func write(conn net.Conn, text string) {
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = conn.Write([]byte(text))
	}
}

// descriptors is how many files this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(list)
}

func (d *door) served() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.clients)
}

// TestHostileClientsStallNobody has many clients that misbehave in every way while
// another one asks again and again. Afterwards nothing is left of them; goroutines are
// counted when the package's tests are over.
func TestHostileClientsStallNobody(t *testing.T) {
	clients := 1000
	if testing.Short() {
		clients = 120
	}
	s := serve(t, "", alone)
	s.awaitLinks(t)
	ask := Request{Command: CommandSysctl, Args: []string{"-n", "kern.ostype"}}
	s.ask(t, ask)
	before := descriptors(t)

	var conns []net.Conn
	var wg sync.WaitGroup
	for i := range clients {
		conn, err := net.Dial("unix", s.path())
		must(t, err)
		conns = append(conns, conn)
		wg.Go(func() { hostile[i%len(hostile)](conn) })
		if n := s.door.served(); n > maxClients {
			t.Errorf("%d clients are served", n)
		}
		const often = 50
		if i%often != 0 {
			continue
		}
		if r := s.ask(t, ask); string(r.Stdout) != "FreeBSD\n" {
			t.Errorf("after %d clients: %q %q", i, r.Stdout, r.Error)
		}
	}
	wg.Wait()
	if r := s.ask(t, ask); string(r.Stdout) != "FreeBSD\n" {
		t.Errorf("after all: %q %q", r.Stdout, r.Error)
	}
	for _, conn := range conns {
		conn.Close()
	}
	eventually(t, "clients", func() uint64 { return uint64(s.door.served()) }, 0)
	eventually(t, "bytes held", func() uint64 { return uint64(s.held.Load()) }, 0)
	eventually(t, "descriptors too many", func() uint64 { return uint64(max(0, descriptors(t)-before)) }, 0)
}

// TestHostileClientsDoNotStallTheDataPath paces pktgen at a fifth of its undisturbed rate:
// the frames sent while clients misbehave are within 1 % of the pace.
func TestHostileClientsDoNotStallTheDataPath(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and a machine without much else to do")
	}
	s := serve(t, "", alone)
	s.awaitLinks(t)
	// The host may be busy with others: once without.
	const attempts = 4
	var off float64
	for range attempts {
		if off = s.offPace(t); off > -0.01 && off < 0.01 {
			return
		}
	}
	t.Errorf("off the pace by %.2f %% in the last of %d attempts", off*100, attempts)
}

// offPace is by how much of it frames are sent off a pace while clients misbehave.
func (s *Server) offPace(t *testing.T) float64 {
	const probe, share, seconds, clients = 200_000, 5, 2, 1000
	rate := s.gen(t, PktgenParams{Interface: "em0", Frames: probe, Size: pktgen8.MinFrame}).PPS() / share

	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range clients {
			conn, err := net.Dial("unix", s.path())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if h := hostile[i%len(hostile)]; i%len(hostile) != len(hostile)-1 { // the last would send frames, too
				wg.Go(func() { h(conn) })
			}
		}
	})
	r := s.gen(t, PktgenParams{Interface: "em0", Frames: uint64(rate * seconds), Size: pktgen8.MinFrame, Rate: rate})
	wg.Wait()
	return r.PPS()/rate - 1
}

func TestADeviceThatIsDetachedEndsItsRun(t *testing.T) {
	s := serve(t, "", alone)
	s.awaitLinks(t)
	ended := make(chan Reply)
	go func() {
		ended <- s.ask(t, Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: pktgen8.MaxFrames, Size: pktgen8.MinFrame, Threads: 2}})
	}()
	awaitFrames(t, s, 100)
	if r := s.ask(t, Request{Command: CommandDevctl, Args: []string{"detach", "em0"}}); r.Exit != 0 {
		t.Errorf("%q", r.Stderr)
	}
	if r := <-ended; r.Exit != 1 || !strings.HasPrefix(r.Error, "em0: ") {
		t.Errorf("%+v", r)
	}
	if r := s.ask(t, Request{Command: CommandDevctl, Args: []string{"attach", "em0"}}); r.Exit != 0 {
		t.Errorf("%q", r.Stderr)
	}
	s.awaitLinks(t)
	s.gen(t, PktgenParams{Interface: "em0", Frames: 100, Size: pktgen8.MinFrame})
}

// TestDevicesComeAndGoUnderTheTools has tools look at a device that others take away.
func TestDevicesComeAndGoUnderTheTools(t *testing.T) {
	s := serve(t, "", wired)
	rounds := 10
	if testing.Short() {
		rounds = 1
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, req := range []Request{
		{Command: CommandSysctl, Args: []string{"-a", "dev"}},
		{Command: CommandSysctl, Args: []string{"dev.em.0"}},
		{Command: CommandIfconfig, Args: []string{"-m"}},
		{Command: CommandIfconfig, Args: []string{"em0", "mtu", "1400"}},
		{Command: CommandNetstat, Args: []string{"-ibd"}},
		{Command: CommandNetstat, Args: []string{"-Q"}},
		{Command: CommandNetstat, Args: []string{"-rn"}},
		{Command: CommandARP, Args: []string{"-a", "-o", "json"}},
		{Command: CommandRoute, Args: []string{"-q", "add", "10.0.0.0/8", "-iface", "em0"}},
		{Command: CommandRoute, Args: []string{"-q", "delete", "10.0.0.0/8"}},
		{Command: CommandVmstat, Args: []string{"-iza"}},
	} {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if r := s.ask(t, req); r.Error != "" {
					t.Errorf("%s %q: %s", req.Command, req.Args, r.Error)
				}
			}
		})
	}
	for range rounds {
		for _, what := range []string{"detach", "attach", "suspend", "resume", "disable", "enable"} {
			if r := s.ask(t, Request{Command: CommandDevctl, Args: []string{what, "em0"}}); r.Exit != 0 {
				t.Errorf("%s: %q", what, r.Stderr)
			}
		}
	}
	close(done)
	wg.Wait()
	if r := s.ask(t, Request{Command: CommandIfconfig, Args: []string{"-l"}}); len(strings.Fields(string(r.Stdout))) != 2 {
		t.Errorf("%q", r.Stdout)
	}
}
