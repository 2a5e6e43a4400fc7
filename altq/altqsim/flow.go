package altqsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Source says what a flow sends. Without Backlog and AIMD it sends at Rate, evenly
// or, with Poisson, at random intervals.
type Source struct {
	// QID and Hash of its frames.
	QID  altq.QID
	Hash uint32
	// Size of a frame in bytes.
	Size int
	// Rate in bits a second.
	Rate float64
	// Poisson draws the intervals from Seed.
	Poisson bool
	Seed    uint64
	// Backlog keeps so many frames queued.
	Backlog int
	// AIMD sends as a window allows, that grows by one a round trip of 40 ms and halves
	// with a drop.
	AIMD bool
	// Start and Stop are counted from when the link was made; Stop 0: never.
	Start, Stop time.Duration
}

// Flow is the frames of one source, and what became of them.
type Flow struct {
	link  *Link
	src   Source
	index int
	rand  *rand.Rand
	n     int // frames offered at a rate

	// pending are the frames offered that are not known to have left, in order. Of
	// them refusals have been dropped, which ones shows when a later one leaves: a
	// discipline may drop an older frame in place of the one it is given.
	pending  []pendingFrame
	refusals int
	next     uint32

	window window
	bins   []uint64
	aimd   aimd
}

type pendingFrame struct {
	seq uint32
	at  time.Duration
}

// window is one measurement.
type window struct {
	offered, sent, dropped altq.Counter
	delays                 []time.Duration
}

// Add starts a source.
func (l *Link) Add(s Source) *Flow {
	f := &Flow{link: l, src: s, index: len(l.flows)}
	l.flows = append(l.flows, f)
	begin := bootTime + s.Start
	switch {
	case s.AIMD:
		f.aimd.window = firstWindow
		l.at(begin, f.fillWindow)
	case s.Backlog > 0:
		l.at(begin, f.fillBacklog)
	case s.Rate > 0:
		f.rand = rand.New(rand.NewPCG(s.Seed, uint64(f.index)))
		l.at(begin, f.tick)
	}
	return f
}

// stopped reports whether the source has ended.
func (f *Flow) stopped() bool { return f.src.Stop != 0 && f.link.Elapsed() >= f.src.Stop }

// tick sends one frame of a source with a rate, and arranges the next.
func (f *Flow) tick() {
	if f.stopped() {
		return
	}
	gap := float64(f.src.Size*8) / f.src.Rate * float64(time.Second)
	f.n++
	next := bootTime + f.src.Start + time.Duration(math.Round(gap*float64(f.n)))
	if f.src.Poisson {
		next = f.link.now + time.Duration(f.rand.ExpFloat64()*gap)
	}
	f.link.at(next, f.tick)
	f.link.Send(f)
}

// fillBacklog sends until enough frames wait.
func (f *Flow) fillBacklog() {
	for !f.stopped() && len(f.pending)-f.refusals < f.src.Backlog && f.link.Send(f) {
	}
}

// arrive notes a frame about to be queued and numbers it.
func (f *Flow) arrive(now time.Duration) uint32 {
	f.window.offered.AddLen(f.src.Size)
	f.pending = append(f.pending, pendingFrame{f.next, now})
	f.next++
	return f.next - 1
}

// refused notes that the frame just offered, or one in its place, was dropped.
func (f *Flow) refused() {
	f.refusals++
	f.lost(1)
}

func (f *Flow) lost(n int) {
	for range n {
		f.window.dropped.AddLen(f.src.Size)
		if f.src.AIMD {
			f.link.at(f.link.now+roundTrip, f.lossSeen)
		}
	}
}

// sent notes a frame that left. Those offered before it that did not are lost: the
// frames of a flow stay in order.
func (f *Flow) sent(m *mbuf.Mbuf) {
	i := slices.IndexFunc(f.pending, func(p pendingFrame) bool { return p.seq == m.Pkt.CsumData })
	w := &f.window
	w.delays = append(w.delays, f.link.now-f.pending[i].at)
	w.sent.AddLen(f.src.Size)
	known := min(i, f.refusals)
	f.refusals -= known
	f.lost(i - known)
	f.pending = f.pending[i+1:]
	bin := int(f.link.Elapsed() / f.link.cfg.Bin)
	for len(f.bins) <= bin {
		f.bins = append(f.bins, 0)
	}
	f.bins[bin] += uint64(f.src.Size)
	switch {
	case f.src.AIMD:
		f.link.at(f.link.now+roundTrip, f.ackSeen)
	case f.src.Backlog > 0:
		f.link.at(f.link.now, f.fillBacklog)
	}
}

// Offered, Sent and Dropped count frames since Mark.
func (f *Flow) Offered() altq.Counter { return f.window.offered }

// Sent is what left.
func (f *Flow) Sent() altq.Counter { return f.window.sent }

// Dropped is what is known to be lost; a drop at the head of a queue is known when
// the next frame leaves.
func (f *Flow) Dropped() altq.Counter { return f.window.dropped }

// DropShare is the part of the frames offered that was dropped.
func (f *Flow) DropShare() float64 {
	return float64(f.window.dropped.Packets) / float64(f.window.offered.Packets)
}

// Rate is what left since Mark in bits a second.
func (f *Flow) Rate() float64 {
	return float64(f.window.sent.Bytes*8) / (f.link.now - f.link.mark).Seconds()
}

// MeanDelay is the mean time from arrival to departure since Mark.
func (f *Flow) MeanDelay() time.Duration {
	if len(f.window.delays) == 0 {
		return 0
	}
	var sum time.Duration
	for _, d := range f.window.delays {
		sum += d
	}
	return sum / time.Duration(len(f.window.delays))
}

// DelayQuantile is the delay since Mark that a share q of the frames does not
// exceed; 1 is the longest.
func (f *Flow) DelayQuantile(q float64) time.Duration {
	d := slices.Clone(f.window.delays)
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

// Bins are the bytes that left in each Config.Bin since the link was made.
func (f *Flow) Bins() []uint64 { return f.bins }
