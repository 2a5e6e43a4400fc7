package altqbench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/nstest"
)

// TestMain lets this binary be the child that measures wires.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == WireCommand {
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runWires runs the part on wires in a child.
func runWires(t *testing.T, o Options) Result {
	t.Helper()
	o.Only = OnlyWires
	calls, total := 0, len(wireRunsOf(t, o))
	o.Progress = func(part string, done, of int) {
		if calls++; part != OnlyWires || done != calls || of != total {
			t.Errorf("progress of %s: %d of %d at call %d", part, done, of, calls)
		}
	}
	res, err := Run(t.Context(), o, []string{os.Args[0], WireCommand})
	if err != nil {
		t.Fatal(err)
	}
	if res.Skipped != "" {
		nstest.Unavailable(t, "%s", res.Skipped)
	}
	if calls != total {
		t.Errorf("progress of %d runs, want %d", calls, total)
	}
	return res
}

func wireRunsOf(t *testing.T, o Options) []wireRun {
	t.Helper()
	if err := o.normalize(); err != nil {
		t.Fatal(err)
	}
	return o.wireRuns()
}

// report fails for each figure that is off, of the quantities given or of all.
func report(t *testing.T, res Result, of ...Quantity) {
	t.Helper()
	for _, r := range res.Rows {
		if r.Verdict == VerdictOff && (len(of) == 0 || slices.Contains(of, r.Quantity)) {
			t.Errorf("%s, %s, %s: %s, %s: %v, want %s", r.Where, r.Discipline, r.Scenario, r.Class, r.Quantity, r.Measured, r.Expected.text())
		}
	}
}

// fixed is a result with round figures.
func fixed() Result {
	row := Row{Where: Simulated, Discipline: "priq", Scenario: "two", Class: "hi", Quantity: Rate, Expected: near(4, 0.005), Measured: 4.01}
	off := Row{Where: Simulated, Discipline: "priq", Scenario: "two", Class: "hi", Quantity: Lost, Expected: within(0, 0), Measured: 0.5}
	bounds := Row{Where: Simulated, Discipline: "codel", Scenario: "one", Class: "line", Quantity: MeanWait, Expected: between(5, 7.5), Measured: 6}
	most := Row{Where: "em0 prefer_mpring=1", Discipline: "cbq", Scenario: "x", Class: all, Quantity: Above, Expected: between(0, 6000), Measured: 7000}
	skip := Row{Where: "em0 prefer_mpring=1", Discipline: "hfsc", Scenario: "y", Class: all, Quantity: Rate, Verdict: VerdictSkipped}
	return Result{
		Rows:    []Row{row.compare(), off.compare(), bounds.compare(), most.compare(), skip},
		Panels:  []Panel{{Where: Simulated, Title: "priq: two", Bin: time.Second, Series: []Series{{"hi", []float64{4, 4, 3}}, {"lo", []float64{6, 6, 7}}}}},
		Skipped: "no veth",
	}
}
