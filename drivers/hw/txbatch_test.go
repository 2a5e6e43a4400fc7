package hw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/internal/kern"
)

// txQueue is a model's queue in short: packets wait in a list, the cookie is the number.
type txQueue struct {
	b       *TxBatch
	packets []txPacket
	next    int
	done    []Completion
}

type txPacket struct {
	segs [][]byte
	o    *Offload
	drop bool
}

func (q *txQueue) FetchTx(b *TxBatch) bool {
	if q.next == len(q.packets) {
		return false
	}
	p := &q.packets[q.next]
	for _, s := range p.segs {
		b.Append(s)
	}
	if p.drop {
		b.Drop(uint64(q.next))
	} else {
		_ = b.End(p.o, uint64(q.next)) // the completion says so
	}
	q.next++
	return true
}

func (q *txQueue) CompleteTx(c Completion) { q.done = append(q.done, c) }

// newTxQueue makes a queue on p in a stepped kernel.
func newTxQueue(t testing.TB, p *fakePort) (*txQueue, *Faults, *kern.Kernel) {
	k := newKernel(t, stepped(0))
	f := NewFaults(k, "em0")
	q := &txQueue{}
	q.b = NewTxBatch(TxConfig{Kernel: k, Name: "em0", Port: p, Faults: f, Kick: func() { q.b.Run(q) }})
	t.Cleanup(q.b.Close)
	return q, f, k
}

// run runs the queue until it is at rest, giving the port room and completing as drawn.
func (q *txQueue) finish(t testing.TB, p *fakePort, step int) {
	t.Helper()
	for range 100000 {
		q.b.Run(q)
		if q.next == len(q.packets) && q.b.InFlight() == 0 {
			return
		}
		p.room += step
		p.complete(min(step, len(p.held)))
	}
	t.Fatal("queue does not come to rest")
}

func TestTxBatchInsertsTagAndChecksumsAtEverySplit(t *testing.T) {
	p := &fakePort{room: 1 << 30, auto: true}
	q, _, _ := newTxQueue(t, p)
	for _, f := range []flow{
		{vlan: -1, flags: 0x18, id: 9, payload: pattern(77)},
		{vlan: -1, udp: true, ipOpts: 8, payload: pattern(40)},
		{vlan: -1, v6: true, tcpOpts: 12, payload: pattern(31)},
	} {
		f.badCsums = true
		packet := build(t, f)
		l3, l4, _ := f.offsets()
		h := Headers{}
		h.Parse(packet, len(packet))
		seed := h.pseudo(packet, len(packet)-l4)
		o := &Offload{Flags: TxVLAN | TxCsum1, TPID: TPID8021Q, TCI: 0xa064}
		field := l4 + tcpCsum
		o.Csum[1] = TCPCsum(l4)
		if f.udp {
			field, o.Csum[1] = l4+udpCsum, UDPCsum(l4)
		}
		binary.BigEndian.PutUint16(packet[field:], seed)
		if !f.v6 {
			o.Flags |= TxCsum0
			o.Csum[0] = IPv4Csum(l3, l4-l3, false)
		}
		f.badCsums, f.vlan = false, 0xa064
		want := build(t, f)
		before := append([]byte(nil), packet...)
		for at := 0; at <= len(packet); at++ {
			p.sent, q.packets, q.next = nil, []txPacket{{segs: split(packet, at/2, at), o: o}}, 0
			q.b.Run(q)
			diffFrames(t, fmt.Sprintf("cut at %d", at), p.sent, [][]byte{want})
		}
		if !bytes.Equal(packet, before) {
			t.Error("the driver's memory was written")
		}
	}
}

func TestTxBatchPadsAfterTheTag(t *testing.T) {
	p := &fakePort{room: 1 << 30, auto: true}
	q, _, _ := newTxQueue(t, p)
	short := pattern(20)
	q.packets = []txPacket{
		{segs: [][]byte{short}, o: &Offload{Flags: TxPad}},
		{segs: [][]byte{short[:1], short[1:]}, o: &Offload{Flags: TxPad | TxVLAN, TPID: TPID8021AD, TCI: 0}},
		{segs: [][]byte{short}},
	}
	q.b.Run(q)
	tagged := append(append(append([]byte(nil), short[:12]...), 0x88, 0xa8, 0, 0), short[12:]...)
	diffFrames(t, "padded", p.sent, [][]byte{
		append(append([]byte(nil), short...), make([]byte, 40)...),
		append(tagged, make([]byte, 36)...),
		short,
	})
	if got := q.b.Tally; got.Frames != 3 || got.Bytes != 140 || got.Bins[0] != 3 {
		t.Errorf("tally %+v", got)
	}
}

