package pci_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/iflib/pci"
)

// cappedNIC says which capabilities it has.
type cappedNIC struct {
	*nic
	caps pci.Caps
}

func (n cappedNIC) Caps() pci.Caps { return n.caps }

// capped inserts a NIC with the capabilities and the numbers of vectors.
func capped(t *testing.T, caps pci.Caps, msix, msi int) (*nic, *pci.Function, error) {
	t.Helper()
	n := newNIC()
	n.msix, n.msi = msix, msi
	f, err := pci.Of(newKernel(t, stepped(0))).Insert(pci.Location{Bus: 2, Slot: 3, Func: 1}, cappedNIC{n, caps})
	return n, f, err
}

// list walks the capabilities of a function: numbers and registers.
func list(f *pci.Function) (got []string) {
	for reg := int(f.ReadConfig8(pci.RegCapPtr)); reg != 0; reg = int(f.ReadConfig8(reg + 1)) {
		got = append(got, fmt.Sprintf("%02x[%02x]", f.ReadConfig8(reg), reg))
	}
	return got
}

// old is the layout of 82574.
func old() pci.Caps {
	return pci.Caps{PMVersion: 2, PCIeVersion: 1, Payload: 1, List: []pci.CapPlace{{ID: pci.CapPowerManagement, Reg: 0xc8},
		{ID: pci.CapMSI, Reg: 0xd0}, {ID: pci.CapPCIe, Reg: 0xe0}, {ID: pci.CapMSIX, Reg: 0xa0}}}
}

func TestDeviceSaysWhereItsCapabilitiesLie(t *testing.T) {
	n, f, err := capped(t, old(), 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"01[c8]", "05[d0]", "10[e0]", "11[a0]"}, list(f)); diff != "" {
		t.Error(diff)
	}
	got := map[int]uint16{}
	for _, reg := range []int{0xca, 0xd2, 0xe2, 0xa2} {
		got[reg] = f.ReadConfig16(reg)
	}
	want := map[int]uint16{0xca: 0xc822, 0xd2: 0x0080, 0xe2: 0x0001, 0xa2: 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := f.ReadConfig32(0xe4); got != 0x8001 {
		t.Errorf("device capabilities %#x, want 0x8001: 256 bytes, no reset", got)
	}
	f.WriteConfig16(0xe8, 1<<15)
	if n.resets != 0 {
		t.Error("reset without the capability")
	}
	msixReady(t, f, 2)
	if got := f.ReadConfig16(0xa2); got != 0x8004 {
		t.Errorf("MSI-X control %#x, want 0x8004", got)
	}
	f.WriteConfig16(0xcc, 3)
	if f.BusMaster() {
		t.Error("masters the bus in D3")
	}
}

func TestPartsOfConventionalBuses(t *testing.T) {
	_, f, err := capped(t, pci.Caps{PMVersion: 2, Wide: true, List: []pci.CapPlace{{ID: pci.CapPowerManagement, Reg: 0xdc}, {ID: pci.CapPCIX, Reg: 0xe4}}}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"01[dc]", "07[e4]"}, list(f)); diff != "" {
		t.Error(diff)
	}
	if got := f.ReadConfig32(0xe8); got != 0x00430219 {
		t.Errorf("PCI-X status %#x, want 0x430219: 64 bits, 133 MHz, 2048 bytes, pci2:3:1", got)
	}
	n, f, err := capped(t, pci.Caps{PMVersion: 2, List: []pci.CapPlace{{ID: pci.CapMSI, Reg: 0xd0}, {ID: pci.CapAF, Reg: 0xe0}}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.ReadConfig32(0xe0); got != 0x03060013 {
		t.Errorf("advanced features %#x", got)
	}
	f.WriteConfig8(0xe4, 1)
	if n.resets != 1 {
		t.Errorf("%d resets through advanced features", n.resets)
	}
	f.WriteConfig8(4, 3) // nothing lies at the power state of others
	f.WriteConfig16(pci.RegCommand, pci.CmdBusMaster)
	if !f.BusMaster() {
		t.Error("asleep without power management")
	}
}

func TestImpossibleCapabilitiesAreRefused(t *testing.T) {
	at := func(places ...pci.CapPlace) pci.Caps { return pci.Caps{List: places} }
	for name, caps := range map[string]pci.Caps{
		"unknown":  at(pci.CapPlace{ID: 0x09, Reg: 0x40}),
		"header":   at(pci.CapPlace{ID: pci.CapMSI, Reg: 0x30}),
		"odd":      at(pci.CapPlace{ID: pci.CapMSI, Reg: 0x42}),
		"end":      at(pci.CapPlace{ID: pci.CapMSI, Reg: 0xf4}),
		"overlap":  at(pci.CapPlace{ID: pci.CapMSI, Reg: 0x40}, pci.CapPlace{ID: pci.CapPowerManagement, Reg: 0x48}),
		"twice":    at(pci.CapPlace{ID: pci.CapMSI, Reg: 0x40}, pci.CapPlace{ID: pci.CapMSI, Reg: 0x60}),
		"no MSI":   at(),
		"version":  {PMVersion: 4, List: at(pci.CapPlace{ID: pci.CapMSI, Reg: 0x40}).List},
		"payload":  {Payload: 6, List: at(pci.CapPlace{ID: pci.CapMSI, Reg: 0x40}).List},
		"too late": at(pci.CapPlace{ID: pci.CapMSI, Reg: 0x40}, pci.CapPlace{ID: pci.CapPowerManagement, Reg: 0x100}),
	} {
		if _, _, err := capped(t, caps, 0, 1); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v, want EINVAL", name, err)
		}
	}
}

func TestRegionsAndInterruptsOfAFunction(t *testing.T) {
	_, f := plugged(t, stepped(0), newNIC())
	describe := func() (got []string) {
		for _, r := range f.Regions() {
			got = append(got, fmt.Sprintf("%d %d %#x+%#x %v", r.Index, r.Kind, r.Addr, r.Size, r.Enabled))
		}
		return got
	}
	want := []string{"0 0 0xc0000000+0x100 false", "2 2 0x2000+0x20 false", "3 0 0xc0004000+0x4000 false", "4 1 0x4000000000+0x100000 false"}
	if diff := cmp.Diff(want, describe()); diff != "" {
		t.Error(diff)
	}
	if got := f.IRQs(); len(got) != 0 {
		t.Errorf("interrupts %v of a function without driver", got)
	}
	setup(t, f, 0, 0)
	if got := f.IRQs(); !cmp.Equal(got, []int{18}) {
		t.Errorf("line %v, want 18", got)
	}
	if err := f.TeardownIntr(0); err != nil {
		t.Fatal(err)
	}
	msixReady(t, f, 2)
	if got := f.IRQs(); !cmp.Equal(got, []int{24, 25}) {
		t.Errorf("messages %v, want 24 and 25", got)
	}
	want = []string{"0 0 0xc0000000+0x100 true", "2 2 0x2000+0x20 false", "3 0 0xc0004000+0x4000 true", "4 1 0x4000000000+0x100000 true"}
	if diff := cmp.Diff(want, describe()); diff != "" {
		t.Error(diff)
	}
}
