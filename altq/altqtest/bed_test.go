package altqtest

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// broken is a discipline of one queue with a fault.
type broken struct {
	queue    altq.ClassQueue
	extra    int  // packets that Len makes up
	loses    bool // at enqueue, without a word
	starves  bool // the last packet
	swaps    bool // a poll for the second packet
	hides    bool // what it holds
	consumed []*mbuf.Mbuf
}

func (b *broken) Type() altq.Type { return altq.TypePRIQ }

func (b *broken) Enqueue(m *mbuf.Mbuf, _ altq.Time, _ *altq.Drops) bool {
	if b.loses {
		b.consumed = append(b.consumed, m)
		return false
	}
	b.queue.Append(m)
	return true
}

func (b *broken) Dequeue(altq.Time, *altq.Drops) *mbuf.Mbuf {
	if b.starves && b.queue.Len() == 1 {
		return nil
	}
	return b.queue.Take()
}

func (b *broken) Poll(altq.Time, *altq.Drops) *mbuf.Mbuf {
	if m := b.queue.Head(); b.swaps && m != nil {
		return m.NextPkt
	}
	return b.queue.Head()
}

func (b *broken) Purge(d *altq.Drops) { altq.Purge(nil, &b.queue, nil, d) }

func (b *broken) Walk(visit func(altq.QID, *mbuf.Mbuf)) {
	if !b.hides {
		b.queue.Walk(1, visit)
	}
}

func (b *broken) Len() int { return b.queue.Len() + b.extra }
func (b *broken) Stats(altq.QID, altq.Time) (altq.ClassStats, error) {
	return altq.ClassStats{QLen: b.queue.Len()}, nil
}

// The account finds each kind of fault.
func TestFaultsAreFound(t *testing.T) {
	for _, row := range []struct {
		name string
		d    *broken
		want string // of the error, "" for none
	}{
		{"none", &broken{}, ""},
		{"lost", &broken{loses: true}, "packets in"},
		{"made up", &broken{extra: 1}, "packets in"},
		{"starving", &broken{starves: true}, "starve"},
		{"poll of another", &broken{swaps: true}, "polled"},
		{"hiding", &broken{hides: true}, "the queue shows"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, err := newBed(Kernel(t, true), row.d, []altq.QID{1})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				b.enqueue(1, 0, 100)
			}
			err = b.check()
			if err == nil {
				err = b.pollAndDequeue()
			}
			if err == nil {
				err = b.drain()
			}
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			for _, m := range row.d.consumed {
				b.cache.FreeChain(m)
			}
			row.d.extra = 0
			if err := b.close(); err != nil {
				t.Error(err)
			}
		})
	}
}
