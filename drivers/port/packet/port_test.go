package packet_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/internal/nstest"
)

func TestEveryFrameSentIsCountedByThePeer(t *testing.T) {
	needNamespaces(t)
	const count, size = 10000, 60
	ns := nstest.New(t)
	w := plainCable(t, ns)
	w.up(t)
	p, c := openPort(t, w.a)
	before := ns.Counters(t, w.b)
	fs := frames(100, size, 0)
	for i := range count / len(fs) {
		sendAll(t, p, c, i%3, fs)
	}
	done := 0
	for q := range 3 {
		done += p.Completed(q)
	}
	if done != count {
		t.Errorf("completed %d, want %d", done, count)
	}
	after := ns.Counters(t, w.b)
	if got := after.RxPackets - before.RxPackets; got != count {
		t.Errorf("the peer counts %d frames, want %d", got, count)
	}
	if got := after.RxBytes - before.RxBytes; got != count*size {
		t.Errorf("the peer counts %d bytes, want %d", got, count*size)
	}
	s := p.Stats()
	if s.TxFrames != count || s.TxBytes != count*size || s.TxErrors != [port.NumCauses]uint64{} {
		t.Errorf("stats %+v", s)
	}
}

// A sender that never is more than half a ring ahead: nothing may be lost, doubled or
// disordered, while the receiving port sends too (case 50).
func TestPacedFramesArriveOnceAndInOrder(t *testing.T) {
	const count, burst = 20000, 500
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	src := hw.NewRxSource(b, 0)
	before := here.Counters(t, w.b)
	for next := uint32(0); next < count; {
		sendAll(t, a, ca, 0, frames(burst, 64, next))
		sendAll(t, b, cb, 0, frames(burst, 64, next))
		for _, f := range receive(t, cb, src, burst) {
			if !bytes.Equal(f, frame(64, next)) {
				t.Fatalf("frame %d is %x", next, f)
			}
			next++
		}
	}
	after := here.Counters(t, w.b)
	if got := after.RxPackets - before.RxPackets; got != count {
		t.Errorf("the interface counts %d, want %d", got, count)
	}
	if s := b.Stats(); s.RxFrames != count || s.RxBytes != count*64 || s.RxDrops != [port.NumCauses]uint64{} {
		t.Errorf("stats %+v", s)
	}
}

func TestTaggedFramesArriveByteIdentical(t *testing.T) {
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	raw := rawSender(t, w.a)
	src := hw.NewRxSource(b, 0)
	tags := []string{"81000064", "81000000", "8100e000", "88a80064810000c8", ""}
	var want [][]byte
	for i, tag := range tags {
		plain := frame(60, uint32(i))
		h, err := hex.DecodeString(tag)
		check(t, err)
		f := append(append(append([]byte(nil), plain[:12]...), h...), plain[12:]...)[:60]
		want = append(want, f)
	}
	wireBytes := uint64(0)
	for _, f := range want {
		sendAll(t, a, ca, 0, []port.Frame{split(f)})
		check(t, raw(f))
		wireBytes += 2 * uint64(len(f))
	}
	got := receive(t, cb, src, 2*len(want))
	for i, f := range want {
		for _, g := range got[2*i : 2*i+2] {
			if d := cmp.Diff(hex.EncodeToString(f), hex.EncodeToString(g)); d != "" {
				t.Errorf("tag %q (-sent +received):\n%s", tags[i], d)
			}
		}
	}
	if n := src.Counters.TagsInserted; n != 8 {
		t.Errorf("%d tags inserted, want 8", n)
	}
	if s := b.Stats(); s.RxBytes != wireBytes {
		t.Errorf("%d bytes received, want %d", s.RxBytes, wireBytes)
	}
}

