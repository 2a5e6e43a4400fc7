package skelhw_test

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestIdentity(t *testing.T) {
	b := newBench(t)
	want := pci.Identity{Vendor: 0xfffe, Device: 0x5ce1, SubVendor: 0xfffe, SubDevice: 0x5ce1, Class: 0x020000}
	if got := b.Fn.Identity(); got != want {
		t.Errorf("identity %+v, want %+v", got, want)
	}
	if msix, msi := b.Fn.MSIXCount(), b.Fn.MSICount(); msix != 3 || msi != 1 {
		t.Errorf("%d MSI-X vectors and %d MSI messages, want 3 and 1", msix, msi)
	}
}

func TestResetZeroesAllButTheAddress(t *testing.T) {
	b := newBench(t)
	b.BAR.Write64(skelreg.GROUPLO, 1<<63|1)
	b.BAR.Write64(skelreg.MACLO, 0x99)
	b.BAR.Write32(skelreg.IENABLE, skelreg.EventAll)
	b.BAR.Write32(skelreg.RXMODE, ^uint32(0))
	b.BAR.Write32(0x0ff8, 1)
	if got := b.BAR.Read32(skelreg.RXMODE); got != 0x1f {
		t.Errorf("RXMODE is %#x, want 0x1f", got)
	}
	b.BAR.Write32(skelreg.CTRL, skelreg.CtrlReset)
	want := map[uint64]uint32{skelreg.STATUS: 1000<<16 | 3, skelreg.MACLO: 0x00000002, skelreg.MACHI: 0x0100}
	for off := uint64(0); off < skelreg.RegsSize; off += 4 {
		if got := b.BAR.Read32(off); got != want[off] {
			t.Errorf("register %#04x is %#x after reset, want %#x", off, got, want[off])
		}
	}
}

func TestRunningQueueIsNotReprogrammed(t *testing.T) {
	b := newBench(t)
	for _, r := range []uint64{skelreg.TXBASELO, skelreg.TXBASEHI, skelreg.RXBASELO, skelreg.RXBASEHI, skelreg.RXBUF} {
		before := b.BAR.Read32(reg(0, r))
		b.BAR.Write32(reg(0, r), before+64)
		if got := b.BAR.Read32(reg(0, r)); got != before {
			t.Errorf("register %#02x became %#x", r, got)
		}
	}
	b.wantStat(t, skelreg.StatRefused, 5)
	b.BAR.Write32(reg(0, skelreg.TXLEN), 0)
	b.BAR.Write32(reg(0, skelreg.TXBASELO), 64)
	if got := b.BAR.Read32(reg(0, skelreg.TXBASELO)); got != 64 {
		t.Errorf("base of a stopped queue is %#x", got)
	}
}

func TestQueueThatCannotBeStartedSaysWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		set  map[uint64]uint32
		len  uint64
		n    uint32
		says string
	}{
		"too short":      {nil, skelreg.TXLEN, 32, "a ring cannot have 32 entries"},
		"too long":       {nil, skelreg.TXLEN, 8192, "a ring cannot have 8192 entries"},
		"no power of 2":  {map[uint64]uint32{skelreg.RXBUF: 512}, skelreg.RXLEN, 100, "a ring cannot have 100 entries"},
		"alignment":      {map[uint64]uint32{skelreg.TXBASELO: 32}, skelreg.TXLEN, 64, "the ring at 0x20 is not aligned"},
		"small buffers":  {map[uint64]uint32{skelreg.RXBUF: 255}, skelreg.RXLEN, 64, "buffers cannot have 255 bytes"},
		"large buffers":  {map[uint64]uint32{skelreg.RXBUF: 16385}, skelreg.RXLEN, 64, "buffers cannot have 16385 bytes"},
		"without buffer": {nil, skelreg.RXLEN, 64, "buffers cannot have 0 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{Rig: rig.New(t, skelhw.New, skelreg.BARRegs)}
			for r, v := range tc.set {
				b.BAR.Write32(reg(1, r), v)
			}
			b.BAR.Write32(reg(1, tc.len), tc.n)
			if got := b.BAR.Read32(reg(1, tc.len)); got != 0 {
				t.Errorf("length reads %d, want 0: stopped", got)
			}
			b.wantStat(t, skelreg.StatRefused, 1)
			if !strings.Contains(b.Console(), tc.says) {
				t.Errorf("console says %q, want %q", b.Console(), tc.says)
			}
		})
	}
}

func TestEventsWithMSIX(t *testing.T) {
	b := newBench(t)
	b.ConnectMSIX(skelreg.MSIXVectors)
	fired := func() (v [skelreg.MSIXVectors]int) {
		for i := range v {
			v[i] = b.Fired(i + 1)
		}
		return v
	}
	want := func(when string, n ...int) {
		t.Helper()
		if got := fired(); got != [skelreg.MSIXVectors]int(n) {
			t.Errorf("%s: vectors fired %v, want %v", when, got, n)
		}
	}
	b.packet(0, rig.Ether(60))
	b.txBell()
	want("while disabled", 0, 0, 0)
	b.BAR.Write32(skelreg.IENABLE, skelreg.EventAll)
	want("what was pending", 1, 0, 1) // the link came up before
	if got := b.BAR.Read32(skelreg.IENABLE); got != 1<<1 {
		t.Errorf("enabled events %#x, want what has not fired", got)
	}
	b.packet(0, rig.Ether(60))
	b.txBell()
	want("not enabled again", 0, 0, 0)
	b.BAR.Write32(skelreg.IENABLE, 1)
	want("enabled again", 1, 0, 0)
	b.BAR.Write32(skelreg.IENABLE, 1)
	b.BAR.Write32(skelreg.IDISABLE, 1)
	b.packet(0, rig.Ether(60))
	b.txBell()
	want("disabled", 0, 0, 0)
}

func TestEventsOnOneLine(t *testing.T) {
	b := newBench(t)
	fired := 0
	_, err := b.Fn.SetupIntr(0, "nic0:intx", 0, func() {
		fired++
		if got := b.BAR.Read32(skelreg.ICAUSE); got != 1<<2 {
			t.Errorf("causes %#x, want the link's", got)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.BAR.Write32(skelreg.IENABLE, skelreg.EventAll)
	b.Settle()
	if fired != 1 {
		t.Errorf("filter ran %d times, want 1", fired)
	}
	if v := b.BAR.Read32(skelreg.ICAUSE); v != 0 {
		t.Errorf("causes are %#x after they were read", v)
	}
	if err := b.Fn.TeardownIntr(0); err != nil {
		t.Fatal(err)
	}
}

func TestEventsAsMSI(t *testing.T) {
	b := newBench(t)
	if n, err := b.Fn.AllocMSI(1); n != 1 || err != nil {
		t.Fatalf("%d messages, %v", n, err)
	}
	b.Connect(1)
	b.BAR.Write32(skelreg.IENABLE, skelreg.EventAll)
	if n := b.Fired(1); n != 1 {
		t.Errorf("%d messages for the link, want 1", n)
	}
	b.packet(0, rig.Ether(60))
	b.txBell()
	if n := b.Fired(1); n != 0 {
		t.Errorf("%d messages while an event is due", n)
	}
	if v := b.BAR.Read32(skelreg.ICAUSE); v != 1<<2|1 {
		t.Errorf("causes %#x, want link and pair 0", v)
	}
	b.BAR.Write32(skelreg.IENABLE, skelreg.EventAll)
	b.packet(0, rig.Ether(60))
	b.txBell()
	if n := b.Fired(1); n != 1 {
		t.Errorf("%d messages for the next packet, want 1", n)
	}
}
