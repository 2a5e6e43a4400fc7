package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const faultsPage = "../../docs/faults.md"

// faultDrivers are the drivers that the page is true for, with a part of each.
var faultDrivers = map[string]string{"em": "82574L", "igb": "I210", "igc": "I226-V"}

// block is what stands between two fences: commands with their output (console), lines
// of a machine's console (text), or of loader.conf (conf).
type block struct {
	kind  string
	lines []string
}

// faultSections are the blocks of each section of the page, in order.
func faultSections(t testing.TB) (sections [][]block) {
	t.Helper()
	page, err := os.ReadFile(faultsPage)
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(line, "\n")
		fence, isFence := strings.CutPrefix(line, "```")
		switch last := len(sections) - 1; {
		case strings.HasPrefix(line, "## "):
			sections = append(sections, nil)
		case isFence && open == nil:
			sections[last] = append(sections[last], block{kind: fence})
			open = &sections[last][len(sections[last])-1]
		case isFence:
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	return sections
}

// needsBoot reports whether a section is about a machine with lines in its loader.conf.
func needsBoot(s []block) bool {
	return slices.ContainsFunc(s, func(b block) bool { return b.kind == "conf" })
}

// TestFaultsPageIsTrueOfEveryDriver runs with the other drivers the script that
// TestScripts runs with em.
func TestFaultsPageIsTrueOfEveryDriver(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds for each driver")
	}
	for nic := range faultDrivers {
		if nic == "em" {
			continue
		}
		t.Run(nic, func(t *testing.T) {
			t.Parallel()
			p := scriptParams(t, nic)
			p.Dir, p.Files = "", []string{filepath.Join("testdata", "script", "faults.txtar")}
			testscript.Run(t, p)
		})
	}
}

// TestFaultsPageShowsEveryFailPoint compares the page with the NIC's fail points.
func TestFaultsPageShowsEveryFailPoint(t *testing.T) {
	var shown strings.Builder
	for _, s := range faultSections(t) {
		for _, b := range s {
			shown.WriteString(strings.Join(b.lines, "\n"))
		}
	}
	kit, err := os.ReadFile(filepath.Join("..", "..", "drivers", "hw", "faults.go"))
	if err != nil {
		t.Fatal(err)
	}
	points := regexp.MustCompile(`p\("([a-z_]+)"\)`).FindAllStringSubmatch(string(kit), -1)
	if len(points) != 9 {
		t.Errorf("%d fail points in the kit, want 9", len(points))
	}
	for _, p := range points {
		if !strings.Contains(shown.String(), "."+p[1]+"=") {
			t.Errorf("no example sets %s", p[1])
		}
	}
}

// playFaults is the command "faults": it plays the sections that need no boot of their
// own, or, as "faults boot", the others.
func playFaults(t testing.TB) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		boot := slices.Equal(args, []string{"boot"})
		if neg || len(args) != 0 && !boot {
			ts.Fatalf("usage: faults [boot]")
		}
		for _, s := range faultSections(t) {
			if needsBoot(s) == boot {
				playSection(ts, s, boot)
			}
		}
	}
}

// writeFaultsConf is the command "faultsconf": it adds the page's lines of loader.conf to
// a file.
func writeFaultsConf(t testing.TB) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: faultsconf file")
		}
		text := ts.ReadFile(args[0])
		for _, s := range faultSections(t) {
			for _, b := range s {
				if b.kind == "conf" {
					text += named(ts, strings.Join(b.lines, "\n")) + "\n"
				}
			}
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
	}
}

// named is a text of the page for the NICs of the script, $NIC0 and $NIC1.
func named(ts *testscript.TestScript, text string) string {
	nic := ts.Getenv("NIC")
	return regexp.MustCompile(`\bem([01])\b`).ReplaceAllString(strings.ReplaceAll(text, "dev.em.", "dev."+nic+"."), nic+"$1")
}

// playSection runs the commands of a section and waits for the lines of its console, from
// where the console stands, or all of it after a boot.
func playSection(ts *testscript.TestScript, s []block, boot bool) {
	at := 0
	if !boot {
		at = len(ts.ReadFile("console"))
	}
	for _, b := range s {
		switch b.kind {
		case "console":
			playCommands(ts, b.lines)
		case "text":
			for _, line := range b.lines {
				at = awaitConsole(ts, at, named(ts, line))
			}
		}
	}
}

// awaitConsole waits until the console in the file "console" has a line from offset at
// on, and returns where it ends. Numbers may differ.
func awaitConsole(ts *testscript.TestScript, at int, line string) (end int) {
	want := maskNumbers(line) + "\n"
	poll(ts, "the console does not say "+line, func() bool {
		end = at
		for got := range strings.Lines(ts.ReadFile("console")[at:]) {
			end += len(got)
			if maskNumbers(got) == want {
				return true
			}
		}
		return false
	})
	return end
}

// playCommands runs commands, lines that begin with "$ ", and compares what they print
// with the lines behind them. A question is asked until its answer is right: counters of
// the hardware are read once a second.
func playCommands(ts *testscript.TestScript, lines []string) {
	for len(lines) > 0 {
		command, ok := strings.CutPrefix(named(ts, lines[0]), "$ ")
		if !ok {
			ts.Fatalf("%s: no command before %q", faultsPage, lines[0])
		}
		lines = lines[1:]
		n := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "$ ") })
		if n < 0 {
			n = len(lines)
		}
		want := named(ts, strings.Join(append(slices.Clone(lines[:n]), ""), "\n"))
		lines = lines[n:]
		var got string
		run := func() bool {
			_ = ts.Exec("sh", "-c", command+" 2>&1") // some are to fail
			got = ts.ReadFile("stdout")
			return got == want
		}
		switch {
		case strings.HasSuffix(command, "/dev/null"):
			_ = ts.Exec("sh", "-c", command)
		case strings.Contains(command, "="):
			if !run() {
				ts.Fatalf("%s\nprints:\n%swant:\n%s", command, got, want)
			}
		default:
			poll(ts, command+" does not print "+want, run)
		}
	}
}

var numbers = regexp.MustCompile(`0x[0-9a-f]+|\b[0-9]+\b`)

func maskNumbers(s string) string { return numbers.ReplaceAllString(s, "N") }