// Validity of a tag comes from the status bits, not from the tag's value.
func TestTagOfZeroIsLentAsValid(t *testing.T) {
	w := newCable(t)
	b, cb := openPort(t, w.b)
	f := frame(60, 1)
	copy(f[12:], []byte{0x88, 0xa8, 0, 0, 0x88, 0xb5})
	check(t, rawSender(t, w.a)(f))
	rx := make([]port.RxFrame, 4)
	eventually(t, "RxReady", func() bool { return cb.rx.Load() != 0 })
	n := b.Recv(0, rx)
	g := rx[0]
	if n != 1 || !g.VLANValid || !g.TPIDValid || g.TCI != 0 || g.TPID != 0x88a8 || g.Len != 56 || len(g.Data) != 56 || g.Truncated {
		t.Errorf("%d frames, first %+v", n, g)
	}
	if g.Tstamp == 0 {
		t.Error("no time stamp")
	}
	b.Release(0, 1)
}

func TestLengthsAreRefusedAsTheKernelDoes(t *testing.T) {
	w := newCable(t)
	a, _ := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	src := hw.NewRxSource(b, 0)
	const refused = -1
	tests := []struct {
		size   int
		tagged bool
		cause  int // refused frames have a port.Cause
	}{
		{0, false, int(port.TooShort)}, {13, false, int(port.TooShort)},
		{14, false, refused}, {59, false, refused}, {60, false, refused}, {1514, false, refused},
		{1515, false, int(port.TooLong)}, {1518, true, refused}, {1519, true, int(port.TooLong)},
		{3000, false, int(port.TooLong)}, {port.MaxFrame + 1, false, int(port.TooLong)},
	}
	var want [port.NumCauses]uint64
	for _, tt := range tests {
		f := frame(tt.size, uint32(tt.size))
		if tt.tagged {
			copy(f[12:], []byte{0x81, 0, 0, 7})
		}
		if n := a.Send(0, []port.Frame{split(f)}); n != 1 {
			t.Fatalf("%d bytes: took %d", tt.size, n)
		}
		done, bad := a.Completed(0), a.TakeErrors(0)
		if tt.cause != refused {
			want[tt.cause]++
			if done != 1 || bad != 1 {
				t.Errorf("%d bytes: completed %d, refused %d, want 1 1", tt.size, done, bad)
			}
			continue
		}
		if done != 1 || bad != 0 {
			t.Errorf("%d bytes: completed %d, refused %d, want 1 0", tt.size, done, bad)
		}
		if g := receive(t, cb, src, 1)[0]; !bytes.Equal(f, g) {
			t.Errorf("%d bytes: arrived as %d", tt.size, len(g))
		}
	}
	if got := a.Stats().TxErrors; got != want {
		t.Errorf("errors by cause %v, want %v", got, want)
	}
}

func TestBadFramesInABatchAreRefusedAlone(t *testing.T) {
	w := newCable(t)
	a, _ := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	fs := frames(100, 64, 0)
	bad := map[int]int{0: 3000, 7: 2, 31: 3000, 32: 3000, 33: port.MaxFrame + 1, 99: 13}
	for i, size := range bad {
		fs[i] = split(frame(size, 0))
	}
	if n := a.Send(5, fs); n != len(fs) {
		t.Fatalf("took %d", n)
	}
	if done, refused := a.Completed(5), a.TakeErrors(5); done != 100 || refused != len(bad) {
		t.Errorf("completed %d, refused %d, want 100 %d", done, refused, len(bad))
	}
	got := receive(t, cb, hw.NewRxSource(b, 0), 100-len(bad))
	next := 0
	for _, f := range got {
		for bad[next] != 0 {
			next++
		}
		if seqOf(f) != uint32(next) {
			t.Fatalf("got %d, want %d", seqOf(f), next)
		}
		next++
	}
	s := a.Stats()
	if s.TxFrames != 94 || s.TxErrors[port.TooLong] != 4 || s.TxErrors[port.TooShort] != 2 {
		t.Errorf("stats %+v", s)
	}
}

