package pktgen8

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestEveryFrameSentIsCountedOnceByAll(t *testing.T) {
	// 6667, 6667 and 6666 frames in bursts of 512.
	frames, batches := uint64(20_000), uint64(3*14)
	if testing.Short() {
		frames, batches = 3000, 3*2
	}
	const size = 1514
	for _, loader := range []string{"net.iflib.prefer_mpring=\"1\"\n", "net.iflib.prefer_mpring=\"0\"\n"} {
		r := boot(t, kern.ManualClock, loader, alone)
		res := r.do(Params{Interface: "em0", Frames: frames, Size: size, Threads: 3})
		if res.Frames != frames || res.Bytes != frames*size || res.Size != size || res.Dropped != 0 {
			t.Errorf("%s%+v", loader, res)
		}
		if res.Batches != batches {
			t.Errorf("%s%d batches", loader, res.Batches)
		}
		l := r.m.Ctx("em0").Ledger()
		if l.Handed != frames || l.Queued != 0 || !l.Balanced() {
			t.Errorf("%sledger %v", loader, l)
		}
		if st := r.m.Port("em0").Stats(); st.TxFrames != frames || st.TxBytes != frames*size {
			t.Errorf("%sthe hardware sent %d frames, %d bytes", loader, st.TxFrames, st.TxBytes)
		}
		r.eventually("opackets", r.counter("em0", ifnet.CounterOPackets), frames)
		r.eventually("obytes", r.counter("em0", ifnet.CounterOBytes), frames*size)
	}
}

// On the manual clock a pace is exact: a sender waits for the end of each burst's time.
func TestThePaceIsExact(t *testing.T) {
	r := boot(t, kern.ManualClock, "", alone)
	for _, c := range []struct {
		frames  uint64
		rate    float64
		burst   int
		batches uint64
		want    time.Duration
	}{
		{300, 3000, 0, 30, 100 * time.Millisecond},
		{1000, 3000, 100, 100, time.Second / 3}, // 10 frames are in 1/300 s
		{1000, 1e6, 0, 2, time.Millisecond},
		{7, 100, 0, 7, 70 * time.Millisecond},
		{3000, 3e6, 1, 3000, time.Millisecond},
	} {
		res := r.do(Params{Interface: "em0", Frames: c.frames, Rate: c.rate, Burst: c.burst})
		if res.Elapsed != c.want || res.Batches != c.batches || res.Frames != c.frames {
			t.Errorf("%d frames at %v: %d in %v in %d batches, want %v in %d", c.frames, c.rate, res.Frames, res.Elapsed, res.Batches, c.want, c.batches)
		}
		if off := res.PPS()/c.rate - 1; math.Abs(off) > 1e-5 {
			t.Errorf("%v frames/s at a rate of %v", res.PPS(), c.rate)
		}
	}
}

func TestThreadsShareARate(t *testing.T) {
	r := boot(t, kern.ManualClock, "", alone)
	res := r.do(Params{Interface: "em0", Frames: 300, Threads: 3, Rate: 3000})
	if want := 100 * time.Millisecond; res.Elapsed != want || res.Frames != 300 {
		t.Errorf("%d frames in %v, want %v", res.Frames, res.Elapsed, want)
	}
}

func TestWhatIsRefusedIsSentAgainOrCounted(t *testing.T) {
	r := boot(t, kern.ManualClock, "net.iflib.prefer_mpring=\"1\"\n", alone)
	frames := uint64(30_000)
	if testing.Short() {
		frames = 6000
	}
	if res := r.do(Params{Interface: "em0", Frames: frames, Size: 1514, Threads: 4}); res.Frames != frames || res.Dropped != 0 {
		t.Errorf("retry: %+v", res)
	}
	// A head that is stuck: the rings take what they hold, and refuse the rest.
	must(t, r.m.Kernel().Sysctl.SetText("debug.fail_point.hw.em0.stuck_head", "return"))
	before := r.m.Ctx("em0").Ledger().RingFull
	done := make(chan struct{})
	var res Result
	var err error
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		res, err = r.Do(ctx, Params{Interface: "em0", Frames: frames, OnDrop: client.PktgenDropCount}, nil, nil)
	}()
	r.eventually("refused", func() uint64 { return toNumber(r.m.Ctx("em0").Ledger().RingFull-before > 1000) }, 1)
	cancel()
	<-done
	if !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("count: %v", err)
	}
	if res.Refused == 0 || res.Refused != res.Dropped || res.Frames+res.Dropped > frames || res.Frames == 0 {
		t.Errorf("count: %+v", res)
	}
	must(t, r.m.Kernel().Sysctl.SetText("debug.fail_point.hw.em0.stuck_head", "off"))
}

