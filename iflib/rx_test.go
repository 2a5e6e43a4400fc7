package iflib

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"pgregory.net/rapid"
)

const tick = time.Millisecond

func startedRig(t testing.TB, cfg rxConfig) *rxRig {
	t.Helper()
	r := newRxRig(t, cfg)
	r.capture()
	if err := r.init(); err != nil {
		t.Fatal(err)
	}
	r.verify()
	return r
}

func TestInitPosts128BuffersAndTheFirstPassTheRest(t *testing.T) {
	for _, c := range []struct{ size, first int }{{16, 15}, {64, 63}, {128, 127}, {256, 128}, {1024, 128}} {
		r := startedRig(t, rxConfig{size: c.size})
		if got := r.hw.lists[0].have(); got != c.first {
			t.Errorf("ring of %d: init posted %d buffers, want %d", c.size, got, c.first)
		}
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 60})
		r.k.RunUntilIdle()
		if got := r.hw.lists[0].have(); got != c.size-1 {
			t.Errorf("ring of %d: %d buffers after the first pass, want %d", c.size, got, c.size-1)
		}
		r.verify()
		r.finish()
	}
}

func TestShortPacketIsCopiedAndItsBufferStays(t *testing.T) {
	for _, c := range []struct {
		len    int
		copied bool
	}{{14, true}, {127, true}, {128, true}, {129, false}, {1514, false}} {
		r := startedRig(t, rxConfig{size: 16})
		addrs := map[Addr]bool{}
		for _, b := range r.hw.lists[0].ring[:15] {
			addrs[b.addr] = true
		}
		var want [][]byte
		for range 40 {
			want = append(want, r.hw.receive(0, RxdInfo{}, fakeFrag{0, c.len}))
			r.k.RunUntilIdle()
			r.verify()
		}
		r.sameFrames(want)
		for _, g := range r.got {
			if g.copied != c.copied || g.bufs != 1 {
				t.Fatalf("%d bytes: copied %v in %d buffers, want %v in 1", c.len, g.copied, g.bufs, c.copied)
			}
		}
		r.finish()
	}
}

func TestMetadataReachesTheMbuf(t *testing.T) {
	r := startedRig(t, rxConfig{})
	meta := RxdInfo{
		VTag: 0x2064, FlowID: 0xdeadbeef, RSSType: mbuf.HashRSSUDPIPv4,
		CsumFlags: mbuf.CsumL3Calc | mbuf.CsumL3Valid | mbuf.CsumL4Valid, CsumData: mbuf.CsumDataGood,
		Flags: mbuf.FlagVLANTag | mbuf.FlagPktHdr | mbuf.FlagExt | mbuf.FlagRdonly | mbuf.FlagNoFree,
	}
	for _, n := range []int{60, 600} {
		r.hw.receive(0, meta, fakeFrag{0, n})
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, n})
	}
	r.k.RunUntilIdle()
	for i, g := range r.got {
		h := g.hdr
		if i%2 == 1 {
			if h.FlowID != 0 || h.RSSType != 0 || h.CsumFlags != 0 || h.CsumData != 0 || h.EtherVtag != 0 {
				t.Errorf("packet %d has metadata of another: %+v", i, h)
			}
			continue
		}
		if h.EtherVtag != 0x2064 || h.FlowID != 0xdeadbeef || h.RSSType != mbuf.HashRSSUDPIPv4 ||
			h.CsumFlags != meta.CsumFlags || h.CsumData != mbuf.CsumDataGood || g.flags&mbuf.FlagVLANTag == 0 {
			t.Errorf("packet %d: %+v flags %#x", i, h, g.flags)
		}
		if g.flags&(mbuf.FlagRdonly|mbuf.FlagNoFree) != 0 || (g.flags&mbuf.FlagExt == 0) != g.copied {
			t.Errorf("packet %d: the driver set storage flags: %#x", i, g.flags)
		}
	}
	if len(r.got) != 4 {
		t.Errorf("%d packets, want 4", len(r.got))
	}
	if p, b := r.ctx.rxqs[0].pub.ipackets, r.ctx.rxqs[0].pub.ibytes; p != 4 || b != 1320 {
		t.Errorf("%d packets %d bytes, want 4 and 1320", p, b)
	}
	r.finish()
}

