package pair_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
)

func TestThirdOpenIsBusyAndFreedEndReopens(t *testing.T) {
	f := port.NewFabric(pair.Kind())
	a, b := open(t, f, "pair:w"), open(t, f, "pair:w")
	if _, err := f.Open("pair:w"); !errors.Is(err, syscall.EBUSY) {
		t.Fatalf("third open: %v, want EBUSY", err)
	}
	ca, cb := bind(t, a), bind(t, b)
	if err := a.Bind(newClient()); !errors.Is(err, syscall.EBUSY) {
		t.Fatalf("second bind: %v, want EBUSY", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Bind(newClient()); !errors.Is(err, syscall.ENXIO) {
		t.Fatalf("bind after close: %v, want ENXIO", err)
	}
	b2 := open(t, f, "pair:w")
	bind(t, b2)
	if got, want := ca.linkEvents(), []bool{true, false, true}; !cmp.Equal(got, want) {
		t.Errorf("link events at the survivor %v, want %v", got, want)
	}
	if got, want := cb.linkEvents(), []bool{true}; !cmp.Equal(got, want) {
		t.Errorf("link events at the closed end %v, want %v", got, want)
	}
	a.Send(0, batch(1, 60))
	rx := make([]port.RxFrame, 2)
	if n := b.Recv(0, rx); n != 0 {
		t.Errorf("closed end received %d frames", n)
	}
	b.Release(0, 1) // nothing is lent to a closed port
	if n := b2.Recv(0, rx); n != 1 {
		t.Errorf("new end received %d frames, want 1", n)
	}
}

func TestFabricsShareNoWires(t *testing.T) {
	f, g := port.NewFabric(pair.Kind()), port.NewFabric(pair.Kind())
	bind(t, open(t, f, "pair:w"))
	p := open(t, g, "pair:w")
	bind(t, p)
	if p.Link().Up {
		t.Error("link up between two fabrics")
	}
}

func TestBadSpecificationsAreRefused(t *testing.T) {
	f := port.NewFabric(pair.Kind())
	open(t, f, "pair:w,depth=8")
	for _, spec := range []string{"pair", "pair:", "pair:x,depth=0", "pair:x,depth=65537", "pair:x,depth=", "pair:x,speed=1", "pair:x,", "pair:w,depth=9"} {
		if _, err := f.Open(spec); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v, want EINVAL", spec, err)
		}
	}
	open(t, f, "pair:w,depth=8")
}

func TestLinkIsUpOnlyWhenBothEndsAreBound(t *testing.T) {
	f := port.NewFabric(pair.Kind())
	a, b := open(t, f, "pair:w"), open(t, f, "pair:w")
	bind(t, a)
	if a.Link().Up {
		t.Error("up with one end bound")
	}
	if n := a.Send(3, batch(2, 60)); n != 2 {
		t.Errorf("send without link took %d, want 2", n)
	}
	if done, bad := a.Completed(3), a.TakeErrors(3); done != 2 || bad != 2 {
		t.Errorf("completed %d, errors %d, want 2 2", done, bad)
	}
	bind(t, b)
	if want := (port.Link{Up: true, FullDuplex: true}); a.Link() != want || b.Link() != want {
		t.Errorf("links %+v %+v, want %+v", a.Link(), b.Link(), want)
	}
	if n := b.Recv(0, make([]port.RxFrame, 4)); n != 0 {
		t.Errorf("%d stale frames arrived", n)
	}
}

func TestUnpluggedCableRefusesButKeepsWhatArrived(t *testing.T) {
	a, b, ca, _ := wired(t, "pair:w")
	a.Send(0, batch(3, 60))
	a.(*pair.Port).SetLink(false)
	a.Send(0, batch(2, 60))
	if n := b.Recv(0, make([]port.RxFrame, 8)); n != 3 {
		t.Errorf("received %d, want 3", n)
	}
	b.(*pair.Port).SetLink(true)
	if got, want := ca.linkEvents(), []bool{true, false, true}; !cmp.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	s := a.Stats()
	if s.TxFrames != 3 || s.TxErrors[port.LinkDown] != 2 {
		t.Errorf("sent %d, refused %d, want 3 2", s.TxFrames, s.TxErrors[port.LinkDown])
	}
}

func TestFramesOnTheWayToAClosedEndAreCounted(t *testing.T) {
	a, b, _, _ := wired(t, "pair:w")
	a.Send(0, batch(5, 60))
	b.Recv(0, make([]port.RxFrame, 2))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	s := b.Stats()
	if s.RxFrames != 2 || s.RxDrops[port.LinkDown] != 3 {
		t.Errorf("received %d, dropped %d, want 2 3", s.RxFrames, s.RxDrops[port.LinkDown])
	}
	if err := b.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestFullQueueIsShortAndKicksAfterAQuarterIsFree(t *testing.T) {
	a, b, ca, _ := wired(t, "pair:w,depth=8")
	if n := a.Send(5, batch(12, 60)); n != 8 {
		t.Fatalf("took %d, want 8", n)
	}
	if n := a.Send(200, batch(1, 60)); n != 0 {
		t.Fatalf("took %d of a full queue", n)
	}
	if n := a.Completed(5); n != 8 {
		t.Errorf("completed %d, want 8", n)
	}
	rx := make([]port.RxFrame, 8)
	b.Recv(0, rx)
	b.Release(0, 1)
	if got := ca.kicked(); got != nil {
		t.Errorf("kicked %v with one slot free", got)
	}
	b.Release(0, 1)
	if got, want := ca.kicked(), []int{5, 200}; !cmp.Equal(got, want) {
		t.Errorf("kicked %v, want %v", got, want)
	}
	b.Release(0, 6)
	if got := ca.kicked(); got != nil {
		t.Errorf("kicked %v again", got)
	}
	if s := a.Stats(); s.TxFull != 2 || s.TxFrames != 8 || s.TxBytes != 480 {
		t.Errorf("stats %+v", s)
	}
}

func TestLosingTheLinkKicksAWaitingSender(t *testing.T) {
	a, b, ca, _ := wired(t, "pair:w,depth=2")
	a.Send(1, batch(3, 60))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := ca.kicked(), []int{1}; !cmp.Equal(got, want) {
		t.Errorf("kicked %v, want %v", got, want)
	}
	if n := a.Send(1, batch(1, 60)); n != 1 || a.TakeErrors(1) != 1 {
		t.Errorf("frame not refused after the link went down")
	}
}

func TestBadLengthsAreRefusedAloneAndCountedByCause(t *testing.T) {
	a, b, _, _ := wired(t, "pair:w")
	fs := []port.Frame{numbered(0, 60), numbered(1, 13), numbered(2, port.MaxFrame+1), numbered(3, port.MaxFrame), numbered(4, 14)}
	if n := a.Send(0, fs); n != len(fs) {
		t.Fatalf("took %d", n)
	}
	if done, bad := a.Completed(0), a.TakeErrors(0); done != 5 || bad != 2 {
		t.Errorf("completed %d, errors %d, want 5 2", done, bad)
	}
	s := a.Stats()
	if s.TxErrors[port.TooShort] != 1 || s.TxErrors[port.TooLong] != 1 || s.TxFrames != 3 {
		t.Errorf("stats %+v", s)
	}
	rx := make([]port.RxFrame, 8)
	n := b.Recv(0, rx)
	var lens []int
	for _, f := range rx[:n] {
		lens = append(lens, f.Len)
	}
	if want := []int{60, port.MaxFrame, 14}; !cmp.Equal(lens, want) {
		t.Errorf("lengths %v, want %v", lens, want)
	}
}

func TestReleasingMoreThanLentPanics(t *testing.T) {
	a, b, _, _ := wired(t, "pair:w")
	a.Send(0, batch(2, 60))
	b.Recv(0, make([]port.RxFrame, 1))
	for _, n := range []int{2, -1} {
		func() {
			defer func() {
				want := fmt.Sprintf("pair: release of %d frames of queue 0, 1 lent", n)
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			b.Release(0, n)
		}()
	}
}

// A model of the wire: a list of frames in flight and how many are lent.
func TestWireBehavesLikeAQueueOfCopies(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const depth = 20
		f := port.NewFabric(pair.Kind())
		a, _ := f.Open(fmt.Sprintf("pair:w,depth=%d", depth))
		b, _ := f.Open("pair:w")
		defer a.Close()
		defer b.Close()
		_ = a.Bind(newClient())
		_ = b.Bind(newClient())
		var flight [][]byte
		lent := 0
		var lentFrames []port.RxFrame
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			switch rapid.IntRange(0, 2).Draw(r, "op") {
			case 0:
				var fs []port.Frame
				for range rapid.IntRange(0, 12).Draw(r, "n") {
					size := rapid.SampledFrom([]int{14, 60, 1514, 9018, port.MaxFrame}).Draw(r, "size")
					fs = append(fs, numbered(rapid.Uint64().Draw(r, "seq"), size))
				}
				n := a.Send(0, fs)
				if want := min(len(fs), depth-len(flight)); n != want {
					r.Fatalf("took %d, want %d", n, want)
				}
				for _, fr := range fs[:n] {
					flight = append(flight, bytes.Join(fr.Segs, nil))
				}
			case 1:
				rx := make([]port.RxFrame, rapid.IntRange(0, 8).Draw(r, "room"))
				n := b.Recv(0, rx)
				if want := min(len(rx), len(flight)-lent); n != want {
					r.Fatalf("lent %d, want %d", n, want)
				}
				lent += n
				lentFrames = append(lentFrames, rx[:n]...)
			case 2:
				n := rapid.IntRange(0, lent).Draw(r, "give")
				for i := range n {
					if !bytes.Equal(lentFrames[i].Data, flight[i]) || lentFrames[i].Len != len(flight[i]) {
						r.Fatalf("frame differs")
					}
				}
				b.Release(0, n)
				lent -= n
				lentFrames, flight = lentFrames[n:], flight[n:]
			}
		}
	})
}

