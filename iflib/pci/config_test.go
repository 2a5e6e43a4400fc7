package pci_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/iflib/pci"
)

func TestHeaderShowsIdentity(t *testing.T) {
	_, f := plugged(t, stepped(0), newNIC())
	got := map[int]uint32{}
	for _, r := range []int{0x00, 0x04, 0x08, 0x2c, 0x30, 0x34, 0x3c} {
		got[r] = f.ReadConfig32(r)
	}
	want := map[int]uint32{0x00: 0x15338086, 0x04: 0x00100000, 0x08: 0x02000003, 0x2c: 0x00018086, 0x30: 0, 0x34: 0x40, 0x3c: 0x0100}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, want := f.ReadConfig16(pci.RegDevice), uint16(0x1533); got != want {
		t.Errorf("device %#x, want %#x", got, want)
	}
	if got, want := f.ReadConfig8(pci.RegRevision), uint8(3); got != want {
		t.Errorf("revision %#x, want %#x", got, want)
	}
}

func TestTextsForTheDevTree(t *testing.T) {
	k := newKernel(t, stepped(0))
	f, err := pci.Of(k).Insert(pci.Location{Domain: 1, Bus: 2, Slot: 3, Func: 1}, newNIC())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.LocationText(), "slot=3 function=1 dbsf=pci1:2:3:1"; got != want {
		t.Errorf("%%location %q, want %q", got, want)
	}
	if got, want := f.PnpInfo(), "vendor=0x8086 device=0x1533 subvendor=0x8086 subdevice=0x0001 class=0x020000"; got != want {
		t.Errorf("%%pnpinfo %q, want %q", got, want)
	}
}

func TestBARsAreSizedByWritingAllOnes(t *testing.T) {
	_, f := plugged(t, stepped(0), newNIC())
	before := map[int]uint32{}
	for i := range 6 {
		before[i] = f.ReadConfig32(pci.BARReg(i))
		f.WriteConfig32(pci.BARReg(i), 0xffffffff)
	}
	got := map[int]uint32{}
	for i := range 6 {
		got[i] = f.ReadConfig32(pci.BARReg(i))
	}
	want := map[int]uint32{0: 0xffffff00, 1: 0, 2: 0xffffffe1, 3: 0xffffc000, 4: 0xfff00004, 5: 0xffffffff}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sizes: %s", diff)
	}
	want = map[int]uint32{0: 0xc0000000, 1: 0, 2: 0x2001, 3: 0xc0004000, 4: 0x00000004, 5: 0x40}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("addresses: %s", diff)
	}
}

func TestCapabilityListHoldsWhatTheDeviceHas(t *testing.T) {
	for _, tc := range []struct {
		msix, msi int
		want      []uint8
	}{
		{5, 4, []uint8{pci.CapPowerManagement, pci.CapMSI, pci.CapMSIX, pci.CapPCIe}},
		{0, 1, []uint8{pci.CapPowerManagement, pci.CapMSI, pci.CapPCIe}},
		{0, 0, []uint8{pci.CapPowerManagement, pci.CapPCIe}},
	} {
		n := newNIC()
		n.msix, n.msi = tc.msix, tc.msi
		_, f := plugged(t, stepped(0), n)
		var got []uint8
		for reg := int(f.ReadConfig8(pci.RegCapPtr)); reg != 0; reg = int(f.ReadConfig8(reg + 1)) {
			got = append(got, f.ReadConfig8(reg))
		}
		if !cmp.Equal(got, tc.want) {
			t.Errorf("%d MSI-X, %d MSI: list %v, want %v", tc.msix, tc.msi, got, tc.want)
		}
		if reg, ok := f.FindCap(pci.CapMSIX); ok != (tc.msix > 0) || (ok && reg != 0x70) {
			t.Errorf("MSI-X found at %#x, %v", reg, ok)
		}
	}
}