func TestFragmentsAreMbufsOfAChain(t *testing.T) {
	r := boot(t, kern.ManualClock, "", wired)
	j := r.job(Params{Interface: "em0", Frames: 1, Size: 1000, Fragments: 4})
	s := j.newSender(0)
	s.cache = j.ifp.Zones().NewCache()
	defer s.cache.Close()
	m := s.packet()
	var lens []string
	for n := m; n != nil; n = n.Next {
		lens = append(lens, strconv.Itoa(n.Len()))
	}
	if got := strings.Join(lens, " "); got != "42 319 319 320" || m.Pkt.Len != 1000 {
		t.Errorf("a frame of %d bytes in mbufs of %s", m.Pkt.Len, got)
	}
	s.cache.FreeChain(m)

	var w wire
	defer r.m.Ifnet("em1").AttachTap(w.tap)()
	for i, fragments := range []int{1, 2, 5, 63} {
		r.do(Params{Interface: "em0", Frames: 1, Size: 64, Fragments: fragments})
		r.eventually("frames received", w.count, uint64(i+1))
		if got := decode(t, w.frames[i]); got.size != 64 {
			t.Errorf("%d fragments: %+v", fragments, got)
		}
	}
}

// Flows choose queues when they have a hash.
func TestFlowsSpreadOverQueuesByTheirHash(t *testing.T) {
	r := boot(t, kern.ManualClock, "net.iflib.prefer_mpring=\"1\"\n", "hint.igb.0.port=\"null\"\nhint.ifsim.0.ncpu=\"4\"\n")
	queues := r.m.Ctx("igb0").NTxqs()
	if queues < 2 {
		t.Fatalf("%d queues", queues)
	}
	enqueued := func() (list []int, sum int) {
		for i := range queues {
			text, err := r.m.Kernel().Sysctl.Text("dev.igb.0.iflib.txq" + strconv.Itoa(i) + ".r_enqueues")
			must(t, err)
			n, err := strconv.Atoi(text)
			must(t, err)
			list = append(list, n)
			sum += n
		}
		return list, sum
	}
	const frames = 1000
	p := Params{Interface: "igb0", Frames: frames, SrcIP: "10.0.0.1-10.0.3.255"}
	r.do(p)
	before, sum := enqueued()
	if before[0] != frames || sum != frames {
		t.Errorf("without hashes: %v", before)
	}
	p.Hash = true
	r.do(p)
	after, sum := enqueued()
	if sum != 2*frames {
		t.Errorf("with hashes: %v", after)
	}
	for i := range after {
		if after[i]-before[i] < frames/queues/2 {
			t.Errorf("queue %d got %d of %d frames", i, after[i]-before[i], frames)
		}
	}
}

func TestReceivedFramesAreCountedExactly(t *testing.T) {
	r := boot(t, kern.ManualClock, "", wired)
	run := r.start(Params{Interface: "em1", Mode: client.PktgenModeRx, Frames: 60})
	sent := r.do(Params{Interface: "em0", Frames: 100, Size: 100, MinSize: 64})
	res, err := run.wait()
	if err != nil || res.Frames != 60 || res.Batches == 0 || res.Batches > 60 {
		t.Errorf("%+v, %v", res, err)
	}
	if res.Bytes < 64*60 || res.Bytes > 99*60 || sent.Bytes < res.Bytes {
		t.Errorf("%d bytes received of %d", res.Bytes, sent.Bytes)
	}
	r.eventually("ipackets", r.counter("em1", ifnet.CounterIPackets), 100)
}

