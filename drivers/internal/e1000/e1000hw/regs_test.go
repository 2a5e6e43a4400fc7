package e1000hw_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/igb/igbhw"
	"github.com/ifsim/ifsim/drivers/igc/igchw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// twoPointFive reports whether a part is of igc's.
func (b *board) twoPointFive() bool { return strings.HasPrefix(b.name, "I22") }

func TestChips(t *testing.T) {
	if got := igbhw.Chips(); !slices.Equal(got, []string{"I210", "82576", "I350"}) {
		t.Errorf("igb: %v", got)
	}
	if got := igchw.Chips(); !slices.Equal(got, []string{"I225-V", "I226-V"}) {
		t.Errorf("igc: %v", got)
	}
	b := newBoard(t, "I210")
	for _, p := range parts() {
		if _, err := p.make("82599", hw.Config{Kernel: b.K, Name: "x0", Port: null.New()}); !errors.Is(err, syscall.ENODEV) {
			t.Errorf("unknown chip: %v, want ENODEV", err)
		}
		if _, err := p.make("", hw.Config{Kernel: b.K, Name: "x1"}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("no port: %v, want EINVAL", err)
		}
		taken := null.New()
		must(t, taken.Bind(rig.FarEnd{}))
		if _, err := p.make("", hw.Config{Kernel: b.K, Name: "x2", Port: taken}); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("port in use: %v, want EBUSY", err)
		}
	}
	each(t, func(t *testing.T, b *board) {
		want := map[string]uint16{"I210": 0x1533, "82576": 0x10c9, "I350": 0x1521, "I225-V": 0x15f3, "I226-V": 0x125c}
		if id := b.Fn.Identity(); id.Vendor != 0x8086 || id.Device != want[b.name] {
			t.Errorf("identity %+v", id)
		}
		vectors := map[string]int{"82576": 25, "I350": 25}[b.name]
		if vectors == 0 {
			vectors = 5
		}
		if msix, msi := b.nic.Vectors(); msix != vectors || msi != 1 {
			t.Errorf("%d MSI-X vectors and %d of MSI", msix, msi)
		}
	})
}

func TestResetValuesAndWhatSurvives(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		check := func(when string, values [][2]uint32) {
			t.Helper()
			for _, r := range values {
				if v := b.read(uint64(r[0])); v != r[1] {
					t.Errorf("%s: register %#x is %#x, want %#x", when, r[0], v, r[1])
				}
			}
		}
		always := [][2]uint32{{emreg.RXCSUM, 0x300}, {e1000reg.RLPML, 0x2600}, {emreg.RAL, 0x00000002}, {emreg.RAH, 0x80000100},
			{0x2828, 0x02010000}, {0xc028, 0x02010000}, {0x2928, 0x10000}, {0x3828, 0x02000000}, {0x3928, 0},
			{e1000reg.DTXTCPFLGL, 0x0f760ff6}, {e1000reg.DTXTCPFLGH, 0xf7f}, {emreg.EECD, b.read(emreg.EECD)}}
		check("at first", always)
		if v := b.read(emreg.EECD); v&(emreg.EECDPres|emreg.EECDAutoRD) != emreg.EECDPres|emreg.EECDAutoRD {
			t.Errorf("EECD %#x", v)
		}
		tx := b.txOn(0)
		tx.frame(rig.Ether(60))
		tx.doorbell()
		for _, off := range []uint64{emreg.RAL, emreg.MTA + 4, 0x1fffc, emreg.IMS, emreg.ICS, tx.base, e1000reg.EIMS, e1000reg.EICS,
			e1000reg.RXPBS, e1000reg.TXPBS, e1000reg.EITR + 8, e1000reg.GPIE, e1000reg.IVAR0} {
			b.write(off, 0x11111110)
		}
		b.write(emreg.CTRL, emreg.CtrlRST|emreg.CtrlVME)
		check("after RST", always)
		check("after RST", [][2]uint32{{emreg.MTA + 4, 0}, {0x1fffc, 0}, {emreg.IMS, 0}, {e1000reg.EIMS, 0}, {e1000reg.EICR, 0},
			{0x3810, 0}, {0x3818, 0}, {0x3800, 0}, {emreg.TPT, 0}, {e1000reg.GPIE, 0}, {e1000reg.IVAR0, 0},
			{e1000reg.RXPBS, 0x11111110}, {e1000reg.TXPBS, 0x11111110}, {e1000reg.EITR + 8, 0x11111110}})
		if v := b.read(emreg.ICR); v&^4 != 0 { // the link of a part without SLU goes down
			t.Errorf("ICR %#x after RST", v)
		}
		b.nic.Reset()
		check("after a function reset", always)
		if v := b.read(e1000reg.RXPBS); v == 0x11111110 {
			t.Error("RXPBS survived a function reset")
		}
		check("after a function reset", [][2]uint32{{e1000reg.EITR + 8, 0}})
	})
}

