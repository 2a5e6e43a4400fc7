package pci_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

func TestFunctionsAreInProbeOrderAndRemovable(t *testing.T) {
	k := newKernel(t, stepped(0))
	bus := pci.Of(k)
	nics := map[string]*nic{}
	for _, s := range []string{"pci0:2:0:1", "pci1:0:0:0", "pci0:10:0:0", "pci0:2:0:0"} {
		loc, err := pci.ParseLocation(s)
		if err != nil {
			t.Fatal(err)
		}
		nics[s] = newNIC()
		f, err := bus.Insert(loc, nics[s])
		if err != nil {
			t.Fatal(err)
		}
		if nics[s].fn != f || f.Device() != nics[s] || f.Kernel() != k {
			t.Errorf("%s is not plugged in", s)
		}
	}
	names := func() (out []string) {
		for _, f := range bus.Functions() {
			out = append(out, f.Location().String())
		}
		return out
	}
	if got, want := names(), []string{"pci0:2:0:0", "pci0:2:0:1", "pci0:10:0:0", "pci1:0:0:0"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if _, err := bus.Insert(slot, newNIC()); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("taken slot: %v, want EEXIST", err)
	}
	f := nics["pci0:2:0:1"].fn
	if err := bus.Remove(f); err != nil || nics["pci0:2:0:1"].closed != 1 {
		t.Errorf("remove: %v, closed %d times", err, nics["pci0:2:0:1"].closed)
	}
	if err := bus.Remove(f); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("second remove: %v, want ENOENT", err)
	}
	if got, want := names(), []string{"pci0:2:0:0", "pci0:10:0:0", "pci1:0:0:0"}; !slices.Equal(got, want) {
		t.Errorf("after remove %v, want %v", got, want)
	}
}

func TestBARsOfTwoFunctionsDoNotOverlapAndAreReused(t *testing.T) {
	k := newKernel(t, stepped(0))
	bus := pci.Of(k)
	insert := func(fn int) *pci.Function {
		f, err := bus.Insert(pci.Location{Bus: 2, Func: fn}, newNIC())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := insert(0), insert(1)
	bars := func(f *pci.Function) (v [6]uint32) {
		for i := range v {
			v[i] = f.ReadConfig32(pci.BARReg(i))
		}
		return v
	}
	if got, want := bars(a), [6]uint32{0xc0000000, 0, 0x2001, 0xc0004000, 4, 0x40}; got != want {
		t.Errorf("first %#x, want %#x", got, want)
	}
	if got, want := bars(b), [6]uint32{0xc0000100, 0, 0x2021, 0xc0008000, 0x100004, 0x40}; got != want {
		t.Errorf("second %#x, want %#x", got, want)
	}
	if err := bus.Remove(a); err != nil {
		t.Fatal(err)
	}
	if got, want := bars(insert(2)), [6]uint32{0xc0000000, 0, 0x2001, 0xc0004000, 4, 0x40}; got != want {
		t.Errorf("third %#x, want %#x", got, want)
	}
}

func TestImpossibleDevicesAreRefused(t *testing.T) {
	regs := pci.Regs32{Registers32: newNIC()}
	k := newKernel(t, stepped(0))
	bus := pci.Of(k)
	for name, tc := range map[string]struct {
		change func(*nic)
		loc    pci.Location
		want   syscall.Errno
	}{
		"slot 32":         {func(*nic) {}, pci.Location{Slot: 32}, syscall.EINVAL},
		"odd size":        {func(n *nic) { n.bars[0].Size = 100 }, slot, syscall.EINVAL},
		"too small":       {func(n *nic) { n.bars[0].Size = 8 }, slot, syscall.EINVAL},
		"index 6":         {func(n *nic) { n.bars[0].Index = 6 }, slot, syscall.EINVAL},
		"64 bit at 5":     {func(n *nic) { n.bars[2].Index = 5 }, slot, syscall.EINVAL},
		"twice":           {func(n *nic) { n.bars[0].Index = 5 }, slot, syscall.EINVAL},
		"table slot used": {func(n *nic) { n.bars[1].Index = 3 }, slot, syscall.EINVAL},
		"no registers":    {func(n *nic) { n.bars[0].BAR = nil }, slot, syscall.EINVAL},
		"table in I/O":    {func(n *nic) { n.bars[1] = pci.BARInfo{Index: 2, Size: 256, Kind: pci.IO, MSIXTable: true} }, slot, syscall.EINVAL},
		"small table":     {func(n *nic) { n.bars[0] = pci.BARInfo{Index: 0, Size: 0x2000, MSIXTable: true} }, slot, syscall.EINVAL},
		"3 messages":      {func(n *nic) { n.msi = 3 }, slot, syscall.EINVAL},
		"2049 vectors":    {func(n *nic) { n.msix = 2049 }, slot, syscall.EINVAL},
		"kind 9":          {func(n *nic) { n.bars[0].Kind = 9 }, slot, syscall.EINVAL},
		"no space": {func(n *nic) {
			n.bars[0].Size = 1 << 30
			n.bars = append(n.bars, pci.BARInfo{Index: 1, Size: 1 << 30, BAR: regs})
		}, slot, syscall.ENOSPC},
	} {
		n := newNIC()
		tc.change(n)
		if _, err := bus.Insert(tc.loc, n); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	if got := len(bus.Functions()); got != 0 {
		t.Errorf("%d functions on the bus", got)
	}
}

func TestLargestTableFits(t *testing.T) {
	n := newNIC()
	n.msix = 2048
	n.bars = n.bars[:1]
	_, f := plugged(t, stepped(0), n)
	table := mapBAR(t, f, f.MSIXTableBAR())
	msixReady(t, f, 2048)
	f.RaiseMSIX(2047)
	if got := table.Read64(2048*16 + 2047/64*8); got != 1<<63 {
		t.Errorf("last pending word %#x", got)
	}
}

type failing struct{ nic }

func (*failing) Close() error { return syscall.EIO }

func TestClosingTheMachineClosesItsDevices(t *testing.T) {
	var console bytes.Buffer
	k, err := kern.New(kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Console: &console,
		Mem: physmem.Config{Size: 2 << 20, Backing: physmem.Heap}})
	if err != nil {
		t.Fatal(err)
	}
	if pci.Of(k) != nil {
		t.Error("a bus before Init")
	}
	bus := pci.Init(k)
	n := newNIC()
	if _, err := bus.Insert(slot, n); err != nil {
		t.Fatal(err)
	}
	bad := &failing{nic: nic{id: n.id}}
	if _, err := bus.Insert(pci.Location{Bus: 3}, bad); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if n.closed != 1 {
		t.Errorf("closed %d times", n.closed)
	}
	if want := "pci0:3:0:0: closing device: input/output error\n"; !strings.Contains(console.String(), want) {
		t.Errorf("console %q lacks %q", console.String(), want)
	}
}
