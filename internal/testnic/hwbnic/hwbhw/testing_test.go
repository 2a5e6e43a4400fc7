package hwbhw_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbhw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func reg(q int, r uint64) uint64 { return hwbreg.QueueBase + uint64(q)*hwbreg.QueueStride + r }

const (
	adminSize = 4  // entries of both admin rings
	ringSize  = 16 // descriptors of both rings
	rxBufs    = 512
)

// bench drives queue pair 0 and the admin queue by hand.
type bench struct {
	*rig.Rig
	ring, rx []uint64 // words
	ringAddr physmem.Addr
	rxAddr   physmem.Addr
	at       int // next transmit descriptor
	bufs     [ringSize]physmem.Addr
	rxTail   int

	cmd, rsp []uint64
	cmds     int // commands sent
	answers  int // responses consumed
}

func newBench(t testing.TB) *bench {
	b := &bench{Rig: rig.New(t, hwbhw.New, hwbreg.BARRegs)}
	b.ringAddr = b.Alloc(ringSize*hwbreg.EntrySize + hwbreg.HeadBytes)
	b.ring = b.Words(b.ringAddr, ringSize*hwbreg.Words+1)
	b.rxAddr = b.Alloc(ringSize * hwbreg.EntrySize)
	b.rx = b.Words(b.rxAddr, ringSize*hwbreg.Words)
	b.BAR.Write32(hwbreg.CTRL, hwbreg.CtrlMSIX)
	b.startAdmin()
	b.startQueues()
	return b
}

func (b *bench) startAdmin() {
	a, c := b.Alloc(adminSize*hwbreg.AdmEntrySize), b.Alloc(adminSize*hwbreg.AdmEntrySize)
	b.cmd, b.rsp = b.Words(a, adminSize*hwbreg.AdmEntryWords), b.Words(c, adminSize*hwbreg.AdmEntryWords)
	b.Write64(hwbreg.ACQLO, a)
	b.BAR.Write32(hwbreg.ACQLEN, adminSize)
	b.Write64(hwbreg.ARQLO, c)
	b.BAR.Write32(hwbreg.ARQLEN, adminSize)
	b.BAR.Write32(hwbreg.ADMCTL, hwbreg.AdmEnable)
}

func (b *bench) startQueues() {
	b.Write64(reg(0, hwbreg.TXBASELO), b.ringAddr)
	b.BAR.Write32(reg(0, hwbreg.TXLEN), ringSize)
	b.Write64(reg(0, hwbreg.TXHWBLO), b.ringAddr+ringSize*hwbreg.EntrySize)
	b.BAR.Write32(reg(0, hwbreg.QVEC), 2)
	b.BAR.Write32(reg(0, hwbreg.TXCTL), hwbreg.QCtlEnable)
	b.Write64(reg(0, hwbreg.RXBASELO), b.rxAddr)
	b.BAR.Write32(reg(0, hwbreg.RXLEN), ringSize)
	b.BAR.Write32(reg(0, hwbreg.RXBUF), rxBufs)
	b.BAR.Write32(reg(0, hwbreg.RXCTL), hwbreg.QCtlEnable)
	b.BAR.Write32(hwbreg.CTRL, hwbreg.CtrlTxEnable|hwbreg.CtrlRxEnable|hwbreg.CtrlMSIX)
}

// head is the head word behind the transmit ring.
func (b *bench) head() uint64 { return b.ring[ringSize*hwbreg.Words] }

// put writes one transmit descriptor.
func (b *bench) put(w0, w1 uint64) {
	i := b.at % ringSize * hwbreg.Words
	b.ring[i], b.ring[i+1] = w0, w1
	b.at++
}

const (
	data = hwbreg.TxdTypeData << hwbreg.TxdTypeShift
	ctx  = hwbreg.TxdTypeCtx << hwbreg.TxdTypeShift
	last = hwbreg.TxdEOP | hwbreg.TxdRS
)

