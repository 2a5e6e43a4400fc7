package hwbhw_test

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbhw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestCommandsAreAnsweredOverSeveralWraps(t *testing.T) {
	b := newBench(t)
	b.linkUp(t)
	for range 5 * adminSize {
		if a := b.run(t, hwbreg.OpVersion, 0, 0, hwbreg.AdmOK); a.r1 != hwbreg.Firmware || a.r2 != hwbreg.MaxQueues {
			t.Fatalf("version %+v", a)
		}
	}
}

func TestAddressAndLinkCommands(t *testing.T) {
	b := newBench(t)
	b.linkUp(t)
	if a := b.run(t, hwbreg.OpGetMAC, 0, 0, hwbreg.AdmOK); a.r1 != 0x010000000002 {
		t.Errorf("address %#x", a.r1)
	}
	b.run(t, hwbreg.OpSetMAC, 0x665544332202, 0, hwbreg.AdmOK)
	if a := b.run(t, hwbreg.OpGetMAC, 0, 0, hwbreg.AdmOK); a.r1 != 0x665544332202 {
		t.Errorf("address %#x after it was set", a.r1)
	}
	if a := b.run(t, hwbreg.OpGetLink, 0, 0, hwbreg.AdmOK); a.r1 != 10000<<hwbreg.LinkSpeedShift|hwbreg.LinkUp|hwbreg.LinkFullDuplex {
		t.Errorf("link %#x", a.r1)
	}
}

func TestBadCommandsAreAnsweredWithTheirStatus(t *testing.T) {
	b := newBench(t)
	b.linkUp(t)
	for i, c := range []struct{ op, p1, p2, want uint64 }{
		{0x0000, 0, 0, hwbreg.AdmBadOp},
		{hwbreg.EventLink, 0, 0, hwbreg.AdmBadOp},
		{hwbreg.OpRxMode, 1 << 4, 0, hwbreg.AdmBadParam},
		{hwbreg.OpMaxFrame, 59, 0, hwbreg.AdmBadParam},
		{hwbreg.OpMaxFrame, 9217, 0, hwbreg.AdmBadParam},
		{hwbreg.OpMcast, 0, 129, hwbreg.AdmBadParam},
		{hwbreg.OpMcast, 1 << 40, 1, hwbreg.AdmDMAError},
		{hwbreg.OpRSS, 0, 103, hwbreg.AdmBadParam},
		{hwbreg.OpRSS, 1 << 40, 104, hwbreg.AdmDMAError},
	} {
		b.run(t, c.op, c.p1, c.p2, c.want)
		if n := b.stat(nicreg.StatRefused); n != uint64(i+1) {
			t.Errorf("%d refusals after bad command %d", n, i)
		}
	}
}

func TestFullResponseRingHoldsCommandsAndKeepsTheLastLinkEvent(t *testing.T) {
	b := newBench(t)
	for range adminSize - 1 { // the link event is there already
		b.submit(hwbreg.OpVersion, 0, 0)
	}
	if v := b.BAR.Read32(hwbreg.ACQHEAD); v != adminSize-1 {
		t.Fatalf("ACQHEAD is %d, want %d", v, adminSize-1)
	}
	b.submit(hwbreg.OpGetMAC, 0, 0)
	if v := b.BAR.Read32(hwbreg.ACQHEAD); v != adminSize-1 {
		t.Fatalf("a command was taken without room for its response: ACQHEAD is %d", v)
	}
	cable := b.Far.(interface{ SetLink(bool) })
	cable.SetLink(false)
	cable.SetLink(true)
	cable.SetLink(false)
	var ops []uint64
	for range adminSize + 2 {
		ops = append(ops, b.response(t).op)
	}
	want := []uint64{hwbreg.EventLink, hwbreg.OpVersion, hwbreg.OpVersion, hwbreg.OpVersion, hwbreg.EventLink, hwbreg.OpGetMAC}
	for i := range want {
		if ops[i] != want[i] {
			t.Fatalf("responses %#x, want %#x", ops, want)
		}
	}
	if _, more := b.next(); more {
		t.Error("one more response")
	}
	if v := b.BAR.Read32(hwbreg.STATUS); v&hwbreg.StatusLinkUp != 0 {
		t.Error("STATUS says that the link is up")
	}
}

