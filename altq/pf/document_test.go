package pf_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
)

// document is a page whose tables are simulations of the configurations above them.
const document = "../../docs/altq.md"

// experimentHead is the head of such a table. Each row is a flow: the first three cells say what it sends, the fourth
// what it should get in Mb/s, and the others what it got.
var experimentHead = []string{"Queue", "Frames", "Offers", "Theory", "Gets", "Lost", "Mean wait", "Longest"}

// Columns of the table.
const (
	colQueue = iota
	colFrames
	colOffers
	colTheory
	colGets
)

// experiment is a table with the configuration it belongs to.
type experiment struct {
	line   int
	config string
	rows   [][]string
}

// TestDocumentShowsWhatIsSimulated keeps the numbers of docs/altq.md true, and near to theory.
func TestDocumentShowsWhatIsSimulated(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	const least = 8
	all := experiments(string(text))
	if len(all) < least {
		t.Fatalf("%d tables in %s, want at least %d", len(all), document, least)
	}
	for _, e := range all {
		t.Run(fmt.Sprintf("line%d", e.line), func(t *testing.T) {
			for i, got := range simulate(t, e) {
				want := e.rows[i]
				if !slices.Equal(got, want) {
					t.Errorf("%s:%d: is\n| %s |\nwant\n| %s |", document, e.line+2+i, strings.Join(want, " | "), strings.Join(got, " | "))
				}
				theory, rate := number(t, got[colTheory]), number(t, got[colGets])
				const tolerance = 0.02
				if math.Abs(rate-theory) > tolerance*theory {
					t.Errorf("%s:%d: theory says %.3f, simulated %.3f", document, e.line+2+i, theory, rate)
				}
			}
		})
	}
}

// experiments finds the tables, and above each the last indented block with an altq line.
func experiments(text string) (all []experiment) {
	const indent = "    "
	var block, config []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if code, ok := strings.CutPrefix(lines[i], indent); ok {
			block = append(block, code)
			continue
		}
		if len(block) > 0 && strings.HasPrefix(block[0], "altq on") {
			config = block
		}
		block = nil
		if !slices.Equal(cells(lines[i]), experimentHead) {
			continue
		}
		e := experiment{line: i + 1, config: strings.Join(config, "\n") + "\n"}
		for i += 2; strings.HasPrefix(lines[i], "|"); i++ {
			e.rows = append(e.rows, cells(lines[i]))
		}
		all = append(all, e)
	}
	return all
}

func cells(line string) []string {
	c := strings.Split(strings.Trim(line, "| "), "|")
	for i := range c {
		c[i] = strings.TrimSpace(c[i])
	}
	return c
}

// simulate runs the flows of a table over its configuration and returns the rows as they should be.
func simulate(t *testing.T, e experiment) [][]string {
	const settle, measured, apart = 5 * time.Second, 20 * time.Second, 300 * time.Microsecond
	cfg, messages, ok := conf.Parse("pf.conf", e.config, conf.Options{})
	if !ok {
		t.Fatalf("%s\ndoes not load: %v", e.config, messages)
	}
	built, err := pf.Build(cfg)
	must(t, err)
	b := built[0]
	link := altqtest.Link(t, b.Discipline, altqsim.Config{Rate: b.Interface.IfBandwidth, Depth: uint64(b.Interface.TBRSize)})
	var flows []*altqsim.Flow
	for i, row := range e.rows {
		flows = append(flows, link.Add(altqsim.Source{
			QID: b.QIDs[strings.Trim(row[colQueue], "`")], Hash: uint32(i + 1), Start: time.Duration(i) * apart,
			Size: int(number(t, row[colFrames])), Rate: number(t, row[colOffers]) * 1e6,
		}))
	}
	link.Run(settle)
	link.Mark()
	link.Run(measured) // in short runs also: the numbers belong to this time
	var rows [][]string
	for i, f := range flows {
		ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }
		rows = append(rows, append(slices.Clone(e.rows[i][:colGets]), fmt.Sprintf("%.3f", f.Rate()/1e6),
			fmt.Sprintf("%.2f%%", 100*f.DropShare()), ms(f.MeanDelay()), ms(f.DelayQuantile(1))))
	}
	return rows
}

func number(t *testing.T, cell string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
