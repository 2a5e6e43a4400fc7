package pci_test

import (
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/iflib/pci"
)

func TestInterruptsAreNumberedFromTheLowestAndCountForEver(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	other, err := pci.Of(k).Insert(pci.Location{Bus: 9}, newNIC())
	if err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		if got := fmt.Sprint(pci.Of(k).Interrupts()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	check("[]")
	msixReady(t, f, 3)
	handler := func(f *pci.Function, rid int, name string) {
		t.Helper()
		if _, err := f.SetupIntr(rid, name, 0, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	handler(f, 1, "nic0:rxq0")
	handler(f, 3, "nic0:aq")
	f.RaiseMSIX(0)
	k.RunUntilIdle()
	f.RaiseMSIX(0)
	f.RaiseMSIX(2)
	k.RunUntilIdle()
	check("[{24 [nic0:rxq0] 2} {25 [] 0} {26 [nic0:aq] 1}]")

	msixReady(t, other, 1)
	handler(other, 1, "nic1:rxq0")
	for _, rid := range []int{1, 3} {
		if err := f.TeardownIntr(rid); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	check("[{24 [] 2} {25 [] 0} {26 [] 1} {27 [nic1:rxq0] 0}]")
	msixReady(t, f, 4)
	handler(f, 4, "nic0:rxq3")
	check("[{24 [] 2} {25 [] 0} {26 [] 1} {27 [nic1:rxq0] 0} {28 [nic0:rxq3] 0}]")
}

func TestFunctionsOnOneLineShareItsNumber(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	loc := f.Location()
	loc.Bus += 8
	other, err := pci.Of(k).Insert(loc, newNIC())
	if err != nil {
		t.Fatal(err)
	}
	for i, fn := range []*pci.Function{f, other} {
		if _, err := fn.SetupIntr(0, fmt.Sprintf("nic%d:irq0", i), 0, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	line := 16 + (loc.Bus+loc.Slot)%8
	if got, want := fmt.Sprint(pci.Of(k).Interrupts()), fmt.Sprintf("[{%d [nic0:irq0 nic1:irq0] 0}]", line); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
