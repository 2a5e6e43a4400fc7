package priq_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/priq"
)

// build makes a discipline of n queues, numbered from 1, of priority n-1 down to 0;
// the last is the default.
func build(tb testing.TB, n int) *priq.PRIQ {
	tb.Helper()
	p := priq.New(altq.Config{Bandwidth: 10e6})
	for i := range n {
		c := altq.QueueConfig{QID: altq.QID(i + 1), Priority: n - 1 - i}
		if i == n-1 {
			c.Flags = altq.FlagDefault
		}
		if err := p.AddQueue(c); err != nil {
			tb.Fatal(err)
		}
	}
	return p
}

func three() altq.Discipline {
	p := priq.New(altq.Config{Bandwidth: 10e6})
	for i, f := range []altq.Flags{altq.FlagDefault | altq.FlagRIO, altq.FlagRED | altq.FlagECN, altq.FlagCoDel} {
		_ = p.AddQueue(altq.QueueConfig{QID: altq.QID(i + 1), Priority: i, Flags: f})
	}
	return p
}

func TestPacketsAreConserved(t *testing.T) { altqtest.Conservation(t, three, 1, 2, 3) }

func TestSendersMayBeMany(t *testing.T) { altqtest.Concurrent(t, three, 1, 2, 3) }

func FuzzPRIQ(f *testing.F) { altqtest.Fuzz(f, three, 1, 2, 3) }

func BenchmarkPRIQ(b *testing.B) {
	for _, n := range []int{4, 16} {
		b.Run(classes(n), func(b *testing.B) {
			altqtest.Benchmark(b, build(b, n), 10e6, qids(n)...)
		})
	}
}

func TestAddQueueRefuses(t *testing.T) {
	p := build(t, 2)
	for _, row := range []struct {
		qid  altq.QID
		pri  int
		want error
	}{
		{0, 5, syscall.EINVAL}, {9, 16, syscall.EINVAL}, {9, -1, syscall.EINVAL}, {9, 1, syscall.EBUSY}, {1, 5, syscall.EBUSY}, {9, 15, nil},
	} {
		if err := p.AddQueue(altq.QueueConfig{QID: row.qid, Priority: row.pri}); !errors.Is(err, row.want) || err == nil != (row.want == nil) {
			t.Errorf("queue %d priority %d: %v, want %v", row.qid, row.pri, err, row.want)
		}
	}
}
