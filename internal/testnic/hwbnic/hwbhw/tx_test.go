package hwbhw_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestTransmitSendsTheGatheredFrameAndWritesTheHeadBehindTheRing(t *testing.T) {
	b := newBench(t)
	f := rig.Ether(100)
	b.packet(0, f[:30], f[30:31], f[31:])
	b.tail()
	got := b.Sent()
	if len(got) != 1 || !bytes.Equal(got[0], f) {
		t.Fatalf("far end got %x, want one frame %x", got, f)
	}
	if b.head() != 3 {
		t.Errorf("head word is %d, want 3", b.head())
	}
	if v := b.BAR.Read32(reg(0, hwbreg.TXHEAD)); v != 3 {
		t.Errorf("TXHEAD is %d, want 3", v)
	}
	if n, size := b.stat(nicreg.StatTxFrames), b.stat(nicreg.StatTxBytes); n != 1 || size != 100 {
		t.Errorf("%d frames, %d bytes counted", n, size)
	}
}

func TestHeadFollowsOverSeveralWraps(t *testing.T) {
	b := newBench(t)
	f := rig.Ether(80)
	for n := range 5 * ringSize {
		b.packet(0, f[:20], f[20:50], f[50:])
		b.tail()
		if want := uint64(3*(n+1)) % ringSize; b.head() != want {
			t.Fatalf("head word is %d after packet %d, want %d", b.head(), n, want)
		}
	}
	if n := len(b.Sent()); n != 5*ringSize {
		t.Errorf("%d frames sent", n)
	}
}

func TestHeadIsWrittenOnlyWhereReportIsAskedFor(t *testing.T) {
	b := newBench(t)
	f := b.Buffer(rig.Ether(60))
	b.put(uint64(f), data|60|hwbreg.TxdEOP)
	b.tail()
	if b.head() != 0 {
		t.Errorf("head word is %d without RS", b.head())
	}
	b.put(uint64(f), data|60|last)
	b.tail()
	if b.head() != 2 || len(b.Sent()) != 2 {
		t.Errorf("head word is %d, want 2", b.head())
	}
}

func TestPacketThatEndsBehindTheTailWaits(t *testing.T) {
	b := newBench(t)
	f := rig.Ether(90)
	b.packet(0, f[:40], f[40:])
	b.BAR.Write32(reg(0, hwbreg.TXTAIL), 1)
	if n := len(b.Sent()); n != 0 || b.head() != 0 {
		t.Fatalf("%d frames sent, head %d", n, b.head())
	}
	b.tail()
	if got := b.Sent(); len(got) != 1 || !bytes.Equal(got[0], f) {
		t.Errorf("far end got %x", got)
	}
}

// headers is word 0 of a context for Ethernet, IPv4 and TCP without options.
const headers = 14<<hwbreg.TxcL2Shift | 20<<hwbreg.TxcL3Shift | 20<<hwbreg.TxcL4Shift

func TestContextStaysInForce(t *testing.T) {
	b := newBench(t)
	b.put(headers|0x64<<hwbreg.TxcTCIShift, ctx)
	f := rig.TCP(100, true, false)
	for range 2 {
		b.packet(hwbreg.TxdIPCsum|hwbreg.TxdL4Csum|hwbreg.TxdVLAN, f)
	}
	b.tail()
	want := rig.Tagged(rig.TCP(100, false, false), 0x64)
	got := b.Sent()
	if len(got) != 2 || !bytes.Equal(got[0], want) || !bytes.Equal(got[1], want) {
		t.Errorf("far end got %x\nwant twice %x", got, want)
	}
	if b.head() != 3 {
		t.Errorf("head word is %d, want 3", b.head())
	}
}

func TestSegmentation(t *testing.T) {
	b := newBench(t)
	const mss, payload = 1448, 4096
	f := rig.TCP(payload, true, true)
	b.put(headers|mss<<hwbreg.TxcMSSShift, ctx)
	b.packet(hwbreg.TxdTSO|hwbreg.TxdIPCsum|hwbreg.TxdL4Csum, f[:54], f[54:])
	b.tail()
	got := b.Sent()
	want := []int{1502, 1502, 1254}
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i, s := range got {
		if len(s) != want[i] || binary.BigEndian.Uint16(s[18:]) != uint16(7+i) {
			t.Errorf("frame %d has %d bytes and id %d", i, len(s), binary.BigEndian.Uint16(s[18:]))
		}
		rig.CheckTCP(t, s)
	}
}

func TestPacketThatCannotBeSentIsDroppedAndTheQueueGoesOn(t *testing.T) {
	for name, bad := range map[string]func(b *bench){
		"length 0":        func(b *bench) { b.put(uint64(b.Alloc(64)), data|last) },
		"buffer too long": func(b *bench) { b.put(uint64(b.Alloc(64)), data|last|16385) },
		"outside memory":  func(b *bench) { b.put(1<<40, data|last|64) },
		"no context":      func(b *bench) { b.packet(hwbreg.TxdTSO, rig.TCP(100, true, true)) },
		"frame too long":  func(b *bench) { b.packet(0, rig.Ether(9235)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			bad(b)
			b.packet(0, rig.Ether(64))
			b.tail()
			if n := len(b.Sent()); n != 1 || b.head() != 2 {
				t.Errorf("%d frames sent, head %d; want 1 and 2", n, b.head())
			}
			if n := b.stat(nicreg.StatTxErrors); n != 1 {
				t.Errorf("%d transmit errors, want 1", n)
			}
		})
	}
}

func TestChainThatCannotBeUnderstoodHaltsTheQueueWithAnEvent(t *testing.T) {
	for name, w1s := range map[string][]uint64{
		"type 0":            {64 | last},
		"type 3":            {64 | last | 3<<hwbreg.TxdTypeShift},
		"context in packet": {data | 64, ctx, data | 64 | last},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.linkUp(t)
			b.packet(0, rig.Ether(64))
			for _, w1 := range w1s {
				b.put(uint64(b.Alloc(64)), w1)
			}
			b.tail()
			if n := len(b.Sent()); n != 1 || b.head() != 1 {
				t.Errorf("%d frames sent, head %d; want 1 and 1", n, b.head())
			}
			if a := b.response(t); a.op != hwbreg.EventHalted || a.r1 != 0 {
				t.Errorf("response %+v, want queue 0 halted", a)
			}
			if v := b.BAR.Read32(reg(0, hwbreg.TXCTL)); v != hwbreg.QCtlEnable|hwbreg.QCtlHalted {
				t.Errorf("TXCTL is %#x", v)
			}
			b.BAR.Write32(reg(0, hwbreg.TXCTL), 0)
			b.at = 0
			b.BAR.Write32(reg(0, hwbreg.TXCTL), hwbreg.QCtlEnable)
			b.packet(0, rig.Ether(64))
			b.packet(0, rig.Ether(64))
			b.tail()
			if n := len(b.Sent()); n != 2 || b.head() != 2 {
				t.Errorf("after a new start %d frames were sent", n)
			}
		})
	}
}

func TestSteadyTransmitAllocatesNothing(t *testing.T) {
	b := newBench(t)
	f := rig.TCP(4000, true, true)
	for i := 0; i < ringSize; i += 2 {
		b.put(headers|1000<<hwbreg.TxcMSSShift, ctx)
		b.packet(hwbreg.TxdTSO|hwbreg.TxdIPCsum|hwbreg.TxdL4Csum, f)
	}
	send := func() {
		b.at += 2
		b.tail()
	}
	for range 20 {
		send()
		b.Sent()
	}
	if n := testing.AllocsPerRun(20, send); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