func TestAdminVectorFiresWhenEnabledAndKeepsEvents(t *testing.T) {
	b := newBench(t)
	b.ConnectMSIX(hwbreg.MSIXVectors)
	if n := b.Fired(1); n != 0 {
		t.Errorf("fired %d times while disabled", n)
	}
	b.BAR.Write32(hwbreg.VCTL0, hwbreg.VctlEnable)
	if n := b.Fired(1); n != 1 {
		t.Errorf("the link event fired %d times when enabled, want 1", n)
	}
	if v := b.BAR.Read32(hwbreg.VCTL0); v != 0 {
		t.Error("the vector is still enabled")
	}
	b.submit(hwbreg.OpVersion, 0, 0)
	b.submit(hwbreg.OpVersion, 0, 0)
	if n := b.Fired(1); n != 0 {
		t.Errorf("fired %d times before it was enabled again", n)
	}
	b.BAR.Write32(hwbreg.VCTL0, hwbreg.VctlEnable)
	if n := b.Fired(1); n != 1 {
		t.Errorf("two responses fired %d times, want 1", n)
	}
}

func TestQueuePairSharesOneVector(t *testing.T) {
	b := newBench(t)
	b.receiver(t, 0)
	b.ConnectMSIX(hwbreg.MSIXVectors)
	const rid = 2 + 1
	enable := func() { b.BAR.Write32(hwbreg.VCTL0+4*2, hwbreg.VctlEnable) }
	enable()
	b.packet(0, rig.Ether(60))
	b.tail()
	if n := b.Fired(rid); n != 1 {
		t.Errorf("transmit fired %d times, want 1", n)
	}
	enable()
	b.fill(1)
	b.Inject(rig.Ether(60))
	if n := b.Fired(rid); n != 1 {
		t.Errorf("receive fired %d times, want 1", n)
	}
}

func TestLegacyInterruptIsDisabledByReadingTheCause(t *testing.T) {
	b := newBench(t)
	b.linkUp(t)
	b.BAR.Write32(hwbreg.CTRL, hwbreg.CtrlTxEnable)
	var seen []uint32
	if _, err := b.Fn.SetupIntr(0, "irq0", 0, func() { seen = append(seen, b.BAR.Read32(hwbreg.ICR)) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Fn.TeardownIntr(0) })
	b.BAR.Write32(hwbreg.VCTL0, hwbreg.VctlEnable)
	b.packet(0, rig.Ether(60))
	b.tail()
	b.Settle()
	b.submit(hwbreg.OpVersion, 0, 0)
	b.Settle()
	if len(seen) != 1 || seen[0] != 1<<0 {
		t.Fatalf("causes %#x, want queue pair 0 alone", seen)
	}
	b.BAR.Write32(hwbreg.VCTL0, hwbreg.VctlEnable)
	b.Settle()
	if len(seen) != 2 || seen[1] != hwbreg.CauseAdmin {
		t.Errorf("causes %#x, want the admin queue second", seen)
	}
}

func TestMSISendsOneMessageWhenTheConditionBegins(t *testing.T) {
	b := newBench(t)
	b.linkUp(t)
	b.BAR.Write32(hwbreg.CTRL, hwbreg.CtrlTxEnable|hwbreg.CtrlMSI)
	if _, err := b.Fn.AllocMSI(1); err != nil {
		t.Fatal(err)
	}
	b.Connect(1)
	b.BAR.Write32(hwbreg.VCTL0, hwbreg.VctlEnable)
	for range 3 {
		b.packet(0, rig.Ether(60))
		b.tail()
	}
	if n := b.Fired(1); n != 1 {
		t.Errorf("fired %d times, want 1", n)
	}
}

