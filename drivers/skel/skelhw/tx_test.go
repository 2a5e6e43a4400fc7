package skelhw_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestPacketIsGatheredSentAndGivenBack(t *testing.T) {
	b := newBench(t)
	f := rig.Ether(100)
	b.packet(0, f[:30], f[30:31], f[31:])
	b.txBell()
	got := b.Sent()
	if len(got) != 1 || !bytes.Equal(got[0], f) {
		t.Fatalf("far end got %x, want one frame %x", got, f)
	}
	for i := range 3 {
		if s := b.txState(i); s != 0 {
			t.Errorf("descriptor %d came back with %#x", i, s)
		}
	}
	b.wantStat(t, skelreg.StatTxFrames, 1)
}

func TestRingWraps(t *testing.T) {
	b := newBench(t)
	f := rig.Ether(80)
	for n := range 3 * ringSize {
		b.packet(0, f[:20], f[20:50], f[50:])
		b.txBell()
		if got := b.Sent(); len(got) != 1 || !bytes.Equal(got[0], f) {
			t.Fatalf("packet %d: far end got %x", n, got)
		}
	}
}

func TestPartSleepsUntilTheBell(t *testing.T) {
	b := newBench(t)
	b.packet(0, rig.Ether(60))
	if n := len(b.Sent()); n != 0 {
		t.Fatalf("%d frames sent before the bell", n)
	}
	b.txBell()
	if n := len(b.Sent()); n != 1 {
		t.Errorf("%d frames sent, want 1", n)
	}
}

func TestShortFrameIsPadded(t *testing.T) {
	b := newBench(t)
	f := rig.Ether(20)
	b.packet(0, f)
	b.txBell()
	if got := b.Sent(); len(got) != 1 || !bytes.Equal(got[0], append(f, make([]byte, 40)...)) {
		t.Errorf("far end got %x", got)
	}
}

func TestOffloads(t *testing.T) {
	b := newBench(t)
	f := rig.TCP(100, true, false)
	b.packet(ipSum|l4Sum|tag|0x2064<<16, f[:20], f[20:40], f[40:])
	b.txBell()
	want := rig.Tagged(rig.TCP(100, false, false), 0x2064)
	if got := b.Sent(); len(got) != 1 || !bytes.Equal(got[0], want) {
		t.Errorf("far end got %x\nwant %x", got, want)
	}
}

func TestPacketThatCannotBeSentIsGivenBackAndCounted(t *testing.T) {
	for name, bad := range map[string]func(b *bench){
		"no bytes":                 func(b *bench) { b.put(b.Alloc(64), own|end) },
		"outside memory":           func(b *bench) { b.put(1<<40, own|end|64) },
		"IP checksum without IP":   func(b *bench) { b.packet(ipSum, rig.Ether(60)) },
		"L4 checksum without IP":   func(b *bench) { b.packet(l4Sum, rig.Ether(60)) },
		"too long with its tag":    func(b *bench) { b.packet(tag, rig.Ether(9231)) },
		"longer than any frame is": func(b *bench) { b.packet(0, rig.Ether(9000), rig.Ether(235)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			bad(b)
			b.packet(0, rig.Ether(64))
			b.txBell()
			if n := len(b.Sent()); n != 1 {
				t.Errorf("%d frames sent, want the one behind", n)
			}
			for i := range b.txAt {
				if s := b.txState(i); s != 0 {
					t.Errorf("descriptor %d is %#x", i, s)
				}
			}
			b.wantStat(t, skelreg.StatTxErrors, 1)
		})
	}
}

func TestChainWithoutEndStopsTheQueueAndSaysWhere(t *testing.T) {
	for name, chain := range map[string]int{"not owned": 2, "seventeen": 17} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.packet(0, rig.Ether(64))
			for range chain {
				b.put(b.Alloc(64), own|64)
			}
			b.txBell()
			if n := len(b.Sent()); n != 1 {
				t.Errorf("%d frames sent, want 1", n)
			}
			b.put(b.Alloc(64), own|end|64)
			b.txBell()
			if n := len(b.Sent()); n != 0 {
				t.Errorf("%d frames sent by a queue that has stopped", n)
			}
			if want := "transmit queue 0: the packet at descriptor 1 has no end"; !strings.Contains(b.Console(), want) {
				t.Errorf("console: %q, want %q", b.Console(), want)
			}
			b.wantStat(t, skelreg.StatRefused, 1)
		})
	}
}

func TestSteadyTransmitAllocatesNothing(t *testing.T) {
	b := newBench(t)
	f := rig.TCP(1000, true, false)
	for range ringSize {
		b.packet(ipSum|l4Sum, f)
	}
	send := func() {
		i := b.txAt % ringSize * skelreg.DescWords
		b.tx[i+1] = own | end | notify | ipSum | l4Sum | uint64(len(f))
		b.txAt++
		b.txBell()
	}
	b.txBell()
	for range 20 {
		b.Sent()
		send()
	}
	b.Sent()
	if n := testing.AllocsPerRun(20, send); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
