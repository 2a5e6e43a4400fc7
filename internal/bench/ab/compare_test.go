package ab_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/internal/bench"
	"github.com/ifsim/ifsim/internal/bench/ab"
)

// two arms of a knob.
func two(t *testing.T) []ab.Arm {
	t.Helper()
	arms, err := ab.Parse([]string{"k=0,1"})
	if err != nil {
		t.Fatal(err)
	}
	return arms
}

// known compares 1000 kpps and steps of 1 kpps with as much times a factor.
func known(t *testing.T, rounds int, factor float64) *ab.Result {
	t.Helper()
	var ran [2]int
	cell, err := ab.Run(two(t), ab.MetricPPS, rounds, func(arm int) (float64, error) {
		ran[arm]++ // the first run does not count
		v := 1e6 + 1e3*float64(ran[arm]-2)
		if arm == 1 {
			v *= factor
		}
		return v, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &ab.Result{Knobs: []string{"k"}, Benchmark: "bench x", Rounds: rounds, Cells: []ab.Cell{cell}}
}

func TestVerdictsOnKnownData(t *testing.T) {
	for _, c := range []struct {
		rounds  int
		factor  float64
		ratio   float64
		verdict string
	}{
		{11, 1.21, 1.21, "significant: 1 is 1.21 times 0"},
		{11, 0.5, 0.5, "significant: 1 is 0.50 times 0"},
		{11, 1.02, 1.02, "undecided"}, // too little
		{11, 1, 1, "undecided"},
		{3, 2, 2, "undecided"}, // too few
	} {
		f := known(t, c.rounds, c.factor).Cells[0].Figures
		if f[0].Ratio != nil || f[0].P != nil || f[0].Verdict != "" {
			t.Errorf("the first is compared: %+v", f[0])
		}
		if d := *f[1].Ratio - c.ratio; d > 1e-9 || d < -1e-9 || f[1].Verdict != c.verdict {
			t.Errorf("%d rounds, %g: %g %q, want %q", c.rounds, c.factor, *f[1].Ratio, f[1].Verdict, c.verdict)
		}
	}
}

func TestArmsTakeTurns(t *testing.T) {
	var order strings.Builder
	var progress []string
	_, err := ab.Run(two(t), ab.MetricPPS, 3, func(arm int) (float64, error) {
		fmt.Fprint(&order, arm)
		return 0, nil
	}, func(done, total int) { progress = append(progress, fmt.Sprintf("%d/%d", done, total)) })
	if got := order.String(); err != nil || got != "01"+"01"+"10"+"01" {
		t.Errorf("%s, %v", got, err)
	}
	if len(progress) != 8 || progress[0] != "1/8" || progress[7] != "8/8" {
		t.Errorf("%q", progress)
	}
}

func TestAFailedRunEndsTheComparison(t *testing.T) {
	bad := errors.New("no link")
	_, err := ab.Run(two(t), ab.MetricPPS, 3, func(arm int) (float64, error) {
		if arm == 1 {
			return 0, bad
		}
		return 1, nil
	}, nil)
	if !errors.Is(err, bad) || err.Error() != "1: no link" {
		t.Errorf("%v", err)
	}
}

// Without anything to divide by there is no ratio, but still a verdict.
func TestNothingAgainstSomething(t *testing.T) {
	cell, err := ab.Run(two(t), "x", 11, func(arm int) (float64, error) { return float64(2 * arm), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := cell.Figures[1]; f.Ratio != nil || f.Verdict != "significant: 1 is 2, 0 0" {
		t.Errorf("%+v", f)
	}
}

func TestTable(t *testing.T) {
	const want = `k: 11 rounds of bench x, the values in turns

BENCHMARK  METRIC  VALUE  MEDIAN  P25     P75     RATIO  P        VERDICT
bench x    kpps    0      1005.0  1002.5  1007.5  -      -        -
                   1      1216.0  1213.0  1219.1  1.21   <0.0001  significant: 1 is 1.21 times 0

RATIO: of the medians, to the first value's. P: Mann-Whitney, how likely chance alone makes such a difference.
VERDICT: undecided unless p < 0.01 and the medians are 3 % apart.
`
	var b bytes.Buffer
	if err := known(t, 11, 1.21).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	b.Reset()
	if err := known(t, 3, 1.5).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  0.1000  undecided\n", "\nOnly 3 rounds: too few for a verdict, which needs 9.\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := known(t, 1, 2).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	summary := func(v float64, more map[string]any) map[string]any {
		m := map[string]any{"median": v, "p25": v, "p75": v, "min": v, "max": v}
		for k, x := range more {
			m[k] = x
		}
		return m
	}
	want := map[string]any{
		"knobs": []any{"k"}, "benchmark": "bench x", "rounds": 1.0,
		"cells": []any{map[string]any{"metric": "pps", "figures": []any{
			summary(1e6, map[string]any{"value": "0"}),
			summary(2e6, map[string]any{"value": "1", "ratio": 2.0, "p": 1.0, "verdict": "undecided"}),
		}}},
	}
	if d := cmp.Diff(any(want), got); d != "" {
		t.Error(d)
	}
}

func TestBenchstatLines(t *testing.T) {
	var b bytes.Buffer
	if err := known(t, 2, 2).WriteBench(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "BenchmarkAB/k=0-") || !strings.HasSuffix(lines[3], "\t1\t2.002e+06 pps") {
		t.Errorf("%q", lines)
	}
}

func TestTxComparesMachines(t *testing.T) {
	arms, err := ab.Parse([]string{"dev.em.0.iflib.simple_tx=0,1"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := ab.Tx(arms, bench.TxOptions{Producers: []int{1}, OnDrop: []bench.OnDrop{bench.RetryPacket}, Options: bench.Options{Runs: 2, Duration: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	var cells []string
	for _, c := range res.Cells {
		cells = append(cells, fmt.Sprintf("%s %s %s %s", c.Config, c.Metric, c.Figures[0].Value, c.Figures[1].Value))
	}
	want := []string{
		"producers=1 on-drop=retry pps 0 1",
		"producers=1 on-drop=retry share 0 1",
		"producers=1 on-drop=retry ns_per_packet 0 1",
	}
	if d := cmp.Diff(want, cells); d != "" || res.Rounds != 2 {
		t.Errorf("%d rounds\n%s", res.Rounds, d)
	}
	if share := res.Cells[1].Figures; share[0].Median != 1 || share[1].Median != 1 || *share[1].P != 1 {
		t.Errorf("a closed loop loses packets: %+v", share)
	}
}

func TestTxSaysWhatIsRefusedBeforeItMeasures(t *testing.T) {
	arms, err := ab.Parse([]string{"no.such=0,1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ab.Tx(arms, bench.TxOptions{Options: bench.Options{Runs: 1, Progress: func(int, int) { t.Error("measured") }}})
	if err == nil || err.Error() != "unknown oid 'no.such'" {
		t.Errorf("%v", err)
	}
}
