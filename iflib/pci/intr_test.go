package pci_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
)

func TestRaisePostsAndCoalesces(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	msixReady(t, f, 2)
	inRaise, cpu := false, 0
	i, err := f.SetupIntr(2, "nic0:rxq1", 1, func() {
		if inRaise {
			t.Error("filter ran inside the raise")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	inRaise = true
	for range 3 {
		f.RaiseMSIX(1)
	}
	inRaise = false
	k.RunUntilIdle()
	if cpu = i.CPU(); i.Count() != 1 || cpu != 1 {
		t.Errorf("ran %d times on CPU %d, want once on 1", i.Count(), cpu)
	}
	f.RaiseMSIX(1)
	k.RunUntilIdle()
	if i.Count() != 2 {
		t.Errorf("ran %d times, want 2", i.Count())
	}
}

func TestMaskedVectorBecomesPendingAndFiresAtUnmask(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	table := mapBAR(t, f, f.MSIXTableBAR())
	msixReady(t, f, 5)
	i := setup(t, f, 4, 0)
	const ctrl, pba = 3*16 + 12, 0x2000
	table.Write32(ctrl, 1)
	f.RaiseMSIX(3)
	f.RaiseMSIX(3)
	k.RunUntilIdle()
	if got := table.Read64(pba); i.Count() != 0 || got != 1<<3 {
		t.Fatalf("masked: ran %d times, pending %#x, want 0, 0x8", i.Count(), got)
	}
	table.Write32(pba, 0)
	if got := table.Read32(ctrl); got != 1 {
		t.Errorf("vector control %#x, want 1", got)
	}
	table.Write32(ctrl, 0xfffffffe)
	k.RunUntilIdle()
	if got := table.Read32(pba); i.Count() != 1 || got != 0 {
		t.Errorf("unmasked: ran %d times, pending %#x, want 1, 0", i.Count(), got)
	}
	if got := table.Read32(ctrl); got != 0 {
		t.Errorf("vector control %#x, want 0", got)
	}
}

func TestFunctionMaskAndBusMasterHoldMessagesBack(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	msixReady(t, f, 1)
	i := setup(t, f, 1, 0)
	for n, hold := range []struct{ on, off func() }{
		{func() { f.WriteConfig16(0x72, 0xc000) }, func() { f.WriteConfig16(0x72, 0x8000) }},
		{f.DisableBusMaster, f.EnableBusMaster},
	} {
		hold.on()
		f.RaiseMSIX(0)
		k.RunUntilIdle()
		if i.Count() != uint64(n) {
			t.Errorf("%d: ran while held back", n)
		}
		hold.off()
		k.RunUntilIdle()
		if i.Count() != uint64(n+1) {
			t.Errorf("%d: ran %d times, want %d", n, i.Count(), n+1)
		}
	}
	if f.LostInterrupts() != 0 {
		t.Errorf("%d lost", f.LostInterrupts())
	}
}

func TestSetupProgramsTheTable(t *testing.T) {
	_, f := plugged(t, stepped(0), newNIC())
	table := mapBAR(t, f, f.MSIXTableBAR())
	msixReady(t, f, 3)
	setup(t, f, 3, 1)
	var got [4]uint32
	for w := range got {
		got[w] = table.Read32(uint64(2*16 + 4*w))
	}
	if want := [4]uint32{0xfee01000, 0, 0x32, 0}; got != want {
		t.Errorf("entry %#x, want %#x", got, want)
	}
	if got := table.Read32(1*16 + 12); got != 1 {
		t.Error("a vector without a handler is not masked")
	}
	if f.ReadConfig16(pci.RegCommand)&pci.CmdINTxDis == 0 {
		t.Error("INTx is not disabled")
	}
}

func TestMessagesThatReachNobodyAreLostAndCounted(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	f.RaiseMSIX(0) // MSI-X is off
	f.RaiseMSI(0)
	f.RaiseMSIX(5)
	f.RaiseMSIX(-1)
	f.RaiseMSI(-1)
	if f.LostInterrupts() != 5 {
		t.Errorf("%d lost, want 5", f.LostInterrupts())
	}
	msixReady(t, f, 1)
	i := setup(t, f, 1, 0)
	failpoint(t, k, "pci.lose_intr", "1*return(0)")
	f.RaiseMSIX(0)
	k.RunUntilIdle()
	if f.LostInterrupts() != 6 || i.Count() != 0 {
		t.Errorf("%d lost, ran %d times, want 6, 0", f.LostInterrupts(), i.Count())
	}
	f.RaiseMSIX(0)
	k.RunUntilIdle()
	if i.Count() != 1 {
		t.Errorf("ran %d times after the loss, want 1", i.Count())
	}
}

func TestINTxIsALevel(t *testing.T) {
	n := newNIC()
	k, f := plugged(t, stepped(0), n)
	f.SetINTx(true) // asserted before anybody listens
	runs := 0
	if _, err := f.SetupIntr(0, "nic0:irq", 0, func() {
		if runs++; runs == 3 {
			n.fn.SetINTx(false) // the driver has served the cause
		}
	}); err != nil {
		t.Fatal(err)
	}
	if f.ReadConfig16(pci.RegStatus)&pci.StatusINTx == 0 {
		t.Error("status does not show the line")
	}
	k.RunUntilIdle()
	if runs != 3 {
		t.Errorf("ran %d times, want 3: again while asserted", runs)
	}
	f.WriteConfig16(pci.RegCommand, pci.CmdINTxDis)
	f.SetINTx(true)
	k.RunUntilIdle()
	if runs != 3 {
		t.Error("ran with INTx disabled")
	}
	runs = 2
	f.WriteConfig16(pci.RegCommand, 0)
	k.RunUntilIdle()
	if runs != 3 || f.ReadConfig16(pci.RegStatus)&pci.StatusINTx != 0 {
		t.Errorf("runs %d, want 3, and the line low", runs)
	}
}

func TestMSIFoldsMasksAndPends(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	f.EnableBusMaster()
	if got, err := f.AllocMSI(2); got != 2 || err != nil {
		t.Fatalf("got %d, %v", got, err)
	}
	a, b := setup(t, f, 1, 0), setup(t, f, 2, 1)
	f.RaiseMSI(0)
	f.RaiseMSI(3) // granted 2: folds to 1
	k.RunUntilIdle()
	if a.Count() != 1 || b.Count() != 1 {
		t.Errorf("ran %d and %d times, want 1 1", a.Count(), b.Count())
	}
	reg, _ := f.FindCap(pci.CapMSI)
	if got := f.ReadConfig16(reg + 2); got != 0x0195 {
		t.Errorf("message control %#x, want 0x195", got)
	}
	f.WriteConfig32(reg+16, 2)
	f.RaiseMSI(1)
	k.RunUntilIdle()
	if got := f.ReadConfig32(reg + 20); got != 2 || b.Count() != 1 {
		t.Errorf("pending %#x, ran %d times, want 2, 1", got, b.Count())
	}
	f.WriteConfig32(reg+16, 0)
	k.RunUntilIdle()
	if got := f.ReadConfig32(reg + 20); got != 0 || b.Count() != 2 {
		t.Errorf("pending %#x, ran %d times, want 0, 2", got, b.Count())
	}
}

func TestAllocationRules(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	wantErr := func(what string, err error, want syscall.Errno) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	_, err := f.AllocMSIX(1)
	wantErr("table not mapped", err, syscall.ENXIO)
	mapBAR(t, f, f.MSIXTableBAR())
	_, err = f.AllocMSIX(0)
	wantErr("none wanted", err, syscall.EINVAL)
	wantErr("nothing to release", f.Release(), syscall.ENODEV)
	failpoint(t, k, "pci.alloc_msix", "1*return(12)")
	_, err = f.AllocMSIX(1)
	wantErr("failpoint", err, syscall.ENOMEM)
	failpoint(t, k, "pci.limit_msix", "1*return(2)")
	if got, err := f.AllocMSIX(5); got != 2 || err != nil {
		t.Errorf("limited: got %d, %v, want 2", got, err)
	}
	_, err = f.SetupIntr(3, "x", 0, func() {})
	wantErr("rid not granted", err, syscall.EINVAL)
	_, err = f.SetupIntr(0, "x", 0, func() {})
	wantErr("INTx beside MSI-X", err, syscall.EINVAL)
	_, err = f.AllocMSI(1)
	wantErr("MSI beside MSI-X", err, syscall.ENXIO)
	setup(t, f, 1, 0)
	_, err = f.SetupIntr(1, "x", 0, func() {})
	wantErr("rid taken", err, syscall.EBUSY)
	_, err = f.SetupIntr(2, "x", 2, func() {})
	wantErr("no such CPU", err, syscall.EINVAL)
	wantErr("release in use", f.Release(), syscall.EBUSY)
	wantErr("remove in use", pci.Of(k).Remove(f), syscall.EBUSY)
	if err := f.TeardownIntr(1); err != nil {
		t.Error(err)
	}
	wantErr("torn down twice", f.TeardownIntr(1), syscall.EINVAL)
	if err := f.Release(); err != nil || f.MSIXEnabled() {
		t.Errorf("release: %v, MSI-X enabled %v", err, f.MSIXEnabled())
	}
	if got, err := f.AllocMSIX(99); got != 5 || err != nil {
		t.Errorf("all: got %d, %v, want 5", got, err)
	}
	if err := f.Release(); err != nil {
		t.Error(err)
	}
	_, err = f.AllocMSI(3)
	wantErr("not a power of two", err, syscall.EINVAL)
	if got, err := f.AllocMSI(6); got != 4 || err != nil {
		t.Errorf("cut to what there is: got %d, %v, want 4", got, err)
	}
}

func TestTeardownForgetsWhatWasPosted(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	msixReady(t, f, 1)
	i := setup(t, f, 1, 0)
	f.RaiseMSIX(0)
	if err := f.TeardownIntr(1); err != nil {
		t.Fatal(err)
	}
	f.RaiseMSIX(0)
	k.RunUntilIdle()
	if i.Count() != 0 {
		t.Error("filter ran after teardown")
	}
	j := setup(t, f, 1, 1)
	k.RunUntilIdle()
	if j.Count() != 1 {
		t.Errorf("ran %d times, want 1: raised while masked", j.Count())
	}
}

// Raising, masking and unmasking in any order and interleaving: a message raised after
// the last run began is delivered, or pending while masked; nothing runs while masked
// and idle.
func TestNoMessageIsLostWhateverTheOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := newNIC()
		k, f := plugged(t, stepped(rapid.Uint64().Draw(r, "seed")), n)
		table := mapBAR(t, f, f.MSIXTableBAR())
		msixReady(t, f, 1)
		i := setup(t, f, 1, 0)
		masked, due := false, uint64(0)
		waiting := false // raised and not run
		for range rapid.IntRange(1, 40).Draw(r, "ops") {
			switch rapid.IntRange(0, 3).Draw(r, "op") {
			case 0:
				f.RaiseMSIX(0)
				waiting = true
			case 1:
				k.RunUntilIdle() // what was posted before a mask still runs
				if waiting && !masked {
					due, waiting = due+1, false
				}
				masked = true
				table.Write32(12, 1)
			case 2:
				masked = false
				table.Write32(12, 0)
			case 3:
				k.RunUntilIdle()
				if waiting && !masked {
					due, waiting = due+1, false
				}
				if i.Count() != due {
					r.Fatalf("ran %d times, want %d", i.Count(), due)
				}
				if pending := table.Read32(0x2000) == 1; pending != (waiting && masked) {
					r.Fatalf("pending %v, waiting %v, masked %v", pending, waiting, masked)
				}
			}
		}
	})
}