func TestTxBatchZeroesFieldAndSeedsOnRequest(t *testing.T) {
	p := &fakePort{room: 1 << 30, auto: true}
	q, _, _ := newTxQueue(t, p)
	f := flow{vlan: -1, udp: true, payload: pattern(64)}
	want := build(t, f)
	packet := append([]byte(nil), want...)
	l3, l4, _ := f.offsets()
	binary.BigEndian.PutUint16(packet[l3+ipCsum:], 0xdead)
	binary.BigEndian.PutUint16(packet[l4+udpCsum:], 0xbeef)
	o := &Offload{Flags: TxCsum0 | TxCsum1}
	o.Csum[0] = IPv4Csum(l3, IPv4HdrLen, true)
	o.Csum[1] = UDPCsum(l4)
	o.Csum[1].Zero, o.Csum[1].Seed = true, PseudoIPv4(packet[l3:], ProtoUDP, len(packet)-l4)
	q.packets = []txPacket{{segs: [][]byte{packet}, o: o}}
	q.b.Run(q)
	diffFrames(t, "from scratch", p.sent, [][]byte{want})
}

func TestTxBatchInsertsSCTPChecksum(t *testing.T) {
	p := &fakePort{room: 1 << 30, auto: true}
	q, _, _ := newTxQueue(t, p)
	packet := build(t, flow{udp: true, vlan: -1, payload: pattern(40)})
	packet[EtherHdrLen+9] = ProtoSCTP
	o := &Offload{Flags: TxCsum1}
	o.Csum[1] = SCTPCsum(EtherHdrLen + IPv4HdrLen)
	q.packets = []txPacket{{segs: split(packet, 30, 43), o: o}}
	q.b.Run(q)
	var h Headers
	h.Parse(p.sent[0], len(p.sent[0]))
	if got := h.CheckL4(p.sent[0]); got != CsumGood {
		t.Errorf("verdict %v", got)
	}
}

func TestTxBatchKeepsOrderWhenThePortIsFull(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &fakePort{}
		q, _, _ := newTxQueue(t, p)
		var want [][]byte
		n := rapid.IntRange(1, 30).Draw(rt, "packets")
		for i := range n {
			f := flow{vlan: -1, seq: uint32(i), flags: 0x18, payload: pattern(1 + rapid.IntRange(0, 5000).Draw(rt, "payload"))}
			packet := build(t, f)
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				q.packets = append(q.packets, txPacket{segs: [][]byte{packet}, drop: true})
			case 1:
				q.packets = append(q.packets, txPacket{segs: [][]byte{packet}, o: &Offload{Flags: TxTSO}}) // no MSS
			case 2:
				q.packets = append(q.packets, txPacket{segs: drawSplit(rt, packet)})
				want = append(want, packet)
			default:
				mss := rapid.IntRange(20, 1460).Draw(rt, "mss")
				q.packets = append(q.packets, txPacket{segs: drawSplit(rt, packet), o: &Offload{Flags: TxTSO, TSO: *f.tso(mss)}})
				want = append(want, f.want(t, mss)...)
			}
		}
		q.finish(t, p, rapid.IntRange(1, 100).Draw(rt, "step"))
		diffFrames(t, "full port", p.sent, want)
		if len(q.done) != n {
			t.Fatalf("%d packets done, want %d", len(q.done), n)
		}
		for i, c := range q.done {
			pk := &q.packets[i]
			failed := pk.drop || pk.o != nil && pk.o.TSO.MSS == 0
			if c.Cookie != uint64(i) || c.Failed != failed || c.Silent {
				t.Fatalf("completion %d: %+v", i, c)
			}
		}
	})
}

func TestTxBatchLeavesDescriptorsWhenFull(t *testing.T) {
	p := &fakePort{room: 5}
	q, _, _ := newTxQueue(t, p)
	for range 200 {
		q.packets = append(q.packets, txPacket{segs: [][]byte{pattern(60)}})
	}
	q.b.Run(q)
	if q.next != TxSlots || len(q.done) != 0 || !q.b.Blocked() || q.b.Ready() {
		t.Fatalf("fetched %d, done %d, blocked %v", q.next, len(q.done), q.b.Blocked())
	}
	p.room = 1 << 30
	p.complete(5)
	q.b.Run(q)
	if q.next != TxSlots+5 || len(q.done) != 5 || q.b.Blocked() {
		t.Fatalf("fetched %d, done %d, blocked %v", q.next, len(q.done), q.b.Blocked())
	}
}

