package cqhw_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestTransmitSendsTheGatheredFrameAndReports(t *testing.T) {
	q := newTx(t, 16, 16)
	f := rig.Ether(100)
	q.packet(0, 0, f[:30], f[30:31], f[31:])
	q.ringBell(1)
	got := q.Sent()
	if len(got) != 1 || !bytes.Equal(got[0], f) {
		t.Fatalf("far end got %x, want one frame %x", got, f)
	}
	w0, w1 := q.cq.get(0)
	if w0 != 3 || w1 != cqreg.CqeTypeTx<<cqreg.CqeTypeShift|cqreg.CqePhase {
		t.Errorf("completion %#x %#x, want next 3, type 1, phase 1", w0, w1)
	}
	if n := q.BAR.Read64(nicreg.StatTxFrames); n != 1 {
		t.Errorf("%d frames counted, want 1", n)
	}
	if n := q.BAR.Read64(nicreg.StatTxBytes); n != 100 {
		t.Errorf("%d bytes counted, want 100", n)
	}
}

func TestShortFrameIsPadded(t *testing.T) {
	q := newTx(t, 16, 16)
	q.packet(0, 0, rig.Ether(20))
	q.ringBell(1)
	got := q.Sent()
	if len(got) != 1 || len(got[0]) != 60 || !bytes.Equal(got[0][20:], make([]byte, 40)) {
		t.Errorf("far end got %x, want 60 bytes, zeros from 20 on", got)
	}
}

func TestCompletionPhaseInvertsWithEachWrap(t *testing.T) {
	q := newTx(t, 32, 16)
	const packets = 5*16 + 3
	for n := range packets {
		if q.cq.valid(n) {
			t.Fatalf("entry %d is valid before it was written", n)
		}
		q.packet(0, 0, rig.Ether(64))
		q.ringBell(1)
		if !q.cq.valid(n) {
			t.Fatalf("entry %d is not valid", n)
		}
		if w0, _ := q.cq.get(n); w0 != uint64(n+1)%32 {
			t.Fatalf("entry %d names descriptor %d, want %d", n, w0, (n+1)%32)
		}
		q.BAR.Write32(reg(0, cqreg.TXCQCONS), uint32(n+1))
	}
	if n := len(q.Sent()); n != packets {
		t.Errorf("%d frames sent, want %d", n, packets)
	}
}

func TestFullCompletionQueueHoldsTransmitUntilConsumed(t *testing.T) {
	q := newTx(t, 64, 16)
	for range 40 {
		q.packet(0, 0, rig.Ether(64))
	}
	q.ringBell(40)
	if n := len(q.Sent()); n != 16 {
		t.Fatalf("%d frames sent with 16 completion entries, want 16", n)
	}
	q.BAR.Write32(reg(0, cqreg.TXCQCONS), 10)
	if n := len(q.Sent()); n != 10 {
		t.Fatalf("%d frames sent after 10 entries were consumed, want 10", n)
	}
	q.BAR.Write32(reg(0, cqreg.TXCQCONS), 26)
	if n := len(q.Sent()); n != 14 {
		t.Fatalf("%d frames sent at last, want 14", n)
	}
}

func TestDoorbellCountsPacketsNotDescriptors(t *testing.T) {
	q := newTx(t, 16, 16)
	f := rig.Ether(90)
	q.packet(0, 0, f[:20], f[20:40], f[40:])
	q.packet(0, 0, f)
	q.ringBell(1)
	if n := len(q.Sent()); n != 1 {
		t.Fatalf("%d frames sent for one packet rung, want 1", n)
	}
	q.ringBell(17)
	if n := q.BAR.Read64(nicreg.StatRefused); n != 1 {
		t.Errorf("%d refusals, want 1 for 17 packets in a ring of 16", n)
	}
	if n := len(q.Sent()); n != 0 {
		t.Errorf("%d frames sent by a refused doorbell", n)
	}
	q.ringBell(1)
	if n := len(q.Sent()); n != 1 {
		t.Errorf("%d frames sent, want 1", n)
	}
}

// headers is word 1 of an extension for Ethernet, IPv4 and TCP without options.
const headers = 14<<cqreg.TxxL2Shift | 20<<cqreg.TxxL3Shift | 20<<cqreg.TxxL4Shift

