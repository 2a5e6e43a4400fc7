package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl/pktgen8"
)

func TestSysctlRunsOnTheMachine(t *testing.T) {
	s := serve(t, "", alone)
	for _, c := range []struct {
		args           string
		stdout, stderr string
		exit           int
	}{
		{"net.link.ifqmaxlen", "net.link.ifqmaxlen: 50\n", "", 0},
		{"-n net.link.ifqmaxlen nosuch kern.ostype", "50\nFreeBSD\n", "sysctl: unknown oid 'nosuch'\n", 1},
		{"net.iflib.min_tx_latency=1", "net.iflib.min_tx_latency: 0 -> 1\n", "", 0},
		{"-n net.iflib.min_tx_latency", "1\n", "", 0},
		{"-b net.iflib.min_tx_latency", "\x01\x00\x00\x00", "", 0},
	} {
		r := s.ask(t, Request{Command: CommandSysctl, Args: strings.Fields(c.args)})
		if string(r.Stdout) != c.stdout || string(r.Stderr) != c.stderr || r.Exit != c.exit || r.Error != "" {
			t.Errorf("sysctl %s: %q %q %d %q", c.args, r.Stdout, r.Stderr, r.Exit, r.Error)
		}
	}
}

func TestSysctlReadsFilesWhereTheClientIs(t *testing.T) {
	s := serve(t, "", alone)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "my.conf"), []byte("net.iflib.min_tx_latency=1\n"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	for _, c := range []struct {
		file           string
		stdout, stderr string
		exit           int
	}{
		{"my.conf", "net.iflib.min_tx_latency: 0 -> 1\n", "", 0},
		{filepath.Join(dir, "my.conf"), "net.iflib.min_tx_latency: 1 -> 1\n", "", 0},
		{"none.conf", "", "sysctl: none.conf: No such file or directory\n", 66},
		{"fifo", "", "sysctl: fifo: Invalid argument\n", 66},
	} {
		r := s.ask(t, Request{Command: CommandSysctl, Args: []string{"-f", c.file}, Dir: dir})
		if string(r.Stdout) != c.stdout || string(r.Stderr) != c.stderr || r.Exit != c.exit {
			t.Errorf("sysctl -f %s: %q %q %d", c.file, r.Stdout, r.Stderr, r.Exit)
		}
	}
}

func TestIfconfigRunsOnTheMachine(t *testing.T) {
	s := serve(t, "", alone)
	r := s.ask(t, Request{Command: CommandIfconfig, Args: []string{"em0", "mtu", "1400"}})
	if len(r.Stdout)+len(r.Stderr) != 0 || r.Exit != 0 || s.m.Ifnet("em0").MTU() != 1400 {
		t.Errorf("%q %q %d, mtu %d", r.Stdout, r.Stderr, r.Exit, s.m.Ifnet("em0").MTU())
	}
	r = s.ask(t, Request{Command: CommandIfconfig, Args: []string{"em9"}})
	if string(r.Stderr) != "ifconfig: interface em9 does not exist\n" || r.Exit != 1 {
		t.Errorf("%q %d", r.Stderr, r.Exit)
	}
}

