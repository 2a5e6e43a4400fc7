package ctl

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/ctl/pktgen8"
)

// gen sends frames; the machine must be able to.
func (s *Server) gen(t testing.TB, p PktgenParams) PktgenResult {
	t.Helper()
	r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &p})
	if r.Error != "" {
		t.Fatalf("pktgen %+v: %s", p, r.Error)
	}
	return *r.Pktgen
}

func (s *Server) number(t testing.TB, oid string) string {
	t.Helper()
	text, err := s.m.Kernel().Sysctl.Text(oid)
	must(t, err)
	return text
}

// eventually waits for what the receiver does in its own time.
func eventually(t testing.TB, what string, get func() uint64, want uint64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); get() != want; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s is %d, want %d", what, get(), want)
		}
	}
}

func TestPktgenSendsAlongThePathOfTheTunables(t *testing.T) {
	for _, c := range []struct{ loader, enqueues string }{
		{"net.iflib.prefer_mpring=\"1\"\n", "100"},
		{"net.iflib.prefer_mpring=\"0\"\n", "0"},
	} {
		s := serve(t, c.loader, wired)
		s.awaitLinks(t)
		r := s.gen(t, PktgenParams{Interface: "em0", Frames: 100, Size: 60})
		if r.Frames != 100 || r.Size != 60 || r.Bytes != 6000 || r.Batches != 1 || r.Elapsed <= 0 {
			t.Errorf("%sresult %+v", c.loader, r)
		}
		if st := s.m.Port("em0").Stats(); st.TxFrames != 100 || st.TxBytes != 100*60 {
			t.Errorf("%sthe hardware sent %d frames, %d bytes when the run had ended", c.loader, st.TxFrames, st.TxBytes)
		}
		if got := s.number(t, "dev.em.0.iflib.txq0.r_enqueues"); got != c.enqueues {
			t.Errorf("%sr_enqueues %s, want %s", c.loader, got, c.enqueues)
		}
		em1 := s.m.Ifnet("em1")
		eventually(t, "em1's ipackets", func() uint64 { return em1.GetCounter(ifnet.CounterIPackets) }, 100)
	}
}

func TestPktgenSaysWhatItCannotDo(t *testing.T) {
	s := serve(t, "", alone)
	r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em9", Frames: 1}})
	if r.Error != "em9: no such interface" || r.Exit != 1 || r.Pktgen == nil {
		t.Errorf("%+v", r)
	}
	s.ask(t, Request{Command: CommandIfconfig, Args: []string{"em0", "down"}})
	r = s.ask(t, Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: 3, Size: 60}})
	if want := "em0: the interface is down (0 of 3 frames sent)"; r.Error != want {
		t.Errorf("%q, want %q", r.Error, want)
	}
}

// Reports of an object are objects; those of a command line are text.
func TestPktgenReportsWhileItRuns(t *testing.T) {
	s := serve(t, "", alone)
	s.awaitLinks(t)
	var parts []Reply
	req := Request{Command: CommandPktgen, Partial: func(r Reply) { parts = append(parts, r) },
		Pktgen: &PktgenParams{Interface: "em0", Frames: 300, Rate: 1000, ReportMS: 50}}
	last := s.ask(t, req)
	if last.Error != "" || last.Pktgen.Frames != 300 {
		t.Fatalf("%+v", last)
	}
	before := uint64(0)
	for _, p := range parts {
		if !p.More || p.Pktgen == nil || p.Pktgen.Frames < before || p.Pktgen.Frames > 300 || len(p.Stdout)+len(p.Stderr) != 0 {
			t.Errorf("%+v", p)
		}
		before = p.Pktgen.Frames
	}
	if len(parts) == 0 {
		t.Error("no reports")
	}
	parts, req.Pktgen = nil, nil
	req.Args = strings.Fields("-i em0 -f tx -n 300 -R 1k -T 50")
	last = s.ask(t, req)
	var stdout, stderr strings.Builder
	for _, p := range append(parts, last) {
		stdout.Write(p.Stdout)
		stderr.Write(p.Stderr)
	}
	if last.Exit != 0 || !strings.Contains(stdout.String(), "\nSent 300 packets 18000 bytes 100 events 60 bytes each in 0.") || !strings.Contains(stderr.String(), " main_thread [1] ") {
		t.Errorf("exit %d\n%s%s", last.Exit, &stdout, &stderr)
	}
}