// packet writes the data descriptors of one packet; flags go into the first.
func (b *bench) packet(flags uint64, pieces ...[]byte) {
	for i, p := range pieces {
		w1 := data | flags | uint64(len(p))
		if i == len(pieces)-1 {
			w1 |= last
		}
		b.put(uint64(b.Buffer(p)), w1)
		flags = 0
	}
}

func (b *bench) tail() { b.BAR.Write32(reg(0, hwbreg.TXTAIL), uint32(b.at%ringSize)) }

// fill gives the receive ring n buffers.
func (b *bench) fill(n int) {
	for range n {
		i := b.rxTail % ringSize
		if b.bufs[i] == 0 {
			b.bufs[i] = b.Alloc(rxBufs)
		}
		b.rx[i*hwbreg.Words], b.rx[i*hwbreg.Words+1] = uint64(b.bufs[i]), 0
		b.rxTail++
	}
	b.BAR.Write32(reg(0, hwbreg.RXTAIL), uint32(b.rxTail%ringSize))
}

// written returns receive descriptor i.
func (b *bench) written(i int) (w0, w1 uint64) {
	return b.rx[i%ringSize*hwbreg.Words], b.rx[i%ringSize*hwbreg.Words+1]
}

// answer is a response.
type answer struct{ op, status, cookie, r1, r2 uint64 }

// submit writes a command and moves the tail; the cookie is its number.
func (b *bench) submit(op, p1, p2 uint64) {
	w := b.cmd[b.cmds%adminSize*hwbreg.AdmEntryWords:]
	b.cmds++
	w[0], w[1], w[2] = op|uint64(b.cmds)<<hwbreg.CookieShift, p1, p2
	b.BAR.Write32(hwbreg.ACQTAIL, uint32(b.cmds%adminSize))
}

// next takes a response without telling the NIC.
func (b *bench) next() (a answer, ok bool) {
	b.Settle()
	w := b.rsp[b.answers%adminSize*hwbreg.AdmEntryWords:]
	if w[3] != uint64(b.answers/adminSize+1)&1 {
		return a, false
	}
	b.answers++
	return answer{w[0] & hwbreg.OpMask, w[0] >> hwbreg.StatusShift & hwbreg.StatusMask, w[0] >> hwbreg.CookieShift, w[1], w[2]}, true
}

// response takes a response and gives its entry back.
func (b *bench) response(t testing.TB) answer {
	t.Helper()
	a, ok := b.next()
	if !ok {
		t.Fatalf("no response %d", b.answers)
	}
	b.BAR.Write32(hwbreg.ARQCONS, uint32(b.answers))
	return a
}

// linkUp takes the event with which every bench begins.
func (b *bench) linkUp(t testing.TB) {
	t.Helper()
	if a := b.response(t); a.op != hwbreg.EventLink || a.r1 != 10000<<hwbreg.LinkSpeedShift|hwbreg.LinkUp|hwbreg.LinkFullDuplex {
		t.Fatalf("first response %+v, want the link up", a)
	}
}

// run does one command and fails unless its status is want.
func (b *bench) run(t testing.TB, op, p1, p2, want uint64) answer {
	t.Helper()
	b.submit(op, p1, p2)
	a := b.response(t)
	if a.op != op || a.cookie != uint64(b.cmds) || a.status != want {
		t.Fatalf("command %#x answered by %+v, want status %d", op, a, want)
	}
	return a
}

// receiver sets the part up to take frames of any length.
func (b *bench) receiver(t testing.TB, mode uint64) {
	t.Helper()
	b.linkUp(t)
	b.run(t, hwbreg.OpMaxFrame, 9216, 0, hwbreg.AdmOK)
	b.run(t, hwbreg.OpRxMode, mode, 0, hwbreg.AdmOK)
}

func (b *bench) stat(off uint64) uint64 { return b.BAR.Read64(off) }
