package em

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/ifnet"
)

// The order and the values are typed from spec 1g 6.2 to 6.4 and 8.
func TestInitWritesInOrderI219(t *testing.T) {
	b := newBench(t, newCard(emreg.DevI219LM), nil)
	w := b.up()
	got := only(w, emreg.FEXTNVM11, emreg.PBA, emreg.FCT, emreg.FCAL, emreg.FCTTV, emreg.FCRTVPCH, emreg.FCRTL, emreg.FCRTH,
		emreg.KABGTXD, emreg.RFCTL, emreg.IOSFPC, emreg.VET, emreg.RXDCTL, emreg.EITR, emreg.IVAR, emreg.MRQC, emreg.ICS)
	want := []string{
		"0x5bbc=0x2000",              // the stop before init flushes too
		"0x3004=0x50000",             // and resets
		"0x1000=0x1a", "0x1000=0x1a", // PBA 26 KiB, by MAC and again with the marks
		"0x5bbc=0x2000", "0x3004=0x50000",
		"0x5008=0xc0", // NFSW_DIS, NFSR_DIS
		"0x170=0x650", // FCTTV
		"0x2160=0x80005048", "0x2168=0x5c20",
		"0x5f40=0x400", // refresh
		"0x38=0x8100", "0x38=0x8100",
		"0xf28=0x10000",
		"0x5008=0x80c0", // EXTEN
		"0xc8=0x4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	for off, want := range map[uint64]uint32{
		emreg.TCTL:         1<<1 | 1<<3 | 15<<4 | 63<<12 | 1<<24 | 1<<28,
		emreg.TXDCTL:       0x1f | 1<<8 | 1<<16 | 1<<22 | 1<<24,
		emreg.TARC:         1<<23 | 1<<24 | 1<<26 | 1<<27 | 2<<28, // two requests
		emreg.TARC + 0x100: 1<<24 | 1<<26 | 1<<28 | 1<<30,         // MULR comes later
		emreg.CTRLExt:      1<<17 | 1<<20 | 1<<22 | 1<<28,         // RO_DIS, PHYPDEN, DRV_LOAD
		emreg.RCTL:         1<<1 | 1<<15 | 1<<18 | 1<<26,
		emreg.IMS:          0x9d,
		emreg.TIPG:         8 | 8<<10 | 6<<20,
		emreg.FEXTNVM4:     7,
		emreg.PBECCSTS:     1 << 16,
		emreg.EXTCNFCtrl:   0, // nothing is held
		emreg.WUFC:         0,
	} {
		if got := b.card.Reg(off); got != want {
			t.Errorf("register %#x = %#x after init, want %#x", off, got, want)
		}
	}
}

func TestHubPartsWriteOnlyTheTablesThatAreThere(t *testing.T) {
	for _, c := range chips {
		if !c.pch() {
			continue
		}
		b := newBench(t, newCard(c.device), nil)
		for _, w := range b.up() {
			if w.Off >= emreg.MTA+32*4 && w.Off < emreg.RAL || w.Off >= emreg.RAL+12*8 && w.Off < emreg.VFTA {
				t.Errorf("%s: register %#x is written", c.name, w.Off)
			}
		}
	}
}

func TestPauseMarksOfHubPartsFollowTheMTU(t *testing.T) {
	b := newBench(t, newCard(emreg.DevI217V), nil)
	b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetMTU, 9000))
	b.up()
	if got := b.card.Reg(emreg.PBA); got != 12 {
		t.Errorf("PBA %d KiB with long frames, want 12", got)
	}
	if got := [2]string{b.text("dev.em.0.fc_high_water"), b.text("dev.em.0.fc_low_water")}; got != [2]string{"23584", "20552"} {
		t.Errorf("marks %v, want 0x5c20 and 0x5048", got)
	}
}

