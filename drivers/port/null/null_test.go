package null_test

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type client struct {
	rx    atomic.Int64
	links []bool
}

func (c *client) TxReady(int)             {}
func (c *client) RxReady(int)             { c.rx.Add(1) }
func (c *client) LinkChanged(l port.Link) { c.links = append(c.links, l.Up) }

func bound(t testing.TB) (*null.Port, *client) {
	t.Helper()
	p, c := null.New(), new(client)
	if err := p.Bind(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, c
}

func frames(n, size int) []port.Frame {
	fs := make([]port.Frame, n)
	for i := range fs {
		fs[i].Segs = [][]byte{make([]byte, 14), make([]byte, size-14)}
	}
	return fs
}

func TestSendCountsAndCompletesAtOnce(t *testing.T) {
	p, _ := bound(t)
	if n := p.Send(7, frames(3, 60)); n != 3 {
		t.Fatalf("took %d", n)
	}
	if n := p.Send(7, []port.Frame{{Segs: [][]byte{make([]byte, 13)}}, frames(1, port.MaxFrame+1)[0]}); n != 2 {
		t.Fatalf("took %d", n)
	}
	if done, again, other, bad := p.Completed(7), p.Completed(7), p.Completed(6), p.TakeErrors(7); done != 5 || again != 0 || other != 0 || bad != 2 {
		t.Errorf("completed %d, again %d, other queue %d, errors %d; want 5 0 0 2", done, again, other, bad)
	}
	want := port.Stats{TxFrames: 3, TxBytes: 180}
	want.TxErrors[port.TooShort], want.TxErrors[port.TooLong] = 1, 1
	if diff := cmp.Diff(want, p.Stats()); diff != "" {
		t.Error(diff)
	}
}

func TestSendNowReportsAtOnceAndOnce(t *testing.T) {
	p, _ := bound(t)
	n, bad := p.SendNow(7, append(frames(2, 60), frames(1, 13+1)[0], port.Frame{Segs: [][]byte{make([]byte, 13)}}))
	if n != 4 || bad != 1 || p.Completed(7) != 0 || p.TakeErrors(7) != 0 {
		t.Errorf("took %d, %d bad, or reported again", n, bad)
	}
	p.SetLink(false)
	if n, bad := p.SendNow(7, frames(2, 60)); n != 2 || bad != 2 {
		t.Errorf("without link took %d, %d bad", n, bad)
	}
	want := port.Stats{TxFrames: 3, TxBytes: 134}
	want.TxErrors[port.TooShort], want.TxErrors[port.LinkDown] = 1, 2
	if diff := cmp.Diff(want, p.Stats()); diff != "" {
		t.Error(diff)
	}
}

func TestLinkFollowsCableAndClose(t *testing.T) {
	p, c := bound(t)
	p.SetLink(false)
	p.SetLink(false)
	if n := p.Send(0, frames(2, 60)); n != 2 || p.TakeErrors(0) != 2 {
		t.Error("frames not refused without link")
	}
	p.SetLink(true)
	if want := []bool{true, false, true}; !cmp.Equal(c.links, want) {
		t.Errorf("events %v, want %v", c.links, want)
	}
	if err := p.Bind(c); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("second bind: %v, want EBUSY", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Bind(c); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("bind after close: %v, want ENXIO", err)
	}
	if p.Link().Up {
		t.Error("up after close")
	}
}

func TestInjectedFramesArriveWithTheirMetadata(t *testing.T) {
	p, c := bound(t)
	in := port.RxFrame{Data: []byte("0123456789abcdef"), VLANValid: true, TCI: 0x2064, Truncated: true, Len: 1514}
	if n := p.Inject(in, port.RxFrame{Data: make([]byte, 60)}); n != 2 {
		t.Fatalf("injected %d", n)
	}
	in.Data[0] = 'x' // the port has a copy
	rx := make([]port.RxFrame, 4)
	if n := p.Recv(0, rx); n != 2 || c.rx.Load() != 1 {
		t.Fatalf("received %d, told %d times", n, c.rx.Load())
	}
	want := []port.RxFrame{in, {Data: make([]byte, 60), Len: 60}}
	want[0].Data = []byte("0123456789abcdef")
	if diff := cmp.Diff(want, rx[:2]); diff != "" {
		t.Error(diff)
	}
	if n := p.Recv(1, rx); n != 0 {
		t.Errorf("queue 1 lent %d", n)
	}
	p.Release(0, 2)
	defer func() {
		if got, want := recover(), "null: release of 1 frames of queue 0, 0 lent"; got != want {
			t.Errorf("panic %v, want %v", got, want)
		}
	}()
	p.Release(0, 1)
}

func TestInjectionIsBounded(t *testing.T) {
	p, _ := bound(t)
	fs := make([]port.RxFrame, null.InjectDepth+10)
	if n := p.Inject(fs...); n != null.InjectDepth {
		t.Errorf("injected %d", n)
	}
	p.Recv(0, make([]port.RxFrame, 24))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p.Inject(fs[:2]...)
	s := p.Stats()
	if s.RxDrops[port.NoSpace] != 10 || s.RxDrops[port.LinkDown] != null.InjectDepth-24+2 || s.RxFrames != 24 {
		t.Errorf("stats %+v", s)
	}
}

func BenchmarkSend(b *testing.B) {
	const n = 32
	p, _ := bound(b)
	fs := frames(n, 64)
	b.ReportAllocs()
	for i := 0; i < b.N; i += n {
		p.Send(0, fs)
		p.Completed(0)
	}
}

func BenchmarkInjectRecv(b *testing.B) {
	const n = 32
	p, _ := bound(b)
	in := make([]port.RxFrame, n)
	for i := range in {
		in[i].Data = make([]byte, 64)
	}
	rx := make([]port.RxFrame, n)
	b.ReportAllocs()
	for i := 0; i < b.N; i += n {
		p.Inject(in...)
		p.Release(0, p.Recv(0, rx))
	}
}
