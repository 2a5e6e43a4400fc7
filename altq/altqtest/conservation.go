package altqtest

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/altq"
)

// Conservation checks that after any sequence of operations what came in has gone
// out, was dropped, or is still there, counted by different hands: by the test, by
// the queue, by each class, and by the memory in use. It purges, disables, enables
// and replaces the discipline in the middle. qids are all classes of the
// discipline.
func Conservation(t *testing.T, discipline func() altq.Discipline, qids ...altq.QID) {
	t.Helper()
	k := Kernel(t, true)
	rapid.Check(t, func(t *rapid.T) {
		b, err := newBed(k, discipline(), qids)
		if err != nil {
			t.Fatal(err)
		}
		size := rapid.IntRange(1, 9018)
		qid := rapid.SampledFrom(append([]altq.QID{0, 60000}, qids...))
		gap := rapid.SampledFrom([]time.Duration{0, time.Microsecond, 100 * time.Microsecond, time.Millisecond, time.Second, 24 * time.Hour})
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": func(t *rapid.T) { b.enqueue(qid.Draw(t, "qid"), rapid.Uint32().Draw(t, "hash"), size.Draw(t, "size")) },
			"burst": func(t *rapid.T) {
				q, n := qid.Draw(t, "qid"), size.Draw(t, "size")
				for range rapid.IntRange(1, 80).Draw(t, "packets") {
					b.enqueue(q, 1, n)
				}
			},
			"dequeue": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "packets") {
					b.dequeue()
				}
			},
			"poll":    func(*rapid.T) { b.queue.Poll() },
			"take":    func(t *rapid.T) { noError(t, b.pollAndDequeue()) },
			"advance": func(t *rapid.T) { b.advance(gap.Draw(t, "gap")) },
			"purge":   func(*rapid.T) { b.queue.Purge(nil) },
			"disable": func(*rapid.T) { b.queue.Disable() },
			"enable":  func(t *rapid.T) { noError(t, b.queue.Enable()) },
			"replace": func(t *rapid.T) { noError(t, b.queue.Attach(discipline())) },
			"regulate": func(t *rapid.T) {
				noError(t, b.queue.SetTBR(altq.Profile{Rate: rapid.Uint64Range(1000, 400e9).Draw(t, "rate"), Depth: rapid.Uint64Range(1, 200_000).Draw(t, "depth")}))
			},
			"": func(t *rapid.T) { noError(t, b.check()) },
		})
		noError(t, b.close())
	})
}

func noError(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}
