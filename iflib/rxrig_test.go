package iflib

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"testing"

	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

// rxRig is a receive queue on a stepped machine with scripted hardware behind
// it. Only the receive half of an interface exists.
type rxRig struct {
	tb    testing.TB
	k     *kern.Kernel
	zones *mbuf.Zones
	ctx   *Ctx
	q     *Rxq
	hw    *fakeRx
	base  mbuf.Usage // in use before the queue

	got []rxGotten // what reached the stack, in order
}

// rxGotten is a packet as the stack saw it.
type rxGotten struct {
	data   []byte
	bufs   int
	copied bool // in the header mbuf, without cluster
	hdr    mbuf.PktHdr
	flags  mbuf.Flags
}

type rxConfig struct {
	nfl     int
	size    int // of the free lists; 0 = 64
	hasCQ   bool
	check   bool   // DMA checking mode
	align   uint64 // of buffers, to force bouncing
	frame   int    // MaxFrameSize
	seed    uint64
	nolimit bool // benchmark: no invariants
}

const (
	rxTestCQSize  = 128
	rxTestMemory  = 8 << 20
	rxLargeMemory = 32 << 20 // for rings of 1024
	rxTestEtype   = 0x88b5
	rxTestMinHead = 14
)

var rxTestMAC = [6]byte{2, 0, 0, 0, 0, 1}

// fakeDev is a device of which only interrupts exist.
type fakeDev struct {
	Device
	hw *fakeRx
}

func (d fakeDev) IntrEnable() { d.hw.enableIntr() }

// RxQueueIntrEnable unmasks the receive vector.
func (d fakeDev) RxQueueIntrEnable(int) error { d.hw.enableIntr(); return nil }

func newRxRig(tb testing.TB, cfg rxConfig) *rxRig {
	tb.Helper()
	env := sysctl.NewKenv()
	if cfg.check {
		if err := env.Set("hw.busdma.check", "1"); err != nil {
			tb.Fatal(err)
		}
	}
	memory := uint64(rxTestMemory)
	if cfg.size >= 1024 {
		memory = rxLargeMemory
	}
	k, err := kern.New(kern.Config{
		NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Seed: cfg.seed, Invariants: !cfg.nolimit,
		Mem: physmem.Config{Size: memory}, Env: env,
	})
	if err != nil {
		tb.Fatal(err)
	}
	r := &rxRig{tb: tb, k: k}
	if r.zones, err = mbuf.Init(k, mbuf.Config{}); err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(busdma.Init(k), ifnet.Init(k)); err != nil {
		tb.Fatal(err)
	}
	r.makeCtx(cfg)
	r.makeQueue(cfg)
	return r
}

func (r *rxRig) makeCtx(cfg rxConfig) {
	ctx := &Ctx{
		k: r.k, g: newGlobals(r.k), name: "fake0",
		sctx: &SharedCtx{NFL: cfg.nfl},
	}
	ctx.ctxLock.Init(r.k, "fake0 ctx")
	ctx.stateLock.Init(r.k, "fake0 state")
	ctx.ifp = ifnet.Alloc(r.k, ifnet.TypeEther)
	ctx.ifp.InitName("fake", 0)
	ctx.ifp.SetMethods(ifnet.Methods{GetCounter: func(c ifnet.Counter) uint64 { return ctx.ifp.GetCounterDefault(c) }})
	ctx.ifp.SetCapenable(ifnet.CapHWStats, 0)
	ifnet.EtherAttach(ctx.ifp, rxTestMAC)
	if err := ctx.ifp.Ioctl(ifnet.IoctlSetFlags, ifnet.FlagUp); err != nil {
		r.tb.Log("set flags:", err)
	}
	ctx.adminTask = r.k.NewTask("admin", func() {})
	size := cfg.size
	if size == 0 {
		size = 64
	}
	for i := range ctx.scctx.NRxd {
		ctx.scctx.NRxd[i] = size
	}
	if cfg.hasCQ {
		ctx.sctx.Flags |= FlagHasRxCQ
		ctx.scctx.NRxd[0] = rxTestCQSize
	}
	ctx.scctx.MaxFrameSize = cfg.frame
	var err error
	if ctx.rxTag, err = busdma.NewTag(r.k, busdma.TagConfig{Name: "fake0 rx", Align: cfg.align, NSegments: 1}); err != nil {
		r.tb.Fatal(err)
	}
	r.ctx = ctx
}

