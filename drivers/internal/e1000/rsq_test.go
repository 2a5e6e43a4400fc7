package e1000

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"pgregory.net/rapid"
)

// A ring under any order of packets, reports and completions: credits add up to what
// the part completed, up to the last report that has come.
func TestCreditsFollowReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size, spare = 16, 2
		desc := make([]uint64, size*DescWords)
		var q ReportQueue
		q.Init(desc)
		type report struct{ idx, total int }
		var pending []report
		pidx, written, credited := 0, 0, 0
		t.Repeat(map[string]func(*rapid.T){
			"packet": func(t *rapid.T) {
				n := rapid.IntRange(1, 4).Draw(t, "descs")
				if written-credited+n > size-spare {
					t.Skip("full")
				}
				for range n {
					desc[pidx*DescWords+1] = 0
					pidx = (pidx + 1) % size
				}
				written += n
				if rapid.Bool().Draw(t, "rs") {
					last := (pidx + size - 1) % size
					q.Push(uint32(last))
					pending = append(pending, report{last, written})
				}
			},
			"complete": func(t *rapid.T) {
				if len(pending) == 0 {
					t.Skip("nothing out")
				}
				for _, p := range pending[:rapid.IntRange(1, len(pending)).Draw(t, "reports")] {
					desc[p.idx*DescWords+1] |= txDone
				}
			},
			"credits": func(t *rapid.T) {
				want := 0
				for len(pending) > 0 && desc[pending[0].idx*DescWords+1]&txDone != 0 {
					want += pending[0].total - credited
					credited = pending[0].total
					pending = pending[1:]
				}
				if done := q.Done(); done != (want > 0) {
					t.Fatalf("Done %v before %d credits", done, want)
				}
				if got := q.Credits(); got != want {
					t.Fatalf("%d credits, want %d", got, want)
				}
				if q.Done() {
					t.Fatal("Done after all credits were taken")
				}
			},
		})
	})
}

func TestDumpOfReports(t *testing.T) {
	desc := make([]uint64, 8*DescWords)
	var q ReportQueue
	q.Init(desc)
	expect := func(want string) {
		t.Helper()
		if got := q.Dump(3); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect("qid[3]->tx_rsq[rs_cidx-1=7]: 65535  cidx_prev=7 rs_pidx=0 ")
	q.Push(2)
	q.Push(5)
	expect("qid[3]->tx_rsq[0]: 2 clear cidx_prev=7 rs_pidx=2 ")
	desc[2*DescWords+1] = txDone
	expect("cidx_prev=7 rs_pidx=2 2 set ")
	q.Credits()
	expect("qid[3]->tx_rsq[1]: 5 clear cidx_prev=2 rs_pidx=2 2 set ")
	desc[5*DescWords+1] = txDone
	q.Credits()
	expect("qid[3]->tx_rsq[rs_cidx-1=1]: 5  cidx_prev=5 rs_pidx=2 2 set 5 set ")
	q.Reset()
	expect("qid[3]->tx_rsq[rs_cidx-1=7]: 65535  cidx_prev=7 rs_pidx=0 2 set 5 set ")
}

func TestReportsBeyondTheRingAreABrokenInvariant(t *testing.T) {
	var q ReportQueue
	q.Init(make([]uint64, 4*DescWords))
	defer func() {
		if recover() == nil {
			t.Error("the report that fills the queue makes it look empty")
		}
	}()
	for i := range uint32(4) {
		q.Push(i)
	}
}

func TestAvailableIsBounded(t *testing.T) {
	const size, done, last = 128, 1, 2
	for _, tc := range []struct {
		name         string
		fill         func(i int) uint64
		cidx, budget int
		want         int
	}{
		{"empty", func(int) uint64 { return 0 }, 0, 16, 0},
		{"one packet", func(i int) uint64 {
			if i == 5 {
				return done | last
			}
			return 0
		}, 5, 16, 1},
		{"end without done", func(int) uint64 { return last }, 0, 16, 0},
		{"packet of two buffers", func(i int) uint64 { return map[int]uint64{127: done, 0: done | last}[i] }, 127, 16, 1},
		{"unfinished packet", func(i int) uint64 { return map[int]uint64{1: done}[i] }, 1, 16, 0},
		{"budget", func(int) uint64 { return done | last }, 0, 16, 17},
		{"whole ring", func(int) uint64 { return done | last }, 64, 1000, size},
		{"ring without an end", func(int) uint64 { return done }, 3, 1000, 1},
	} {
		desc := make([]uint64, size*DescWords)
		for i := range size {
			desc[i*DescWords+1] = tc.fill(i)
		}
		if got := Available(desc, tc.cidx, tc.budget, done, last); got != tc.want {
			t.Errorf("%s: %d packets, want %d", tc.name, got, tc.want)
		}
	}
}

func TestHashTypes(t *testing.T) {
	want := map[uint32]mbuf.HashType{0: 1, 1: 0x82, 2: 0x81, 3: 0x84, 4: 0x85, 5: 0x83, 6: 0x86, 15: 1}
	for rss, h := range want {
		if got := HashType(rss|0xfff0, 1, false); got != h {
			t.Errorf("type %d: %#x, want %#x", rss, got, h)
		}
	}
	for rss, h := range map[uint32]mbuf.HashType{7: mbuf.HashRSSUDPIPv4, 8: mbuf.HashRSSUDPIPv6, 9: mbuf.HashRSSUDPIPv6Ex} {
		if got := HashType(rss, mbuf.HashNone, false); got != mbuf.HashNone {
			t.Errorf("type %d without UDP: %#x, want none", rss, got)
		}
		if got := HashType(rss, mbuf.HashNone, true); got != h {
			t.Errorf("type %d with UDP: %#x, want %#x", rss, got, h)
		}
	}
}
