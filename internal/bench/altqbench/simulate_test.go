package altqbench

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// some are the scenarios that a test runs: all, and in short runs, which the race detector
// makes long, one of each discipline.
func some() []scenario {
	list := simulated()
	if !testing.Short() {
		return list
	}
	have := make(map[string]bool)
	return slices.DeleteFunc(list, func(s scenario) bool {
		seen := have[s.discipline]
		have[s.discipline] = true
		return seen
	})
}

func TestSimulatedLinksAreAsTheorySays(t *testing.T) {
	o := Options{Simulated: DefaultSimulated}
	if testing.Short() {
		o.Simulated = 2 * time.Second
	}
	list := some()
	res, err := o.simulate(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	report(t, res)
	figures := 0
	for _, s := range list {
		for _, p := range s.phases {
			figures += len(p.wants)
		}
	}
	if len(res.Rows) != figures || figures == 0 {
		t.Errorf("%d figures, want %d", len(res.Rows), figures)
	}
	if !testing.Short() {
		checkDocument(t, res)
	}
}

// checkDocument compares the lines of the page with what is printed.
func checkDocument(t *testing.T, res Result) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/altq.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := res.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	words := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	printed := make(map[string]bool)
	for line := range strings.Lines(table.String()) {
		printed[words(line)] = true
	}
	_, excerpt, found := strings.Cut(string(page), "\n    "+Simulated+"\n")
	excerpt, _, _ = strings.Cut(excerpt, "\n\n")
	for line := range strings.Lines(excerpt) {
		if !printed[words(line)] {
			t.Errorf("docs/altq.md: %q is not printed", words(line))
		}
	}
	if !found {
		t.Error("docs/altq.md shows no simulated links")
	}
}

// A second run is the same to the last bit: nothing depends on the host.
func TestSimulationRepeats(t *testing.T) {
	o := Options{Simulated: time.Second, Disciplines: []string{"rio"}}
	var first Result
	for i := range 2 {
		res, err := Simulate(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = res
			continue
		}
		if len(res.Rows) == 0 || !slices.EqualFunc(first.Rows, res.Rows, func(a, b Row) bool { return a.Measured == b.Measured }) {
			t.Errorf("%+v, then %+v", first.Rows, res.Rows)
		}
	}
}

func TestEveryDisciplineIsSimulatedAndDrawn(t *testing.T) {
	drawn, have := make(map[string]bool), make(map[string]bool)
	for _, s := range simulated() {
		have[s.discipline] = true
		drawn[s.discipline] = drawn[s.discipline] || s.drawn
	}
	for _, d := range Disciplines() {
		if !have[d] || !drawn[d] && d != "rio" {
			t.Errorf("%s: simulated %v, drawn %v", d, have[d], drawn[d])
		}
	}
}

// The experiment notices what is wrong: priorities the other way round, shares swapped, a
// limit that does not hold.
func TestWrongDisciplineIsOff(t *testing.T) {
	for _, c := range []struct {
		discipline, name, config string
		off                      []Quantity
	}{
		{"priq", "4 above 6", "altq on IF priq bandwidth 10Mb queue { hi, lo }\nqueue hi priority 1\nqueue lo priority 7 priq(default)\n",
			[]Quantity{Rate, Lost, Rate, MeanWait}},
		{"cbq", "60/40, limits", "altq on IF cbq bandwidth 10Mb queue { A, B }\nqueue A bandwidth 40% cbq(default)\nqueue B bandwidth 60%\n",
			[]Quantity{Rate, Rate}},
		{"hfsc", "upperlimit 2", "altq on IF hfsc bandwidth 10Mb queue { A, B }\nqueue A bandwidth 5Mb\nqueue B bandwidth 5Mb hfsc(default)\n",
			[]Quantity{Rate, Rate}},
	} {
		list := slices.DeleteFunc(simulated(), func(s scenario) bool { return s.discipline != c.discipline || s.name != c.name })
		list[0].config = c.config
		o := Options{Simulated: time.Second}
		res, err := o.simulate(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		var off []Quantity
		for _, r := range res.Rows {
			if r.Verdict == VerdictOff {
				off = append(off, r.Quantity)
			}
		}
		if !slices.Equal(off, c.off) {
			t.Errorf("%s, %s: off is %q, want %q", c.discipline, c.name, off, c.off)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Only: "cable"}, `no part "cable": simulated or veth`},
		{Options{Simulated: time.Millisecond}, "simulated time 1ms: 100ms to 1h0m0s"},
		{Options{Duration: 2 * time.Hour}, "duration 2h0m0s: 100ms to 1h0m0s"},
		{Options{Disciplines: []string{"wfq"}}, `no discipline "wfq": priq, cbq, hfsc, fairq, codel, red, rio`},
	} {
		if _, err := Run(t.Context(), c.o, nil); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}
