package pci_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/iflib/pci"
)

func TestParseLocation(t *testing.T) {
	good := map[string]pci.Location{
		"pci0:2:0:0":          {Bus: 2},
		"pci0:0:25:0":         {Slot: 25},
		"pci1:0:3:7":          {Domain: 1, Slot: 3, Func: 7},
		"pci3:4:5":            {Bus: 3, Slot: 4, Func: 5},
		"pci3:4":              {Bus: 3, Slot: 4},
		"pci65535:255:31:007": {Domain: 65535, Bus: 255, Slot: 31, Func: 7},
	}
	for s, want := range good {
		if got, err := pci.ParseLocation(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "pci", "pci0", "0:2:0:0", "pci0:2:0:0:", "pci0:2:0:0:0", "pci0:256:0:0", "pci0:0:32:0",
		"pci0:0:0:8", "pci65536:0:0:0", "pci-1:0:0:0", "pci+1:0:0:0", "pci0: 2:0:0", "pci0:0x2:0:0", "pci0::0:0", "isa0", "pci0:2:0:99999999999999999999"} {
		if got, err := pci.ParseLocation(s); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %+v, %v; want EINVAL", s, got, err)
		}
	}
}

func FuzzParseLocation(f *testing.F) {
	for _, s := range []string{"pci0:2:0:0", "pci2:0", "pci1:2:3", "pci0:0:0:8", "pci::::", "pci65535:255:31:7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := pci.ParseLocation(s)
		if err != nil {
			return
		}
		if again, err := pci.ParseLocation(l.String()); err != nil || again != l {
			t.Fatalf("%q gives %v, which gives %v, %v", s, l, again, err)
		}
	})
}