func (r *rxRig) makeQueue(cfg rxConfig) {
	r.base = r.zones.Usage()
	r.hw = newFakeRx(r, cfg)
	r.ctx.txrx = r.hw
	dev := fakeDev{hw: r.hw}
	r.ctx.dev, r.ctx.rxIntr = dev, dev
	r.q = newRxq(r.ctx, 0)
	r.ctx.rxqs = []*Rxq{r.q}
	var rings []QueueMem
	for range r.q.flOffset + max(cfg.nfl, 1) {
		a, err := r.k.Mem.Alloc(4096, 4096)
		if err != nil {
			r.tb.Fatal(err)
		}
		rings = append(rings, QueueMem{Mem: r.k.Mem, Addr: a, Size: 4096})
	}
	if err := r.q.setup(rings); err != nil {
		r.tb.Fatal(err)
	}
}

// capture records every packet that reaches the stack.
func (r *rxRig) capture() {
	r.ctx.ifp.AttachTap(func(_ mbuf.RcvIf, m *mbuf.Mbuf) {
		g := rxGotten{hdr: m.Pkt, flags: m.Flags, copied: m.Flags&mbuf.FlagExt == 0}
		for f := m; f != nil; f = f.Next {
			g.data = append(g.data, f.Bytes()...)
			g.bufs++
		}
		r.got = append(r.got, g)
	})
}

// init is what initLocked does to the receive side.
func (r *rxRig) init() error {
	r.ctx.rxMbufSize = mbuf.MJumPageSize
	if r.ctx.scctx.MaxFrameSize <= mbuf.MClBytes {
		r.ctx.rxMbufSize = mbuf.MClBytes
	}
	r.hw.reset()
	err := r.q.fillFreeLists()
	r.ctx.admit.Store(admitRunning)
	r.hw.enableIntr()
	return err
}

// stop is what stop does to the receive side.
func (r *rxRig) stop() {
	r.ctx.admit.Store(0)
	r.hw.stopped = true
	r.q.stop()
	r.hw.reset()
	r.hw.stopped = true
}

// finish stops and destroys the queue and checks that nothing leaked.
func (r *rxRig) finish() {
	r.tb.Helper()
	r.stop()
	r.q.destroy()
	if got := r.zones.Usage(); got != r.base {
		r.tb.Errorf("leaked: %+v, was %+v", got, r.base)
	}
	if s := busdma.ReadStats(r.k); s.Maps != 0 || s.Loaded != 0 || s.ActivePages != 0 {
		r.tb.Errorf("DMA left over: %+v", s)
	}
	if l := r.ctx.RxLedger(); !l.Balanced() {
		r.tb.Errorf("ledger does not balance: %s", l)
	}
	if err := r.k.Close(); err != nil {
		r.tb.Error(err)
	}
}

// failpoint sets a fail point.
func (r *rxRig) failpoint(name, setting string) {
	if err := r.k.FailPoint(name).Set(setting); err != nil {
		r.tb.Fatal(err)
	}
}

// verify checks what must hold between two passes.
func (r *rxRig) verify() {
	r.tb.Helper()
	for i := range r.q.fls {
		fl := &r.q.fls[i]
		set := 0
		for _, w := range fl.posted {
			set += bits.OnesCount64(w)
		}
		if used := fl.size % bitsPerWord; used != 0 {
			set -= bitsPerWord - int(used)
		}
		if uint32(set) != fl.credits || fl.credits > fl.size-1 {
			r.tb.Fatalf("list %d: %d posted, credits %d, size %d", i, set, fl.credits, fl.size)
		}
		if fl.pidx != (fl.cidx+fl.credits)&(fl.size-1) {
			r.tb.Fatalf("list %d: pidx %d cidx %d credits %d", i, fl.pidx, fl.cidx, fl.credits)
		}
		for j := range fl.slots {
			s := &fl.slots[j]
			if fl.isPosted(QIdx(j)) && (s.m == nil || s.m.Len() != fl.bufSize || s.m.Size() != fl.bufSize) {
				r.tb.Fatalf("list %d slot %d is posted without buffer", i, j)
			}
		}
		want := FreeListState{uint16(fl.pidx), uint16(fl.cidx), uint16(fl.credits), uint16(fl.bufSize)}
		if got := r.q.State().FreeLists[i]; got != want {
			r.tb.Fatalf("list %d: published %+v, is %+v", i, got, want)
		}
		if hw := r.hw.lists[i].have(); hw != int(fl.credits) && !r.hw.wrong {
			r.tb.Fatalf("list %d: hardware has %d buffers, credits %d", i, hw, fl.credits)
		}
	}
	if l := r.ctx.RxLedger(); !l.Balanced() {
		r.tb.Fatalf("ledger does not balance: %s", l)
	}
}