func TestAnInterfaceThatGoesDownEndsTheRun(t *testing.T) {
	s := serve(t, "", alone)
	ended := make(chan Reply)
	go func() {
		r, err := Do(context.Background(), s.path(), Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: pktgen8.MaxFrames, Size: 60, Threads: 2}})
		if err != nil {
			r.Error = err.Error()
		}
		ended <- r
	}()
	awaitFrames(t, s, 100)
	if r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: 1, Size: 60}}); r.Error != "em0: another pktgen sends: Device busy" {
		t.Errorf("a second pktgen: %q", r.Error)
	}
	s.ask(t, Request{Command: CommandIfconfig, Args: []string{"em0", "down"}})
	if r := <-ended; !strings.HasPrefix(r.Error, "em0: Network is down (") {
		t.Errorf("error %q", r.Error)
	}
}

// freeAgain waits until em0 can be used again, as the machine ends runs in its own time.
func (s *Server) freeAgain(t testing.TB) {
	t.Helper()
	eventually(t, "busy", func() uint64 {
		r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: 1}})
		if r.Error != "" {
			return 1
		}
		return 0
	}, 0)
}

func TestAClientThatLeavesEndsItsRun(t *testing.T) {
	s := serve(t, "", alone)
	s.awaitLinks(t)
	for _, req := range []Request{
		{Pktgen: &PktgenParams{Interface: "em0"}},
		{Args: []string{"-i", "em0", "-f", "tx"}},
	} {
		req.Command = CommandPktgen
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		before := s.m.Port("em0").Stats().TxFrames
		go func() {
			_, err := Do(ctx, s.path(), req)
			ended <- err
		}()
		awaitFrames(t, s, before+1)
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("the client sees %v", err)
		}
		s.freeAgain(t)
	}
}

// A client that stops only its half of the conversation hears what was done.
func TestAClientThatStopsHearsWhatWasDone(t *testing.T) {
	s := serve(t, "", wired)
	s.awaitLinks(t)
	for _, mode := range []string{client.PktgenModeTx, client.PktgenModeRx} {
		stop := make(chan struct{})
		ended := make(chan Reply)
		go func() {
			ended <- s.ask(t, Request{Command: CommandPktgen, Args: []string{"-i", "em0", "-f", mode, "-T", "0", "-R", "1000"}, Stop: stop})
		}()
		if mode == client.PktgenModeTx {
			awaitFrames(t, s, 5)
		} else {
			em0 := s.m.Ifnet("em0")
			eventually(t, "taps", func() uint64 {
				if em0.TapOn() {
					return 1
				}
				return 0
			}, 1)
			s.gen(t, PktgenParams{Interface: "em1", Frames: 10})
			eventually(t, "ipackets", func() uint64 { return em0.GetCounter(ifnet.CounterIPackets) }, 10)
			// A packet is counted before it is shown. Those before the last one were shown.
			s.gen(t, PktgenParams{Interface: "em1", Frames: 1})
			eventually(t, "ipackets", func() uint64 { return em0.GetCounter(ifnet.CounterIPackets) }, 11)
		}
		close(stop)
		r := <-ended
		want := map[string]string{client.PktgenModeTx: "^Sent ", client.PktgenModeRx: "^Received (10 packets 600|11 packets 660) bytes "}[mode]
		if r.Exit != 0 || r.Error != "" || !regexp.MustCompile("(?m)"+want).Match(r.Stdout) {
			t.Errorf("%s: %d %q %q", mode, r.Exit, r.Error, r.Stdout)
		}
	}
}
