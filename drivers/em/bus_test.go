package em

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
)

func TestConventionalBusHasAddressesOf32Bits(t *testing.T) {
	for _, tc := range []struct {
		name     string
		device   uint16
		pcix     bool
		tunables map[string]string
		width    int
		knob     string // "": there is none
	}{
		{"conventional", emreg.Dev82540EM, false, nil, 32, "0"},
		{"allowed", emreg.Dev82540EM, false, map[string]string{"dev.em.0.allow_64bit_dma": "1"}, 0, "1"},
		{"PCI-X", emreg.Dev82545EMCopper, true, nil, 0, ""},
		{"PCI Express", emreg.Dev82574L, false, nil, 0, ""},
	} {
		c := newCard(tc.device)
		if tc.pcix {
			c.SetReg(emreg.STATUS, c.Reg(emreg.STATUS)|emreg.StatusPCIXMode)
		}
		b := newBench(t, c, tc.tunables)
		if got := b.ctx.Softc().DMAWidth; got != tc.width {
			t.Errorf("%s: %d bits, want %d", tc.name, got, tc.width)
		}
		const knob = "dev.em.0.allow_64bit_dma"
		if _, err := b.k.Sysctl.Lookup(knob); (err == nil) != (tc.knob != "") {
			t.Errorf("%s: looking the knob up: %v", tc.name, err)
		} else if err == nil && b.text(knob) != tc.knob {
			t.Errorf("%s: knob %s, want %s", tc.name, b.text(knob), tc.knob)
		}
	}
}

func TestSmartPowerDownOfThePHY(t *testing.T) {
	for _, tc := range []struct {
		device uint16
		knob   string
		want   uint16
	}{
		{emreg.Dev82571EBCopper, "0", 0xff0e},
		{emreg.Dev82571EBCopper, "1", 0xff0f},
		{emreg.Dev82574L, "0", 0xff0f},
	} {
		c := newCard(tc.device)
		c.PHY[emreg.IGP2PowerMgmt] = 0xff0f
		newBench(t, c, map[string]string{"hw.em.smart_pwr_down": tc.knob}).up()
		if got := c.PHY[emreg.IGP2PowerMgmt]; got != tc.want {
			t.Errorf("%#x with %s: PHY register %#x, want %#x", tc.device, tc.knob, got, tc.want)
		}
	}
}