// TestSegmentationOfOneBuffer has LAST in the extension, beside the header lengths.
func TestSegmentationOfOneBuffer(t *testing.T) {
	q := newTx(t, 16, 16)
	q.packet(cqreg.TxxTSO|cqreg.TxxIPCsum|cqreg.TxxL4Csum|500<<cqreg.TxxMSSShift, headers, rig.TCP(900, true, true))
	q.ringBell(1)
	got := q.Sent()
	if len(got) != 2 || len(got[0]) != 554 || len(got[1]) != 454 {
		t.Fatalf("%d frames %x", len(got), got)
	}
	for _, b := range got {
		rig.CheckTCP(t, b)
	}
}

func TestSegmentationWithTagAndChecksums(t *testing.T) {
	q := newTx(t, 16, 16)
	const mss, payload = 1448, 4096
	f := rig.TCP(payload, true, true)
	q.packet(cqreg.TxxTSO|cqreg.TxxIPCsum|cqreg.TxxL4Csum|cqreg.TxxVLAN|0xa064<<cqreg.TxxTCIShift|mss<<cqreg.TxxMSSShift,
		headers, f[:54], f[54:2000], f[2000:])
	q.ringBell(1)
	got := q.Sent()
	want := []int{1506, 1506, 1258}
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	var data []byte
	for i, b := range got {
		if len(b) != want[i] {
			t.Errorf("frame %d has %d bytes, want %d", i, len(b), want[i])
		}
		if tag := binary.BigEndian.Uint32(b[12:]); tag != 0x8100a064 {
			t.Errorf("frame %d has tag %#x", i, tag)
		}
		if seq := binary.BigEndian.Uint32(b[42:]); seq != 1000+uint32(i)*mss {
			t.Errorf("frame %d has sequence %d", i, seq)
		}
		if push := b[51]&8 != 0; push != (i == 2) {
			t.Errorf("frame %d: PSH %v", i, push)
		}
		rig.CheckTCP(t, b)
		data = append(data, b[58:]...)
	}
	if !bytes.Equal(data, f[54:]) {
		t.Error("the segments do not make up the payload")
	}
	if w0, _ := q.cq.get(0); w0 != 4 {
		t.Errorf("completion word 0 is %#x, want descriptor 4", w0)
	}
}

func TestChecksumInsertion(t *testing.T) {
	q := newTx(t, 16, 16)
	f := rig.TCP(333, true, false)
	q.packet(cqreg.TxxIPCsum|cqreg.TxxL4Csum, headers, f)
	q.ringBell(1)
	got := q.Sent()
	if len(got) != 1 || !bytes.Equal(got[0], rig.TCP(333, false, false)) {
		t.Errorf("far end got %x", got)
	}
}

func TestPacketThatCannotBeSentIsReportedAndTheQueueGoesOn(t *testing.T) {
	for name, bad := range map[string]func(q *txq){
		"length 0": func(q *txq) {
			q.put(q.Alloc(64), 0|cqreg.TxdFirst|cqreg.TxdLast|cqreg.TxdReport|1<<cqreg.TxdCountShift)
		},
		"buffer too long": func(q *txq) {
			q.put(q.Alloc(64), 16385|cqreg.TxdFirst|cqreg.TxdLast|cqreg.TxdReport|1<<cqreg.TxdCountShift)
		},
		"outside memory": func(q *txq) {
			q.put(1<<40, 64|cqreg.TxdFirst|cqreg.TxdLast|cqreg.TxdReport|1<<cqreg.TxdCountShift)
		},
		"no MSS":           func(q *txq) { q.packet(cqreg.TxxTSO, headers, rig.TCP(100, true, true)) },
		"headers too long": func(q *txq) { q.packet(cqreg.TxxL4Csum, headers, rig.Ether(40)) },
		"frame too long":   func(q *txq) { q.packet(0, 0, rig.Ether(9235)) },
	} {
		t.Run(name, func(t *testing.T) {
			q := newTx(t, 16, 16)
			bad(q)
			q.packet(0, 0, rig.Ether(64))
			q.ringBell(2)
			if n := len(q.Sent()); n != 1 {
				t.Errorf("%d frames sent, want the second only", n)
			}
			if w0, _ := q.cq.get(0); w0 != uint64(q.at-1)|1<<cqreg.TxcErrorsShift {
				t.Errorf("completion word 0 is %#x, want descriptor %d and one refused", w0, q.at-1)
			}
			if w0, _ := q.cq.get(1); w0 != uint64(q.at) {
				t.Errorf("second completion is %#x, want %d and none refused", w0, q.at)
			}
			if n := q.BAR.Read64(nicreg.StatTxErrors); n != 1 {
				t.Errorf("%d transmit errors, want 1", n)
			}
		})
	}
}

