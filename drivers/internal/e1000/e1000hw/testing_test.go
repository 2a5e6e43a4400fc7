package e1000hw_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/igb/igbhw"
	"github.com/ifsim/ifsim/drivers/igc/igchw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ringCount = 16   // descriptors of a test ring
	bufLen    = 2048 // bytes of a buffer
)

// part is a model under test.
type part struct {
	name string
	make func(string, hw.Config) (hw.NIC, error)
}

// parts are all models.
func parts() (out []part) {
	for _, c := range igbhw.Chips() {
		out = append(out, part{c, igbhw.New})
	}
	for _, c := range igchw.Chips() {
		out = append(out, part{c, igchw.New})
	}
	return out
}

func partNamed(t testing.TB, name string) part {
	t.Helper()
	for _, p := range parts() {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("no part %q", name)
	return part{}
}

// each runs a test on every part; in short runs on one of each kind.
func each(t *testing.T, fn func(t *testing.T, b *board)) {
	for _, p := range parts() {
		if testing.Short() && (p.name == "I226-V" || p.name == "I350") {
			continue
		}
		t.Run(p.name, func(t *testing.T) { fn(t, newBoard(t, p.name)) })
	}
}

// board is one NIC on the bench, its link up.
type board struct {
	*rig.Rig
	t      testing.TB
	nic    hw.NIC
	shared physmem.Addr
	name   string
}

// newBoard puts a part on the bench.
func newBoard(t testing.TB, chip string) *board {
	t.Helper()
	return newBoardMode(t, chip, hw.EngineInline, kern.Stepped)
}

func newBoardMode(t testing.TB, chip string, mode hw.EngineMode, ex kern.Executor) *board {
	t.Helper()
	b := &board{t: t, name: chip}
	p := partNamed(t, chip)
	b.Rig = rig.NewMode(t, func(cfg hw.Config) (hw.NIC, error) {
		nic, err := p.make(p.name, cfg)
		b.nic = nic
		return nic, err
	}, 0, mode, ex)
	b.linkUp()
	return b
}

// linkUp asks for a link and lets the PHYs agree.
func (b *board) linkUp() {
	b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlSLU)
	if b.K.Stepped() {
		b.K.Advance(hw.DefaultAutoneg + time.Millisecond)
		b.Settle()
	}
}

// queues is how many the part has.
func (b *board) queues() int {
	switch b.name {
	case "82576":
		return 16
	case "I350":
		return 8
	}
	return 4
}

func (b *board) write(off uint64, v uint32) { b.BAR.Write32(off, v) }
func (b *board) read(off uint64) uint32     { return b.BAR.Read32(off) }

// count is how often the model counted what the text says.
func (b *board) count(text string) uint64 {
	b.t.Helper()
	for _, c := range b.nic.(e1000hw.Counter).Counts() {
		if c.Name == text {
			return c.Value
		}
	}
	b.t.Fatalf("no count %q", text)
	return 0
}

// ring is a descriptor ring made by hand.
type ring struct {
	b     *board
	base  uint64 // of the queue's registers
	addr  physmem.Addr
	words []uint64
	next  uint32
}

// ring makes a ring and programs it.
func (b *board) ring(base uint64) *ring {
	b.t.Helper()
	r := &ring{b: b, base: base, addr: b.Alloc(ringCount * e1000reg.DescSize)}
	r.words = b.Words(r.addr, 2*ringCount)
	clear(r.words)
	b.write(base+e1000reg.BAL, uint32(r.addr))
	b.write(base+e1000reg.BAH, uint32(r.addr>>32))
	b.write(base+e1000reg.LEN, ringCount*e1000reg.DescSize)
	b.write(base+e1000reg.HEAD, 0)
	b.write(base+e1000reg.TAIL, 0)
	return r
}

// txOn programs transmit queue q and switches queue and unit on.
func (b *board) txOn(q int) *ring {
	b.t.Helper()
	r := b.ring(e1000reg.TxQueue(q))
	b.write(r.base+e1000reg.DCTL, 1<<25)
	b.write(emreg.VET, 0x8100)
	b.write(emreg.TCTL, emreg.TCTLEN|emreg.TCTLPSP)
	return r
}

// put writes a descriptor behind the last one; dwords are d0..d3.
func (r *ring) put(d0, d1, d2, d3 uint32) {
	r.words[2*r.next] = uint64(d0) | uint64(d1)<<32
	r.words[2*r.next+1] = uint64(d2) | uint64(d3)<<32
	r.next = (r.next + 1) % ringCount
}

// data writes a data descriptor for bytes in a new buffer; the length is added to d2.
func (r *ring) data(p []byte, d2, d3 uint32) {
	r.b.t.Helper()
	a := r.b.Buffer(p)
	r.put(uint32(a), uint32(a>>32), d2|uint32(len(p)), d3)
}

// frame writes a frame that asks for nothing but a report.
func (r *ring) frame(p []byte) {
	r.b.t.Helper()
	r.data(p, 0x2b300000, uint32(len(p))<<14)
}

func (r *ring) doorbell() { r.b.write(r.base+e1000reg.TAIL, r.next) }

// status is d3 of descriptor i.
func (r *ring) status(i uint32) uint32 { return uint32(r.words[2*i+1] >> 32) }

// rxOn programs receive queue q with buffers, all but one free, and switches it on.
// Frames of every address are taken, and their FCS is taken off.
func (b *board) rxOn(q int) *ring {
	b.t.Helper()
	r := b.ring(e1000reg.RxQueue(q))
	for i := range uint32(ringCount) {
		r.words[2*i], r.words[2*i+1] = uint64(b.Alloc(bufLen)), 0
	}
	b.write(emreg.VET, 0x8100)
	b.write(r.base+e1000reg.SRRCTL, 0x02000002)
	b.write(r.base+e1000reg.DCTL, 1<<25)
	b.write(emreg.RCTL, emreg.RCTLEN|emreg.RCTLSECRC|emreg.RCTLBAM)
	b.write(r.base+e1000reg.TAIL, ringCount-1)
	return r
}

// desc are the dwords of descriptor i.
func (r *ring) desc(i uint32) [4]uint32 {
	a, b := r.words[2*i], r.words[2*i+1]
	return [4]uint32{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)}
}

// ipv4TCP and the like are first dwords of contexts: MACLEN 14 in 15:9, IPLEN in 8:0.
const (
	ctxIPv4 = 14<<9 | 20
	ctxIPv6 = 14<<9 | 40
)

// fault sets a fail point of the NIC.
func (b *board) fault(what, setting string) {
	b.t.Helper()
	if err := b.K.Sysctl.SetText("debug.fail_point.hw.nic0."+what, setting); err != nil {
		b.t.Fatal(err)
	}
}

// mdio reaches the PHY.
func (b *board) mdio() e1000test.MDIO { return e1000test.MDIO{T: b.t, BAR: b.BAR} }