// Large frames exhaust the bytes before the slots; the wire must come to life again.
func TestArenaFullIsShortAndRecovers(t *testing.T) {
	a, b, ca, _ := wired(t, "pair:w")
	rx := make([]port.RxFrame, 64)
	var seq, got uint64
	for round := 0; round < 5; round++ {
		fs := make([]port.Frame, 200)
		for i := range fs {
			fs[i] = numbered(seq+uint64(i), 12345)
		}
		n := a.Send(0, fs)
		if n == 0 || n == len(fs) {
			t.Fatalf("round %d took %d of 200", round, n)
		}
		seq += uint64(n)
		for n := b.Recv(0, rx); n > 0; n = b.Recv(0, rx) {
			for _, f := range rx[:n] {
				if s := binary.LittleEndian.Uint64(f.Data); s != got {
					t.Fatalf("got %d, want %d", s, got)
				}
				got++
			}
			b.Release(0, n)
		}
		if k := ca.kicked(); !cmp.Equal(k, []int{0}) {
			t.Fatalf("round %d: kicked %v", round, k)
		}
	}
	if got != seq {
		t.Errorf("received %d of %d", got, seq)
	}
}

// pump sends count frames and receives count frames, as an engine does, on one goroutine.
func pump(p port.Port, c *client, wake chan struct{}, count int) error {
	const room = 16
	var sent, got int
	fs := batch(room, 64)
	rx := make([]port.RxFrame, room)
	blocked := false
	for sent < count || got < count {
		if sent < count && !blocked {
			want := min(room, count-sent)
			for i := range want {
				binary.LittleEndian.PutUint64(fs[i].Segs[0], uint64(sent+i))
			}
			n := p.Send(0, fs[:want])
			sent += n
			blocked = n < want
		}
		n := p.Recv(0, rx)
		for _, f := range rx[:n] {
			if s := int(binary.LittleEndian.Uint64(f.Data)); s != got {
				return fmt.Errorf("got %d, want %d", s, got)
			}
			got++
		}
		p.Release(0, n)
		if n > 0 || (sent < count && !blocked) {
			continue
		}
		if sent == count && got == count {
			break
		}
		select { // idle: everything that can go on is announced
		case <-c.wakeTx:
			blocked = false
		case <-wake:
		}
	}
	if done := p.Completed(0); done != count {
		return fmt.Errorf("completed %d of %d", done, count)
	}
	return nil
}