func TestChecksumOfTheFlash(t *testing.T) {
	for _, device := range []uint16{emreg.DevI217LM, emreg.DevI219V6} {
		for _, tc := range []struct {
			name  string
			spoil func(*card)
			want  string // "" for an attach
		}{
			{"good", func(*card) {}, ""},
			{"wrong", func(c *card) { c.flash.Mem[e1000test.FlashStart+9]++ }, "The EEPROM Checksum Is Not Valid"},
			{"none", func(c *card) {
				c.flash.Mem[e1000test.FlashStart+2*emreg.NVMCompat] = 0
			}, ""},
			{"no answer", func(c *card) { c.flash.Stuck = true }, "The EEPROM Checksum Is Not Valid"},
			{"no descriptor", func(c *card) { c.flash.Status = 0 }, "The EEPROM Checksum Is Not Valid"},
			{"failing cycles", func(c *card) { c.flash.Fails = 100_000 }, "The EEPROM Checksum Is Not Valid"},
		} {
			c := newCard(device)
			tc.spoil(c)
			b := tryBench(t, c, nil)
			if attached := b.ctx != nil; attached != (tc.want == "") || !strings.Contains(b.Console.String(), tc.want) {
				t.Errorf("%#x, %s: attached %v; console:\n%s", device, tc.name, attached, b.Console.String())
			}
			if none := strings.Contains(b.Console.String(), "em0: The EEPROM has no checksum\n"); none != (tc.name == "none") {
				t.Errorf("%#x, %s: console:\n%s", device, tc.name, b.Console.String())
			}
		}
	}
}

func TestFlashNVMIsPrinted(t *testing.T) {
	c := newCard(emreg.DevI219LM)
	b := newBench(t, c, nil)
	b.lines()
	b.must(b.k.Sysctl.SetText("dev.em.0.nvm", "1"))
	if out := b.lines(); !strings.Contains(out, "0x0000  0002 0000 0100 0001") || !strings.Contains(out, "0x0020  0000 0000 0000 8000") {
		t.Errorf("console:\n%s", out)
	}
}

func TestAFlagThatIsNotGrantedFailsTheAttach(t *testing.T) {
	for name, answer := range map[string]uint32{"held by another": 1 << 5, "never granted": 0} {
		c := newCard(emreg.DevI217V)
		c.Fuzz = func(off uint64, v uint32) uint32 {
			if off == emreg.EXTCNFCtrl {
				return answer
			}
			return v
		}
		b := tryBench(t, c, nil)
		if b.ctx != nil || !strings.Contains(b.Console.String(), "Setup of Shared code failed, error 5") {
			t.Errorf("%s: console:\n%s", name, b.Console.String())
		}
	}
}