func TestPadIsSkippedAndCountedInBytes(t *testing.T) {
	for _, cq := range []bool{false, true} {
		r := startedRig(t, rxConfig{nfl: 2, hasCQ: cq})
		list := 0
		if cq {
			list = 1
		}
		want := [][]byte{
			r.hw.receive(2, RxdInfo{}, fakeFrag{0, 60}),
			r.hw.receive(10, RxdInfo{}, fakeFrag{0, 128}),
			r.hw.receive(mbuf.MHLen, RxdInfo{}, fakeFrag{0, 100}), // no room to copy with this pad
			r.hw.receive(2, RxdInfo{}, fakeFrag{0, 1514}),
			r.hw.receive(2, RxdInfo{}, fakeFrag{0, 2046}, fakeFrag{list, 900}),
		}
		r.k.RunUntilIdle()
		r.sameFrames(want)
		if r.got[2].copied || !r.got[1].copied {
			t.Error("a pad that leaves no room for the copy must keep the buffer, a small one not")
		}
		if got, want := r.q.pub.ibytes, uint64(62+138+mbuf.MHLen+100+1516+2948); got != want {
			t.Errorf("%d bytes, want %d", got, want)
		}
		r.verify()
		r.finish()
	}
}

func TestZeroLengthFragments(t *testing.T) {
	r := startedRig(t, rxConfig{nfl: 2, hasCQ: true})
	var want [][]byte
	keep := func(f []byte) { want = append(want, f) }
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 0})                    // dropped
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 0}, fakeFrag{1, 1000}) // dropped: the first is empty
	keep(r.hw.receive(0, RxdInfo{}, fakeFrag{0, 64}, fakeFrag{1, 0}))
	keep(r.hw.receive(0, RxdInfo{}, fakeFrag{0, 500}, fakeFrag{1, 0}, fakeFrag{1, 700}, fakeFrag{0, 0}))
	r.k.RunUntilIdle()
	r.sameFrames(want)
	if r.got[0].bufs != 1 || r.got[1].bufs != 2 {
		t.Errorf("%d and %d buffers, want 1 and 2", r.got[0].bufs, r.got[1].bufs)
	}
	if l := r.ctx.RxLedger(); l.ZeroFrag != 2 || l.Taken != 4 || l.Handed != 2 {
		t.Errorf("ledger %s", l)
	}
	r.verify()
	r.finish()
}

func TestFragmentCountIsBounded(t *testing.T) {
	r := startedRig(t, rxConfig{size: 256, hasCQ: true})
	shape := make([]fakeFrag, MaxRxSegs)
	for i := range shape {
		shape[i] = fakeFrag{0, 40}
	}
	want := [][]byte{r.hw.receive(0, RxdInfo{}, shape...)}
	r.k.RunUntilIdle()
	r.sameFrames(want)
	if r.got[0].bufs != MaxRxSegs {
		t.Errorf("%d buffers, want %d", r.got[0].bufs, MaxRxSegs)
	}
	r.verify()
	r.finish()
}

// A bad length costs the packet and nothing else.
func TestBadLengthIsCountedAndTheBufferReused(t *testing.T) {
	lie := map[string]func(d *fakeDone){
		"longer than the buffer":     func(d *fakeDone) { d.frags[0].Len = 2049; d.len = 2049 },
		"longest":                    func(d *fakeDone) { d.frags[0].Len = 65535; d.len = 65535 },
		"sum above the fragment":     func(d *fakeDone) { d.len = 5000 },
		"sum below the fragment":     func(d *fakeDone) { d.len = 20 },
		"negative sum":               func(d *fakeDone) { d.len = -1 },
		"pad beyond the buffer":      func(d *fakeDone) { d.pad = 2048; d.len += 2048 },
		"negative pad":               func(d *fakeDone) { d.pad = -30; d.len -= 30 },
		"pad beyond an empty packet": func(d *fakeDone) { d.pad = 8; d.len = 8 - 60 },
	}
	for name, fn := range lie {
		for _, shape := range [][]fakeFrag{{{0, 60}}, {{0, 800}}, {{0, 100}, {0, 300}}} {
			r := startedRig(t, rxConfig{size: 16, hasCQ: true})
			for range 30 {
				r.hw.receive(0, RxdInfo{}, shape...)
				fn(&r.hw.done[len(r.hw.done)-1])
				r.k.RunUntilIdle()
				r.verify()
			}
			want := [][]byte{r.hw.receive(0, RxdInfo{}, shape...)}
			r.k.RunUntilIdle()
			r.sameFrames(want)
			if l := r.ctx.RxLedger(); l.BadWriteback != 30 || l.Taken != 31 {
				t.Errorf("%s of %v: ledger %s", name, shape, l)
			}
			if r.ctx.flags.Load()&uint32(ctxDoReset) != 0 {
				t.Errorf("%s: a length must not reset the interface", name)
			}
			r.finish()
		}
	}
}

