package ctl_test

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/dump8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/ctl/top8"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

// stuck is a machine on which docs/looking.md looks.
type stuck struct {
	*machine.Machine
	t *testing.T
}

// newStuck boots a machine with one NIC with a ring of 128 descriptors.
func newStuck(t *testing.T) *stuck {
	t.Helper()
	m, err := machine.Boot(machine.Config{
		NCPU: 2, MemSize: 64 << 20, Executor: kern.Stepped, Clock: kern.ManualClock,
		Env: map[string]string{"hint.em.0.port": "null", "hint.em.0.device": "82540EM", "dev.em.0.iflib.override_ntxds": "128",
			"dev.em.0.iflib.override_nrxds": "128", "dev.em.0.iflib.simple_tx": "0"},
	})
	s := &stuck{m, t}
	s.must(err)
	t.Cleanup(func() { s.must(m.Close()) })
	s.must(m.Up("em0"))
	m.Kernel().Advance(3 * time.Second)
	return s
}

func (s *stuck) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// send sends n frames of 60 bytes.
func (s *stuck) send(n int) {
	c := mbuf.Of(s.Kernel()).NewCache()
	defer c.Close()
	for range n {
		m := c.GetCl(mbuf.FlagPktHdr)
		m.SetLen(60)
		m.FixHdr()
		_ = s.Ifnet("em0").Transmit(m) // the ring may be full
	}
	s.Kernel().RunUntilIdle()
}

// looks are the situations of the document by the name that its blocks have.
var looks = map[string]func(t *testing.T) string{
	"hung": func(t *testing.T) string {
		s := newStuck(t)
		s.must(s.Kernel().Sysctl.SetText("debug.fail_point.hw.em0.stuck_head", "return(1)"))
		s.send(200)
		var b bytes.Buffer
		top8.Run(context.Background(), s.Machine, []string{"-b"}, tool.IO{Stdout: &b, Stderr: &b})
		dump8.Run(s.Machine, nil, tool.IO{Stdout: &b, Stderr: &b})
		return b.String()
	},
	"unseen": func(t *testing.T) string {
		s := newStuck(t)
		s.must(s.Kernel().Sysctl.SetText("debug.fail_point.hw.em0.lost_intr", "return(1)"))
		s.send(4)
		s.Kernel().Advance(10 * time.Millisecond) // longer than TIDV and TADV
		var b bytes.Buffer
		dump8.Run(s.Machine, nil, tool.IO{Stdout: &b, Stderr: &b})
		return b.String()
	},
}

// TestWhatLookingShowsIsTrue compares the blocks of docs/looking.md with what a machine
// shows: their lines are there in that order; a line of dots stands for any number.
func TestWhatLookingShowsIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../docs/looking.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```text ([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < len(looks) {
		t.Fatalf("%d blocks", len(blocks))
	}
	shown := map[string]string{}
	for _, block := range blocks {
		name := block[1]
		if shown[name] == "" {
			shown[name] = looks[name](t)
		}
		rest := "\n" + shown[name]
		for _, part := range strings.Split("\n"+strings.TrimSuffix(block[2], "\n"), "\n...") {
			_, after, ok := strings.Cut(rest, part+"\n")
			if !ok {
				t.Fatalf("%s: not there, or not in this order: %q in\n%s", name, part, shown[name])
			}
			rest = "\n" + after
		}
	}
}