func TestForbiddenWritesAreRefusedAndCounted(t *testing.T) {
	b := newBench(t)
	bar := b.BAR
	bar.Write32(reg(1, hwbreg.TXLEN), 17)
	bar.Write32(reg(2, hwbreg.RXLEN), 16)
	bar.Write32(reg(2, hwbreg.RXBASELO), uint32(b.rxAddr))
	bar.Write32(reg(2, hwbreg.RXBUF), 255)
	bar.Write32(reg(3, hwbreg.TXLEN), 16)
	bar.Write32(reg(3, hwbreg.TXBASELO), uint32(b.ringAddr))
	bar.Write32(reg(3, hwbreg.TXHWBLO), uint32(b.ringAddr)+4)
	writes := []func(){
		func() { bar.Write32(reg(0, hwbreg.TXLEN), 32) },                // enabled
		func() { bar.Write32(reg(0, hwbreg.RXBUF), 1024) },              // enabled
		func() { bar.Write32(reg(1, hwbreg.TXCTL), 1) },                 // ring of 17
		func() { bar.Write32(reg(2, hwbreg.RXCTL), 1) },                 // buffers of 255
		func() { bar.Write32(reg(3, hwbreg.TXCTL), 1) },                 // head word not aligned
		func() { bar.Write32(reg(0, hwbreg.TXTAIL), ringSize) },         // beyond the ring
		func() { bar.Write32(reg(0, hwbreg.RXTAIL), ringSize) },         // beyond the ring
		func() { bar.Write32(reg(1, hwbreg.TXTAIL), 0) },                // not enabled
		func() { bar.Write32(reg(0, hwbreg.QVEC), 9) },                  // no such vector
		func() { bar.Write32(reg(0, hwbreg.TXHEAD), 0) },                // read only
		func() { bar.Write32(hwbreg.ACQTAIL, adminSize) },               // beyond the ring
		func() { bar.Write32(hwbreg.ARQCONS, 2) },                       // only the link event
		func() { bar.Write32(hwbreg.ACQLEN, 8) },                        // enabled
		func() { bar.Write32(0x0ffc, 1) },                               // no register
		func() { bar.Write32(reg(0, 0x20), 1) },                         // no register
		func() { bar.Write32(reg(hwbreg.MaxQueues, hwbreg.TXTAIL), 1) }, // no queue
	}
	for i, w := range writes {
		w()
		if n := b.stat(nicreg.StatRefused); n != uint64(i+1) {
			t.Fatalf("%d refusals after forbidden write %d", n, i)
		}
	}
	if n := strings.Count(b.Console(), "refused\n"); n != len(writes) {
		t.Errorf("%d lines on the console, want %d:\n%s", n, len(writes), b.Console())
	}
}

func TestResetStopsEverything(t *testing.T) {
	b := newBench(t)
	b.receiver(t, hwbreg.RxModePromisc)
	b.run(t, hwbreg.OpSetMAC, 0x665544332202, 0, hwbreg.AdmOK)
	b.packet(0, rig.Ether(60))
	b.tail()
	b.BAR.Write32(hwbreg.CTRL, hwbreg.CtrlReset)
	for _, off := range []uint64{hwbreg.CTRL, hwbreg.ADMCTL, hwbreg.ACQLEN, nicreg.StatTxFrames, reg(0, hwbreg.TXCTL), reg(0, hwbreg.TXLEN), reg(0, hwbreg.RXCTL)} {
		if v := b.BAR.Read32(off); v != 0 {
			t.Errorf("register %#x is %#x after reset", off, v)
		}
	}
	b.cmds, b.answers = 0, 0
	b.startAdmin()
	if a := b.run(t, hwbreg.OpGetMAC, 0, 0, hwbreg.AdmOK); a.r1 != 0x665544332202 {
		t.Errorf("address %#x after reset", a.r1)
	}
	b.Fn.FLR()
	b.cmds, b.answers = 0, 0
	b.startAdmin()
	if a := b.run(t, hwbreg.OpGetMAC, 0, 0, hwbreg.AdmOK); a.r1 != 0x010000000002 {
		t.Errorf("address %#x after a function-level reset", a.r1)
	}
}

func TestIdentity(t *testing.T) {
	r := rig.New(t, hwbhw.New, hwbreg.BARRegs)
	if id := r.Fn.Identity(); id.Vendor != hwbreg.VendorID || id.Device != hwbreg.DeviceID {
		t.Errorf("identity %v", id)
	}
	if v := r.BAR.Read32(hwbreg.CAPS); v != hwbreg.MaxQueues {
		t.Errorf("CAPS %#x", v)
	}
}