// The shared code of ixgbe reads these two without looking at the list.
func TestFixedPlacesOfMSIXControlAndLinkStatus(t *testing.T) {
	_, f := plugged(t, stepped(0), newNIC())
	if got := f.ReadConfig16(0x72); got != 4 {
		t.Errorf("MSI-X control %#x, want 4 (5 vectors)", got)
	}
	if got := f.ReadConfig16(0xb2); got != 0x83 {
		t.Errorf("link status %#x, want 0x83 (x8, 8 GT/s)", got)
	}
	if got := [2]uint32{f.ReadConfig32(0x74), f.ReadConfig32(0x78)}; got != [2]uint32{3, 0x2003} {
		t.Errorf("table and pending bits at %#x", got)
	}
}

func TestAccessOutsideTheSpace(t *testing.T) {
	_, f := plugged(t, stepped(0), newNIC())
	for _, reg := range []int{-1, 253, 256, 1 << 20} {
		f.WriteConfig32(reg, 0)
		if got := f.ReadConfig32(reg); got != 0xffffffff {
			t.Errorf("%#x reads %#x", reg, got)
		}
	}
	if got := f.ReadConfig8(255); got != 0 {
		t.Errorf("last byte reads %#x", got)
	}
}

func TestFunctionLevelResetThroughConfig(t *testing.T) {
	n := newNIC()
	_, f := plugged(t, stepped(0), n)
	bar := mapBAR(t, f, pci.BARReg(0))
	f.WriteConfig8(pci.RegIntLine, 11)
	addr := f.ReadConfig32(pci.RegBAR0)
	reg, _ := f.FindCap(pci.CapPCIe)
	f.WriteConfig16(reg+8, 1<<15)
	if n.resets != 1 {
		t.Errorf("%d resets, want 1", n.resets)
	}
	if got := f.ReadConfig16(pci.RegCommand); got != 0 {
		t.Errorf("command %#x after reset", got)
	}
	if f.ReadConfig8(pci.RegIntLine) != 0 || f.ReadConfig32(pci.RegBAR0) != addr || f.ReadConfig16(reg+8) != 0x2810 {
		t.Error("configuration space is not as after reset")
	}
	if got := bar.Read32(0); got != 0xffffffff {
		t.Errorf("register reads %#x without decoding", got)
	}
}

func TestFLRKeepsConfigurationAndMessages(t *testing.T) {
	n := newNIC()
	k, f := plugged(t, stepped(0), n)
	msixReady(t, f, 2)
	i := setup(t, f, 1, 0)
	before := f.ReadConfig32(pci.RegCommand)
	f.FLR()
	if n.resets != 1 || f.ReadConfig32(pci.RegCommand) != before {
		t.Errorf("resets %d, command %#x, want 1, %#x", n.resets, f.ReadConfig32(pci.RegCommand), before)
	}
	f.RaiseMSIX(0)
	k.RunUntilIdle()
	if i.Count() != 1 {
		t.Errorf("filter ran %d times after FLR, want 1", i.Count())
	}
}

func TestD3StopsDecodingAndMessages(t *testing.T) {
	k, f := plugged(t, stepped(0), newNIC())
	bar := mapBAR(t, f, pci.BARReg(0))
	msixReady(t, f, 1)
	i := setup(t, f, 1, 0)
	reg, _ := f.FindCap(pci.CapPowerManagement)
	f.WriteConfig16(reg+4, 1) // D1 does not exist
	if got := f.ReadConfig16(reg + 4); got != 8 {
		t.Errorf("state %#x after D1, want 8", got)
	}
	f.WriteConfig16(reg+4, 3)
	f.RaiseMSIX(0)
	k.RunUntilIdle()
	if bar.Read32(0) != 0xffffffff || i.Count() != 0 {
		t.Error("awake in D3")
	}
	f.WriteConfig16(reg+4, 0)
	k.RunUntilIdle()
	if bar.Read32(0) != 0 || i.Count() != 1 {
		t.Error("not awake in D0")
	}
}

