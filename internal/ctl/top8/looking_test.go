package top8

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/ctl/dump8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// bootToLook boots the machine of docs/looking.md: one NIC with a ring of 128 descriptors.
func bootToLook(t *testing.T) *bed {
	t.Helper()
	b := bootNIC(t, "em0", map[string]string{"hint.em.0.port": "null", "hint.em.0.device": "82540EM", "dev.em.0.iflib.simple_tx": "0",
		"dev.em.0.iflib.override_ntxds": "128", "dev.em.0.iflib.override_nrxds": "128"})
	b.settle(2 * time.Second)
	return b
}

// looks are the situations of the document by the name that its blocks have.
var looks = map[string]func(t *testing.T) string{
	"hung": func(t *testing.T) string {
		b := bootToLook(t)
		b.must(b.Kernel().Sysctl.SetText("debug.fail_point.hw.em0.stuck_head", "return(1)"))
		b.send(200, 60)
		var out bytes.Buffer
		Run(context.Background(), b.Machine, []string{"-b"}, tool.IO{Stdout: &out, Stderr: &out})
		dump8.Run(b.Machine, nil, tool.IO{Stdout: &out, Stderr: &out})
		return out.String()
	},
	"unseen": func(t *testing.T) string {
		b := bootToLook(t)
		b.must(b.Kernel().Sysctl.SetText("debug.fail_point.hw.em0.lost_intr", "return(1)"))
		b.send(4, 60)
		b.Kernel().Advance(10 * time.Millisecond) // longer than TIDV and TADV
		var out bytes.Buffer
		dump8.Run(b.Machine, nil, tool.IO{Stdout: &out, Stderr: &out})
		return out.String()
	},
}

// TestWhatLookingShowsIsTrue compares the blocks of docs/looking.md with what a machine
// shows: their lines are there in that order; a line of dots stands for any number.
func TestWhatLookingShowsIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../../docs/looking.md")
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
