package cqhw_test

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestIdentityAndResetState(t *testing.T) {
	r := rig.New(t, cqhw.New, cqreg.BARRegs)
	if id := r.Fn.Identity(); id.Vendor != cqreg.VendorID || id.Device != cqreg.DeviceID {
		t.Errorf("identity %v", id)
	}
	if v := r.BAR.Read32(cqreg.HWCAP); v != 8|8<<8 {
		t.Errorf("HWCAP %#x", v)
	}
	if v := r.BAR.Read64(cqreg.MACLO); v != 0x010000000002 {
		t.Errorf("station address %#x", v)
	}
	if v := r.BAR.Read32(cqreg.STATUS); v != 10000<<cqreg.StatusSpeedShift|cqreg.StatusFullDuplex|cqreg.StatusLinkUp {
		t.Errorf("STATUS %#x", v)
	}
}

func TestArmedEventFiresOnceAndNotForWhatIsConsumed(t *testing.T) {
	q := newTx(t, 64, 64)
	q.ConnectMSIX(cqreg.MSIXVectors)
	const rid = 3 + 1
	q.BAR.Write32(cqreg.IMS, cqreg.CauseTx0)
	send := func() {
		q.packet(0, 0, rig.Ether(60))
		q.ringBell(1)
	}
	send()
	if n := q.Fired(rid); n != 0 {
		t.Errorf("fired %d times without being armed", n)
	}
	q.BAR.Write32(reg(0, cqreg.TXCQARM), 1)
	if n := q.Fired(rid); n != 0 {
		t.Errorf("fired %d times for an entry that was consumed", n)
	}
	send()
	send()
	if n := q.Fired(rid); n != 1 {
		t.Errorf("fired %d times for two entries, want 1", n)
	}
	q.BAR.Write32(reg(0, cqreg.TXCQARM), 1)
	if n := q.Fired(rid); n != 1 {
		t.Errorf("fired %d times when armed behind the producer, want 1", n)
	}
}

func TestMaskedEventIsKept(t *testing.T) {
	q := newTx(t, 64, 64)
	q.ConnectMSIX(cqreg.MSIXVectors)
	const rid = 3 + 1
	q.BAR.Write32(reg(0, cqreg.TXCQARM), 0)
	q.packet(0, 0, rig.Ether(60))
	q.ringBell(1)
	if n := q.Fired(rid); n != 0 {
		t.Errorf("fired %d times while masked", n)
	}
	q.BAR.Write32(cqreg.IMS, cqreg.CauseTx0|cqreg.CauseLink)
	if n := q.Fired(rid); n != 1 {
		t.Errorf("fired %d times when unmasked, want 1", n)
	}
	if n := q.Fired(cqreg.AdminVector + 1); n != 1 {
		t.Errorf("link event fired %d times, want 1", n)
	}
}

func TestLegacyInterruptFollowsCausesAndMask(t *testing.T) {
	q := newTx(t, 64, 64)
	q.BAR.Write32(cqreg.CTRL, cqreg.CtrlTxEnable)
	reads := 0
	var seen uint32
	_, err := q.Fn.SetupIntr(0, "irq0", 0, func() {
		reads++
		seen |= q.BAR.Read32(cqreg.ICR)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Fn.TeardownIntr(0) })
	q.BAR.Write32(cqreg.IMS, cqreg.CauseAll)
	q.Settle()
	if seen != cqreg.CauseLink || reads != 1 {
		t.Fatalf("causes %#x in %d interrupts, want the link in one", seen, reads)
	}
	q.BAR.Write32(reg(0, cqreg.TXCQARM), 0)
	q.packet(0, 0, rig.Ether(60))
	q.ringBell(1)
	q.Settle()
	if seen != cqreg.CauseLink|cqreg.CauseTx0 || reads != 2 {
		t.Errorf("causes %#x in %d interrupts, want transmit queue 0 in the second", seen, reads)
	}
}

