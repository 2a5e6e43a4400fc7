package pair_test

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
)

func FuzzOpen(f *testing.F) {
	for _, s := range []string{"w", "w,depth=4", "", ",", "w,depth=", "w,depth=-1", "w,depth=1,depth=2", "w,x=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		k := pair.Kind()
		a, err := k.Open(arg)
		if err != nil {
			if a != nil || !errors.Is(err, syscall.EINVAL) {
				t.Fatalf("%q: %v, %v; want EINVAL", arg, a, err)
			}
			return
		}
		b, err := k.Open(arg)
		if err != nil {
			t.Fatalf("%q: second end: %v", arg, err)
		}
		if _, err := k.Open(arg); !errors.Is(err, syscall.EBUSY) {
			t.Fatalf("%q: third end: %v, want EBUSY", arg, err)
		}
		_, _ = a.Close(), b.Close()
		if a, err = k.Open(arg); err != nil {
			t.Fatalf("%q: after both closed: %v", arg, err)
		}
		_ = a.Close()
	})
}

// A cable that is pulled and plugged under load: what was sent arrives, the rest is
// refused, and a sender that waits for space is never forgotten.
func TestFlappingLinkConservesFrames(t *testing.T) {
	const count = 5000
	a, b, ca, _ := wired(t, "pair:w,depth=8")
	var wg sync.WaitGroup
	var done atomic.Bool
	wg.Go(func() {
		fs := batch(3, 60)
		for sent := 0; sent < count; {
			want := min(len(fs), count-sent)
			n := a.Send(0, fs[:want])
			sent += n
			if n < want {
				<-ca.wakeTx
			}
		}
		done.Store(true)
	})
	wg.Go(func() {
		for up := false; !done.Load(); up = !up {
			b.(*pair.Port).SetLink(up)
			runtime.Gosched()
		}
	})
	wg.Go(func() {
		rx := make([]port.RxFrame, 4)
		for last := false; ; {
			n := b.Recv(0, rx)
			b.Release(0, n)
			if n > 0 {
				continue
			}
			if last {
				return
			}
			last = done.Load()
			runtime.Gosched()
		}
	})
	wg.Wait()
	as, bs := a.Stats(), b.Stats()
	if as.TxFrames+as.TxErrors[port.LinkDown] != count || as.TxFrames != bs.RxFrames {
		t.Errorf("sender %+v, receiver %+v", as, bs)
	}
	if n := a.Completed(0); n != count {
		t.Errorf("completed %d, want %d", n, count)
	}
}