func TestBadRequestsGetAClearError(t *testing.T) {
	s := serve(t, "", alone)
	for text, want := range map[string]string{
		"\n":                            "request is not a JSON object",
		"{\n":                           "request is not a JSON object",
		"GET / HTTP/1.1\r\n\r\n":        "request is not understood: invalid character 'G' looking for beginning of value",
		"[]\n":                          "request is not understood: json: cannot unmarshal array into Go value of type client.Request",
		"{}\n":                          `unknown command ""`,
		`{"command":"shutdown"}` + "\n": `unknown command "shutdown"`,
		`{"command":"sysctl","arg":["-a"]}` + "\n":                               `request is not understood: json: unknown field "arg"`,
		`{"command":"sysctl"}{}` + "\n":                                          "more than one JSON value in a request",
		`{"command":"pktgen","args":["-h"],"pktgen":{"interface":"em0"}}` + "\n": "arguments beside the parameters of pktgen",
		`{"command":"sysctl","version":2}` + "\n":                                "version 2 of the protocol is not spoken here, 1 is",
		`{"command":"sysctl","pktgen":{}}` + "\n":                                "parameters of pktgen in a request for sysctl",
		strings.Repeat("x", client.MaxRequest+1):                                 "request longer than 65536 bytes",
		strings.Repeat(" ", 3*client.MaxRequest) + "{}\n":                        "request longer than 65536 bytes",
	} {
		var r Reply
		if err := json.Unmarshal([]byte(s.raw(t, []byte(text))), &r); err != nil || r.Error != want {
			t.Errorf("%.40q: %v, error %q, want %q", text, err, r.Error, want)
		}
	}
	if _, err := Do(context.Background(), s.path(), Request{Dir: strings.Repeat("x", client.MaxRequest)}); !errors.Is(err, client.ErrTooLong) {
		t.Errorf("a client sends what is too long: %v", err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	var held atomic.Int64
	o := output{held: &held}
	half := make([]byte, client.MaxOutput/2+1)
	for i, want := range []int{len(half), client.MaxOutput, client.MaxOutput} {
		if n, err := o.Write(half); n != len(half) || err != nil {
			t.Errorf("write %d: %d, %v", i, n, err)
		}
		if o.Len() != want || o.cut != (i > 0) || held.Load() != int64(want) {
			t.Errorf("write %d: %d bytes, cut %v, %d held", i, o.Len(), o.cut, held.Load())
		}
	}
	// What others have counts.
	held.Add(maxHeld - client.MaxOutput - 1)
	other := output{held: &held}
	for _, text := range []string{"a", "b"} {
		if n, err := other.Write([]byte(text)); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if other.String() != "a" || !other.cut || held.Load() != maxHeld {
		t.Errorf("%q, cut %v, %d held", other.String(), other.cut, held.Load())
	}
	o.drop()
	other.drop()
	if o.Len() != 0 || held.Load() != maxHeld-client.MaxOutput-1 {
		t.Errorf("%d bytes, %d held", o.Len(), held.Load())
	}
}

func TestClientsThatSayNothingDoNotKeepOthersOut(t *testing.T) {
	s := serve(t, "", alone)
	var idle []net.Conn
	for range maxClients / 2 {
		conn, err := net.Dial("unix", s.path())
		must(t, err)
		idle = append(idle, conn)
	}
	if r := s.ask(t, Request{Command: CommandSysctl, Args: []string{"-n", "kern.ostype"}}); string(r.Stdout) != "FreeBSD\n" {
		t.Errorf("%+v", r)
	}
	for _, conn := range idle {
		must(t, conn.Close())
	}
}

func TestASilentClientIsToldSoInTime(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	s := &Server{door: newDoor()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve(&guest{conn: pastDeadline{far}})
		far.Close()
	}()
	var r Reply
	must(t, json.NewDecoder(near).Decode(&r))
	<-done
	if want := "no request within 5s"; r.Error != want {
		t.Errorf("error %q, want %q", r.Error, want)
	}
}

// pastDeadline is a connection whose reading has timed out.
type pastDeadline struct{ net.Conn }

func (c pastDeadline) SetReadDeadline(time.Time) error {
	return c.Conn.SetReadDeadline(time.Unix(0, 1))
}

func TestManyClientsAtATime(t *testing.T) {
	s := serve(t, "", wired)
	const clients = maxClients + maxClients/4
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			var req Request
			switch i % 3 {
			case 0:
				req = Request{Command: CommandSysctl, Args: []string{"-a"}}
			case 1:
				req = Request{Command: CommandIfconfig, Args: []string{"em0", "descr", "x"}}
			default:
				req = Request{Command: CommandIfconfig}
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if r, err := Do(ctx, s.path(), req); err != nil || r.Error != "" || r.Exit != 0 {
				t.Errorf("client %d: %v %q %q", i, err, r.Error, r.Stderr)
			}
		})
	}
	wg.Wait()
}

func TestCloseStopsWhatClientsHaveRunning(t *testing.T) {
	s := serve(t, "", alone)
	idle, err := net.Dial("unix", s.path())
	must(t, err)
	defer idle.Close()
	ended := make(chan error)
	go func() {
		_, err := Do(context.Background(), s.path(), Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: pktgen8.MaxFrames}})
		ended <- err
	}()
	awaitFrames(t, s, 1)
	must(t, s.Close())
	if err := <-ended; err == nil || !strings.HasSuffix(err.Error(), "the machine went away before it answered") && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client sees %v", err)
	}
	must(t, s.Close())
	if _, err := os.Stat(s.path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// awaitFrames waits until em0's hardware has sent n frames.
func awaitFrames(t *testing.T, s *Server, n uint64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); s.m.Port("em0").Stats().TxFrames < n; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%d frames sent", s.m.Port("em0").Stats().TxFrames)
		}
	}
}

