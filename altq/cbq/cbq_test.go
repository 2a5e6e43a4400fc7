package cbq_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/cbq"
)

const (
	linkRate = 10e6
	root     = altq.QID(1)
	borrow   = altq.FlagBorrow
)

// tree makes a discipline of a root, number 1, and the classes given; those without a
// parent are its children.
func tree(tb testing.TB, rate uint64, classes ...altq.QueueConfig) *cbq.CBQ {
	tb.Helper()
	d := cbq.New(altq.Config{Bandwidth: rate})
	add := func(q altq.QueueConfig) {
		if err := d.AddQueue(q); err != nil {
			tb.Fatal(err)
		}
	}
	add(altq.QueueConfig{QID: root, Flags: altq.FlagRoot | altq.FlagWRR})
	for _, q := range classes {
		if q.Parent == 0 {
			q.Parent = root
		}
		if q.Priority == 0 {
			q.Priority = 1
		}
		add(q)
	}
	return d
}

func four() altq.Discipline {
	d := cbq.New(altq.Config{Bandwidth: linkRate})
	for _, q := range []altq.QueueConfig{
		{QID: 1, Flags: altq.FlagRoot | altq.FlagWRR | altq.FlagEfficient},
		{QID: 2, Parent: 1, Priority: 1, Bandwidth: 6e6, Flags: borrow},
		{QID: 3, Parent: 2, Priority: 3, Bandwidth: 3e6, Flags: borrow | altq.FlagRED | altq.FlagECN, QLimit: 20},
		{QID: 4, Parent: 1, Priority: 3, Bandwidth: 1e6, Flags: altq.FlagDefault, QLimit: 5},
		{QID: 5, Parent: 2, Priority: 7, Bandwidth: 6000, Flags: altq.FlagCoDel},
	} {
		_ = d.AddQueue(q)
	}
	return d
}

func TestPacketsAreConserved(t *testing.T) { altqtest.Conservation(t, four, 1, 2, 3, 4, 5) }

func TestSendersMayBeMany(t *testing.T) { altqtest.Concurrent(t, four, 1, 2, 3, 4, 5) }

func FuzzCBQ(f *testing.F) { altqtest.Fuzz(f, four, 1, 2, 3, 4, 5) }

func BenchmarkCBQ(b *testing.B) {
	for _, n := range []int{4, 64, cbq.MaxClasses - 1} {
		b.Run(fmt.Sprintf("%dclasses", n), func(b *testing.B) {
			const rate = 1e9
			var classes []altq.QueueConfig
			var qids []altq.QID
			for i := range n {
				qid := altq.QID(i + 2)
				classes = append(classes, altq.QueueConfig{QID: qid, Bandwidth: rate / uint64(n), Flags: borrow})
				qids = append(qids, qid)
			}
			altqtest.Benchmark(b, tree(b, rate, classes...), rate, qids...)
		})
	}
}

func TestAddQueueRefuses(t *testing.T) {
	for _, row := range []struct {
		what string
		q    altq.QueueConfig
		want error
	}{
		{"no number", altq.QueueConfig{Parent: root}, syscall.EINVAL},
		{"priority 8", altq.QueueConfig{QID: 9, Parent: root, Priority: 8}, syscall.EINVAL},
		{"no parent", altq.QueueConfig{QID: 9}, syscall.EINVAL},
		{"unknown parent", altq.QueueConfig{QID: 9, Parent: 77}, syscall.EINVAL},
		{"second root", altq.QueueConfig{QID: 9, Flags: altq.FlagRoot}, syscall.EINVAL},
		{"root with a parent", altq.QueueConfig{QID: 9, Parent: root, Flags: altq.FlagRoot}, syscall.EINVAL},
		{"second default", altq.QueueConfig{QID: 9, Parent: root, Flags: altq.FlagDefault}, syscall.EINVAL},
		{"number taken", altq.QueueConfig{QID: 2, Parent: root}, syscall.EBUSY},
	} {
		d := tree(t, linkRate, altq.QueueConfig{QID: 2, Bandwidth: 1e6, Flags: altq.FlagDefault})
		if err := d.AddQueue(row.q); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.what, err, row.want)
		}
	}
	d := cbq.New(altq.Config{Bandwidth: linkRate})
	if err := d.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagRoot | altq.FlagDefault}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a root that is the default: %v", err)
	}
	_ = d.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagRoot})
	for i := range altq.QID(cbq.MaxClasses) {
		err := d.AddQueue(altq.QueueConfig{QID: i + 2, Parent: 1, Bandwidth: 1000})
		if full := i == cbq.MaxClasses-1; (err != nil) != full {
			t.Fatalf("class %d: %v", i+2, err)
		}
	}
}