// A wrong slot means that nobody knows which buffers the device used.
func TestWrongSlotResetsTheInterface(t *testing.T) {
	lie := map[string]func(f *RxdFrag){
		"slot beyond the list": func(f *RxdFrag) { f.Idx = 64 },
		"no slot":              func(f *RxdFrag) { f.Idx = QIdxInvalid },
		"no such list":         func(f *RxdFrag) { f.FLID = 2 },
		"last list":            func(f *RxdFrag) { f.FLID = 255 },
		"slot not posted":      func(f *RxdFrag) { f.Idx = 63 },
	}
	for name, fn := range lie {
		for _, shape := range [][]fakeFrag{{{0, 60}}, {{0, 300}, {1, 300}}} {
			r := startedRig(t, rxConfig{nfl: 2, hasCQ: true})
			r.hw.receive(0, RxdInfo{}, fakeFrag{0, 1000})
			r.hw.receive(0, RxdInfo{}, shape...)
			d := &r.hw.done[1]
			fn(&d.frags[len(d.frags)-1])
			r.hw.wrong = true
			r.k.RunUntilIdle()
			r.verify()
			if r.ctx.flags.Load()&uint32(ctxDoReset) == 0 {
				t.Errorf("%s: no reset", name)
			}
			if l := r.ctx.RxLedger(); l.BadWriteback != 1 || l.Reset != 1 || l.Handed != 0 || len(r.got) != 0 {
				t.Errorf("%s: ledger %s, %d packets up", name, l, len(r.got))
			}
			r.stop()
			if err := r.init(); err != nil {
				t.Fatal(err)
			}
			want := [][]byte{r.hw.receive(0, RxdInfo{}, shape...)}
			r.k.RunUntilIdle()
			r.sameFrames(want)
			r.finish()
		}
	}
}

func TestSameSlotTwiceInOnePacketResets(t *testing.T) {
	r := startedRig(t, rxConfig{hasCQ: true})
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 300}, fakeFrag{0, 300})
	r.hw.done[0].frags[1].Idx = r.hw.done[0].frags[0].Idx
	r.hw.wrong = true
	r.k.RunUntilIdle()
	r.verify()
	if l := r.ctx.RxLedger(); l.BadWriteback != 1 || r.ctx.flags.Load()&uint32(ctxDoReset) == 0 {
		t.Errorf("ledger %s flags %#x", l, r.ctx.flags.Load())
	}
	r.finish()
}

// Hazard 14: what the pass had collected must not leak.
func TestDriverErrorDropsWhatWasCollected(t *testing.T) {
	r := startedRig(t, rxConfig{})
	for range 3 {
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 1000})
	}
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 1000})
	if _, got := r.q.next(); got != rxGotPacket {
		t.Fatal("no packet")
	}
	r.hw.errNext = true
	r.k.RunUntilIdle()
	if r.ctx.flags.Load()&uint32(ctxDoReset) == 0 {
		t.Error("no reset after a driver error")
	}
	if r.hw.masked {
		t.Error("the interrupt stayed masked after a driver error")
	}
	r.ctx.rxqs = nil // one packet was taken outside of a pass: its buffer is ours
	r.tb = t
	r.stop()
	r.q.destroy()
	if err := r.k.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorAfterSomePacketsFreesThem(t *testing.T) {
	r := startedRig(t, rxConfig{hasCQ: true})
	for range 5 {
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 60})
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 900})
	}
	r.hw.done[7].frags[0].Idx = QIdxInvalid
	r.hw.wrong = true
	r.k.RunUntilIdle()
	// The pass after the error takes the two packets behind the bad one.
	if l := r.ctx.RxLedger(); l.Reset != 7 || l.BadWriteback != 1 || l.Taken != 10 || l.Handed != 2 || len(r.got) != 2 {
		t.Errorf("ledger %s, %d packets up", l, len(r.got))
	}
	r.verify()
	r.finish()
}

// A completion that consumes nothing would be found for ever.
func TestEntryWithoutProgressIsABrokenContract(t *testing.T) {
	r := startedRig(t, rxConfig{hasCQ: true, nolimit: true})
	r.hw.entry()
	r.hw.done[0].advance = 0
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 60})
	if res := r.q.rxeof(16); res != 0 {
		t.Errorf("result %d, want 0", res)
	}
	if r.ctx.flags.Load()&uint32(ctxDoReset) == 0 || r.ctx.brokenCount.Load() != 1 {
		t.Errorf("flags %#x, %d breaches", r.ctx.flags.Load(), r.ctx.brokenCount.Load())
	}
	r.finish()
}

// The fragment count comes from the driver.
func TestFragmentCountBeyondTheArrayIsABrokenContract(t *testing.T) {
	for _, cq := range []bool{false, true} {
		for _, n := range []int{-1, MaxRxSegs + 1, 0} {
			if n == 0 && cq {
				continue // an entry without packet
			}
			r := startedRig(t, rxConfig{hasCQ: cq, nolimit: true})
			r.hw.receive(0, RxdInfo{}, fakeFrag{0, 60})
			r.q.txrx = countingLiar{r.hw, n}
			r.q.rxeof(16)
			if l := r.ctx.RxLedger(); r.ctx.brokenCount.Load() != 1 || l.BadWriteback != 1 || !l.Balanced() {
				t.Errorf("%d fragments: %d breaches, ledger %s", n, r.ctx.brokenCount.Load(), l)
			}
			r.finish()
		}
	}
}