// fakeRx plays the receive rings of a device.
type fakeRx struct {
	TxRx
	r       *rxRig
	view    *busdma.View
	lists   []fakeList
	done    []fakeDone // completed, not yet fetched
	hasCQ   bool
	stopped bool
	wrong   bool // it lied about buffers: its count and the driver's differ
	masked  bool // the interrupt is masked
	cidx    QIdx // where the next completion is
	seq     uint32
	errNext bool
	intrs   int
}

// fakeList is one free list as the device has it: buffers between head and tail.
type fakeList struct {
	size       int
	bufSize    int
	ring       []fakeBuf
	head, tail int
	written    int // descriptors written beyond the tail
}

type fakeBuf struct {
	idx  QIdx
	addr Addr
}

func (l *fakeList) have() int { return (l.tail - l.head + l.size) % l.size }

// fakeDone is one completion.
type fakeDone struct {
	frags   []RxdFrag
	len     int
	pad     int
	meta    RxdInfo
	advance int // how far the consumer index moves
}

var errFake = errors.New("fake: bad descriptor")

func newFakeRx(r *rxRig, cfg rxConfig) *fakeRx {
	hw := &fakeRx{r: r, hasCQ: cfg.hasCQ, view: busdma.NewView(r.k, "fake0"), masked: true}
	off := 0
	if cfg.hasCQ {
		off = 1
	}
	for i := range max(cfg.nfl, 1) {
		n := r.ctx.scctx.NRxd[off+i]
		hw.lists = append(hw.lists, fakeList{size: n, ring: make([]fakeBuf, n)})
	}
	return hw
}

func (hw *fakeRx) reset() {
	for i := range hw.lists {
		l := &hw.lists[i]
		l.head, l.tail, l.written = 0, 0, 0
	}
	hw.done, hw.cidx, hw.stopped, hw.masked, hw.wrong = nil, 0, false, true, false
}

func (hw *fakeRx) enableIntr() {
	hw.masked = false
	if !hw.stopped && hw.RxdAvailable(0, hw.cidx, 1) > 0 {
		hw.raise()
	}
}

func (hw *fakeRx) raise() {
	if hw.masked {
		return
	}
	hw.masked = true
	hw.intrs++
	hw.r.q.task.Enqueue()
}

// RxdRefill checks and stores the buffers.
func (hw *fakeRx) RxdRefill(iru *RxdUpdate) {
	l := &hw.lists[iru.FLIdx]
	if len(iru.PAddrs) != len(iru.Idxs) || len(iru.PAddrs) == 0 || len(iru.PAddrs) > MaxRxRefresh {
		hw.r.tb.Fatalf("refill of %d addresses, %d slots", len(iru.PAddrs), len(iru.Idxs))
	}
	if want := (l.tail + l.written) % l.size; int(iru.Pidx) != want {
		hw.r.tb.Fatalf("list %d: refill at %d, expected %d", iru.FLIdx, iru.Pidx, want)
	}
	l.bufSize = iru.BufSize
	for i, a := range iru.PAddrs {
		l.ring[(int(iru.Pidx)+i)%l.size] = fakeBuf{iru.Idxs[i], a}
	}
	l.written += len(iru.PAddrs)
	if l.have()+l.written > l.size-1 {
		hw.r.tb.Fatalf("list %d: no slot is empty", iru.FLIdx)
	}
}

// RxdFlush moves the tail.
func (hw *fakeRx) RxdFlush(_, flid int, pidx QIdx) {
	l := &hw.lists[flid]
	if want := (l.tail + l.written) % l.size; int(pidx) != want {
		hw.r.tb.Fatalf("list %d: flush to %d, expected %d", flid, pidx, want)
	}
	l.tail, l.written = int(pidx), 0
}

// RxdAvailable counts packets from cidx on.
func (hw *fakeRx) RxdAvailable(_ int, cidx QIdx, budget int) int {
	if hw.stopped {
		return 0
	}
	if cidx != hw.cidx {
		hw.r.tb.Fatalf("looked at %d, next completion is at %d", cidx, hw.cidx)
	}
	n := 0
	for i := range hw.done {
		if n >= budget {
			break
		}
		if len(hw.done[i].frags) > 0 {
			n++
		}
	}
	return n
}