func FuzzConfigSpace(f *testing.F) {
	f.Add([]byte{0x04, 2, 0xff, 0xff, 0, 0, 0x10, 4, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0x72, 2, 0, 0xc0, 0, 0, 0x52, 2, 0xff, 0xff, 0, 0, 0x60, 4, 0xff, 0, 0, 0})
	f.Add([]byte{0xa8, 2, 0, 0x80, 0, 0, 0x44, 1, 3, 0, 0, 0, 0xfe, 4, 1, 2, 3, 4})
	bus := pci.Of(newKernel(f, stepped(1)))
	f.Fuzz(func(t *testing.T, in []byte) {
		fn, err := bus.Insert(slot, newNIC())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := bus.Remove(fn); err != nil {
				t.Error(err)
			}
		}()
		var initial [pci.ConfigSize]uint8
		for i := range initial {
			initial[i] = fn.ReadConfig8(i)
		}
		const op = 6
		for ; len(in) >= op; in = in[op:] {
			reg, v := int(in[0]), uint32(in[2])|uint32(in[3])<<8|uint32(in[4])<<16|uint32(in[5])<<24
			switch in[1] % 3 {
			case 0:
				fn.WriteConfig8(reg, uint8(v))
			case 1:
				fn.WriteConfig16(reg, uint16(v))
			case 2:
				fn.WriteConfig32(reg, v)
			}
			fn.RaiseMSIX(int(in[2]))
			fn.RaiseMSI(int(in[3]))
			fn.SetINTx(in[4]&1 != 0)
		}
		checkSpace(t, fn, initial)
	})
}

// checkSpace checks what no write of software can change.
func checkSpace(t *testing.T, fn *pci.Function, initial [pci.ConfigSize]uint8) {
	t.Helper()
	readOnly := []int{0, 1, 2, 3, 8, 9, 10, 11, 0x0e, 0x2c, 0x2d, 0x2e, 0x2f, 0x34, 0x3d, 0x40, 0x41, 0x50, 0x51, 0x70, 0x71, 0x72, 0x74, 0x78, 0xa0, 0xa1, 0xff}
	for _, r := range readOnly {
		if got := fn.ReadConfig8(r); got != initial[r] {
			t.Errorf("byte %#x changed from %#x to %#x", r, initial[r], got)
		}
	}
	for reg, low := range map[int]uint32{0x10: 0, 0x18: 1, 0x1c: 0, 0x20: 4} {
		mask := map[int]uint32{0x10: 0xff, 0x18: 0x1f, 0x1c: 0x3fff, 0x20: 0xfffff}[reg]
		if got := fn.ReadConfig32(reg) & mask; got != low {
			t.Errorf("BAR %#x has low bits %#x, want %#x", reg, got, low)
		}
	}
	if s := fn.ReadConfig8(0x44) & 3; s != 0 && s != 3 {
		t.Errorf("power state D%d", s)
	}
	if c := fn.ReadConfig16(pci.RegCommand) &^ 0x0547; c != 0 {
		t.Errorf("reserved command bits %#x", c)
	}
	for r := 0; r+4 <= pci.ConfigSize; r++ {
		want := uint32(fn.ReadConfig16(r)) | uint32(fn.ReadConfig8(r+2))<<16 | uint32(fn.ReadConfig8(r+3))<<24
		if got := fn.ReadConfig32(r); got != want {
			t.Errorf("widths disagree at %#x: %#x, %#x", r, got, want)
		}
	}
}

// privateNIC has configuration registers of its own.
type privateNIC struct{ *nic }

func (privateNIC) ReadConfig(reg int) uint32 { return 0xabcd0100 | uint32(reg) }

func TestDeviceHasTheEndOfTheSpace(t *testing.T) {
	f, err := pci.Of(newKernel(t, stepped(0))).Insert(pci.Location{}, privateNIC{newNIC()})
	if err != nil {
		t.Fatal(err)
	}
	f.WriteConfig32(0xe4, 0)
	if got := [3]uint32{f.ReadConfig32(0xe4), uint32(f.ReadConfig16(0xe6)), uint32(f.ReadConfig8(0xe5))}; got != [3]uint32{0xabcd01e4, 0xabcd, 0x01} {
		t.Errorf("registers of the device read %#x", got)
	}
	if got := f.ReadConfig16(pci.RegVendor); got != 0x8086 {
		t.Errorf("vendor %#x", got)
	}
}
