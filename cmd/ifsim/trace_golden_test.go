package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ifsim/ifsim/internal/trace"
)

var update = flag.Bool("update", false, "write the golden traces and the document that shows them")

// goldenFile is the file in the scripts that holds a trace.
const goldenFile = "want.txt"

// traceScript is the script of a path, and the tunable that chooses the path.
var traceScripts = map[string]struct{ script, preferMPRing string }{
	"mp_ring":   {"trace_mpring.txtar", "1"},
	"simple_tx": {"trace_simple.txtar", "0"},
}

// golden returns the trace that the script of a path wants; with -update it makes it.
func golden(t *testing.T, path string) string {
	t.Helper()
	s := traceScripts[path]
	name := filepath.Join("testdata", "script", s.script)
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := &ar.Files[len(ar.Files)-1]
	if f.Name != goldenFile {
		t.Fatalf("%s: last file is %s, not %s", name, f.Name, goldenFile)
	}
	if *update {
		res, err := trace.Run(trace.Config{Files: os.DirFS(filepath.Join("..", "..", "docs", "labs", "first")),
			Env: map[string]string{"net.iflib.prefer_mpring": s.preferMPRing}})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := res.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		f.Data = b.Bytes()
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return string(f.Data)
}

// pieces is a trace taken apart: the heading, the steps, the end.
type pieces struct {
	heading, end string
	steps        []string
}

var stepStart = regexp.MustCompile(`^ *\d+  [a-z]+ `)

func split(text string) (p pieces) {
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n\n") {
		switch {
		case stepStart.MatchString(block):
			p.steps = append(p.steps, block)
		case len(p.steps) == 0:
			p.heading = block
		default:
			p.end = block
		}
	}
	return p
}

// fence is a block of the document that shows a part of a trace: a path, and a range of
// steps, "heading" or "end".
var fence = regexp.MustCompile("(?ms)^```text (mp_ring|simple_tx) (heading|end|(\\d+)-(\\d+))\n.*?^```$")

// fill puts the traces into the document's blocks. The blocks of a path must show each
// step once, in order.
func fill(t *testing.T, doc string, traces map[string]pieces) string {
	t.Helper()
	shown := map[string]int{}
	parts := map[string]int{}
	out := fence.ReplaceAllStringFunc(doc, func(block string) string {
		m := fence.FindStringSubmatch(block)
		p := traces[m[1]]
		var body string
		switch m[2] {
		case "heading":
			body = p.heading
			parts[m[1]]++
		case "end":
			body = p.end
			parts[m[1]]++
		default:
			lo, _ := strconv.Atoi(m[3])
			hi, _ := strconv.Atoi(m[4])
			if lo != shown[m[1]]+1 || hi < lo || hi > len(p.steps) {
				t.Fatalf("%s %s does not follow step %d of %d", m[1], m[2], shown[m[1]], len(p.steps))
			}
			body, shown[m[1]] = strings.Join(p.steps[lo-1:hi], "\n\n"), hi
		}
		return "```text " + m[1] + " " + m[2] + "\n" + body + "\n```"
	})
	for path, p := range traces {
		if shown[path] != len(p.steps) || parts[path] != 2 {
			t.Errorf("%s: %d of %d steps, %d of heading and end are shown", path, shown[path], len(p.steps), parts[path])
		}
	}
	return out
}

// TestTraceGoldenIsWhatTheDocumentShows keeps docs/trace.md from telling something else
// than the program.
func TestTraceGoldenIsWhatTheDocumentShows(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "trace.md")
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	traces := map[string]pieces{}
	for path := range traceScripts {
		traces[path] = split(golden(t, path))
	}
	want := fill(t, string(doc), traces)
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(doc)); diff != "" {
		t.Errorf("docs/trace.md (-golden +document):\n%s", diff)
	}
}