// A raise and an unmask that meet: one of the two sends, so that afterwards nothing is
// pending and the filter has seen the raise.
func TestRaiseAgainstUnmaskInThreads(t *testing.T) {
	const rounds = 6000
	_, f := plugged(t, kern.Config{}, newNIC())
	table := mapBAR(t, f, f.MSIXTableBAR())
	msixReady(t, f, 1)
	var start, done, seen atomic.Uint64
	arrived := make(chan struct{}, 1)
	if _, err := f.SetupIntr(1, "nic0:rxq0", 0, func() {
		seen.Store(start.Load())
		select {
		case arrived <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for round := uint64(1); round <= rounds; round++ {
			for spins := 1; start.Load() < round; spins++ {
				if spins%1000 == 0 {
					runtime.Gosched()
				}
			}
			f.RaiseMSIX(0)
			done.Store(round)
		}
	})
	defer wg.Wait()
	lost := 0
	for round := uint64(1); round <= rounds; round++ {
		table.Write32(12, 1)
		start.Store(round)
		for range round % 512 { // sweep over the moments at which they can meet
			_ = done.Load()
		}
		table.Write32(12, 0)
		for done.Load() < round {
			runtime.Gosched()
		}
		if table.Read32(0x2000) != 0 {
			lost++
			continue
		}
		for seen.Load() != round {
			<-arrived
		}
	}
	if lost != 0 {
		t.Errorf("%d messages stayed pending on an unmasked vector", lost)
	}
}

func TestSeedsOrderVectorsOfTwoCPUs(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(16) {
		k, f := plugged(t, stepped(seed), newNIC())
		msixReady(t, f, 4)
		var order []int
		for v := range 4 {
			if _, err := f.SetupIntr(v+1, fmt.Sprint("q", v), v%2, func() { order = append(order, v) }); err != nil {
				t.Fatal(err)
			}
			f.RaiseMSIX(v)
		}
		k.RunUntilIdle()
		orders[fmt.Sprint(order)] = true
		slices.Sort(order)
		if !slices.Equal(order, []int{0, 1, 2, 3}) {
			t.Fatalf("seed %d ran %v", seed, order)
		}
	}
	if len(orders) < 2 {
		t.Errorf("16 seeds gave one order: %v", orders)
	}
}

func TestRaiseAllocatesNothing(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	msixReady(t, f, 1)
	setup(t, f, 1, 0)
	if n := testing.AllocsPerRun(100, func() {
		f.RaiseMSIX(0)
		f.RaiseMSIX(0)
		k.RunUntilIdle()
	}); n != 0 {
		t.Errorf("%v allocations a raise", n)
	}
}

func BenchmarkRaiseMSIXPending(b *testing.B) {
	_, f := plugged(b, stepped(0), newNIC())
	msixReady(b, f, 1)
	setup(b, f, 1, 0)
	f.RaiseMSIX(0)
	b.ReportAllocs()
	for b.Loop() {
		f.RaiseMSIX(0)
	}
}

func BenchmarkRaiseMSIXMasked(b *testing.B) {
	_, f := plugged(b, stepped(0), newNIC())
	table := mapBAR(b, f, f.MSIXTableBAR())
	msixReady(b, f, 1)
	setup(b, f, 1, 0)
	table.Write32(12, 1)
	b.ReportAllocs()
	for b.Loop() {
		f.RaiseMSIX(0)
	}
}