// countingLiar reports n fragments whatever there is.
type countingLiar struct {
	*fakeRx
	n int
}

func (l countingLiar) RxdPktGet(ri *RxdInfo) error {
	err := l.fakeRx.RxdPktGet(ri)
	ri.NFrags = l.n
	return err
}

func TestBudgetEndsThePassAndTheTaskRunsAgain(t *testing.T) {
	for _, c := range []struct {
		budget uint32
		passes uint64
	}{{0, 3}, {16, 3}, {8, 5}, {1, 40}, {64, 1}} {
		r := startedRig(t, rxConfig{size: 64})
		r.ctx.knobs.rxBudget.Store(c.budget)
		var want [][]byte
		for range 40 {
			want = append(want, r.hw.receive(0, RxdInfo{}, fakeFrag{0, 200}))
		}
		r.k.RunUntilIdle()
		r.sameFrames(want)
		if got := r.q.own.stat.tasks; got != c.passes {
			t.Errorf("budget %d: %d passes, want %d", c.budget, got, c.passes)
		}
		if got := r.q.own.stat.intrEnables; got != 1 {
			t.Errorf("budget %d: the interrupt was enabled %d times, want once at the end", c.budget, got)
		}
		if got := r.q.own.stat.inputs; got != c.passes {
			t.Errorf("budget %d: %d lists handed up in %d passes", c.budget, got, c.passes)
		}
		r.finish()
	}
}

// Hazard 36: entries without a packet cost no budget, but no pass may take more
// of them than the ring has.
func TestCompletionOnlyEntriesAreBounded(t *testing.T) {
	r := startedRig(t, rxConfig{hasCQ: true})
	for range 3*rxTestCQSize + 5 {
		r.hw.entry()
	}
	want := [][]byte{r.hw.receive(0, RxdInfo{}, fakeFrag{0, 60})}
	r.k.RunUntilIdle()
	r.sameFrames(want)
	if got := r.q.own.stat; got.tasks != 4 || got.cqOnly != 3*rxTestCQSize+5 {
		t.Errorf("%d passes for %d entries, want 4 for %d", got.tasks, got.cqOnly, 3*rxTestCQSize+5)
	}
	if l := r.ctx.RxLedger(); l.Taken != 1 || r.q.pub.ipackets != 1 {
		t.Errorf("entries count as packets: %s", l)
	}
	r.finish()
}

func TestShortPacketWithoutHeaderIsDroppedAndItsBufferReused(t *testing.T) {
	r := startedRig(t, rxConfig{size: 16})
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 64})
	r.k.RunUntilIdle()
	r.failpoint("mbuf.get", "return(1)")
	for range 40 {
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 64})
		r.k.RunUntilIdle()
		r.verify()
	}
	r.failpoint("mbuf.get", "off")
	if l := r.ctx.RxLedger(); l.NoMbuf != 40 || l.Handed != 1 || l.Famines != 0 {
		t.Errorf("ledger %s", l)
	}
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 64})
	r.k.RunUntilIdle()
	if len(r.got) != 2 {
		t.Errorf("%d packets, want 2", len(r.got))
	}
	r.finish()
}

// Invariant 7: after a famine of any cause packets resume one tick after memory
// is back, without an interrupt.
func TestFamineEndsWithoutAnInterrupt(t *testing.T) {
	for _, point := range []string{"mbuf.get", "mbuf.cluster", "busdma.load"} {
		for _, ticks := range []int{1, 2, 7} {
			r := startedRig(t, rxConfig{size: 16})
			r.failpoint(point, "return(12)")
			var want [][]byte
			for range 15 {
				want = append(want, r.hw.receive(0, RxdInfo{}, fakeFrag{0, 1000}))
			}
			r.k.RunUntilIdle()
			if r.hw.receive(0, RxdInfo{}, fakeFrag{0, 1000}) != nil {
				t.Fatalf("%s: the device has buffers in a famine", point)
			}
			intrs := r.hw.intrs
			r.k.Advance(time.Duration(ticks) * tick)
			if !r.q.retry.Pending() {
				t.Errorf("%s: no retry is pending after %d ticks", point, ticks)
			}
			if got := r.hw.lists[0].have(); got != 0 {
				t.Errorf("%s: %d buffers during the famine", point, got)
			}
			r.failpoint(point, "off")
			r.k.Advance(tick)
			if got := r.hw.lists[0].have(); got != 15 {
				t.Errorf("%s: %d buffers one tick after the famine, want 15", point, got)
			}
			if r.hw.intrs != intrs || r.q.retry.Pending() {
				t.Errorf("%s: %d interrupts, retry pending %v", point, r.hw.intrs-intrs, r.q.retry.Pending())
			}
			want = append(want, r.hw.receive(0, RxdInfo{}, fakeFrag{0, 1000}))
			r.k.RunUntilIdle()
			r.sameFrames(want)
			r.verify()
			r.finish()
		}
	}
}

