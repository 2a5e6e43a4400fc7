package emhw_test

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// two makes two NICs on one wire in one machine.
func two(t *testing.T, cfg kern.Config, mode hw.EngineMode) (a, b *board) {
	t.Helper()
	k, _ := newKernel(t, cfg)
	fabric := port.NewFabric(pair.Kind())
	list := hw.NewWorkList()
	boards := [2]*board{}
	for i, chip := range []string{"82574L", "82540EM"} {
		p, err := fabric.Open("pair:wire0,depth=8")
		must(t, err)
		boards[i] = plug(t, k, chip, hw.Config{Name: "em" + string(rune('0'+i)), Port: p, MAC: [6]byte{2, 0, 0, 0, 0, byte(i + 1)}, Engine: mode, Work: list})
	}
	return boards[0], boards[1]
}

// status loads the word of descriptor i that the device stores.
func (r *ring) poll(i uint32) uint64 { return atomic.LoadUint64(&r.words[2*i+1]) }

// stream sends n frames from one to the other through wrapping rings and checks each;
// the wire holds less than the ring.
func stream(t *testing.T, from, to *board, n int) {
	t.Helper()
	tx, rx := from.txOn(0), to.rxOn(0, 0)
	f := rig.NewFlow(40)
	f.Dst = [6]byte{2, 0, 0, 0, 0, 2}
	frame := rig.Padded(f.Build(t))
	buf := from.alloc(uint64(len(frame)))
	var addrs [ringCount]uint64
	for i := range addrs {
		addrs[i] = rx.words[2*i]
	}
	deadline := time.Now().Add(30 * time.Second)
	sent, done, got := 0, 0, 0
	for got < n {
		for sent < n && sent-done < 1 && sent-got < ringCount-1 {
			frame[50] = byte(sent)
			copy(from.k.Mem.Bytes(buf, uint64(len(frame))), frame)
			tx.put(uint32(buf), 0, 0x0b000000|uint32(len(frame)), 0)
			sent++
			tx.doorbell()
		}
		from.k.RunUntilIdle()
		if sent != done && tx.poll(uint32(done%ringCount))>>32&1 != 0 {
			done++
		}
		at := uint32(got % ringCount)
		if rx.poll(at)>>32&1 != 0 {
			frame[50] = byte(got)
			if p := to.buffer(addrs[at], len(frame)); !bytes.Equal(p, frame) {
				t.Fatalf("frame %d: %x", got, p)
			}
			rx.words[2*at+1] = 0
			to.write(emreg.RDT, at)
			got++
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sent, %d reported, %d received", sent, done, got)
		}
	}
}

func TestTwoModelsOverPairInBothEngines(t *testing.T) {
	for _, mode := range []hw.EngineMode{hw.EngineInline, hw.EngineThread} {
		t.Run(mode.String(), func(t *testing.T) {
			cfg := kern.Config{Executor: kern.Threads, Clock: kern.RealClock}
			a, b := two(t, cfg, mode)
			stream(t, a, b, 400)
		})
		t.Run(mode.String()+" stepped", func(t *testing.T) {
			a, b := two(t, stepped(), mode)
			stream(t, a, b, 400)
		})
	}
}

// A full wire holds the head; nothing is lost and nothing goes out twice.
func TestCongestionHoldsTheHead(t *testing.T) {
	k, _ := newKernel(t, stepped())
	fabric := port.NewFabric(pair.Kind())
	near, err := fabric.Open("pair:wire0,depth=4")
	must(t, err)
	far, err := fabric.Open("pair:wire0")
	must(t, err)
	b := plug(t, k, "82574L", hw.Config{Name: "em0", Port: near, MAC: macHW})
	must(t, far.Bind(rig.FarEnd{}))
	t.Cleanup(func() { must(t, far.Close()) })
	r := b.txOn(0)
	for i := range 10 {
		r.data(rig.Padded(rig.NewFlow(i).Build(t)), 0x0b000000, 0)
	}
	r.doorbell()
	if h := b.read(emreg.TDH); h != 4 || r.status(3) != 1 || r.status(4) != 0 {
		t.Fatalf("head %d, status %d %d", h, r.status(3), r.status(4))
	}
	total := 0
	for range 10 {
		got := drain(far)
		total += len(got)
		k.RunUntilIdle()
	}
	if total != 10 || b.read(emreg.TDH) != 10 {
		t.Errorf("%d frames, head %d", total, b.read(emreg.TDH))
	}
}