func TestChainThatCannotBeFollowedHaltsTheQueue(t *testing.T) {
	const one = 1 << cqreg.TxdCountShift
	for name, w1 := range map[string]uint64{
		"not first":      64 | cqreg.TxdLast | one,
		"count 0":        64 | cqreg.TxdFirst | cqreg.TxdLast,
		"count too high": 64 | cqreg.TxdFirst | cqreg.TxdLast | 65<<cqreg.TxdCountShift,
		"no last":        64 | cqreg.TxdFirst | one,
		"last too early": 64 | cqreg.TxdFirst | cqreg.TxdLast | 2<<cqreg.TxdCountShift,
		"no extension":   64 | cqreg.TxdFirst | cqreg.TxdLast | cqreg.TxdExt | one,
	} {
		t.Run(name, func(t *testing.T) {
			q := newTx(t, 16, 16)
			q.packet(0, 0, rig.Ether(64))
			q.put(q.Alloc(64), w1)
			q.packet(0, 0, rig.Ether(64))
			q.ringBell(3)
			if n := len(q.Sent()); n != 1 {
				t.Errorf("%d frames sent, want the first only", n)
			}
			if w0, _ := q.cq.get(1); w0 != 1|cqreg.TxcHalted || !q.cq.valid(1) {
				t.Errorf("completion word 0 is %#x, want halted at 1", w0)
			}
			if v := q.BAR.Read32(reg(0, cqreg.TXCTL)); v != cqreg.QCtlEnable|cqreg.QCtlHalted {
				t.Errorf("TXCTL is %#x", v)
			}
			if q.BAR.Read32(cqreg.STATUS)&cqreg.StatusHalted == 0 {
				t.Error("STATUS does not say so")
			}
			if !strings.Contains(q.Console(), "chain at descriptor 1 refused") {
				t.Errorf("console: %q", q.Console())
			}
			q.BAR.Write32(reg(0, cqreg.TXCTL), 0)
			clear(q.cq.words)
			q.at = 0
			q.enable()
			q.packet(0, 0, rig.Ether(64))
			q.ringBell(1)
			if n := len(q.Sent()); n != 1 || !q.cq.valid(0) {
				t.Errorf("after a new start %d frames were sent", n)
			}
		})
	}
}

func TestTransmitWaitsForEnableAndForRoomOnTheWire(t *testing.T) {
	q := newTx(t, 2048, 2048)
	q.BAR.Write32(cqreg.CTRL, 0)
	const packets = 2000
	for range packets {
		q.packet(0, 0, rig.Ether(60))
	}
	q.ringBell(packets)
	if n := len(q.Sent()); n != 0 {
		t.Fatalf("%d frames sent while transmit is off", n)
	}
	q.BAR.Write32(cqreg.CTRL, cqreg.CtrlTxEnable)
	total := 0
	for n := len(q.Sent()); n > 0; n = len(q.Sent()) {
		total += n
		q.Settle()
	}
	if total != packets || !q.cq.valid(packets-1) {
		t.Errorf("%d frames arrived, want %d", total, packets)
	}
}

func TestSteadyTransmitAllocatesNothing(t *testing.T) {
	q := newTx(t, 16, 16)
	f := rig.TCP(4000, true, true)
	x0 := uint64(cqreg.TxxTSO | cqreg.TxxIPCsum | cqreg.TxxL4Csum | 1000<<cqreg.TxxMSSShift)
	q.packet(x0, headers, f)
	for i := 2; i < 16; i += 2 {
		w0, w1 := q.ring.get(0)
		q.ring.set(i, w0, w1)
		w0, w1 = q.ring.get(1)
		q.ring.set(i+1, w0, w1)
	}
	sent := uint32(0)
	send := func() {
		q.ringBell(1)
		sent++
		q.BAR.Write32(reg(0, cqreg.TXCQCONS), sent)
	}
	for range 20 {
		send()
		q.Sent()
	}
	if n := testing.AllocsPerRun(20, send); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