func TestDeviceResetShowsInStatus(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		const done = 1 << 20
		b.write(emreg.MTA, 1)
		b.write(emreg.CTRL, b.read(emreg.CTRL)|1<<29)
		there := b.name != "82576"
		if reset := b.read(emreg.MTA) == 0; reset != there || b.read(emreg.STATUS)&done != 0 != there {
			t.Errorf("reset %v, STATUS %#x", reset, b.read(emreg.STATUS))
		}
		b.write(emreg.STATUS, b.read(emreg.STATUS)|done)
		if v := b.read(emreg.STATUS); v&done != 0 || v&(1<<10) == 0 {
			t.Errorf("STATUS %#x after DEV_RST_SET was cleared", v)
		}
		b.write(emreg.STATUS, 0)
		if v := b.read(emreg.STATUS); v&(1<<10) != 0 {
			t.Errorf("STATUS %#x after PHYRA was cleared", v)
		}
	})
}

func TestPlainRegistersAreMemory(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		for _, off := range []uint64{0x24, 0x100c, 0x5008, 0x5bb8, 0xa000, 0xc400, 0xe440, 0x1fffc, 0x1514, 0x2508, 0x3840, emreg.VFTA, emreg.SWFWSync} {
			b.write(off, 0xa5a5a5a4)
			if v := b.read(off); v != 0xa5a5a5a4 {
				t.Errorf("register %#x reads %#x", off, v)
			}
		}
	})
}

// eerd is where a part reads its NVM.
func (b *board) eerd() uint64 {
	if b.name == "82576" || b.name == "I350" {
		return 0x14
	}
	return 0x12014
}

func TestNVM(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		word := func(i uint32) uint16 {
			t.Helper()
			b.write(b.eerd(), i<<2|1)
			v := b.read(b.eerd())
			if v&2 == 0 || v>>2&0x3fff != i {
				t.Fatalf("EERD %#x for word %d", v, i)
			}
			return uint16(v >> 16)
		}
		sections := []uint32{0}
		if b.name == "I350" {
			sections = []uint32{0, 0x80, 0xc0, 0x100}
		}
		for _, first := range sections {
			sum := uint16(0)
			for i := range uint32(0x40) {
				sum += word(first + i)
			}
			if sum != 0xbaba {
				t.Errorf("section %#x sums to %#x, want 0xbaba", first, sum)
			}
		}
		if words := uint32(1) << (6 + b.read(emreg.EECD)>>11&0xf); word(words) != 0xffff || words <= sections[len(sections)-1]+0x3f {
			t.Errorf("NVM of %d words", words)
		}
		if got := [4]uint16{word(0), word(1), word(2), word(0xe)}; got != [4]uint16{0x0002, 0, 0x0100, 0x8086} {
			t.Errorf("words %x", got)
		}
		b.fault("eeprom", "return(255)")
		if v := word(0); v != 0x00fd {
			t.Errorf("word with the eeprom fault %#x, want 0xfd", v)
		}
		b.fault("eeprom", "off")
		if b.eerd() == 0x14 {
			return
		}
		b.write(0x12018, 0x1234<<16|5<<2|1)
		if v := b.read(0x12018); v&2 == 0 || word(5) != 0x1234 {
			t.Errorf("EEWR %#x, word %#x", v, word(5))
		}
		b.write(emreg.EECD, b.read(emreg.EECD)|1<<23)
		if v := b.read(emreg.EECD); v&(1<<26) == 0 || v&(1<<19) == 0 {
			t.Errorf("EECD %#x: flash update is not done", v)
		}
	})
}

