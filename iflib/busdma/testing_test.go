package busdma

import (
	"bytes"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

const testMemory = 16 << 20

// machine is a kernel with mbufs, DMA and a piece of memory for buffers whose
// place matters.
type machine struct {
	tb    testing.TB
	k     *kern.Kernel
	cache *mbuf.Cache
	arena physmem.Addr // arenaSize bytes at a multiple of arenaSize
}

const arenaSize = 256 << 10

// newMachine boots a machine, in checking mode if check is set.
func newMachine(tb testing.TB, check bool) *machine {
	tb.Helper()
	env := sysctl.NewKenv()
	if check {
		if err := env.Set("hw.busdma.check", "1"); err != nil {
			tb.Fatal(err)
		}
	}
	k, err := kern.New(kern.Config{
		NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock,
		Mem: physmem.Config{Size: testMemory}, Env: env,
	})
	if err != nil {
		tb.Fatal(err)
	}
	z, err := mbuf.Init(k, mbuf.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	if err := Init(k); err != nil {
		tb.Fatal(err)
	}
	m := &machine{tb: tb, k: k, cache: z.NewCache()}
	if m.arena, err = k.Mem.Alloc(arenaSize, arenaSize); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		m.cache.Close()
		if err := k.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m
}

func (m *machine) tag(cfg TagConfig) *Tag {
	m.tb.Helper()
	if cfg.Name == "" {
		cfg.Name = "em0 tx"
	}
	t, err := NewTag(m.k, cfg)
	if err != nil {
		m.tb.Fatal(err)
	}
	return t
}

// frag is an mbuf's data: size bytes at an offset of the arena.
type frag struct{ off, size int }

// packet returns a chain with the given data, filled with a pattern.
func (m *machine) packet(frags ...frag) *mbuf.Mbuf {
	m.tb.Helper()
	var head, last *mbuf.Mbuf
	for i, f := range frags {
		get := m.cache.Get
		if i == 0 {
			get = m.cache.GetHdr
		}
		p := get()
		if p == nil || !m.cache.ExtAdd(p, m.arena+physmem.Addr(f.off), f.size, func(any) {}, nil) {
			m.tb.Fatal("no mbuf")
		}
		p.SetLen(f.size)
		for j, b := 0, p.Bytes(); j < len(b); j++ {
			b[j] = byte(i*31 + j*7 + 1)
		}
		if head == nil {
			head = p
		} else {
			last.Next = p
		}
		last = p
		head.Pkt.Len += int32(f.size)
	}
	m.tb.Cleanup(func() { m.cache.FreeChain(head) })
	return head
}

// segAt is a segment given by an offset in the arena.
func (m *machine) segAt(off, size int) Seg {
	return Seg{Addr: m.arena + physmem.Addr(off), Len: uint64(size)}
}

// gather reads segments through a device's view.
func gather(tb testing.TB, v *View, segs []Seg) []byte {
	tb.Helper()
	var b bytes.Buffer
	for _, s := range segs {
		p, err := v.Slice(s.Addr, s.Len, ToDevice)
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(p)
	}
	return b.Bytes()
}

// scatter writes data into segments through a device's view.
func scatter(tb testing.TB, v *View, segs []Seg, data []byte) {
	tb.Helper()
	for _, s := range segs {
		p, err := v.Slice(s.Addr, s.Len, FromDevice)
		if err != nil {
			tb.Fatal(err)
		}
		data = data[copy(p, data):]
	}
	if len(data) != 0 {
		tb.Fatalf("%d bytes find no place", len(data))
	}
}

// contents returns the data of a chain.
func contents(p *mbuf.Mbuf) []byte {
	b := make([]byte, p.Length())
	p.CopyData(0, b)
	return b
}

// text returns a sysctl as sysctl -n prints it.
func (m *machine) text(name string) string {
	m.tb.Helper()
	s, err := m.k.Sysctl.Text(name)
	if err != nil {
		m.tb.Fatalf("%s: %v", name, err)
	}
	return s
}