// RxdPktGet describes the oldest completion.
func (hw *fakeRx) RxdPktGet(ri *RxdInfo) error {
	if ri.Cidx != hw.cidx || ri.NFrags != 0 || ri.Len != 0 || ri.Pad != 0 || ri.Flags != 0 || ri.RSSType != 0 || ri.CsumFlags != 0 {
		hw.r.tb.Fatalf("packet info is not clean: %+v, next completion is at %d", ri, hw.cidx)
	}
	if hw.errNext {
		hw.errNext = false
		return errFake
	}
	d := &hw.done[0]
	copy(ri.Frags[:], d.frags)
	ri.NFrags, ri.Len, ri.Pad = len(d.frags), d.len, d.pad
	ri.VTag, ri.FlowID, ri.RSSType = d.meta.VTag, d.meta.FlowID, d.meta.RSSType
	ri.CsumFlags, ri.CsumData, ri.Flags = d.meta.CsumFlags, d.meta.CsumData, d.meta.Flags
	hw.cidx = QIdx((int(hw.cidx) + d.advance) % hw.ringSize())
	if hw.hasCQ {
		ri.Cidx = hw.cidx
	}
	hw.done = hw.done[1:]
	return nil
}

func (hw *fakeRx) ringSize() int {
	if hw.hasCQ {
		return rxTestCQSize
	}
	return hw.lists[0].size
}

// fakeFrag asks for one fragment.
type fakeFrag struct{ list, len int }

// receive lets the device receive a frame: it takes buffers, writes data into
// them and raises its interrupt. It returns the frame's bytes, or nil if it had
// no buffers and missed the frame.
func (hw *fakeRx) receive(pad int, meta RxdInfo, shape ...fakeFrag) []byte {
	need := make([]int, len(hw.lists))
	for _, f := range shape {
		need[f.list]++
	}
	for i, n := range need {
		if hw.stopped || n > hw.lists[i].have() {
			return nil
		}
	}
	total := 0
	for _, f := range shape {
		total += f.len
	}
	frame := hw.frame(total)
	d := fakeDone{len: pad + total, pad: pad, meta: meta, advance: 1}
	if !hw.hasCQ {
		d.advance = len(shape)
	}
	rest := frame
	for i, f := range shape {
		b, l := hw.pop(f.list)
		d.frags = append(d.frags, RxdFrag{FLID: uint8(f.list), Idx: b.idx, Len: uint16(f.len)})
		skip := 0
		if i == 0 {
			skip = pad
		}
		room, err := hw.view.Slice(b.addr, uint64(l.bufSize), busdma.FromDevice)
		if err != nil {
			hw.r.tb.Fatal(err)
		}
		copy(room[skip:skip+f.len], rest)
		rest = rest[f.len:]
	}
	hw.done = append(hw.done, d)
	hw.raise()
	return frame
}

func (hw *fakeRx) pop(list int) (fakeBuf, *fakeList) {
	l := &hw.lists[list]
	b := l.ring[l.head]
	l.head = (l.head + 1) % l.size
	return b, l
}

// frame makes a frame of n bytes for us, no two alike.
func (hw *fakeRx) frame(n int) []byte {
	hw.seq++
	p := make([]byte, max(n, 24))
	copy(p, rxTestMAC[:])
	binary.BigEndian.PutUint16(p[12:], rxTestEtype)
	binary.BigEndian.PutUint32(p[14:], hw.seq)
	for i := 18; i < len(p); i++ {
		p[i] = byte(int(hw.seq)*31 + i)
	}
	return p[:n]
}

// entry completes something that is not a packet.
func (hw *fakeRx) entry() {
	hw.done = append(hw.done, fakeDone{advance: 1})
}

// sameFrames compares what reached the stack with what the device received.
func (r *rxRig) sameFrames(want [][]byte) {
	r.tb.Helper()
	if len(r.got) != len(want) {
		r.tb.Fatalf("%d packets reached the stack, want %d", len(r.got), len(want))
	}
	for i, g := range r.got {
		if !bytes.Equal(g.data, want[i]) {
			r.tb.Fatalf("packet %d: %s", i, differ(g.data, want[i]))
		}
		if int(g.hdr.Len) != len(want[i]) || g.hdr.RcvIf != mbuf.RcvIf(r.ctx.ifp) {
			r.tb.Fatalf("packet %d: header %+v for %d bytes", i, g.hdr, len(want[i]))
		}
	}
}

func differ(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%d bytes, want %d; byte %d is %#x, want %#x", len(got), len(want), i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}