// Spec 1g 8: the flush comes only where the part asks for it, and before the reset.
func TestI219FlushesItsRings(t *testing.T) {
	type step struct {
		off uint64
		v   uint32
	}
	for _, tc := range []struct {
		name  string
		rings uint32
		want  []step
	}{
		{"not asked for", 0, []step{{emreg.FEXTNVM11, 1 << 13}}},
		{"asked for", 1 << 8, []step{{emreg.FEXTNVM11, 1 << 13}, {emreg.TDT, 1}, {emreg.RXDCTL, 0x1f | 1<<8 | 1<<24}}},
	} {
		c := newCard(emreg.DevI219V)
		b := newBench(t, c, nil)
		b.up()
		c.rings = tc.rings
		c.Writes()
		b.sc.Stop()
		c.rings = 0
		var got []step
		for _, w := range c.Writes() {
			switch w.Off {
			case emreg.FEXTNVM11, emreg.TDT, emreg.RXDCTL:
				got = append(got, step{w.Off, w.V})
			case emreg.KABGTXD:
				got = append(got, step{w.Off, 0}) // the reset is over
			}
		}
		if diff := cmp.Diff(append(tc.want, step{emreg.KABGTXD, 0}), got, cmp.AllowUnexported(step{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if len(tc.want) > 1 {
			d := e1000test.DescAt(b.sc.path.tx[0].Desc, 0)
			if want := (desc{uint32(b.sc.path.tx[0].Addr), uint32(b.sc.path.tx[0].Addr >> 32), 0x02000200, 0}); d != want {
				t.Errorf("%s: descriptor %#x, want %#x", tc.name, d, want)
			}
		}
	}
}

func TestEEEFollowsItsSysctl(t *testing.T) {
	const lpi = 772<<5 | 20
	c := newCard(emreg.DevI217V)
	for _, reg := range []uint32{emreg.EMIAdvertise, emreg.EMIPartner} {
		c.Pages[e1000test.EMI(reg)] = emreg.EEE100 | emreg.EEE1000
	}
	c.PHY[emreg.PHYANLPAR] = 0x45e1
	b := newBench(t, c, map[string]string{"hw.em.eee_setting": "1"})
	b.up()
	if got := b.text("dev.em.0.eee_control"); got != "1" || c.Pages[lpi] != 0 {
		t.Errorf("eee_control %s, LPI_CTRL %#x: EEE is off at first", got, c.Pages[lpi])
	}
	b.must(b.k.Sysctl.SetText("dev.em.0.eee_control", "0"))
	b.k.RunUntilIdle()
	if got := c.Pages[lpi]; got != emreg.LPICtrl1000|emreg.LPICtrl100 {
		t.Errorf("LPI_CTRL %#x with EEE on", got)
	}
	c.PHY[emreg.PHYANLPAR] = 0x44e1 // partner without 100 full duplex
	b.must(b.k.Sysctl.SetText("dev.em.0.eee_control", "0"))
	b.k.RunUntilIdle()
	if got := c.Pages[lpi]; got != emreg.LPICtrl1000 {
		t.Errorf("LPI_CTRL %#x with a partner at half duplex", got)
	}
	c.SetReg(emreg.TLPIC, 5)
	b.sc.Timer(0)
	b.k.RunUntilIdle()
	if got := [2]string{b.text("dev.em.0.eee.tx_lpi_count"), b.text("dev.em.0.eee.rx_lpi_count")}; got != [2]string{"5", "0"} {
		t.Errorf("counts %v, want 5 and 0", got)
	}
}

func TestGapsFollowSpeedAndDuplex(t *testing.T) {
	for _, tc := range []struct {
		device uint16
		status uint32
		gap    uint32
	}{
		{emreg.DevI217V, 0x83, 8}, {emreg.DevI217V, 0x43, 8}, {emreg.DevI217V, 0x02, 0xff},
		{emreg.DevI219V, 0x83, 8}, {emreg.DevI219V, 0x43, 0x0c}, {emreg.DevI219V, 0x02, 0xff}, {emreg.DevI219V, 0x03, 0x0c},
	} {
		b := newBench(t, newCard(tc.device), nil)
		b.up()
		b.card.SetReg(emreg.STATUS, tc.status)
		b.sc.tuneLink()
		if got := b.card.Reg(emreg.TIPG) & 0x3ff; got != tc.gap {
			t.Errorf("%#x, STATUS %#x: gap %#x, want %#x", tc.device, tc.status, got, tc.gap)
		}
	}
}

func TestLEDOfHubPartsIsThePHYs(t *testing.T) {
	b := newBench(t, newCard(emreg.DevI217V), nil)
	for _, tc := range []struct {
		on     bool
		status uint32
		want   uint16
	}{{true, 0x83, 2}, {true, 0, 2 | 8}, {false, 0, 0}} {
		b.card.SetReg(emreg.STATUS, tc.status)
		b.sc.LEDFunc(tc.on)
		if got := b.card.Pages[30]; got != tc.want { // page 768 has number 0
			t.Errorf("on %v, STATUS %#x: %#x, want %#x", tc.on, tc.status, got, tc.want)
		}
	}
}

func TestFirmwareMayBlockTheResetOfThePHY(t *testing.T) {
	const rst, phyRST = 1 << 26, 1 << 31
	for fwsm, want := range map[uint32]uint32{emreg.FWSMRspPCIPHY: rst | phyRST, 0: rst} {
		c := newCard(emreg.DevI217LM)
		c.SetReg(emreg.FWSM, fwsm)
		b := newBench(t, c, nil)
		resets := 0
		for _, w := range b.up() {
			if w.Off == emreg.CTRL && w.V&rst != 0 {
				if resets++; w.V&(rst|phyRST) != want {
					t.Errorf("FWSM %#x: CTRL is written %#x", fwsm, w.V)
				}
			}
		}
		if resets != 2 {
			t.Errorf("FWSM %#x: %d resets in stop and init", fwsm, resets)
		}
	}
}
