package e1000test

import (
	"sync"
	"testing"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
)

// Descriptors in rings of a data path under test, and bytes of each.
const (
	Descs     = 128
	descBytes = 16
)

// Rings returns a maker of rings in a memory of their own.
func Rings(t testing.TB) func() iflib.QueueMem {
	t.Helper()
	mem, err := physmem.New(physmem.Config{Size: 4 << 20, Backing: physmem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mem.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() iflib.QueueMem {
		const size, align = Descs * descBytes, 4096
		addr, err := mem.Alloc(size, align)
		if err != nil {
			t.Fatal(err)
		}
		return iflib.QueueMem{Mem: mem, Addr: addr, Size: size}
	}
}

// Desc is a descriptor as the four dwords of the specification.
type Desc [4]uint32

// DescAt is descriptor i of a ring.
func DescAt(words []uint64, i int) Desc {
	w := words[2*i:]
	return Desc{uint32(w[0]), uint32(w[0] >> 32), uint32(w[1]), uint32(w[1] >> 32)}
}

// Put makes it descriptor i of a ring.
func (d Desc) Put(words []uint64, i int) {
	words[2*i] = uint64(d[1])<<32 | uint64(d[0])
	words[2*i+1] = uint64(d[3])<<32 | uint64(d[2])
}

// Segs are segments of pairs of address and length.
func Segs(pairs ...uint64) []busdma.Seg {
	var s []busdma.Seg
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, busdma.Seg{Addr: iflib.Addr(pairs[i]), Len: pairs[i+1]})
	}
	return s
}

// small is a packet that asks for nothing.
func small() iflib.PktInfo { return iflib.PktInfo{Segs: Segs(0x1000, 60), Len: 60} }

// ReceiveStaysWithinBounds takes whatever queue 0 of a path finds in its ring from i on;
// counted is how many packets the path has counted as broken.
func ReceiveStaysWithinBounds(t *testing.T, path iflib.TxRx, i uint16, budget, bufSize int, counted func() uint64) {
	t.Helper()
	n := path.RxdAvailable(0, i, budget)
	if n > Descs {
		t.Fatalf("%d packets in %d descriptors", n, Descs)
	}
	for range n {
		var frags [iflib.MaxRxSegs]iflib.RxdFrag
		ri := iflib.RxdInfo{Cidx: i, Frags: &frags}
		if err := path.RxdPktGet(&ri); err != nil {
			if got := counted(); got != 1 {
				t.Fatalf("%v is counted %d times", err, got)
			}
			return
		}
		sum := 0
		for k, fr := range frags[:ri.NFrags] {
			if want := (i + uint16(k)) % Descs; fr.Idx != want || int(fr.Len) > bufSize {
				t.Fatalf("fragment %d = %+v at %d", k, fr, want)
			}
			sum += int(fr.Len)
		}
		if sum != ri.Len {
			t.Fatalf("fragments of %d bytes, packet of %d", sum, ri.Len)
		}
		i = (i + uint16(ri.NFrags)) % Descs
	}
}

// CreditsStayWithinWhatWasSent sends on queue 0, whose ring is desc, under reports that
// come, or not, at random.
func CreditsStayWithinWhatWasSent(t *testing.T, path iflib.TxRx, desc []uint64, g *Garbage) {
	t.Helper()
	out, pidx := 0, iflib.QIdx(0)
	for range Descs {
		pi := small()
		if pi.Pidx = pidx; g.Byte()&1 != 0 {
			pi.Flags |= iflib.PktTxIntr
		}
		if out < Descs-1 {
			if err := path.TxdEncap(&pi); err != nil {
				t.Fatal(err)
			}
			pidx = pi.NewPidx
			out++
		}
		at := int(g.Byte()) % Descs
		iflib.StoreRelaxed64(&desc[2*at+1], g.Word())
		if out -= path.TxdCreditsUpdate(0, true); out < 0 {
			t.Fatalf("%d descriptors credited that were not sent", -out)
		}
	}
}

// PeeksRunBesideTheOwner has a path that receives extended or advanced descriptors work on
// queue 0, whose rings are tx and rx, while another goroutine peeks: the race detector is
// the judge. loads reads what moderation does.
func PeeksRunBesideTheOwner(t *testing.T, path iflib.TxRx, tx, rx []uint64, loads func()) {
	t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				path.TxdCreditsUpdate(0, false)
				path.RxdAvailable(0, 0, 16)
				loads()
			}
		}
	})
	const rounds = 2000
	pi := small()
	pi.Flags = iflib.PktTxIntr
	var frags [iflib.MaxRxSegs]iflib.RxdFrag
	for i := range rounds {
		if err := path.TxdEncap(&pi); err != nil {
			t.Fatal(err)
		}
		last := int(pi.Pidx)
		pi.Pidx = pi.NewPidx
		iflib.StoreRelaxed64(&tx[2*last+1], 1<<32)
		if got := path.TxdCreditsUpdate(0, true); got != 1 {
			t.Fatalf("%d credits, want 1", got)
		}
		iflib.StoreRelaxed64(&rx[1], 60<<32|3)
		if err := path.RxdPktGet(&iflib.RxdInfo{Frags: &frags}); err != nil {
			t.Fatal(err)
		}
		path.RxdRefill(&iflib.RxdUpdate{PAddrs: []iflib.Addr{iflib.Addr(i)}})
	}
	close(stop)
	wg.Wait()
}