func TestTwoGoroutinesPumpBothWaysInOrderWithoutLoss(t *testing.T) {
	const count = 30000
	a, b, ca, cb := wired(t, "pair:w,depth=32")
	var wg sync.WaitGroup
	run := func(p port.Port, c *client, wake chan struct{}) {
		if err := pump(p, c, wake, count); err != nil {
			t.Error(err)
		}
		wg.Done()
	}
	wakes := [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
	for i, c := range []*client{ca, cb} {
		wake := wakes[i]
		c.onRx = func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}
	wg.Add(2)
	go run(a, ca, wakes[0])
	go run(b, cb, wakes[1])
	wg.Wait()
	for _, p := range []port.Port{a, b} {
		if s := p.Stats(); s.TxFrames != count || s.RxFrames != count || s.TxBytes != s.RxBytes {
			t.Errorf("stats %+v", s)
		}
	}
}

// Whatever the timing, each frame taken is received, refused, or dropped by the close.
func TestConservationWhenTheReceiverCloses(t *testing.T) {
	for round := range 50 {
		f := port.NewFabric(pair.Kind())
		a, b := open(t, f, "pair:w,depth=16"), open(t, f, "pair:w")
		bind(t, a)
		bind(t, b)
		const count = 500
		var wg sync.WaitGroup
		wg.Go(func() {
			fs := batch(1, 60)
			for sent := 0; sent < count; {
				n := a.Send(0, fs)
				sent += n
				if n == 0 {
					runtime.Gosched()
				}
			}
		})
		wg.Go(func() {
			rx := make([]port.RxFrame, 4)
			for got := 0; got < round*8; {
				n := b.Recv(0, rx)
				b.Release(0, n)
				got += n
				if n == 0 {
					runtime.Gosched()
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		as, bs := a.Stats(), b.Stats()
		if as.TxFrames+as.TxErrors[port.LinkDown] != count || as.TxFrames != bs.RxFrames+bs.RxDrops[port.LinkDown] {
			t.Fatalf("round %d: sender %+v receiver %+v", round, as, bs)
		}
	}
}

// After Close has returned nobody calls the client (its machine may be gone).
func TestNoCallAfterClose(t *testing.T) {
	for range 50 {
		f := port.NewFabric(pair.Kind())
		a, b := open(t, f, "pair:w"), open(t, f, "pair:w")
		bind(t, a)
		cb := newClient()
		var gone bool // the race detector sees a call that overlaps or follows
		cb.onRx = func() {
			if gone {
				t.Error("RxReady after Close")
			}
		}
		if err := b.Bind(cb); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			fs := batch(1, 60)
			for range 200 {
				a.Send(0, fs)
			}
		})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		gone = true
		wg.Wait()
	}
}

func BenchmarkSendRecv(b *testing.B) {
	const n = 32
	x, y, _, _ := wired(b, "pair:w")
	fs := batch(n, 64)
	rx := make([]port.RxFrame, n)
	b.ReportAllocs()
	for i := 0; i < b.N; i += n {
		x.Send(0, fs)
		x.Completed(0)
		y.Release(0, y.Recv(0, rx))
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	a, b, _, _ := wired(t, "pair:w")
	fs := batch(16, 1514)
	rx := make([]port.RxFrame, 16)
	if n := testing.AllocsPerRun(200, func() {
		a.Send(0, fs)
		b.Release(0, b.Recv(0, rx))
	}); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}
