package hw

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/drivers/port"
)

// receive takes all frames that src has.
func receive(src *RxSource) [][]byte {
	var out [][]byte
	for f := src.Peek(); f != nil; f = src.Peek() {
		out = append(out, append([]byte(nil), f.Data...))
		src.Next()
	}
	src.Flush()
	return out
}

func lend(data []byte) port.RxFrame { return port.RxFrame{Data: data, Len: len(data)} }

// Case 39: the five frames arrive as they were sent.
func TestRxSourcePutsTagsBack(t *testing.T) {
	body := func(head ...byte) []byte {
		b := append(append(pattern(12), head...), pattern(60)...)
		return b[:60]
	}
	untag := func(b []byte) []byte { return append(append([]byte(nil), b[:12]...), b[16:]...) }
	want := [][]byte{
		body(0x81, 0, 0, 0x64), body(0x81, 0, 0, 0), body(0x81, 0, 0xe0, 0),
		body(0x88, 0xa8, 0, 0x64, 0x81, 0, 0, 0xc8), body(8, 6),
	}
	p := &fakePort{}
	for i, tag := range []port.RxFrame{
		{VLANValid: true, TPIDValid: true, TPID: 0x8100, TCI: 0x64},
		{VLANValid: true}, // no type: 802.1Q
		{VLANValid: true, TPIDValid: true, TPID: 0x8100, TCI: 0xe000},
		{VLANValid: true, TPIDValid: true, TPID: 0x88a8, TCI: 0x64},
		{TCI: 0x99, TPID: 0x8100, TPIDValid: true}, // not valid: no tag
	} {
		tag.Data = want[i]
		if tag.VLANValid {
			tag.Data = untag(want[i])
		}
		tag.Len = len(tag.Data)
		p.rx = append(p.rx, tag)
	}
	src := NewRxSource(p, 0)
	diffFrames(t, "case 39", receive(src), want)
	if src.Counters != (RxCounters{TagsInserted: 4}) || p.lent != 0 || p.released != 5 {
		t.Errorf("%+v, %d still lent", src.Counters, p.lent)
	}
}

func TestRxSourceFinishesChecksums(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFlow(rt)
		want := build(t, f)
		l3, l4, _ := f.offsets()
		off := tcpCsum
		if f.udp {
			off = udpCsum
		}
		rx := lend(append([]byte(nil), want...))
		var h Headers
		h.Parse(want, len(want))
		binary.BigEndian.PutUint16(rx.Data[l4+off:], h.pseudo(want, len(want)-l4))
		if f.vlan >= 0 {
			rx.VLANValid, rx.TCI = true, uint16(f.vlan)
			rx.Data = append(rx.Data[:12:12], rx.Data[16:]...)
			rx.Len -= VLANLen
			l4 -= VLANLen
		}
		rx.NeedCsum, rx.CsumStart, rx.CsumOff = true, uint16(l4), uint16(off)
		before := append([]byte(nil), rx.Data...)
		src := NewRxSource(&fakePort{rx: []port.RxFrame{rx}}, 0)
		diffFrames(t, "partial checksum", receive(src), [][]byte{want})
		if src.Counters.CsumCompleted != 1 || !bytes.Equal(rx.Data, before) {
			rt.Fatalf("%+v; port's memory changed: %v (IP at %d)", src.Counters, !bytes.Equal(rx.Data, before), l3)
		}
	})
}

func TestRxSourceCutsSuperFrames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFlow(rt)
		f.payload = pattern(rapid.IntRange(1, 30000).Draw(rt, "bytes"))
		mss := rapid.IntRange(500, 1448).Draw(rt, "mss")
		rx := lend(build(t, f))
		rx.GSOType, rx.GSOSize, rx.NeedCsum = gsoTCPv4|gsoECN, uint16(mss), true
		if f.v6 {
			rx.GSOType = gsoTCPv6
		}
		if f.udp {
			rx.GSOType = gsoUDPL4
		}
		if f.vlan >= 0 {
			rx.VLANValid, rx.TCI = true, uint16(f.vlan)
			rx.Data = append(rx.Data[:12:12], rx.Data[16:]...)
			rx.Len -= VLANLen
		}
		plain := build(t, flow{vlan: -1, payload: pattern(9)})
		p := &fakePort{rx: []port.RxFrame{lend(plain), rx, lend(plain)}}
		src := NewRxSource(p, 0)
		diffFrames(t, "super-frame", receive(src), append(append([][]byte{plain}, f.want(t, mss)...), plain))
		if src.Counters.GSOCut != 1 || p.lent != 0 {
			rt.Fatalf("%+v, %d lent", src.Counters, p.lent)
		}
	})
}