func FuzzCtlRequest(f *testing.F) {
	for _, seed := range []string{
		`{"command":"sysctl","args":["-a"]}`,
		`{"command":"sysctl","args":["net.link.ifqmaxlen=60","-n"],"dir":"/"}`,
		`{"command":"ifconfig","args":["-m","em0"]}`,
		`{"command":"kenv","args":["-q","a=b"]}`,
		`{"command":"dmesg","args":["-ac"]}`,
		`{"command":"vmstat","args":["-iza"]}`,
		`{"command":"netstat","args":["-m"]}`,
		`{"command":"devctl","args":["suspend","em0"]}`,
		`{"command":"netstat","args":["-i","-bdn"]}`,
		`{"command":"pfctl","args":["-e","-sq","-vf","/dev/null"]}`,
		`{"command":"ifconfig","args":["em0","inet","192.0.2.1/24","mtu","9000","-tso","up"]}`,
		`{"command":"pktgen","pktgen":{"interface":"em0","frames":3,"size":60,"threads":2,"dst":"02:00:00:00:00:01","rate":1e9}}`,
		`{"command":"pktgen","pktgen":{"interface":"em0","frames":7,"size":-1,"mode":"tx","burst":3,"dst_ip":"10.0.0.1:1-10.0.0.9","hash":true}}`,
		`{"command":"pktgen","args":["-l","64","-l","60","-R","1.5k","-f","tx","-n","5"]}`,
		`{"command":`, "", "null", `"\ud800"`, `{"command":"sysctl"}{}`, strings.Repeat("[", 1000),
	} {
		f.Add([]byte(seed))
	}
	s := serve(f, "", alone)
	f.Fuzz(func(t *testing.T, text []byte) {
		if i := strings.IndexByte(string(text), '\n'); i >= 0 {
			text = text[:i]
		}
		req, err := decode(text)
		const many = 1000
		if p := req.Pktgen; err == nil && p != nil && (p.Frames == 0 || p.Frames > many || p.Rate > 0 && p.Rate < 1e6 || p.Mode != "" && p.Mode != client.PktgenModeTx) {
			t.Skip("would take long")
		}
		if err == nil && req.Command == CommandPktgen && req.Pktgen == nil && strings.Contains(strings.Join(req.Args, ""), "i") {
			t.Skip("pktgen may have no end")
		}
		if err == nil && req.Command == CommandPfctl && strings.Contains(strings.Join(req.Args, ""), "v") {
			t.Skip("-vv never ends")
		}
		if err == nil && (req.Command == CommandNetstat || req.Command == CommandVmstat) && strings.ContainsAny(strings.Join(req.Args, ""), "w0123456789") {
			t.Skip("-w never ends")
		}
		if _, tool := tools[req.Command]; err == nil && !tool {
			t.Errorf("command %q was let in", req.Command)
		}
		out := s.raw(t, append(text, '\n'))
		var r Reply
		if jerr := json.Unmarshal([]byte(out), &r); jerr != nil || !strings.HasSuffix(out, "\n") {
			t.Fatalf("%q: reply %q: %v", text, out, jerr)
		}
		if err != nil && r.Error != err.Error() && len(text) < client.MaxRequest {
			t.Errorf("%q: error %q, want %q", text, r.Error, err)
		}
	})
}