func TestOwnFramesAndThoseOfThisHostAreNotReceived(t *testing.T) {
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	sendAll(t, a, ca, 0, frames(50, 64, 0))
	check(t, rawSender(t, w.a)(frame(64, 50)))
	if got := receive(t, cb, hw.NewRxSource(b, 0), 51); seqOf(got[50]) != 50 {
		t.Errorf("last frame at the peer is %d", seqOf(got[50]))
	}
	sendAll(t, b, cb, 0, frames(1, 64, 1000)) // comes behind whatever were looped back
	if got := receive(t, ca, hw.NewRxSource(a, 0), 1); seqOf(got[0]) != 1000 {
		t.Errorf("received own frame %d", seqOf(got[0]))
	}
}

// Frames for other hosts must reach the NIC, which filters (case 48).
func TestInterfaceIsPromiscuousWhileBound(t *testing.T) {
	w := newCable(t)
	if n := promiscuity(t, w.b); n != 0 {
		t.Fatalf("promiscuity %d before", n)
	}
	b, cb := openPort(t, w.b)
	if n := promiscuity(t, w.b); n != 1 {
		t.Errorf("promiscuity %d, want 1", n)
	}
	f := frame(60, 3)
	copy(f, []byte{2, 0, 0, 0, 0, 0x99})
	check(t, rawSender(t, w.a)(f))
	if g := receive(t, cb, hw.NewRxSource(b, 0), 1)[0]; !bytes.Equal(f, g) {
		t.Errorf("arrived as %x", g)
	}
	check(t, b.Close())
	if n := promiscuity(t, w.b); n != 0 {
		t.Errorf("promiscuity %d after", n)
	}
}

func TestFramesOfOtherInterfacesAreNotReceived(t *testing.T) {
	w, other := newCable(t), newCable(t)
	p, err := fabric().Open("packet:" + w.b)
	check(t, err)
	defer p.Close()
	stray, wanted := rawSender(t, other.a), rawSender(t, w.a)
	check(t, wanted(frame(60, 7))) // before Bind: not for this client
	c := newClient()
	check(t, p.Bind(c))
	for i := range uint32(200) {
		check(t, stray(frame(60, 1000+i)))
		check(t, wanted(frame(60, i)))
	}
	for i, f := range receive(t, c, hw.NewRxSource(p, 0), 200) {
		if seqOf(f) != uint32(i) {
			t.Fatalf("frame %d is %d", i, seqOf(f))
		}
	}
}

// What the ring has no room for is counted once, however often the counters are read.
func TestDropsAreAddedUp(t *testing.T) {
	const slots, over = 4096, 100
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	sendAll(t, a, ca, 0, frames(slots+over, 64, 0))
	eventually(t, "drops", func() bool { return b.Stats().RxDrops[port.NoSpace] >= over })
	for range 3 {
		if n := b.Stats().RxDrops[port.NoSpace]; n != over {
			t.Fatalf("%d drops, want %d", n, over)
		}
	}
	src := hw.NewRxSource(b, 0)
	receive(t, cb, src, slots)
	sendAll(t, a, ca, 0, frames(slots+over, 64, 0))
	eventually(t, "drops", func() bool { return b.Stats().RxDrops[port.NoSpace] >= 2*over })
	check(t, b.Close())
	s := b.Stats()
	if s.RxDrops[port.NoSpace] != 2*over || s.RxFrames != slots || s.RxDrops[port.LinkDown] != slots {
		t.Errorf("stats %+v", s)
	}
}

func TestFrameLargerThanASlotIsLentWhole(t *testing.T) {
	const mtu, size = 9000, 5000
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b) // with slots for the MTU of now
	setMTU(t, nil, w.a, mtu)
	setMTU(t, nil, w.b, mtu)
	src := hw.NewRxSource(b, 0)
	const count = 100 // more than there are buffers
	fs := frames(count, size, 0)
	fs[40] = split(frame(60, 40))
	sendAll(t, a, ca, 0, fs)
	for i, f := range receive(t, cb, src, count) {
		want := frame(size, uint32(i))
		if i == 40 {
			want = frame(60, 40)
		}
		if !bytes.Equal(f, want) {
			t.Fatalf("frame %d differs", i)
		}
	}
	if src.Counters.Truncated != 0 {
		t.Errorf("%d truncated", src.Counters.Truncated)
	}
}

