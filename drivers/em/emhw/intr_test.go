package emhw_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// listen allocates interrupts of a kind and returns how often each has fired.
func (b *board) listen(kind string, filter func()) []int {
	b.t.Helper()
	fired := make([]int, 6)
	setup := func(rid int) {
		_, err := b.fn.SetupIntr(rid, "em0", 0, func() {
			fired[rid]++
			if filter != nil {
				filter()
			}
		})
		must(b.t, err)
	}
	switch kind {
	case "msix":
		_, err := b.fn.MapBAR(b.fn.MSIXTableBAR())
		must(b.t, err)
		n, err := b.fn.AllocMSIX(5)
		must(b.t, err)
		for rid := 1; rid <= n; rid++ {
			setup(rid)
		}
	case "msi":
		_, err := b.fn.AllocMSI(1)
		must(b.t, err)
		setup(1)
	default:
		setup(0)
	}
	return fired
}

func TestCauseReadRules(t *testing.T) {
	for _, tc := range []struct {
		name        string
		chip        string
		ims         uint32
		ext, iam    uint32
		ics         uint32
		first       uint32 // what ICR reads
		second      uint32 // and reads again
		imsAfter    uint32
		maskBetween bool // IMC after ICS, so that nothing is asserted
	}{
		{name: "8254x clears when masked", chip: "82540EM", ics: 0x84, first: 0x84},
		{name: "8254x clears when unmasked", chip: "82540EM", ims: 0x9d, ics: 0x84, first: 0x84, imsAfter: 0x9d},
		{name: "82574 clears with IMS 0", chip: "82574L", ics: 0x84, first: 0x84},
		{name: "82574 clears when asserted", chip: "82574L", ims: 0x9d, ics: 0x84, first: 0x80000084, imsAfter: 0x9d},
		{name: "82574 keeps what is not asserted", chip: "82574L", ims: 0x10, ics: 0x84, first: 0x84, second: 0x84, imsAfter: 0x10},
		{name: "82574 masks by IAM with IAME", chip: "82574L", ims: 0x9d, ext: 1 << 27, iam: 0x81, ics: 0x84, first: 0x80000084, imsAfter: 0x1c},
		{name: "82574 without IAME ignores IAM", chip: "82574L", ims: 0x9d, iam: 0x81, ics: 0x84, first: 0x80000084, imsAfter: 0x9d},
	} {
		b := newBoard(t, tc.chip)
		b.read(emreg.ICR)
		b.write(emreg.CTRLExt, tc.ext)
		b.write(emreg.IAM, tc.iam)
		b.write(emreg.IMS, tc.ims)
		b.write(emreg.ICS, tc.ics)
		if v := b.read(emreg.ICR); v != tc.first {
			t.Errorf("%s: first %#x, want %#x", tc.name, v, tc.first)
		}
		if v := b.read(emreg.ICR); v != tc.second {
			t.Errorf("%s: second %#x, want %#x", tc.name, v, tc.second)
		}
		if v := b.read(emreg.IMS); v != tc.imsAfter || b.read(emreg.IMC) != v {
			t.Errorf("%s: IMS %#x, want %#x", tc.name, v, tc.imsAfter)
		}
	}
}

func TestCauseWriteAndSetRead(t *testing.T) {
	b := newBoard(t, "82574L")
	b.read(emreg.ICR)
	b.write(emreg.ICS, 0xd4)
	b.write(emreg.ICR, 0x44)
	if v := b.read(emreg.ICS); v != 0x90 {
		t.Errorf("ICS reads %#x, want 0x90", v)
	}
	if v := b.read(emreg.ICR); v != 0x90 {
		t.Errorf("ICR reads %#x after reading ICS, want 0x90", v)
	}
}

func TestMaskingTakesTheAssertedBitBack(t *testing.T) {
	b := newBoard(t, "82574L")
	b.read(emreg.ICR)
	b.write(emreg.IMS, 0x9d)
	b.write(emreg.ICS, emreg.ICRLSC)
	if v := b.read(emreg.ICS); v != 0x80000004 {
		t.Errorf("asserted: %#x", v)
	}
	b.write(emreg.IMC, 0xffffffff)
	if v := b.read(emreg.ICS); v != 4 {
		t.Errorf("masked: %#x", v)
	}
}