func TestRxSourceDropsAndCountsWhatMakesNoSense(t *testing.T) {
	good := build(t, flow{vlan: -1, payload: pattern(100)})
	for name, c := range map[string]struct {
		f    port.RxFrame
		want RxCounters
	}{
		"truncated":       {port.RxFrame{Data: good, Len: 2000, Truncated: true}, RxCounters{Truncated: 1}},
		"less than said":  {port.RxFrame{Data: good, Len: len(good) + 1}, RxCounters{Truncated: 1}},
		"13 bytes":        {lend(good[:13]), RxCounters{Malformed: 1}},
		"negative length": {port.RxFrame{Data: good, Len: -1}, RxCounters{Malformed: 1}},
		"sum outside":     {port.RxFrame{Data: good, Len: len(good), NeedCsum: true, CsumStart: 150, CsumOff: 3}, RxCounters{Malformed: 1}},
		"start outside":   {port.RxFrame{Data: good, Len: len(good), NeedCsum: true, CsumStart: 0xffff, CsumOff: 0xffff}, RxCounters{Malformed: 1}},
		"GSO of size 0":   {port.RxFrame{Data: good, Len: len(good), GSOType: gsoTCPv4}, RxCounters{Malformed: 1}},
		"GSO of UDP":      {port.RxFrame{Data: good, Len: len(good), GSOType: gsoUDPL4, GSOSize: 10}, RxCounters{Malformed: 1}},
		"GSO of v6":       {port.RxFrame{Data: good, Len: len(good), GSOType: gsoTCPv6, GSOSize: 10}, RxCounters{Malformed: 1}},
		"GSO unknown":     {port.RxFrame{Data: good, Len: len(good), GSOType: 3, GSOSize: 10}, RxCounters{Malformed: 1}},
	} {
		p := &fakePort{rx: []port.RxFrame{c.f, lend(good)}}
		src := NewRxSource(p, 0)
		diffFrames(t, name, receive(src), [][]byte{good})
		if diff := cmp.Diff(c.want, src.Counters); diff != "" || p.lent != 0 {
			t.Errorf("%s: %d lent, counters (-want +got)\n%s", name, p.lent, diff)
		}
	}
}

func TestRxSourceKeepsTheFrameThatWasNotTaken(t *testing.T) {
	p := &fakePort{}
	var want [][]byte
	for i := range 100 {
		b := pattern(60 + i)
		want = append(want, b)
		p.rx = append(p.rx, lend(b))
	}
	src := NewRxSource(p, 0)
	var got [][]byte
	for turn := 0; len(got) < len(want); turn++ {
		f := src.Peek()
		if f != src.Peek() || !bytes.Equal(f.Data, want[len(got)]) {
			t.Fatalf("frame %d changed", len(got))
		}
		if turn%3 == 0 {
			src.Flush() // a stall: the frame stays borrowed
			if p.lent == 0 {
				t.Fatal("the frame in use was released")
			}
			continue
		}
		got = append(got, append([]byte(nil), f.Data...))
		src.Next()
	}
	src.Flush()
	diffFrames(t, "stalls", got, want)
	if p.lent != 0 || p.released != 100 {
		t.Errorf("%d lent, %d released", p.lent, p.released)
	}
}

func TestRxSourceResetGivesEverythingBack(t *testing.T) {
	super := lend(build(t, flow{vlan: -1, payload: pattern(5000)}))
	super.GSOType, super.GSOSize = gsoTCPv4, 100
	p := &fakePort{rx: []port.RxFrame{super, super, lend(pattern(60))}}
	src := NewRxSource(p, 0)
	src.Peek()
	src.Reset()
	if p.lent != 0 || src.Peek() != nil {
		t.Errorf("%d lent after Reset", p.lent)
	}
}

func FuzzRxSource(f *testing.F) {
	f.Add(build(f, flow{vlan: -1, payload: pattern(600)}), 0, uint8(1), uint16(100), true, uint16(34), uint16(16), true, uint16(0x88a8))
	f.Add(build(f, flow{vlan: -1, v6: true, udp: true, payload: pattern(600)}), 0, uint8(5), uint16(7), false, uint16(54), uint16(6), false, uint16(0))
	f.Add([]byte("short"), 3, uint8(0), uint16(0), true, uint16(0), uint16(0), true, uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, more int, gso uint8, size uint16, need bool, start, off uint16, tag bool, tpid uint16) {
		before := append([]byte(nil), data...)
		rx := port.RxFrame{Data: data, Len: len(data) + more, GSOType: gso, GSOSize: size, NeedCsum: need,
			CsumStart: start, CsumOff: off, VLANValid: tag, TPIDValid: tpid != 0, TPID: tpid, TCI: start}
		p := &fakePort{rx: []port.RxFrame{rx, rx}}
		src := NewRxSource(p, 0)
		frames := receive(src)
		limit := len(data) + VLANLen
		total := 0
		for _, b := range frames {
			if len(b) > limit || len(b) < EtherHdrLen {
				t.Fatalf("a frame of %d bytes out of %d", len(b), len(data))
			}
			total += len(b)
		}
		if len(frames) > 2*(len(data)+1) {
			t.Fatalf("%d frames out of %d bytes", len(frames), len(data))
		}
		if gso&^gsoECN == 0 && total > 2*limit {
			t.Fatalf("%d bytes out of %d", total, len(data))
		}
		if p.lent != 0 || !bytes.Equal(data, before) {
			t.Fatalf("%d lent; port's memory changed: %v", p.lent, !bytes.Equal(data, before))
		}
	})
}

// endlessPort lends the same frame for ever.
type endlessPort struct {
	fakePort
	frame port.RxFrame
}

func (p *endlessPort) Recv(_ int, frames []port.RxFrame) int {
	for i := range frames {
		frames[i] = p.frame
	}
	return len(frames)
}

func BenchmarkRxSource(b *testing.B) {
	frame := build(b, flow{vlan: -1, payload: pattern(1300)})
	for _, bench := range []struct {
		name string
		f    port.RxFrame
	}{
		{"plain", lend(frame)},
		{"tag", port.RxFrame{Data: frame, Len: len(frame), VLANValid: true}},
		{"csum", port.RxFrame{Data: frame, Len: len(frame), NeedCsum: true, CsumStart: 34, CsumOff: 16}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			src := NewRxSource(&endlessPort{frame: bench.f}, 0)
			src.Peek()
			b.ReportAllocs()
			for b.Loop() {
				src.Peek()
				src.Next()
			}
		})
	}
}