func TestReceptionEndsWhenItIsSilent(t *testing.T) {
	r := boot(t, kern.ManualClock, "", wired)
	run := r.start(Params{Interface: "em1", Mode: client.PktgenModeRx, UntilIdle: true})
	r.m.Kernel().Delay(time.Hour) // nothing has come: it goes on
	res := r.do(Params{Interface: "em0", Frames: 50})
	r.eventually("ipackets", r.counter("em1", ifnet.CounterIPackets), 50)
	got, err := run.wait()
	if err != nil || got.Frames != 50 || got.Bytes != res.Bytes {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPingAndPongAnswerEachOther(t *testing.T) {
	r := boot(t, kern.RealClock, "", wired)
	em1 := station(stationValue(r.m.Ifnet("em1").MAC()))
	total := uint64(0)
	for _, p := range []Params{
		{Frames: 200}, {Frames: 100, Burst: 7, Size: 1514}, {Frames: 50, IPv6: true}, {Frames: 20, Dst: em1},
	} {
		p.Interface, p.Mode = "em0", client.PktgenModePing
		pong := r.start(Params{Interface: "em1", Mode: client.PktgenModePong, Frames: p.Frames})
		res := r.do(p)
		rtt := res.RTT
		if res.Frames != p.Frames || rtt.Answers != p.Frames || rtt.Lost != 0 {
			t.Fatalf("%+v: %+v %+v", p, res, rtt)
		}
		if rtt.Min <= 0 || rtt.Average < rtt.Min || rtt.Max < rtt.Average {
			t.Errorf("%+v: %+v", p, rtt)
		}
		var all uint64
		for _, n := range rtt.Log2 {
			all += n
		}
		if all != p.Frames {
			t.Errorf("%+v: histogram of %d", p, all)
		}
		back, err := pong.wait()
		if err != nil || back.Frames != p.Frames || back.Bytes != res.Bytes || back.Dropped != 0 {
			t.Errorf("%+v: pong %+v, %v", p, back, err)
		}
		total += p.Frames
	}
	for _, name := range []string{"em0", "em1"} {
		r.eventually(name+" opackets", r.counter(name, ifnet.CounterOPackets), total)
		r.eventually(name+" ipackets", r.counter(name, ifnet.CounterIPackets), total)
	}
}

func TestPingAndPongAnswerEachOtherAcrossMachines(t *testing.T) {
	cfg := machine.Config{Fabric: port.NewFabric(pair.Kind(), null.Kind()), Work: hw.NewWorkList()}
	const hints = "hint.em.0.port=\"pair:t\"\nhint.ifsim.0.ncpu=\"1\"\n"
	near, far := bootWith(t, cfg, "", hints), bootWith(t, cfg, "", hints)
	near.awaitLinks()
	far.awaitLinks()
	const frames = 100
	pong := far.start(Params{Interface: "em0", Mode: client.PktgenModePong, Frames: frames})
	res := near.do(Params{Interface: "em0", Mode: client.PktgenModePing, Frames: frames, SrcIP: "10.0.0.1-10.0.0.7"})
	if res.Frames != frames || res.RTT.Answers != frames {
		t.Errorf("%+v %+v", res, res.RTT)
	}
	if back, err := pong.wait(); err != nil || back.Frames != frames {
		t.Errorf("pong %+v, %v", back, err)
	}
}

func TestPingsWithoutAnswersAreLost(t *testing.T) {
	r := boot(t, kern.ManualClock, "", wired)
	run := r.start(Params{Interface: "em0", Mode: client.PktgenModePing, Frames: 3})
	res, err := run.wait()
	if err != nil || res.Frames != 3 || res.RTT.Answers != 0 || res.RTT.Lost != 3 || res.Elapsed < 3*answerTime {
		t.Errorf("%+v %+v, %v", res, res.RTT, err)
	}
}

func TestOneRunADirection(t *testing.T) {
	r := boot(t, kern.ManualClock, "", wired)
	refused := func(mode, name string) string {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := r.Do(ctx, Params{Interface: name, Mode: mode, Frames: 1}, nil, nil)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	const sends, receives = "em1: another pktgen sends: Device busy", "em1: another pktgen receives: Device busy"
	run := r.start(Params{Interface: "em1", Mode: client.PktgenModeRx})
	for mode, want := range map[string]string{client.PktgenModeTx: "", client.PktgenModeRx: receives, client.PktgenModePing: receives, client.PktgenModePong: receives} {
		if got := refused(mode, "em1"); got != want {
			t.Errorf("%s beside rx: %q, want %q", mode, got, want)
		}
	}
	run.cancel()
	if _, err := run.wait(); err == nil || err.Error() != "em1: context canceled (0 frames received)" {
		t.Errorf("%v", err)
	}
	run = r.start(Params{Interface: "em1", Mode: client.PktgenModePong})
	for mode, want := range map[string]string{client.PktgenModeTx: sends, client.PktgenModeRx: receives, client.PktgenModePing: sends, client.PktgenModePong: sends} {
		if got := refused(mode, "em1"); got != want {
			t.Errorf("%s beside pong: %q, want %q", mode, got, want)
		}
	}
	if got := refused(client.PktgenModeTx, "em0"); got != "" {
		t.Errorf("the other interface: %q", got)
	}
	run.cancel()
	_, _ = run.wait()
	if len(r.used.nics) != 0 {
		t.Errorf("%d NICs are still used", len(r.used.nics))
	}
}

func TestADetachedInterfaceEndsARun(t *testing.T) {
	for _, mode := range []string{client.PktgenModeRx, client.PktgenModePing, client.PktgenModePong} {
		r := boot(t, kern.ManualClock, "", wired)
		run := r.start(Params{Interface: "em0", Mode: mode})
		must(t, r.m.Detach("em0"))
		_, err := run.wait()
		if err == nil || !strings.HasPrefix(err.Error(), "em0: Device not configured (") && !strings.HasPrefix(err.Error(), "em0: Network is down (") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestReportsAddUp(t *testing.T) {
	r := boot(t, kern.ManualClock, "", alone)
	k := r.m.Kernel()
	// The sender moves the clock, so that the wait need not.
	wait := func(ctx context.Context, d time.Duration) error {
		a := newAlarm(k)
		defer a.callout.Drain()
		a.set(d)
		select {
		case <-a.c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var reports []Report
	res, err := r.Do(t.Context(), Params{Interface: "em0", Frames: 2500, Rate: 1000, ReportMS: 100}, wait, func(r Report) { reports = append(reports, r) })
	must(t, err)
	var frames, bytes, batches uint64
	var took time.Duration
	for i, r := range reports {
		frames, bytes, batches, took = frames+r.Frames, bytes+r.Bytes, batches+r.Batches, took+r.Took
		if r.Number != i+1 || r.Total.Frames != frames || r.Total.RTT != nil {
			t.Errorf("report %d: %+v", i, r)
		}
	}
	if len(reports) == 0 || frames > res.Frames || bytes > res.Bytes || took > res.Elapsed+time.Millisecond {
		t.Errorf("%d reports of %d frames, %d bytes, %v; %+v", len(reports), frames, bytes, took, res)
	}
}

func TestSendingAllocatesNothing(t *testing.T) {
	r := boot(t, kern.ManualClock, "", alone)
	for _, p := range []Params{
		{Size: 1514}, {Size: 1514, SrcIP: "10.0.0.1-10.0.255.255", Hash: true, Fragments: 2}, {Size: 900, MinSize: 60, RandomSrc: true, RandomDst: true},
	} {
		p.Interface, p.Frames = "em0", 1
		s := r.job(p).newSender(0)
		s.cache = s.j.ifp.Zones().NewCache()
		defer s.cache.Close()
		warm := func(n int) {
			for range n {
				must(t, s.send())
			}
		}
		warm(5000)
		// The rest of the process may allocate now and then: once without counts.
		const attempts = 5
		allocates := true
		for range attempts {
			if allocates = testing.AllocsPerRun(20, func() { warm(100) }) != 0; !allocates {
				break
			}
		}
		if allocates {
			t.Errorf("%+v: allocations in each of %d times 2000 packets", p, attempts)
		}
	}
}

func TestATapOfPingCopiesAndCountsWhatItHasNoRoomFor(t *testing.T) {
	r := boot(t, kern.ManualClock, "", wired)
	ifp := r.m.Ifnet("em0")
	b := newInbox(r.m.Kernel(), 100)
	c := ifp.Zones().NewCache()
	defer c.Close()
	show := func(size int, rcvif mbuf.RcvIf) {
		m := c.Get3(size, mbuf.FlagPktHdr)
		m.SetLen(size)
		m.Pkt.Len, m.Pkt.RcvIf = int32(size), rcvif
		b.tap(ifp, m)
		c.FreeChain(m)
	}
	show(101, ifp)
	show(60, r.m.Ifnet("em1"))
	for range inboxLen + 3 {
		show(60, ifp)
	}
	var l letter
	n := 0
	for b.take(&l) {
		n++
	}
	if got := b.dropped(); n != inboxLen || got != 4 || b.dropped() != 0 {
		t.Errorf("%d kept, %d dropped", n, got)
	}
}