func TestPHY(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		ids := map[string]uint32{"I210": 0x01410c00, "82576": 0x02a80390, "I350": 0x015403b0, "I225-V": 0x67c9dc00, "I226-V": 0x67c9dc10}
		if got := uint32(b.mdio().Read(2))<<16 | uint32(b.mdio().Read(3)); got != ids[b.name] {
			t.Errorf("id %#x, want %#x", got, ids[b.name])
		}
		if v := b.mdio().Access(emreg.MDICOpRead, 2, 2, 0); v&emreg.MDICError == 0 {
			t.Error("no error for PHY 2")
		}
		b.read(emreg.ICR)
		b.mdio().Access(emreg.MDICOpRead|emreg.MDICIntEn, 1, 2, 0)
		if v := b.read(emreg.ICR); v != 1<<9 {
			t.Errorf("ICR %#x, want MDAC", v)
		}
		status := map[string][2]uint32{"I210": {17, 0xac00}, "82576": {17, 0xc200}, "I350": {26, 0x0200}}[b.name]
		if status[0] != 0 && uint32(b.mdio().Read(status[0])) != status[1] {
			t.Errorf("register %d is %#x, want %#x", status[0], b.mdio().Read(status[0]), status[1])
		}
		page := map[string]uint32{"I210": 22, "82576": 31}[b.name]
		if page == 0 {
			return
		}
		b.mdio().Write(page, 2)
		b.mdio().Write(16, 0x1234)
		b.mdio().Write(page, 0)
		if v := b.mdio().Read(16); v == 0x1234 {
			t.Error("register of page 2 is on page 0")
		}
		b.mdio().Write(page, 2)
		if v := b.mdio().Read(16); v != 0x1234 {
			t.Errorf("page 2 register 16 is %#x", v)
		}
	})
}

func TestLinkFollowsPortMACAndPHY(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		up := map[bool]uint32{false: 0x80083, true: 0x480083}[b.twoPointFive()]
		const mask = 0x4800c3
		check := func(what string, status uint32) {
			t.Helper()
			b.K.Advance(hw.DefaultAutoneg * 2)
			if v := b.read(emreg.STATUS) & mask; v != status {
				t.Errorf("%s: STATUS %#x, want %#x", what, v, status)
			}
			if v := b.read(emreg.ICR); v&4 == 0 {
				t.Errorf("%s: no LSC", what)
			}
		}
		check("plugged", up)
		b.write(emreg.CTRL, b.read(emreg.CTRL)&^emreg.CtrlSLU)
		check("SLU off", 0x80000)
		b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlSLU)
		check("SLU on", up)
		if first, second := b.mdio().Read(1), b.mdio().Read(1); first != 0x7969 || second != 0x796d {
			t.Errorf("BMSR %#x, then %#x", first, second)
		}
		if b.twoPointFive() {
			b.mmdWrite(7, 32, b.mmdRead(7, 32)&^0x80)
			b.mdio().Write(0, 0x1340)
			check("2.5 Gbit/s not advertised", 0x80083)
		}
		b.mdio().Write(9, 0)
		if b.twoPointFive() {
			b.mmdWrite(7, 32, 0)
		}
		b.mdio().Write(0, 0x1340)
		check("100 at most", 0x80043)
		b.mdio().Write(0, 0x1940)
		check("powered down", 0x80000)
		b.mdio().Write(9, 0x200)
		b.mdio().Write(0, 0x1340)
		check("gigabit", 0x80083)
		b.write(emreg.CTRL, b.read(emreg.CTRL)|1<<31) // PHY_RST
		check("PHY reset", up)
		b.fault("link_flap", "1*return(50)")
		b.read(emreg.STATUS)
		if v := b.read(emreg.STATUS) & 2; v != 0 {
			t.Error("link did not flap")
		}
		check("flapped", up)
	})
}

// mmdRead and mmdWrite reach the registers behind MMDAC and MMDAAD.
func (b *board) mmd(dev, reg uint16) {
	b.mdio().Write(13, dev)
	b.mdio().Write(14, reg)
	b.mdio().Write(13, 1<<14|dev)
}

func (b *board) mmdRead(dev, reg uint16) uint16 {
	b.mmd(dev, reg)
	return b.mdio().Read(14)
}

func (b *board) mmdWrite(dev, reg, v uint16) {
	b.mmd(dev, reg)
	b.mdio().Write(14, v)
}

func TestSemaphoresAndMaster(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		if a, c := b.read(emreg.SWSM), b.read(emreg.SWSM); a&1 != 0 || c&1 != 1 {
			t.Errorf("SMBI %d, then %d", a&1, c&1)
		}
		b.write(emreg.SWSM, emreg.SWSMSWESMBI)
		if a, c := b.read(emreg.SWSM), b.read(emreg.SWSM); a != 2 || c != 3 {
			t.Errorf("SWSM %d, then %d", a, c)
		}
		b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlGIOMasterDisable)
		if v := b.read(emreg.STATUS); v&emreg.StatusGIOMasterEnable != 0 {
			t.Errorf("STATUS %#x with the master disabled", v)
		}
		b.write(emreg.EECD, b.read(emreg.EECD)|emreg.EECDReq)
		if v := b.read(emreg.EECD); v&emreg.EECDGnt == 0 {
			t.Errorf("EECD %#x: not granted", v)
		}
	})
}