func TestLineStaysAssertedUntilTheCauseIsRead(t *testing.T) {
	for _, chip := range []string{"82540EM", "82574L"} {
		b := newBoard(t, chip)
		b.read(emreg.ICR)
		var seen []uint32
		runs := 0
		fired := b.listen("intx", func() {
			if runs++; runs == 3 { // the first two runs do not look
				seen = append(seen, b.read(emreg.ICR))
			}
		})
		b.write(emreg.ICS, emreg.ICRLSC)
		b.k.RunUntilIdle()
		if fired[0] != 0 {
			t.Fatalf("%s: interrupt while masked", chip)
		}
		b.write(emreg.IMS, 0x9d)
		b.k.RunUntilIdle()
		if fired[0] != 3 || len(seen) != 1 || seen[0]&emreg.ICRLSC == 0 {
			t.Errorf("%s: %d runs, ICR %x", chip, fired[0], seen)
		}
		b.write(emreg.IMC, 0xffffffff)
		b.write(emreg.ICS, emreg.ICRLSC)
		b.k.RunUntilIdle()
		if fired[0] != 3 {
			t.Errorf("%s: masked interrupt ran", chip)
		}
	}
}

func TestMSIIsSentOnceForACause(t *testing.T) {
	b := newBoard(t, "82574L")
	b.read(emreg.ICR)
	fired := b.listen("msi", nil)
	b.write(emreg.IMS, 0x9d)
	for _, tc := range []struct {
		do   func()
		want int
	}{
		{func() { b.write(emreg.ICS, emreg.ICRRXT0) }, 1},
		{func() { b.write(emreg.ICS, emreg.ICRTXDW) }, 1}, // nobody has read the first
		{func() { b.read(emreg.ICR); b.write(emreg.ICS, emreg.ICRTXDW) }, 2},
		{func() { b.write(emreg.IMC, 0xffffffff); b.write(emreg.IMS, 0x9d) }, 3}, // still pending
	} {
		tc.do()
		b.k.RunUntilIdle()
		if fired[1] != tc.want {
			t.Fatalf("%d messages, want %d", fired[1], tc.want)
		}
	}
}

// The driver's set-up: rx 0, rx 1, tx sharing vectors, other on vector 2 (spec 1g 6.6).
func msixBoard(t *testing.T) (*board, []int) {
	b := newBoard(t, "82574L")
	b.read(emreg.ICR)
	fired := b.listen("msix", nil)
	b.write(emreg.IVAR, 0x800a9898) // TxQ1 9, TxQ0 8, RxQ1 9, RxQ0 8, other 10
	b.write(emreg.EIAC, 0x01f00000)
	b.write(emreg.IMS, 0x01f0009d)
	return b, fired
}

func TestMSIXVectorsByIVAR(t *testing.T) {
	for bit, rid := range map[uint32]int{20: 1, 21: 2, 22: 1, 23: 2, 24: 3, 2: 3, 6: 3} {
		b, fired := msixBoard(t)
		b.write(emreg.ICS, 1<<bit)
		b.k.RunUntilIdle()
		for i, n := range fired {
			if want := map[bool]int{true: 1}[i == rid]; n != want {
				t.Errorf("cause %d: rid %d fired %d times, want %d", bit, i, n, want)
			}
		}
	}
}

func TestMSIXAutoClearMasksUntilReenabled(t *testing.T) {
	b, fired := msixBoard(t)
	b.write(emreg.ICS, 1<<20)
	b.k.RunUntilIdle()
	if icr, ims := b.read(emreg.ICS), b.read(emreg.IMS); icr&(1<<20) != 0 || ims != 0x01e0009d {
		t.Errorf("after delivery ICR %#x, IMS %#x", icr, ims)
	}
	b.write(emreg.ICS, 1<<20)
	b.k.RunUntilIdle()
	if fired[1] != 1 {
		t.Errorf("%d messages while masked", fired[1])
	}
	b.write(emreg.IMS, 1<<20)
	b.k.RunUntilIdle()
	if fired[1] != 2 {
		t.Errorf("%d messages after unmasking, want 2", fired[1])
	}
	// Reading ICR takes queue causes with it (spec 1g 8): ICS brings them back.
	b.write(emreg.ICS, 1<<20)
	if icr := b.read(emreg.ICR); icr&(1<<20) == 0 || b.read(emreg.ICS) != 0 {
		t.Errorf("ICR %#x, then %#x", icr, b.read(emreg.ICS))
	}
	b.write(emreg.IMS, 1<<20)
	b.k.RunUntilIdle()
	if fired[1] != 2 {
		t.Error("a cause that was read went out")
	}
}