// A copied packet needs a header, but no new buffer.
func TestShortPacketsSurviveAFamineOfClusters(t *testing.T) {
	r := startedRig(t, rxConfig{size: 16})
	// With the first packet the last slot gets a buffer too.
	want := [][]byte{r.hw.receive(0, RxdInfo{}, fakeFrag{0, 64})}
	r.k.RunUntilIdle()
	r.failpoint("mbuf.cluster", "return(12)")
	r.failpoint("busdma.load", "return(12)")
	for range 100 {
		want = append(want, r.hw.receive(0, RxdInfo{}, fakeFrag{0, 64}))
		r.k.RunUntilIdle()
	}
	r.sameFrames(want)
	if l := r.ctx.RxLedger(); l.Famines != 0 {
		t.Errorf("ledger %s", l)
	}
	r.finish()
}

func TestInitInAFamineSaysSoAndHealsItself(t *testing.T) {
	r := newRxRig(t, rxConfig{nfl: 2, hasCQ: true, size: 32})
	r.capture()
	r.failpoint("mbuf.cluster", "40*return(1)")
	err := r.init()
	if !errors.Is(err, syscall.ENOBUFS) {
		t.Fatalf("init: %v, want ENOBUFS", err)
	}
	const line = "fake0: setting up free list 0 failed - check cluster settings\n"
	if got := r.k.Dmesg(); !containsLine(got, line) {
		t.Errorf("console %q lacks %q", got, line)
	}
	r.k.Advance(50 * tick)
	for i := range r.hw.lists {
		if got := r.hw.lists[i].have(); got != 31 {
			t.Errorf("list %d: %d buffers after the famine, want 31", i, got)
		}
	}
	want := [][]byte{r.hw.receive(0, RxdInfo{}, fakeFrag{0, 600}, fakeFrag{1, 900})}
	r.k.RunUntilIdle()
	r.sameFrames(want)
	r.finish()
}

func containsLine(log, line string) bool {
	for i := 0; i+len(line) <= len(log); i++ {
		if log[i:i+len(line)] == line {
			return true
		}
	}
	return false
}

// Hazard 37.
func TestStopEndsTheRetryTimer(t *testing.T) {
	r := startedRig(t, rxConfig{size: 16})
	r.failpoint("mbuf.get", "return(1)")
	r.hw.receive(0, RxdInfo{}, fakeFrag{0, 60})
	r.k.RunUntilIdle()
	if !r.q.retry.Pending() {
		t.Fatal("no retry in a famine")
	}
	r.stop()
	if r.q.retry.Pending() {
		t.Error("the retry timer survived stop")
	}
	tasks := r.q.own.stat.tasks
	r.k.Advance(10 * tick)
	if r.q.own.stat.tasks != tasks {
		t.Error("the task worked on a stopped interface")
	}
	r.failpoint("mbuf.get", "off")
	r.finish()
}

// Invariant 10: what a stop takes back starts from zero, what was counted stays.
func TestStopResetsRingsAndKeepsCounters(t *testing.T) {
	r := startedRig(t, rxConfig{nfl: 2, hasCQ: true, frame: 1522})
	for range 21 {
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 600}, fakeFrag{1, 600})
		r.k.RunUntilIdle()
	}
	ring := r.q.rings[1].Words64()
	ring[3] = 0x1234
	r.stop()
	want := FreeListState{BufSize: mbuf.MClBytes}
	for i := range r.q.fls {
		if got := r.q.State().FreeLists[i]; got != want {
			t.Errorf("list %d after stop: %+v", i, got)
		}
	}
	if s := r.q.State(); s.CQCidx != 0 || ring[3] != 0 {
		t.Errorf("after stop: cq_cidx %d, ring word %#x", s.CQCidx, ring[3])
	}
	if got := r.zones.Usage(); got != r.base {
		t.Errorf("stop kept buffers: %+v", got)
	}
	count := r.ctx.ifp.GetCounter
	if p, b := count(ifnet.CounterIPackets), count(ifnet.CounterIBytes); p != 21 || b != 21*1200 {
		t.Errorf("%d packets %d bytes after stop, want 21 and %d", p, b, 21*1200)
	}
	// The MTU grows: other buffers, and packets that need them.
	r.ctx.scctx.MaxFrameSize = 9018
	if err := r.init(); err != nil {
		t.Fatal(err)
	}
	if r.hw.lists[0].bufSize != mbuf.MJumPageSize || r.ctx.maxFLBuf != mbuf.MJumPageSize {
		t.Errorf("buffers of %d, largest %d", r.hw.lists[0].bufSize, r.ctx.maxFLBuf)
	}
	r.got = nil
	frames := [][]byte{r.hw.receive(0, RxdInfo{}, fakeFrag{0, 4096}, fakeFrag{1, 4096}, fakeFrag{1, 826})}
	r.k.RunUntilIdle()
	r.sameFrames(frames)
	if got := count(ifnet.CounterIPackets); got != 22 {
		t.Errorf("%d packets, want 22", got)
	}
	r.finish()
}

