package emhw_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/rig"
	"github.com/ifsim/ifsim/sysctl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ringCount = 16   // descriptors of a test ring
	bufLen    = 2048 // bytes of a buffer
	memSize   = 3 << 20
)

var (
	macHW    = [6]byte{2, 0, 0, 0, 0, 1}
	macOther = [6]byte{2, 0, 0, 0, 0, 0x99}
	bcast    = [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// someChips are all parts, or, with -short, one of each kind.
func someChips() []string {
	if testing.Short() {
		return []string{"82574L", "82545EM", "I217-V", "I219-LM"}
	}
	return emhw.Chips()
}

// board is one NIC in a machine, with its registers.
type board struct {
	t   testing.TB
	k   *kern.Kernel
	fn  *pci.Function
	nic hw.NIC
	bar pci.BAR
	far port.Port // other end of the wire
	out *rig.Console
}

// stepped is a machine in which nothing happens but in calls of the test.
func stepped() kern.Config {
	return kern.Config{Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true}
}

// newKernel makes a machine for NICs without negotiation time.
func newKernel(t testing.TB, cfg kern.Config) (*kern.Kernel, *rig.Console) {
	t.Helper()
	out := &rig.Console{}
	cfg.NCPU, cfg.Console = 2, out
	cfg.Mem = physmem.Config{Size: memSize, Backing: physmem.Heap}
	cfg.Env = sysctl.NewKenv()
	must(t, cfg.Env.Set("hint.em.0.autoneg_ms", "0"))
	must(t, cfg.Env.Set("hint.em.1.autoneg_ms", "0"))
	k, err := kern.New(cfg)
	must(t, err)
	must(t, busdma.Init(k))
	pci.Init(k)
	t.Cleanup(func() { must(t, k.Close()) })
	return k, out
}

// plug puts a NIC on a port into a machine.
func plug(t testing.TB, k *kern.Kernel, chip string, cfg hw.Config) *board {
	t.Helper()
	cfg.Kernel = k
	nic, err := emhw.New(chip, cfg)
	must(t, err)
	unit := int(cfg.Name[len(cfg.Name)-1] - '0')
	fn, err := pci.Of(k).Insert(pci.Location{Bus: 2, Slot: unit}, nic)
	must(t, err)
	fn.EnableBusMaster()
	bar, err := fn.MapBAR(pci.BARReg(0))
	must(t, err)
	return &board{t: t, k: k, fn: fn, nic: nic, bar: bar}
}

// newBoard makes a machine with a NIC that is wired to a far end.
func newBoard(t testing.TB, chip string) *board {
	t.Helper()
	k, out := newKernel(t, stepped())
	fabric := port.NewFabric(pair.Kind())
	near, err := fabric.Open("pair:wire0")
	must(t, err)
	far, err := fabric.Open("pair:wire0")
	must(t, err)
	b := plug(t, k, chip, hw.Config{Name: "em0", Port: near, MAC: macHW, Work: hw.NewWorkList()})
	b.far, b.out = far, out
	must(t, far.Bind(rig.FarEnd{}))
	t.Cleanup(func() { must(t, far.Close()) })
	return b
}

func (b *board) write(off uint64, v uint32)  { b.bar.Write32(off, v) }
func (b *board) read(off uint64) uint32      { return b.bar.Read32(off) }
func (b *board) alloc(n uint64) physmem.Addr { b.t.Helper(); return alloc(b.t, b.k, n) }

func alloc(t testing.TB, k *kern.Kernel, n uint64) physmem.Addr {
	t.Helper()
	a, err := k.Mem.Alloc(n, emreg.RingAlign)
	must(t, err)
	return a
}

// ring is a descriptor ring made by hand.
type ring struct {
	b     *board
	base  uint64 // register base, RDBAL or TDBAL of the queue
	addr  physmem.Addr
	words []uint64
	count uint32
	next  uint32
}

// Offsets of ring registers from the base.
const (
	bah  = emreg.TDBAH - emreg.TDBAL
	dlen = emreg.TDLEN - emreg.TDBAL
	head = emreg.TDH - emreg.TDBAL
	tail = emreg.TDT - emreg.TDBAL
)

func (b *board) ring(base uint64, count uint32) *ring {
	b.t.Helper()
	size := uint64(count) * emreg.DescSize
	r := &ring{b: b, base: base, count: count, addr: b.alloc(size)}
	r.words = b.k.Mem.Words64(r.addr, int(size/8))
	return r
}

func (r *ring) program() {
	r.b.write(r.base, uint32(r.addr))
	r.b.write(r.base+bah, uint32(r.addr>>32))
	r.b.write(r.base+dlen, r.count*emreg.DescSize)
	r.b.write(r.base+head, 0)
	r.b.write(r.base+tail, 0)
}

// txOn programs a transmit ring of queue q and switches the unit on.
func (b *board) txOn(q uint64) *ring {
	b.t.Helper()
	r := b.ring(emreg.TDBAL+q*emreg.RingStride, ringCount)
	r.program()
	b.write(emreg.VET, 0x8100)
	b.write(emreg.TCTL, emreg.TCTLEN|emreg.TCTLPSP)
	return r
}

// put writes a descriptor behind the last one; dwords are d0..d3.
func (r *ring) put(d0, d1, d2, d3 uint32) {
	r.words[2*r.next] = uint64(d0) | uint64(d1)<<32
	r.words[2*r.next+1] = uint64(d2) | uint64(d3)<<32
	r.next = (r.next + 1) % r.count
}

// data writes a data descriptor for bytes in a new buffer; the length is added to d2.
func (r *ring) data(p []byte, d2, d3 uint32) {
	r.b.t.Helper()
	a := r.b.alloc(uint64(max(len(p), 1)))
	copy(r.b.k.Mem.Bytes(a, uint64(len(p))), p)
	r.put(uint32(a), uint32(a>>32), d2|uint32(len(p)), d3)
}

func (r *ring) doorbell() { r.b.write(r.base+tail, r.next) }

// status is d3 of descriptor i.
func (r *ring) status(i uint32) uint32 { return uint32(r.words[2*i+1] >> 32) }

// frames takes what has left the NIC.
func (b *board) frames() [][]byte { return drain(b.far) }

func drain(p port.Port) (out [][]byte) {
	var rx [32]port.RxFrame
	for n := p.Recv(0, rx[:]); n > 0; n = p.Recv(0, rx[:]) {
		for i := range n {
			out = append(out, append([]byte(nil), rx[i].Data...))
		}
		p.Release(0, n)
	}
	return out
}

// arrive makes frames come in from the far end.
func (b *board) arrive(frames ...[]byte) {
	b.t.Helper()
	for _, f := range frames {
		if b.far.Send(0, []port.Frame{{Segs: [][]byte{f}}}) != 1 {
			b.t.Fatal("wire is full")
		}
	}
	b.k.RunUntilIdle()
}

// rxOn programs a receive ring of queue q with buffers, all but one free.
func (b *board) rxOn(q uint64, rctl uint32) *ring {
	b.t.Helper()
	r := b.ring(emreg.RDBAL+q*emreg.RingStride, ringCount)
	r.program()
	for i := range r.count {
		r.refill(i)
	}
	b.write(emreg.VET, 0x8100)
	b.write(emreg.RCTL, rctl|emreg.RCTLEN|emreg.RCTLSECRC)
	b.write(r.base+tail, r.count-1)
	return r
}

func (r *ring) refill(i uint32) {
	r.words[2*i] = uint64(r.b.alloc(bufLen))
	r.words[2*i+1] = 0
}

// takes lists the counts of what the model refused, by part of the name.
func (b *board) count(name string) uint64 {
	b.t.Helper()
	for _, c := range b.nic.(emhw.Counter).Counts() {
		if c.Name == name {
			return c.Value
		}
	}
	b.t.Fatalf("no count %q", name)
	return 0
}

// mdio reaches the PHY.
func (b *board) mdio() e1000test.MDIO { return e1000test.MDIO{T: b.t, BAR: b.bar} }
