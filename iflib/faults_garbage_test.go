package iflib_test

import (
	"fmt"
	"testing"
)

// faultGarbage is what a device may write of a received packet.
type faultGarbage struct {
	chip, name string
	mask       string // of the word that is written back
}

var faultRxGarbage = []faultGarbage{
	{"82574L", "length over the buffer", "0x800000000000"},
	{"82574L", "no end", "0x2"},
	{"82574L", "frame error", "0x80000000"},
	{"82545EM", "length over the buffer", "0x8000"},
	{"82545EM", "no end", "0x200000000"},
	{"CQ-1", "length over the buffer", "0x8000"},
	{"CQ-1", "slot beyond the ring", "0x7fff0000"},
	{"CQ-1", "slot that is not posted", "0xff0000"},
	{"HWB-1", "length over the buffer", "0x8000"},
	{"HWB-1", "no end", "0x20000"},
	{"HWB-1", "no length", "0x3c"},
}

// Hardware that reports garbage of a received packet is reset. That is counted and said
// once; nothing leaks, and traffic goes on when the device is well again.
func TestReceiveGarbageIsCountedLoggedOnceAndReset(t *testing.T) {
	for i, g := range faultRxGarbage {
		for j, path := range faultPaths {
			if testing.Short() && (i+j)%len(faultPaths) != 0 {
				continue
			}
			t.Run(g.chip+"/"+g.name+"/"+path, func(t *testing.T) {
				r := newFaultRig(t, faultConfig{part: faultPartOf(g.chip), path: path})
				r.up()
				got := r.listen()
				r.inject(8, 60)
				if *got != 8 {
					t.Fatalf("%d of 8 frames before the fault", *got)
				}
				counter := "bad_writeback"
				if g.name == "frame error" {
					counter = "dropped"
				}
				r.fault("hw.NAME.corrupt_writeback=return(" + g.mask + ")")
				const flood = 160
				r.inject(flood, 60)
				if n := r.number(counter); n == 0 || n > flood {
					t.Errorf("%s is %d", counter, n)
				}
				if *got != 8 {
					t.Errorf("%d frames were made of garbage", *got-8)
				}
				r.printed(r.dev+": RX(0): ", 1)
				r.balanced()
				r.cure("hw.NAME.corrupt_writeback")
				r.inject(1, 60) // what was written before may still be there
				before := *got
				r.inject(20, 60)
				if *got != before+20 {
					t.Errorf("%d of 20 frames after the fault", *got-before)
				}
				r.resumes()
				r.printed(r.dev+": RX(0): ", 1)
				r.finish()
			})
		}
	}
}

func faultPartOf(chip string) faultPart {
	for _, p := range faultParts {
		if p.chip == chip {
			return p
		}
	}
	panic(chip)
}

// faultTxGarbage is what a device may write of packets that it has sent.
var faultTxGarbage = []faultGarbage{
	{"CQ-1", "descriptor beyond the ring", "0x8000"},
	{"CQ-1", "descriptor not handed over", "0x100"},
	{"HWB-1", "descriptor beyond the ring", "0x8000"},
	{"HWB-1", "descriptor not handed over", "0x100"},
}

// Hardware that reports packets sent that it never had is reset, likewise.
func TestTransmitGarbageIsCountedLoggedOnceAndReset(t *testing.T) {
	for _, g := range faultTxGarbage {
		for _, path := range faultPaths {
			t.Run(g.chip+"/"+g.name+"/"+path, func(t *testing.T) {
				r := newFaultRig(t, faultConfig{part: faultPartOf(g.chip), path: path})
				r.up()
				r.fault("hw.NAME.corrupt_writeback=return(" + g.mask + ")")
				for range 20 {
					r.send(0, 8)
					r.settle()
				}
				if n := r.number("bad_writeback"); n == 0 || n > 160 {
					t.Errorf("bad_writeback is %d", n)
				}
				r.printed(r.dev+": TX(0): ", 1)
				r.cure("hw.NAME.corrupt_writeback")
				r.recover()
				r.resumes()
				r.expect(map[string]int{"iflib.tx_watchdog_events": 0})
				r.printed(r.dev+": TX(0): ", 1)
				r.finish()
			})
		}
	}
}

// A part that only says "done" cannot say more than was handed over: without it the
// watchdog comes.
func TestTransmitReportsThatAreNoneAreAHang(t *testing.T) {
	for _, chip := range []string{"82574L", "82545EM"} {
		for _, path := range faultPaths {
			t.Run(chip+"/"+path, func(t *testing.T) {
				r := newFaultRig(t, faultConfig{part: faultPartOf(chip), path: path})
				r.up()
				period := r.faultAlign()
				r.fault("hw.NAME.corrupt_writeback=return(0x100000000)") // DD
				r.send(0, 40)
				if at := r.faultUntilReset(5*period, func(int) {}); at != faultPeriods*period {
					t.Errorf("reset after %d ticks", at)
				}
				r.cure("hw.NAME.corrupt_writeback")
				r.resumes()
				r.finish()
			})
		}
	}
}

// A packet that is reported twice is credited once.
func TestRepeatedCompletionsAreCreditedOnce(t *testing.T) {
	faultEach(t, faultConfig{}, func(t *testing.T, r *faultRig) {
		r.fault("hw.NAME.repeated_completion=return(1)")
		for range 20 {
			r.send(0, 30)
			r.drain()
		}
		s := r.ctx().TxqState(0)
		if s.Processed > 600 || s.Processed < s.Cleaned {
			t.Errorf("%+v", s)
		}
		r.cure("hw.NAME.repeated_completion")
		r.recover()
		r.resumes()
		if r.arrived < 600 {
			t.Errorf("%d frames arrived", r.arrived)
		}
	})
}

// Whatever words a device writes, in both directions, nothing panics or leaks, and the
// interface comes back.
func TestRandomGarbage(t *testing.T) {
	faultSeeded(t, func(t *testing.T, seed uint64, part faultPart, path string) {
		r := newFaultRig(t, faultConfig{part: part, path: path, seed: seed})
		r.up()
		mask := seed * 0x9e3779b97f4a7c15 >> (seed % 63) &^ (1 << 63)
		r.fault(fmt.Sprintf("hw.NAME.corrupt_writeback=25%%return(%d)", mask))
		for range 8 {
			r.send(0, 5)
			r.inject(5, 60+int(seed)*14)
			r.drain()
		}
		r.period()
		r.cure("hw.NAME.corrupt_writeback")
		r.recover()
		r.down() // a receive ring may wait for what never comes
		r.up()
		got := r.listen()
		r.inject(20, 60)
		if *got != 20 {
			t.Errorf("%d of 20 frames received after the fault", *got)
		}
		r.resumes()
		r.finish()
	})
}