func TestMSISendsOneMessageForEachCause(t *testing.T) {
	q := newTx(t, 64, 64)
	q.BAR.Write32(cqreg.CTRL, cqreg.CtrlTxEnable|cqreg.CtrlMSI)
	if _, err := q.Fn.AllocMSI(1); err != nil {
		t.Fatal(err)
	}
	q.Connect(1)
	q.BAR.Write32(cqreg.IMS, cqreg.CauseAll)
	if n := q.Fired(1); n != 1 {
		t.Errorf("fired %d times for the link, want 1", n)
	}
	q.BAR.Write32(reg(0, cqreg.TXCQARM), 0)
	q.packet(0, 0, rig.Ether(60))
	q.ringBell(1)
	if n := q.Fired(1); n != 1 {
		t.Errorf("fired %d times for a completion, want 1", n)
	}
}

func TestForbiddenWritesAreRefusedAndCounted(t *testing.T) {
	q := newTx(t, 16, 16)
	bar := q.BAR
	bar.Write32(reg(1, cqreg.TXLEN), 17)
	bar.Write32(reg(2, cqreg.TXLEN), 16)
	bar.Write32(reg(2, cqreg.TXBASELO), uint32(q.ring.addr)+8)
	writes := []func(){
		func() { bar.Write32(reg(0, cqreg.TXLEN), 32) },             // enabled
		func() { bar.Write32(reg(1, cqreg.TXCTL), 1) },              // ring of 17
		func() { bar.Write32(reg(2, cqreg.TXCTL), 1) },              // not aligned
		func() { bar.Write32(reg(3, cqreg.RXCTL), 1) },              // no ring
		func() { bar.Write32(reg(0, cqreg.TXCQCONS), 1) },           // nothing produced
		func() { bar.Write32(reg(0, cqreg.RXCQCONS), 0) },           // not enabled
		func() { bar.Write32(reg(0, cqreg.RXFL0TAIL), 0) },          // not enabled
		func() { bar.Write32(reg(1, cqreg.TXDB), 1) },               // not enabled
		func() { bar.Write32(0x0ffc, 1) },                           // no register
		func() { bar.Write32(reg(0, 0x30), 1) },                     // no register
		func() { bar.Write32(reg(cqreg.MaxQueues, cqreg.TXDB), 1) }, // no queue
	}
	for i, w := range writes {
		w()
		if n := bar.Read64(nicreg.StatRefused); n != uint64(i+1) {
			t.Fatalf("%d refusals after forbidden write %d", n, i)
		}
	}
	if n := strings.Count(q.Console(), "refused\n"); n != len(writes) {
		t.Errorf("%d lines on the console, want %d:\n%s", n, len(writes), q.Console())
	}
}

func TestResetStopsEverythingAndKeepsTheAddress(t *testing.T) {
	q := newTx(t, 16, 16)
	q.BAR.Write32(cqreg.MACLO, 0x44332211)
	q.BAR.Write32(cqreg.MAXFRM, 1514)
	q.packet(0, 0, rig.Ether(60))
	q.ringBell(1)
	q.BAR.Write32(cqreg.CTRL, cqreg.CtrlReset)
	for off, want := range map[uint64]uint32{
		cqreg.CTRL: 0, cqreg.MACLO: 0x44332211, cqreg.MAXFRM: 0, nicreg.StatTxFrames: 0,
		reg(0, cqreg.TXCTL): 0, reg(0, cqreg.TXLEN): 0,
	} {
		if v := q.BAR.Read32(off); v != want {
			t.Errorf("register %#x is %#x after reset, want %#x", off, v, want)
		}
	}
	q.Sent()
	q.ringBell(1)
	if n := len(q.Sent()); n != 0 {
		t.Errorf("%d frames sent after reset", n)
	}
	q.Fn.FLR()
	if v := q.BAR.Read32(cqreg.MACLO); v != 2 {
		t.Errorf("MACLO is %#x after a function-level reset", v)
	}
}
