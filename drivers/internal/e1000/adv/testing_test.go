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
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/probe"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testDescs = e1000test.Descs

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
	alloc := e1000test.Rings(t)
	r := &rings{bar: e1000test.NewBoard(e1000test.MAC, 0)}
	r.Path.bar, r.errs = r.bar, new(e1000.RxErrors)
	r.probes = probe.NewSet(1, func() time.Duration { return 0 })
	r.setFormat(f)
	r.tx, r.rx = make([]txRing, n), make([]rxRing, n)
	for i := range n {
		r.tx[i].Init(alloc(), testDescs, pci.RegisterAt(r.bar, e1000reg.TxQueue(i)+e1000reg.TAIL))
		r.rx[i].Init(alloc(), testDescs, e1000reg.RxQueue(i)+e1000reg.TAIL)
		r.rx[i].BufSize, r.rx[i].Csum = mbuf.MClBytes, true
	}
	return r
}

// desc is a descriptor as the four dwords of the specification.
type desc = e1000test.Desc

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
