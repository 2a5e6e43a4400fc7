package skelhw_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ringSize = skelreg.MinRing
	bufSize  = 512
)

func reg(q int, r uint64) uint64 { return skelreg.QueueBase + uint64(q)*skelreg.QueueStride + r }

// bench drives pair 0 by hand, with the receiver and the transmitter on.
type bench struct {
	*rig.Rig
	tx, rx     []uint64 // words of the rings
	txAt, rxAt int      // next descriptor to write
	bufs       [ringSize]physmem.Addr
}

func newBench(t testing.TB) *bench {
	b := &bench{Rig: rig.New(t, skelhw.New, skelreg.BARRegs)}
	tx, rx := b.Alloc(ringSize*skelreg.DescBytes), b.Alloc(ringSize*skelreg.DescBytes)
	b.tx, b.rx = b.Words(tx, ringSize*skelreg.DescWords), b.Words(rx, ringSize*skelreg.DescWords)
	b.start(tx, rx)
	return b
}

func (b *bench) start(tx, rx physmem.Addr) {
	b.Write64(reg(0, skelreg.TXBASELO), tx)
	b.BAR.Write32(reg(0, skelreg.TXLEN), ringSize)
	b.Write64(reg(0, skelreg.RXBASELO), rx)
	b.BAR.Write32(reg(0, skelreg.RXBUF), bufSize)
	b.BAR.Write32(reg(0, skelreg.RXLEN), ringSize)
	b.BAR.Write32(skelreg.MAXFRAME, 1514)
	b.BAR.Write32(skelreg.CTRL, skelreg.CtrlRxOn|skelreg.CtrlTxOn)
}

// Bits of word 1, typed from the datasheet.
const (
	end    = 1 << 32
	notify = 1 << 33
	tag    = 1 << 34
	ipSum  = 1 << 35
	l4Sum  = 1 << 36
	hashed = 1 << 37
	own    = 1 << 63
)

// put writes the next transmit descriptor.
func (b *bench) put(addr physmem.Addr, state uint64) {
	i := b.txAt % ringSize * skelreg.DescWords
	b.tx[i], b.tx[i+1] = uint64(addr), state
	b.txAt++
}

// packet writes the descriptors of a packet; flags go into the first.
func (b *bench) packet(flags uint64, pieces ...[]byte) {
	for i, p := range pieces {
		state := own | flags | uint64(len(p))
		if i == len(pieces)-1 {
			state |= end | notify
		}
		b.put(b.Buffer(p), state)
		flags = 0
	}
}

func (b *bench) txBell() { b.BAR.Write32(reg(0, skelreg.TXBELL), 1) }

// txState is word 1 of transmit descriptor i.
func (b *bench) txState(i int) uint64 { return b.tx[i%ringSize*skelreg.DescWords+1] }

// fill gives the receive queue n buffers.
func (b *bench) fill(n int) {
	for range n {
		i := b.rxAt % ringSize
		if b.bufs[i] == 0 {
			b.bufs[i] = b.Alloc(bufSize)
		}
		b.rx[i*skelreg.DescWords], b.rx[i*skelreg.DescWords+1] = uint64(b.bufs[i]), own
		b.rxAt++
	}
	b.BAR.Write32(reg(0, skelreg.RXBELL), 1)
}

// got is receive descriptor i as it came back.
func (b *bench) got(i int) (word0, state uint64) {
	return b.rx[i%ringSize*skelreg.DescWords], b.rx[i%ringSize*skelreg.DescWords+1]
}

// wantStat checks a statistics register.
func (b *bench) wantStat(t *testing.T, off, want uint64) {
	t.Helper()
	if got := b.BAR.Read64(off); got != want {
		t.Errorf("statistics register %#04x is %d, want %d\n%s", off, got, want, b.Console())
	}
}