func TestFrameThatCouldNotBeKeptWholeIsMarked(t *testing.T) {
	const mtu, size, count = 9000, 8000, 3000 // more bytes than the socket may hold
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, _ := openPort(t, w.b)
	setMTU(t, nil, w.a, mtu)
	setMTU(t, nil, w.b, mtu)
	sendAll(t, a, ca, 0, frames(count, size, 0))
	rx := make([]port.RxFrame, 8)
	seq, cut := uint32(0), 0
	for seq < count {
		n := 0
		eventually(t, "a frame", func() bool { n = b.Recv(0, rx); return n != 0 })
		for _, f := range rx[:n] {
			if seqOf(f.Data) != seq || f.Len != size || f.Truncated != (len(f.Data) < size) {
				t.Fatalf("frame %d: seq %d, %d of %d bytes, truncated %v", seq, seqOf(f.Data), len(f.Data), f.Len, f.Truncated)
			}
			if f.Truncated {
				cut++
			}
			seq++
		}
		b.Release(0, n)
	}
	if cut == 0 || cut == count {
		t.Errorf("%d of %d frames truncated", cut, count)
	}
}

func TestLentFramesOutliveCloseUntilReleased(t *testing.T) {
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, _ := openPort(t, w.b)
	sendAll(t, a, ca, 0, frames(5, 64, 0))
	rx, lent := make([]port.RxFrame, 3), 0
	eventually(t, "three frames", func() bool { lent += b.Recv(0, rx[lent:]); return lent == len(rx) })
	eventually(t, "the others", func() bool { return here.Counters(t, w.b).RxPackets == 5 })
	check(t, b.Close())
	for i, f := range rx {
		if !bytes.Equal(f.Data, frame(64, uint32(i))) {
			t.Errorf("frame %d differs", i)
		}
	}
	b.Release(0, 1)
	if n := b.Recv(0, rx); n != 0 {
		t.Errorf("lent %d after Close", n)
	}
	b.Release(0, 2)
	b.Release(0, 1) // nothing is lent to a closed port
	if s := b.Stats(); s.RxFrames != 3 || s.RxDrops[port.LinkDown] != 2 {
		t.Errorf("stats %+v", s)
	}
}

func TestReleasingMoreThanLentPanics(t *testing.T) {
	w := newCable(t)
	b, _ := openPort(t, w.b)
	for q, want := range []string{
		"packet: release of 1 frames of queue 0, 0 lent",
		"packet: release of 1 frames of queue 1, 0 lent",
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			b.Release(q, 1)
		}()
	}
}

func TestPortBindsOnceAndEndsAtClose(t *testing.T) {
	w := newCable(t)
	files := openFiles(t)
	p, c := openPort(t, w.a)
	if err := p.Bind(newClient()); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("second Bind: %v", err)
	}
	if d := cmp.Diff([]bool{true}, c.events()); d != "" {
		t.Error(d)
	}
	if want := (port.Link{Up: true, FullDuplex: true}); p.Link() != want {
		t.Errorf("link %+v", p.Link())
	}
	if p.Name() != "packet:"+w.a {
		t.Errorf("name %q", p.Name())
	}
	if n := p.Recv(1, make([]port.RxFrame, 1)); n != 0 {
		t.Errorf("queue 1 has %d frames", n)
	}
	check(t, p.Close())
	check(t, p.Close())
	if n := openFiles(t); n != files {
		t.Errorf("%d files open, %d before", n, files)
	}
	if err := p.Bind(newClient()); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("Bind after Close: %v", err)
	}
	if n := p.Send(9, frames(3, 64, 0)); n != 3 || p.Completed(9) != 3 || p.TakeErrors(9) != 3 {
		t.Errorf("Send after Close took %d", n)
	}
	if p.Link().Up {
		t.Error("up after Close")
	}
}