func TestTxBatchRefusesSenselessRequests(t *testing.T) {
	p := &fakePort{room: 1 << 30, auto: true}
	q, _, _ := newTxQueue(t, p)
	packet := pattern(60)
	many := make([][]byte, MaxTxSegs+1)
	for i := range many {
		many[i] = packet[:1]
	}
	csum := func(c Csum) *Offload { return &Offload{Flags: TxCsum1, Csum: [2]Csum{1: c}} }
	for name, pk := range map[string]txPacket{
		"no bytes":        {segs: [][]byte{{}, {}}},
		"too many pieces": {segs: many},
		"field outside":   {segs: [][]byte{packet}, o: csum(Csum{Field: 59})},
		"field negative":  {segs: [][]byte{packet}, o: csum(Csum{Field: -1})},
		"start outside":   {segs: [][]byte{packet}, o: csum(Csum{Start: 61})},
		"CRC32c outside":  {segs: [][]byte{packet}, o: csum(Csum{Kind: CsumCRC32c, Field: 57})},
		"tag in 13 bytes": {segs: [][]byte{packet[:13]}, o: &Offload{Flags: TxVLAN}},
		"TSO":             {segs: [][]byte{packet}, o: &Offload{Flags: TxTSO}},
	} {
		q.packets, q.next, q.done, q.b.Malformed = []txPacket{pk}, 0, nil, 0
		q.b.Run(q)
		if len(p.sent) != 0 || len(q.done) != 1 || !q.done[0].Failed || q.b.Malformed != 1 {
			t.Errorf("%s: sent %d, done %v, malformed %d", name, len(p.sent), q.done, q.b.Malformed)
		}
	}
	q.b.Begin()
	q.b.Append(packet)
	if err := q.b.End(csum(Csum{Field: 59}), 0); !errors.Is(err, ErrOffload) {
		t.Errorf("error %v", err)
	}
}

func TestTxBatchResetForgetsWhatIsWithThePort(t *testing.T) {
	p := &fakePort{room: 3}
	q, _, _ := newTxQueue(t, p)
	for range 10 {
		q.packets = append(q.packets, txPacket{segs: [][]byte{pattern(60)}})
	}
	q.b.Run(q)
	q.b.Reset()
	q.packets, q.next, p.room = q.packets[:1], 0, 100
	q.b.Run(q)
	p.complete(3)
	q.b.Run(q)
	if len(q.done) != 0 {
		t.Fatalf("reported %v of before the reset", q.done)
	}
	p.complete(1)
	q.b.Run(q)
	if len(q.done) != 1 || q.done[0].Cookie != 0 || q.b.InFlight() != 0 {
		t.Fatalf("done %v, in flight %d", q.done, q.b.InFlight())
	}
}

func TestTxBatchFaults(t *testing.T) {
	packet := txPacket{segs: [][]byte{pattern(60)}}
	start := func(t *testing.T) (*txQueue, *Faults, *kern.Kernel, *fakePort) {
		p := &fakePort{room: 1 << 30, auto: true}
		q, f, k := newTxQueue(t, p)
		q.packets = []txPacket{packet, packet, packet}
		return q, f, k, p
	}
	t.Run("stuck head", func(t *testing.T) {
		q, f, _, p := start(t)
		must(t, f.StuckHead.Set("return(1)"))
		q.b.Run(q)
		if q.next != 0 || len(p.sent) != 0 || q.b.Ready() {
			t.Fatalf("took %d packets", q.next)
		}
		must(t, f.StuckHead.Set("off"))
		q.b.Run(q)
		if len(q.done) != 3 {
			t.Fatalf("done %v", q.done)
		}
	})
	t.Run("missing", func(t *testing.T) {
		q, f, _, _ := start(t)
		must(t, f.MissingCompletion.Set("1*return(1)"))
		q.b.Run(q)
		if want := []Completion{{Cookie: 0, Silent: true}, {Cookie: 1}, {Cookie: 2}}; fmt.Sprint(q.done) != fmt.Sprint(want) {
			t.Fatalf("done %v, want %v", q.done, want)
		}
	})
	t.Run("repeated", func(t *testing.T) {
		q, f, _, _ := start(t)
		must(t, f.RepeatedCompletion.Set("1*return(1)"))
		q.b.Run(q)
		if want := []Completion{{Cookie: 0}, {Cookie: 0, Again: true}, {Cookie: 1}, {Cookie: 2}}; fmt.Sprint(q.done) != fmt.Sprint(want) {
			t.Fatalf("done %v, want %v", q.done, want)
		}
	})
	t.Run("late", func(t *testing.T) {
		q, f, k, p := start(t)
		must(t, f.LateCompletion.Set("1*return(5)"))
		q.b.Run(q)
		q.b.Run(q)
		if len(q.done) != 0 || len(p.sent) != 3 {
			t.Fatalf("done %v, sent %d", q.done, len(p.sent))
		}
		k.Advance(4 * time.Millisecond)
		if len(q.done) != 0 {
			t.Fatalf("done %v after 4 ms", q.done)
		}
		k.Advance(2 * time.Millisecond)
		if len(q.done) != 3 {
			t.Fatalf("done %v after 6 ms", q.done)
		}
	})
}

