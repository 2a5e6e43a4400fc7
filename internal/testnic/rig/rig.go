// Package rig is the bench on which the models of the test NICs are tested alone: a
// machine with one NIC in a slot, wired to a far end, without a driver. Only tests
// import it.
package rig

import (
	"encoding/binary"
	"sync"
	"testing"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

const memSize = 8 << 20

// MAC is the station address of the NIC under test.
var MAC = [6]byte{0x02, 0, 0, 0, 0, 0x01}

// Rig is one NIC on the bench.
type Rig struct {
	t   testing.TB
	K   *kern.Kernel
	Fn  *pci.Function
	BAR pci.BAR
	Far port.Port // the other end of the wire

	console Console

	mu    sync.Mutex
	fired map[int]int // interrupts by rid; guarded by mu
}

// Make is a model's constructor.
type Make func(hw.Config) (hw.NIC, error)

// New puts a NIC on the bench with register BAR bar, inline engine and the stepped
// executor on a manual clock: nothing happens but in calls of the test.
func New(t testing.TB, mk Make, bar int) *Rig {
	return NewMode(t, mk, bar, hw.EngineInline, kern.Stepped)
}

// NewMode is New with another engine and executor.
func NewMode(t testing.TB, mk Make, bar int, mode hw.EngineMode, ex kern.Executor) *Rig {
	t.Helper()
	r := &Rig{t: t, fired: make(map[int]int)}
	cfg := kern.Config{NCPU: 2, Executor: ex, Mem: physmem.Config{Size: memSize, Backing: physmem.Heap}, Console: &r.console}
	if ex == kern.Stepped {
		cfg.Clock, cfg.Invariants = kern.ManualClock, true
	}
	k, err := kern.New(cfg)
	r.must(err)
	r.K = k
	r.must(busdma.Init(k))
	bus := pci.Init(k)
	fabric := port.NewFabric(pair.Kind())
	near, err := fabric.Open("pair:wire0")
	r.must(err)
	r.Far, err = fabric.Open("pair:wire0")
	r.must(err)
	dev, err := mk(hw.Config{Kernel: k, Name: "nic0", Port: near, Engine: mode, MAC: MAC, Work: hw.NewWorkList()})
	r.must(err)
	r.Fn, err = bus.Insert(pci.Location{Bus: 2}, dev)
	r.must(err)
	r.Fn.EnableBusMaster()
	r.BAR, err = r.Fn.MapBAR(pci.BARReg(bar))
	r.must(err)
	r.must(r.Far.Bind(FarEnd{}))
	t.Cleanup(func() {
		r.must(k.Close())
		r.must(r.Far.Close())
	})
	return r
}

func (r *Rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// Console returns what the machine printed.
func (r *Rig) Console() string { return r.console.String() }

// Alloc returns n bytes of memory for a ring or buffers.
func (r *Rig) Alloc(n int) physmem.Addr {
	r.t.Helper()
	const align = 64
	a, err := r.K.Mem.Alloc(uint64(n), align)
	r.must(err)
	return a
}

// Words is memory as descriptor words.
func (r *Rig) Words(a physmem.Addr, n int) []uint64 { return r.K.Mem.Words64(a, n) }

// Buffer allocates a buffer that holds b.
func (r *Rig) Buffer(b []byte) physmem.Addr {
	a := r.Alloc(max(len(b), 1))
	copy(r.K.Mem.Bytes(a, uint64(len(b))), b)
	return a
}

// Bytes reads memory.
func (r *Rig) Bytes(a physmem.Addr, n int) []byte { return r.K.Mem.Bytes(a, uint64(n)) }

// Settle runs interrupts and whatever else is queued.
func (r *Rig) Settle() { r.K.RunUntilIdle() }

// Sent returns the frames that have arrived at the far end.
func (r *Rig) Sent() [][]byte {
	var out [][]byte
	var lent [8]port.RxFrame
	for n := r.Far.Recv(0, lent[:]); n > 0; n = r.Far.Recv(0, lent[:]) {
		for _, f := range lent[:n] {
			out = append(out, append([]byte(nil), f.Data...))
		}
		r.Far.Release(0, n)
	}
	return out
}

// Inject sends frames from the far end and has the NIC take them.
func (r *Rig) Inject(frames ...[]byte) {
	r.t.Helper()
	for _, f := range frames {
		if n := r.Far.Send(0, []port.Frame{{Segs: [][]byte{f}}}); n != 1 {
			r.t.Fatal("the wire is full")
		}
	}
	r.Far.Completed(0)
	r.Settle()
}

// Connect sets up interrupt rid; Fired counts it.
func (r *Rig) Connect(rid int) {
	r.t.Helper()
	_, err := r.Fn.SetupIntr(rid, "nic0:irq", 0, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fired[rid]++
	})
	r.must(err)
	r.t.Cleanup(func() { r.must(r.Fn.TeardownIntr(rid)) })
}

// ConnectMSIX allocates n vectors and sets all of them up: vector v is rid v+1.
func (r *Rig) ConnectMSIX(n int) {
	r.t.Helper()
	_, err := r.Fn.MapBAR(r.Fn.MSIXTableBAR())
	r.must(err)
	if got, err := r.Fn.AllocMSIX(n); err != nil || got != n {
		r.t.Fatalf("got %d vectors, %v", got, err)
	}
	for v := range n {
		r.Connect(v + 1)
	}
}

// Fired settles and returns how often rid fired since the last call.
func (r *Rig) Fired(rid int) int {
	r.Settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.fired[rid]
	r.fired[rid] = 0
	return n
}

// Write64 writes two registers, low one first.
func (r *Rig) Write64(off uint64, a physmem.Addr) { r.BAR.Write64(off, uint64(a)) }

// Ether returns a frame of n bytes for the NIC under test, with a payload that tells
// places apart.
func Ether(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	copy(b, MAC[:])
	copy(b[6:], []byte{2, 0, 0, 0, 0, 2})
	binary.BigEndian.PutUint16(b[12:], 0x88b5) // IEEE 802 local experimental
	return b
}

// TCP returns a TCP/IPv4 frame with payload bytes behind 54 bytes of headers. The
// checksums are right, or, for offload, IP's is 0 and TCP's the pseudo header's sum
// (without the length for TSO).
func TCP(payload int, offload, tso bool) []byte {
	const l3, l4, hdr = 14, 34, 54
	b := Ether(hdr + payload)
	clear(b[l3:hdr])
	binary.BigEndian.PutUint16(b[12:], hw.EtherIPv4)
	ip, tcp := b[l3:l4], b[l4:]
	ip[0], ip[8], ip[9] = 0x45, 64, hw.ProtoTCP
	binary.BigEndian.PutUint16(ip[2:], uint16(len(b)-l3))
	binary.BigEndian.PutUint16(ip[4:], 7)
	copy(ip[12:], []byte{66, 9, 149, 187, 161, 142, 100, 80}) // spec ifnet 11.2, first vector
	binary.BigEndian.PutUint16(tcp, 2794)
	binary.BigEndian.PutUint16(tcp[2:], 1766)
	binary.BigEndian.PutUint32(tcp[4:], 1000)
	tcp[12], tcp[13] = 5<<4, 0x18 // PSH ACK
	n := len(tcp)
	if tso {
		n = 0
	}
	seed := hw.PseudoIPv4(ip, hw.ProtoTCP, n)
	if offload {
		binary.BigEndian.PutUint16(tcp[16:], seed)
		return b
	}
	binary.BigEndian.PutUint16(ip[10:], ^hw.Sum(ip))
	binary.BigEndian.PutUint16(tcp[16:], ^hw.AddSum(seed, hw.Sum(tcp)))
	return b
}

// Tagged returns a copy of a frame with an 802.1Q tag.
func Tagged(b []byte, tci uint16) []byte {
	const tagAt = 12
	out := append([]byte(nil), b[:tagAt]...)
	out = binary.BigEndian.AppendUint16(out, hw.TPID8021Q)
	out = binary.BigEndian.AppendUint16(out, tci)
	return append(out, b[tagAt:]...)
}

// CheckTCP fails unless the checksums of a TCP/IPv4 frame are right.
func CheckTCP(t testing.TB, b []byte) {
	t.Helper()
	var h hw.Headers
	h.Parse(b, len(b))
	if ip, l4 := h.CheckIP(b), h.CheckL4(b); ip != hw.CsumGood || l4 != hw.CsumGood {
		t.Errorf("IP verdict %d, TCP verdict %d; want good", ip, l4)
	}
}

// Program is a stream of bytes that a fuzz target turns into accesses.
type Program []byte

// Byte takes one byte, 0 at the end.
func (p *Program) Byte() byte {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return b
}

// Word takes up to n bytes as a little-endian number.
func (p *Program) Word(n int) (v uint64) {
	for i := range n {
		v |= uint64(p.Byte()) << (8 * i)
	}
	return v
}

// maxOps bounds what one program does.
const maxOps = 256

// Run executes the program against the NIC: register writes and reads inside the first
// regs bytes of the BAR, writes of descriptor words in arena, frames from the far end.
// Whatever it does, the NIC must return.
func (p Program) Run(r *Rig, regs uint64, arena physmem.Addr, words int) {
	mem := r.Words(arena, words)
	for ops := 0; len(p) > 0 && ops < maxOps; ops++ {
		switch op := p.Byte(); op % 8 {
		case 0, 1:
			r.BAR.Write32(p.Word(2)%regs&^3, uint32(p.Word(4)))
		case 2:
			r.BAR.Write32(p.Word(2)%regs&^3, uint32(p.Byte()))
		case 3:
			r.BAR.Read32(p.Word(2) % regs &^ 3)
		case 4:
			mem[p.Word(2)%uint64(words)] = p.Word(8)
		case 5: // a descriptor that points into the arena
			i := p.Word(2) % uint64(words-1)
			mem[i], mem[i+1] = uint64(arena)+p.Word(2)%uint64(8*words), p.Word(8)
		case 6:
			n := 14 + p.Word(2)%9000
			f := Ether(int(n))
			copy(f, p[:min(len(p), int(n), 64)])
			if op&0x80 != 0 {
				copy(f, MAC[:])
			}
			r.Far.Send(0, []port.Frame{{Segs: [][]byte{f}}})
			r.Far.Completed(0)
			r.Settle()
		case 7:
			r.Sent()
			r.Settle()
		}
	}
	r.Sent()
	r.Settle()
}