func TestQueueEventsReachTheirVectors(t *testing.T) {
	b, fired := msixBoard(t)
	r := b.txOn(1)
	r.data(rig.Padded(rig.NewFlow(0).Build(t)), 0x0b000000, 0)
	r.doorbell()
	b.k.RunUntilIdle()
	if fired[2] != 1 || fired[1] != 0 {
		t.Errorf("transmit queue 1: fired %v", fired)
	}
	b.rxOn(0, 0)
	b.arrive(rig.NewFlow(60).Build(t))
	if fired[1] != 1 || fired[2] != 1 {
		t.Errorf("receive queue 0: fired %v", fired)
	}
	if n := b.read(emreg.IAC); n != 2 {
		t.Errorf("IAC %d, want 2", n)
	}
}

func TestThrottleSpacesInterrupts(t *testing.T) {
	const units = 0x7a12 // 8 ms
	for _, kind := range []string{"intx", "msix"} {
		var b *board
		var fired []int
		rid, cause := 0, uint32(emreg.ICRRXT0)
		if kind == "msix" {
			b, fired = msixBoard(t)
			b.write(emreg.EIAC, 0)
			b.write(emreg.EITR, units)
			rid, cause = 1, emreg.ICRRXQ0
		} else {
			b = newBoard(t, "82540EM")
			b.read(emreg.ICR)
			fired = b.listen(kind, func() { b.read(emreg.ICR) })
			b.write(emreg.IMS, 0x9d)
			b.write(emreg.ITR, units)
		}
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {0, 1}, {7 * time.Millisecond, 1}, {2 * time.Millisecond, 2}} {
			b.k.Advance(step.wait)
			b.read(emreg.ICR)
			b.write(emreg.ICS, cause)
			b.k.RunUntilIdle()
			if fired[rid] != step.want {
				t.Fatalf("%s: %d interrupts, want %d after %v", kind, fired[rid], step.want, step.wait)
			}
		}
	}
}

func TestDelayTimers(t *testing.T) {
	const ms = 977 // units of 1.024 us
	b := newBoard(t, "82574L")
	r := b.txOn(0)
	b.write(emreg.TIDV, 4*ms)
	b.write(emreg.TADV, 9*ms)
	b.read(emreg.ICR)
	send := func(ide uint32) {
		r.data(rig.Padded(rig.NewFlow(0).Build(t)), 0x0b000000|ide, 0)
		r.doorbell()
	}
	txdw := func() bool { return b.read(emreg.ICS)&emreg.ICRTXDW != 0 }
	send(0)
	if !txdw() {
		t.Fatal("no TXDW at once without IDE")
	}
	b.read(emreg.ICR)
	for i := range 3 { // at 0, 3 and 6 ms: each restarts the packet timer
		send(0x80000000)
		if txdw() {
			t.Fatalf("TXDW with packet %d", i)
		}
		b.k.Advance(3 * time.Millisecond)
	}
	b.k.Advance(2 * time.Millisecond) // the absolute timer ends at 9 ms
	if !txdw() || b.read(emreg.ICTXPTC) != 1 {
		t.Error("no TXDW after the absolute delay")
	}
	b.read(emreg.ICR)
	send(0x80000000)
	b.write(emreg.TIDV, 4*ms|1<<31) // FPD
	if !txdw() {
		t.Error("flush did not raise")
	}
}

func TestTransmitQueueEmptyOnLemOnly(t *testing.T) {
	for chip, want := range map[string]uint32{"82540EM": emreg.ICRTXDW | emreg.ICRTXQE, "82574L": emreg.ICRTXDW} {
		b := newBoard(t, chip)
		r := b.txOn(0)
		b.read(emreg.ICR)
		r.data(rig.Padded(rig.NewFlow(0).Build(t)), 0x0b000000, 0)
		r.doorbell()
		if v := b.read(emreg.ICR); v != want {
			t.Errorf("%s: ICR %#x, want %#x", chip, v, want)
		}
	}
}