func TestTallyKnowsCasts(t *testing.T) {
	var y Tally
	y.Count([][]byte{{0xff, 0xff}, {0xff, 0xff, 0xff, 0xff, 1}}, 1514)
	y.Count([][]byte{{1, 0, 0x5e, 0, 0, 1}}, 60)
	y.Count([][]byte{{2, 0, 0, 0, 0, 1}}, 61)
	want := Tally{Frames: 3, Bytes: 1635, Broadcast: 1, Multicast: 1, Bins: [SizeBins]uint64{1, 1, 0, 0, 0, 1}}
	if y != want {
		t.Errorf("%+v, want %+v", y, want)
	}
	for n, bin := range map[int]int{0: 0, 60: 0, 61: 1, 123: 1, 124: 2, 251: 2, 252: 3, 507: 3, 508: 4, 1019: 4, 1020: 5, 9000: 5} {
		if got := SizeBin(n); got != bin {
			t.Errorf("SizeBin(%d) = %d, want %d", n, got, bin)
		}
	}
}

func benchBatch(b *testing.B, o *Offload, segs [][]byte) {
	k := newKernel(b, stepped(0))
	p := null.New()
	must(b, p.Bind(nopClient{}))
	batch := NewTxBatch(TxConfig{Kernel: k, Name: "em0", Port: p, Faults: NewFaults(k, "em0"), Kick: func() {}})
	b.Cleanup(batch.Close)
	b.ReportAllocs()
	for b.Loop() {
		batch.Begin()
		for _, s := range segs {
			batch.Append(s)
		}
		if err := batch.End(o, 1); err != nil {
			b.Fatal(err)
		}
		batch.Send()
		if _, ok := batch.Done(); !ok {
			b.Fatal("not done")
		}
	}
}

func BenchmarkTxBatchOnePacket(b *testing.B) {
	packet := build(b, flow{vlan: -1, udp: true, payload: pattern(1300)})
	benchBatch(b, nil, split(packet, 42))
}

func BenchmarkTxBatchUDPChecksum(b *testing.B) {
	packet := build(b, flow{vlan: -1, udp: true, payload: pattern(1300)})
	o := &Offload{Flags: TxCsum0 | TxCsum1}
	o.Csum[0], o.Csum[1] = IPv4Csum(14, 20, true), UDPCsum(34)
	benchBatch(b, o, split(packet, 42))
}

func TestTxBatchIsDirectOnlyAtRestWithoutFaults(t *testing.T) {
	k := newKernel(t, stepped(0))
	p := null.New()
	must(t, p.Bind(nopClient{}))
	f := NewFaults(k, "em0")
	b := NewTxBatch(TxConfig{Kernel: k, Name: "em0", Port: p, Faults: f, Kick: func() {}})
	t.Cleanup(b.Close)
	if b.Direct() == nil {
		t.Error("not at rest")
	}
	for _, fp := range []*kern.FailPoint{f.StuckHead, f.LateCompletion, f.RepeatedCompletion, f.MissingCompletion} {
		must(t, fp.Set("return(1)"))
		if b.Direct() != nil {
			t.Errorf("%s is set", fp.Name())
		}
		must(t, fp.Set("off"))
	}
	b.Begin()
	b.Append(pattern(60))
	must(t, b.End(nil, 7))
	if b.Direct() != nil {
		t.Error("direct with a packet in flight")
	}
	b.Send()
	if c, ok := b.Done(); !ok || c.Cookie != 7 || b.Direct() == nil {
		t.Errorf("done %+v, %v, or not at rest after it", c, ok)
	}
	q, _, _ := newTxQueue(t, &fakePort{})
	if q.b.Direct() != nil {
		t.Error("direct on a port that completes later")
	}
}