func TestStuckHeadAndMissingCompletionFaults(t *testing.T) {
	b := newBoard(t, "82574L")
	r := b.txOn(0)
	fault := func(name, prog string) {
		must(t, b.k.Sysctl.SetText("debug.fail_point.hw.em0."+name, prog))
	}
	fault("stuck_head", "return(1)")
	r.data(rig.Padded(rig.NewFlow(1).Build(t)), 0x0b000000, 0)
	r.doorbell()
	if len(b.frames()) != 0 || b.read(emreg.TDH) != 0 {
		t.Error("the head moved")
	}
	fault("stuck_head", "off")
	fault("missing_completion", "1*return(1)")
	r.data(rig.Padded(rig.NewFlow(2).Build(t)), 0x0b000000, 0)
	r.doorbell()
	if n := len(b.frames()); n != 2 || b.read(emreg.TDH) != 2 || r.status(0) != 0 || r.status(1) != 1 {
		t.Errorf("%d frames, head %d, status %d %d", n, b.read(emreg.TDH), r.status(0), r.status(1))
	}
	fault("corrupt_writeback", "1*return(1)")
	r.data(rig.Padded(rig.NewFlow(3).Build(t)), 0x0b000000, 0)
	before := uint32(r.words[5])
	r.doorbell()
	if uint32(r.words[5]) != before^1 {
		t.Errorf("descriptor %x after a corrupt write-back", r.words[5])
	}
}

func TestLinkFlapAndLostInterruptFaults(t *testing.T) {
	b := newBoard(t, "82540EM")
	fault := func(name, prog string) {
		must(t, b.k.Sysctl.SetText("debug.fail_point.hw.em0."+name, prog))
	}
	fired := b.listen("intx", func() { b.read(emreg.ICR) })
	fault("link_flap", "1*return(5)")
	b.read(emreg.ICR)
	for _, step := range []struct {
		wait time.Duration
		up   bool
	}{{0, false}, {4 * time.Millisecond, false}, {2 * time.Millisecond, true}} {
		b.k.Advance(step.wait)
		if up := b.read(emreg.STATUS)&emreg.StatusLU != 0; up != step.up {
			t.Errorf("link %v, want %v", up, step.up)
		}
	}
	if icr := b.read(emreg.ICR); icr != emreg.ICRLSC {
		t.Errorf("ICR %#x, want LSC", icr)
	}
	fault("lost_intr", "1*return(1)")
	b.write(emreg.IMS, emreg.ICRRXT0|emreg.ICRTXDW)
	for _, want := range []int{0, 1} {
		b.write(emreg.ICS, emreg.ICRRXT0)
		b.k.RunUntilIdle()
		if fired[0] != want {
			t.Errorf("%d interrupts, want %d", fired[0], want)
		}
	}
}

// Registers, doorbells and frames from many goroutines: for the race detector.
func TestConcurrentUse(t *testing.T) {
	for _, mode := range []hw.EngineMode{hw.EngineInline, hw.EngineThread} {
		k, _ := newKernel(t, kern.Config{Executor: kern.Threads, Clock: kern.RealClock})
		p := null.New()
		b := plug(t, k, "82574L", hw.Config{Name: "em0", Port: p, MAC: macHW, Engine: mode})
		b.listen("msix", nil)
		b.write(emreg.IVAR, 0x800a9898)
		b.write(emreg.EIAC, 0x01f00000)
		b.write(emreg.EITR, 4)
		rings := [2]*ring{b.txOn(0), b.txOn(1)}
		b.rxOn(0, 0)
		frame := rig.NewFlow(60).Build(t)
		const rounds = 300
		var threads []*kern.Thread
		for _, r := range rings {
			r.data(frame, 0x8b000000, 0)
			threads = append(threads, k.Spawn("sender", func() {
				for i := range uint32(rounds) {
					b.write(r.base+tail, i%2)
				}
			}))
		}
		for _, fn := range []func(i uint32){
			func(uint32) { b.write(emreg.IMS, 0x01f0009d); b.read(emreg.ICR) },
			func(uint32) { p.Inject(port.RxFrame{Data: frame}); b.write(emreg.RDT, b.read(emreg.RDH)) },
			func(i uint32) { p.SetLink(i%7 != 0); b.read(emreg.STATUS); b.write(emreg.RSSRK, i) },
			func(i uint32) {
				b.read(emreg.GORCL)
				b.read(emreg.GORCH)
				b.read(emreg.TPT)
				if i%64 == 0 {
					b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlRST)
				}
			},
		} {
			threads = append(threads, k.Spawn("user", func() {
				for i := range uint32(rounds) {
					fn(i)
				}
			}))
		}
		for _, th := range threads {
			th.Join()
		}
		b.write(emreg.CTRL, emreg.CtrlRST)
		if v := b.read(emreg.TDT); v != 0 {
			t.Errorf("%v: tail %d after a reset", mode, v)
		}
	}
}
