package altq_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/internal/probe"
)

// traced are the events of a queue while fn runs: names and arguments.
func (b *bed) traced(fn func()) (events []string) {
	b.k.Probes.EnableOnly(func(e probe.Event) {
		args := make([]int64, e.NArgs)
		for i := range args {
			args[i] = int64(e.Args[i])
		}
		events = append(events, fmt.Sprint(e.Point(), args))
	}, func(p probe.Point) bool { return p.Provider == "altq" })
	defer b.k.Probes.Disable()
	fn()
	return events
}

func TestTracePointsTellWhatBecomesOfPackets(t *testing.T) {
	b := newBed(t)
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a FIFO that is full", func() {
			for range 4 {
				_ = b.send(100)
			}
		}, []string{"altq:test0:enqueue [100 1 0]", "altq:test0:enqueue [100 2 0]", "altq:test0:enqueue [100 3 0]", "altq:test0:drop [1 100 3 0]"}},
		{"a FIFO that is emptied", func() { b.take() }, []string{
			"altq:test0:dequeue [100 2 0 0 0]", "altq:test0:dequeue [100 1 0 0 0]", "altq:test0:dequeue [100 0 0 0 0]"}},
		{"packets of the other state", func() {
			_ = b.send(100)
			_ = b.Attach(oneQueue(t))
			_ = b.Enable()
		}, []string{"altq:test0:enqueue [100 1 0]", "altq:test0:drop [1 100 0 0]"}},
		{"a regulator", func() {
			_ = b.SetTBR(altq.Profile{Rate: 8e6, Depth: 1000}) // a byte a microsecond
			for range 3 {
				_ = b.send(800)
			}
			b.take()
		}, []string{
			"altq:test0:enqueue [800 1 11]", "altq:test0:enqueue [800 2 11]", "altq:test0:enqueue [800 3 11]",
			"altq:test0:dequeue [800 2 11 1 200]", "altq:test0:dequeue [800 1 11 1 -600]", "altq:test0:throttle [1 -600]"}},
		{"time passes", func() { b.now += 700 * time.Microsecond; b.take() }, []string{"altq:test0:dequeue [800 0 11 1 -700]"}},
		{"purge", func() { _ = b.send(60); b.Purge(nil) }, []string{"altq:test0:enqueue [60 1 11]", "altq:test0:drop [1 60 0 11]"}},
		{"nothing to send", func() { b.take() }, nil},
	} {
		if got := b.traced(step.do); !slices.Equal(got, step.want) {
			t.Errorf("%s:\n%q, want\n%q", step.name, got, step.want)
		}
	}
	_ = b.send(60)
	b.take()
	if got := b.traced(func() {}); got != nil {
		t.Errorf("traced while off: %q", got)
	}
}