func TestDriverChoosesTheBufferSizeOfAList(t *testing.T) {
	for _, c := range []struct{ ask, frame, want int }{
		{0, 1522, 2048}, {0, 2048, 2048}, {0, 2049, 4096}, {1024, 9018, 2048}, {2048, 9018, 2048}, {2049, 1522, 4096}, {9216, 1522, 4096},
	} {
		r := newRxRig(t, rxConfig{hasCQ: true, frame: c.frame})
		r.ctx.scctx.RxdBufSize[1] = c.ask
		if err := r.init(); err != nil {
			t.Fatal(err)
		}
		if got := r.hw.lists[0].bufSize; got != c.want {
			t.Errorf("asked for %d with frames of %d: %d, want %d", c.ask, c.frame, got, c.want)
		}
		r.finish()
	}
}

func TestStopWithPacketsWaiting(t *testing.T) {
	r := startedRig(t, rxConfig{})
	for range 20 {
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 500})
	}
	r.ctx.admit.Store(0) // stop has begun; the task was already on its way
	if res := r.q.rxeof(16); res&rxMore == 0 {
		t.Error("packets that are left must be reported")
	}
	if l := r.ctx.RxLedger(); l.Taken != 0 || l.Inactive != 1 {
		t.Errorf("ledger %s", l)
	}
	r.finish()
}

func TestInterruptIsEnabledByKind(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		r := startedRig(t, rxConfig{})
		if legacy {
			r.ctx.flags.Store(uint32(ctxLegacy))
			r.ctx.rxIntr = nil
		}
		for range 3 {
			r.hw.receive(0, RxdInfo{}, fakeFrag{0, 500})
			r.k.RunUntilIdle()
		}
		if r.hw.intrs != 3 || len(r.got) != 3 {
			t.Errorf("legacy %v: %d interrupts, %d packets, want 3", legacy, r.hw.intrs, len(r.got))
		}
		r.finish()
	}
}

// pfilFunc is a packet filter.
type pfilFunc struct {
	fn func(c *mbuf.Cache, m **mbuf.Mbuf) ifnet.PfilResult
}

func (p *pfilFunc) Hook(c *mbuf.Cache, _ *ifnet.Ifnet, _ ifnet.PfilDir, _ ifnet.AF, m **mbuf.Mbuf) ifnet.PfilResult {
	return p.fn(c, m)
}

func TestFilterMayDropTakeAndReplace(t *testing.T) {
	r := startedRig(t, rxConfig{})
	var kept *mbuf.Mbuf
	n := 0
	r.ctx.pfil.Add(&pfilFunc{func(c *mbuf.Cache, m **mbuf.Mbuf) ifnet.PfilResult {
		n++
		switch n {
		case 1:
			c.FreeChain(*m)
			return ifnet.PfilDropped
		case 2:
			kept = *m
			return ifnet.PfilConsumed
		case 3:
			kept.NextPkt, *m = *m, nil
			return ifnet.PfilPass
		case 4:
			d := c.Dup(*m)
			c.FreeChain(*m)
			*m = d
		}
		return ifnet.PfilPass
	}})
	var frames [][]byte
	for range 5 {
		frames = append(frames, r.hw.receive(0, RxdInfo{}, fakeFrag{0, 500}))
	}
	r.k.RunUntilIdle()
	r.sameFrames(frames[3:])
	if l := r.ctx.RxLedger(); l.Pfil != 3 || l.Handed != 2 {
		t.Errorf("ledger %s", l)
	}
	mbuf.FreeChain(kept.NextPkt)
	mbuf.FreeChain(kept)
	r.finish()
}

// fakeLRO queues every second packet until Flush.
type fakeLRO struct {
	r     *rxRig
	n     int
	held  []*mbuf.Mbuf
	bound int
}

