package altqtest

import (
	"math"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
)

// Link is a simulated link that ends with the test.
func Link(tb testing.TB, d altq.Discipline, cfg altqsim.Config) *altqsim.Link {
	tb.Helper()
	l, err := altqsim.New(Kernel(tb, false), d, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(l.Close)
	return l
}

// Measure runs a link for settle, and then for Time(d), over which it measures.
func Measure(l *altqsim.Link, settle, d time.Duration) {
	l.Run(settle)
	l.Mark()
	l.Run(Time(d))
}

// Time is a measuring time of d, or a quarter of it in short runs.
func Time(d time.Duration) time.Duration {
	const shortPart = 4
	if testing.Short() {
		return d / shortPart
	}
	return d
}

// Near fails if got is off want by more than the share within of it.
func Near(tb testing.TB, what string, got, want, within float64) {
	tb.Helper()
	Within(tb, what, got, want, within*want)
}

// Within fails if got is off want by more than by.
func Within(tb testing.TB, what string, got, want, by float64) {
	tb.Helper()
	tb.Logf("%s: %.6g, want %.6g", what, got, want)
	if !(math.Abs(got-want) <= by) {
		tb.Errorf("%s: %.6g, want %.6g within %.3g", what, got, want, by)
	}
}
