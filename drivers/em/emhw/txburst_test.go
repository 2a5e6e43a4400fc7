package emhw_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/internal/probe"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// bigBuf is as long as a frame may be.
const bigBuf = port.MaxFrame

// txDesc is a drawn descriptor: the length of its buffer and the dwords behind it.
type txDesc struct {
	size   int
	dst    byte // first byte of the buffer: whom the frame is for
	d2, d3 uint32
	bad    bool // the buffer is outside memory
}

// drawTxDesc draws mostly descriptors of plain packets.
func drawTxDesc(t *rapid.T) txDesc {
	cmd := rapid.SampledFrom([]uint32{0x02000000, 0x22100000, 0x03000000, 0x0b000000, 0x2b100000, 0x23100000, 0x8b000000,
		0x0a000000, 0x43000000, 0x63100000, 0x20000000, 0x07000000, 0x29f00000, 0x03000000, 0x0b000000}).Draw(t, "cmd")
	return txDesc{
		size: rapid.SampledFrom([]int{60, 1200, 64, 1, 5, 0, 13, 59, bigBuf, 300}).Draw(t, "size"),
		dst:  rapid.SampledFrom([]byte{2, 1, 0xff}).Draw(t, "dst"),
		d2:   cmd, d3: rapid.SampledFrom([]uint32{0, 0, 0, 0, 0x100, 0x50000, 0xab00000e}).Draw(t, "d3"),
		bad: rapid.IntRange(0, 30).Draw(t, "bad") == 0,
	}
}

// outcome is what a driver and the far end can see of a run.
type outcome struct {
	Frames  [][]byte
	Words   []uint64
	Causes  []uint32
	Regs    map[uint64]uint32
	Refused []emhw.Count
	Near    port.Stats
}

// cable opens the port of a NIC and says how frames are taken from its far end.
type cable func(t *testing.T) (near port.Port, take func() [][]byte)

// shortWire has room for four frames.
func shortWire(t *testing.T) (port.Port, func() [][]byte) {
	fabric := port.NewFabric(pair.Kind())
	near, err := fabric.Open("pair:wire0,depth=4")
	must(t, err)
	far, err := fabric.Open("pair:wire0")
	must(t, err)
	must(t, far.Bind(rig.FarEnd{}))
	t.Cleanup(func() { must(t, far.Close()) })
	return near, func() [][]byte { return drain(far) }
}

// noWire wants no bytes.
func noWire(*testing.T) (port.Port, func() [][]byte) {
	return null.New(), func() [][]byte { return nil }
}

// transmit sends descriptors through a new NIC, with a doorbell after every step.
// Watched, every packet takes the long way.
func transmit(t *testing.T, c txCase, wire cable, watched bool) outcome {
	k, _ := newKernel(t, stepped())
	if watched {
		k.Probes.Enable(func(probe.Event) {})
	}
	near, take := wire(t)
	b := plug(t, k, c.chip, hw.Config{Name: "em0", Port: near, MAC: macHW, Work: hw.NewWorkList()})
	bufs := map[byte]uint64{}
	for _, dst := range []byte{2, 1, 0xff} {
		a := b.alloc(bigBuf)
		p := k.Mem.Bytes(a, bigBuf)
		for i := range 256 {
			p[i] = byte(i)
			if i < hw.EtherAddrLen {
				p[i] = dst
			}
		}
		bufs[dst] = uint64(a)
	}
	r := b.txOn(0)
	b.write(emreg.TIDV, 100) // what asks for it is not raised: the clock stands
	var out outcome
	for i, d := range c.descs {
		a := bufs[d.dst]
		if d.bad {
			a = 1 << 40 // no memory there
		}
		r.put(uint32(a), uint32(a>>32), d.d2|uint32(d.size), d.d3)
		if i%c.step == c.step-1 || i == len(c.descs)-1 {
			r.doorbell()
			out.Causes = append(out.Causes, b.read(emreg.ICR))
			for range 8 {
				out.Frames = append(out.Frames, take()...)
				k.RunUntilIdle()
			}
		}
	}
	out.Words = append(out.Words, r.words...)
	out.Regs = map[uint64]uint32{emreg.TDH: b.read(emreg.TDH)}
	for off := uint64(emreg.StatsFirst); off <= emreg.StatsLast; off += emreg.RegStride {
		if v := b.read(off); v != 0 {
			out.Regs[off] = v
		}
	}
	out.Refused, out.Near = b.nic.(emhw.Counter).Counts(), near.Stats()
	return out
}

// txCase is a drawn run.
type txCase struct {
	chip  string
	descs []txDesc
	step  int
}

func drawTxCase(t *rapid.T) txCase {
	return txCase{
		chip:  rapid.SampledFrom([]string{"82574L", "82540EM"}).Draw(t, "chip"),
		descs: rapid.SliceOfN(rapid.Custom(drawTxDesc), 10, 60).Draw(t, "descs"),
		step:  rapid.IntRange(1, ringCount-1).Draw(t, "step"),
	}
}

func TestTheShortWaySendsWhatTheLongOneDoes(t *testing.T) {
	compareWays(t, shortWire)
}

func TestTheWayOfNoBytesSendsWhatTheLongOneDoes(t *testing.T) {
	compareWays(t, noWire)
}

func compareWays(t *testing.T, wire cable) {
	const cases = 40
	gen := rapid.Custom(drawTxCase)
	for seed := range cases {
		c := gen.Example(seed)
		t.Run("", func(t *testing.T) { // closes the machines
			short, long := transmit(t, c, wire, false), transmit(t, c, wire, true)
			if diff := cmp.Diff(long, short, cmp.Comparer(bytes.Equal)); diff != "" {
				t.Fatalf("%+v: long and short way differ:\n%s", c, diff)
			}
		})
	}
}