func (l *fakeLRO) Queue(m *mbuf.Mbuf) bool {
	if l.n++; l.n%2 == 0 {
		return false
	}
	l.held = append(l.held, m)
	l.bound = max(l.bound, len(l.held))
	return true
}

func (l *fakeLRO) Flush() {
	for _, m := range l.held {
		l.r.ctx.ifp.InputCache(l.r.q.cache, m)
	}
	l.held = l.held[:0]
}

func TestCoalescingSeesPacketsAndIsFlushedEveryPass(t *testing.T) {
	r := startedRig(t, rxConfig{})
	lro := &fakeLRO{r: r}
	r.q.lro = lro
	for range 20 {
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 500})
	}
	r.k.RunUntilIdle()
	if lro.n != 0 || len(r.got) != 20 {
		t.Errorf("with LRO disabled the engine saw %d packets, %d came up", lro.n, len(r.got))
	}
	r.ctx.ifp.SetCapenable(ifnet.CapLRO, 0)
	for range 20 {
		r.hw.receive(0, RxdInfo{}, fakeFrag{0, 500})
	}
	r.k.RunUntilIdle()
	if lro.n != 20 || lro.bound != 8 || len(lro.held) != 0 || len(r.got) != 40 {
		t.Errorf("the engine saw %d packets, held %d, %d are left, %d came up", lro.n, lro.bound, len(lro.held), len(r.got))
	}
	if l := r.ctx.RxLedger(); l.Handed != 40 {
		t.Errorf("ledger %s", l)
	}
	r.finish()
}

// TestMisalignedBuffersAreBounced asks for an alignment that every second 2 KiB
// cluster lacks.
func TestMisalignedBuffersAreBounced(t *testing.T) {
	for _, check := range []bool{false, true} {
		r := startedRig(t, rxConfig{size: 16, align: 4096, check: check})
		var want [][]byte
		for i := range 60 {
			want = append(want, r.hw.receive(0, RxdInfo{}, fakeFrag{0, 40 + 20*i}))
			r.k.RunUntilIdle()
			r.verify()
		}
		r.sameFrames(want)
		if busdma.ReadStats(r.k).Bounced == 0 {
			t.Error("nothing was bounced")
		}
		r.finish()
	}
}

func TestCheckingModeAllowsPostedBuffersOnly(t *testing.T) {
	r := startedRig(t, rxConfig{size: 16, check: true})
	if got := busdma.ReadStats(r.k).Loaded; got != 15 {
		t.Errorf("%d buffers loaded, want 15", got)
	}
	b := r.hw.lists[0].ring[0]
	frame := r.hw.receive(0, RxdInfo{}, fakeFrag{0, 1000})
	r.k.RunUntilIdle()
	r.sameFrames([][]byte{frame})
	if _, err := r.hw.view.Slice(b.addr, 64, busdma.ToDevice); err == nil {
		t.Error("the device may read a receive buffer")
	}
	r.finish()
	if busdma.ReadStats(r.k).Faults != 1 {
		t.Error("the read was no fault")
	}
}

// TestReceiveProperty runs random histories: shapes, lies, famines, stops.
func TestReceiveProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := rxConfig{
			nfl:   rapid.IntRange(1, 2).Draw(rt, "nfl"),
			size:  rapid.SampledFrom([]int{8, 16, 64, 128}).Draw(rt, "size"),
			hasCQ: rapid.Bool().Draw(rt, "cq"),
			check: rapid.Bool().Draw(rt, "check"),
			frame: rapid.SampledFrom([]int{1522, 9018}).Draw(rt, "frame"),
			seed:  rapid.Uint64Range(0, 3).Draw(rt, "seed"),
		}
		if !cfg.hasCQ {
			cfg.nfl = 1 // the consumer index counts buffers of list 0
		}
		h := &rxHistory{rt: rt, r: newRxRig(t, cfg), cfg: cfg}
		h.r.capture()
		if err := h.r.init(); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			h.step()
		}
		h.end()
	})
}

// rxHistory is one run of the property test.
type rxHistory struct {
	rt   *rapid.T
	r    *rxRig
	cfg  rxConfig
	want [][]byte // frames that must come up
	open [][]byte // of those, received since the last pass
	zero uint64
	bad  uint64
	lost uint64 // for want of an mbuf
}

var rxFailpoints = []string{"mbuf.get", "mbuf.cluster", "busdma.load"}

func (h *rxHistory) step() {
	switch op := rapid.IntRange(0, 19).Draw(h.rt, "op"); {
	case op < 9:
		h.packet()
	case op == 9 && h.cfg.hasCQ:
		h.r.hw.entry()
	case op < 13:
		h.run()
	case op < 15:
		p := rapid.SampledFrom(rxFailpoints).Draw(h.rt, "point")
		h.r.failpoint(p, rapid.SampledFrom([]string{"return(12)", "3*return(12)", "40%return(12)", "off"}).Draw(h.rt, "how"))
	case op < 17:
		h.r.k.Advance(time.Duration(rapid.IntRange(1, 3).Draw(h.rt, "ticks")) * tick)
		h.settle()
	case op == 17:
		h.restart()
	default:
		h.bads()
	}
}

