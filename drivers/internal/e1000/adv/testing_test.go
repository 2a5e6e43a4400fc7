package adv

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/probe"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testDescs = 128

// igbFormat and igcFormat are what the two drivers read in received descriptors.
var (
	igbFormat = Format{Errors: FrameErrors, HashDefault: mbuf.HashNone, UDPHash: true}
	igcFormat = Format{Errors: emreg.RxdErrRXE << emreg.RxdExtErrShift, HashDefault: mbuf.HashOpaque}
)

// rings is a data path of n queues on plain memory, without a device.
type rings struct {
	Path
	bar *e1000test.Board
}

func newRings(t testing.TB, n int, f Format) *rings {
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
	alloc := func() iflib.QueueMem {
		size := e1000.RingBytes(testDescs)
		addr, err := mem.Alloc(size, 4096)
		if err != nil {
			t.Fatal(err)
		}
		return iflib.QueueMem{Mem: mem, Addr: addr, Size: size}
	}
	r := &rings{bar: e1000test.NewBoard(e1000test.MAC, 0)}
	r.Path.bar, r.errs = r.bar, new(e1000.RxErrors)
	r.probes = probe.NewSet(1, func() time.Duration { return 0 })
	r.setFormat(f)
	r.tx, r.rx = make([]txRing, n), make([]rxRing, n)
	for i := range n {
		r.tx[i].Init(alloc(), testDescs, e1000reg.TxQueue(i)+e1000reg.TAIL)
		r.rx[i].Init(alloc(), testDescs, e1000reg.RxQueue(i)+e1000reg.TAIL)
		r.rx[i].BufSize, r.rx[i].Csum = mbuf.MClBytes, true
	}
	return r
}

// desc is a descriptor as the four dwords of the specification.
type desc [4]uint32

func descAt(words []uint64, i int) desc {
	w := words[i*e1000.DescWords:]
	return desc{uint32(w[0]), uint32(w[0] >> 32), uint32(w[1]), uint32(w[1] >> 32)}
}

func (d desc) put(words []uint64, i int) {
	words[i*e1000.DescWords] = uint64(d[1])<<32 | uint64(d[0])
	words[i*e1000.DescWords+1] = uint64(d[3])<<32 | uint64(d[2])
}

func segs(pairs ...uint64) []busdma.Seg {
	var s []busdma.Seg
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, busdma.Seg{Addr: iflib.Addr(pairs[i]), Len: pairs[i+1]})
	}
	return s
}

// packet is one whose headers iflib has parsed, if it wants an offload.
func packet(csum mbuf.CsumFlags, flags iflib.PktFlags, proto uint8, s []busdma.Seg) iflib.PktInfo {
	pi := iflib.PktInfo{Segs: s, EHdrLen: 14, CsumFlags: csum, Flags: flags, IPProto: proto}
	switch {
	case flags&iflib.PktIPv4 != 0:
		pi.EType, pi.IPHLen = 0x0800, 20
	case flags&iflib.PktIPv6 != 0:
		pi.EType, pi.IPHLen = 0x86dd, 40
	}
	for _, x := range s {
		pi.Len += int(x.Len)
	}
	return pi
}