func TestPortThatWasNeverBoundCloses(t *testing.T) {
	w := newCable(t)
	files := openFiles(t)
	p, err := fabric().Open("packet:" + w.a)
	check(t, err)
	if p.Link().Up {
		t.Error("up before Bind")
	}
	if n := p.Send(0, frames(2, 64, 0)); n != 2 || p.TakeErrors(0) != 2 {
		t.Errorf("Send before Bind took %d", n)
	}
	check(t, p.Close())
	if n := openFiles(t); n != files {
		t.Errorf("%d files open, %d before", n, files)
	}
}

// After Close has returned nobody calls the client, and users of the port do not notice
// more than that nothing works.
func TestCloseWhileInUse(t *testing.T) {
	w := newCable(t)
	a, ca := openPort(t, w.a)
	for range 4 {
		b, err := fabric().Open("packet:" + w.b)
		check(t, err)
		gone := false // the race detector sees a call that overlaps or follows
		cb := &strictClient{client: newClient(), gone: &gone, t: t}
		check(t, b.Bind(cb))
		var wg sync.WaitGroup
		var stop atomic.Bool
		loop := func(fn func()) {
			wg.Go(func() {
				for !stop.Load() {
					fn()
				}
			})
		}
		fs, gs, rx := frames(32, 64, 0), frames(32, 64, 0), make([]port.RxFrame, 16)
		loop(func() { a.Send(0, fs) })
		loop(func() { b.Send(0, gs) })
		loop(func() { b.Release(0, b.Recv(0, rx)) })
		loop(func() { b.Stats() })
		eventually(t, "frames", func() bool { return b.Stats().RxFrames > 200 })
		check(t, b.Close())
		gone = true
		stop.Store(true)
		wg.Wait()
		s := b.Stats()
		if done := b.Completed(0); uint64(done) != s.TxFrames+s.TxErrors[port.LinkDown] {
			t.Fatalf("completed %d, stats %+v", done, s)
		}
	}
	a.Release(0, 0)
	if ca.kicks(1) != 0 {
		t.Error("TxReady for a queue that is not used")
	}
}

// strictClient fails the test when it is called after it is gone.
type strictClient struct {
	*client
	gone *bool
	t    *testing.T
}

func (c *strictClient) RxReady(q int) {
	if *c.gone {
		c.t.Error("RxReady after Close")
	}
	c.client.RxReady(q)
}

func (c *strictClient) TxReady(q int) {
	if *c.gone {
		c.t.Error("TxReady after Close")
	}
	c.client.TxReady(q)
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	w := newCable(t)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	fs := frames(32, 64, 0)
	rx := make([]port.RxFrame, 32)
	const runs = 2000 // enough that link messages of the kernel, which allocate, do not count
	if n := testing.AllocsPerRun(runs, func() {
		exchange(a, b, ca, cb, fs, rx)
	}); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

// exchange sends a batch from a to b.
func exchange(a, b port.Port, ca, cb *client, fs []port.Frame, rx []port.RxFrame) {
	for rest := fs; len(rest) != 0; {
		n := a.Send(0, rest)
		if rest = rest[n:]; len(rest) != 0 {
			<-ca.room
		}
	}
	a.Completed(0)
	for got := 0; got < len(fs); {
		n := b.Recv(0, rx)
		b.Release(0, n)
		if got += n; n == 0 {
			<-cb.ready
		}
	}
}

func BenchmarkSend(b *testing.B) {
	w := newCable(b)
	p, c := openPort(b, w.a)
	fs := frames(32, 64, 0)
	b.ReportAllocs()
	for i := 0; i < b.N; i += len(fs) {
		sendAll(b, p, c, 0, fs)
		p.Completed(0)
	}
}

func BenchmarkSendRecv(b *testing.B) {
	w := newCable(b)
	x, cx := openPort(b, w.a)
	y, cy := openPort(b, w.b)
	fs := frames(32, 64, 0)
	rx := make([]port.RxFrame, 32)
	b.ReportAllocs()
	for i := 0; i < b.N; i += len(fs) {
		exchange(x, y, cx, cy, fs, rx)
	}
}