// shape draws a frame of one to four fragments with a head of at least a header.
func (h *rxHistory) shape() []fakeFrag {
	most := 2048
	if h.cfg.frame > mbuf.MClBytes {
		most = 4096
	}
	shape := []fakeFrag{{0, rapid.SampledFrom([]int{14, 60, 128, 129, 1000, most - 10}).Draw(h.rt, "head")}}
	if !rapid.Bool().Draw(h.rt, "chain") {
		return shape
	}
	for range rapid.IntRange(0, 3).Draw(h.rt, "more") {
		shape = append(shape, fakeFrag{
			rapid.IntRange(0, h.cfg.nfl-1).Draw(h.rt, "list"),
			rapid.SampledFrom([]int{0, 1, 128, most}).Draw(h.rt, "len"),
		})
	}
	return shape
}

func (h *rxHistory) packet() {
	pad := rapid.SampledFrom([]int{0, 0, 2, 10}).Draw(h.rt, "pad")
	shape := h.shape()
	if rapid.IntRange(0, 9).Draw(h.rt, "zero") == 0 {
		shape[0].len = 0
	}
	frame := h.r.hw.receive(pad, RxdInfo{}, shape...)
	switch {
	case frame == nil:
	case shape[0].len == 0:
		h.zero++
	default:
		h.open = append(h.open, frame)
	}
}

// bads lets the device report a length that does not fit.
func (h *rxHistory) bads() {
	if h.r.hw.receive(0, RxdInfo{}, h.shape()...) == nil {
		return
	}
	d := &h.r.hw.done[len(h.r.hw.done)-1]
	d.len += rapid.SampledFrom([]int{-1, 1, 70000}).Draw(h.rt, "lie")
	h.bad++
}

func (h *rxHistory) run() {
	h.r.k.RunUntilIdle()
	h.settle()
}

// settle is after the queue ran to idle: everything received has come up.
func (h *rxHistory) settle() {
	h.want = append(h.want, h.open...)
	h.open = nil
	h.check()
}

func (h *rxHistory) check() {
	h.r.verify()
	l := h.r.ctx.RxLedger()
	h.want = h.dropShort(l.NoMbuf - h.lost)
	h.lost = l.NoMbuf
	h.r.sameFrames(h.want)
	if l.ZeroFrag != h.zero || l.BadWriteback != h.bad || l.Handed != uint64(len(h.want)) {
		h.r.tb.Fatalf("ledger %s, want %d handed, %d zero, %d bad", l, len(h.want), h.zero, h.bad)
	}
}

// dropShort takes n short frames, which were lost for want of an mbuf, out of
// those that were expected: the ones that did not come.
func (h *rxHistory) dropShort(n uint64) [][]byte {
	var kept [][]byte
	for _, f := range h.want {
		if n > 0 && len(f) <= rxCopyLimit && (len(kept) >= len(h.r.got) || !bytes.Equal(h.r.got[len(kept)].data, f)) {
			n--
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// restart stops with whatever is going on, and inits with other buffers. What
// waits in the rings is lost there, and not taken.
func (h *rxHistory) restart() {
	h.run()
	for range rapid.IntRange(0, 3).Draw(h.rt, "late") {
		h.r.hw.receive(0, RxdInfo{}, fakeFrag{0, 500})
	}
	h.r.stop()
	h.check()
	if got := h.r.zones.Usage(); got != h.r.base {
		h.r.tb.Fatalf("stop kept buffers: %+v, was %+v", got, h.r.base)
	}
	h.cfg.frame = rapid.SampledFrom([]int{1522, 9018}).Draw(h.rt, "frame")
	h.r.ctx.scctx.MaxFrameSize = h.cfg.frame
	if err := h.r.init(); err != nil && !errors.Is(err, syscall.ENOBUFS) {
		h.r.tb.Fatal(err)
	}
}

// end ends every famine: within a tick each list is full, with no interrupt.
func (h *rxHistory) end() {
	h.run()
	for _, p := range rxFailpoints {
		h.r.failpoint(p, "off")
	}
	h.r.k.Advance(2 * tick)
	for i := range h.r.hw.lists {
		want := h.r.hw.lists[i].size - 1
		if got := h.r.hw.lists[i].have(); got != want && got != min(rxInitialFill, want) {
			h.r.tb.Fatalf("list %d: %d buffers after the famine, want %d", i, got, want)
		}
	}
	h.settle()
	h.r.finish()
}
