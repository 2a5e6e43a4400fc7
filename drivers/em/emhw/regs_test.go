package emhw_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestChips(t *testing.T) {
	if want := []string{"82574L", "82545EM", "82540EM", "I217-LM", "I217-V", "I219-LM", "I219-V", "I219-LM6", "I219-V6"}; !slices.Equal(emhw.Chips(), want) {
		t.Errorf("chips %v", emhw.Chips())
	}
	k, _ := newKernel(t, stepped())
	if _, err := emhw.New("82599", hw.Config{Kernel: k, Name: "em0", Port: null.New()}); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("unknown chip: %v, want ENODEV", err)
	}
	if _, err := emhw.New("", hw.Config{Kernel: k, Name: "em0"}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("no port: %v, want EINVAL", err)
	}
	taken := null.New()
	must(t, taken.Bind(rig.FarEnd{}))
	if _, err := emhw.New("", hw.Config{Kernel: k, Name: "em1", Port: taken}); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("port in use: %v, want EBUSY", err)
	}
	if !taken.Link().Up {
		t.Error("a port in use was closed")
	}
	if b := plug(t, k, "", hw.Config{Name: "em0", Port: null.New()}); b.fn.Identity().Device != 0x10d3 {
		t.Errorf("default is %#x", b.fn.Identity().Device)
	}
}

func TestResetValuesAndWhatSurvives(t *testing.T) {
	b := newBoard(t, "82574L")
	for _, r := range [][2]uint32{{emreg.CTRL, 0x00140241}, {emreg.PBA, 0x00140014}, {emreg.RXCSUM, 0x300},
		{emreg.RXDCTL, 0x10000}, {emreg.TARC, 0x403}, {emreg.EXTCNFCtrl, 8}, {emreg.RAL, 0x00000002}, {emreg.RAH, 0x80000100}} {
		if v := b.read(uint64(r[0])); v != r[1] {
			t.Errorf("register %#x resets to %#x, want %#x", r[0], v, r[1])
		}
	}
	tx := b.txOn(0)
	tx.data(make([]byte, 60), 0x0b000000, 0)
	tx.doorbell()
	for _, off := range []uint64{emreg.PBA, emreg.RAL, emreg.MTA + 4, 0x1fffc, emreg.IMS, emreg.ICS, emreg.TDBAL} {
		b.write(off, 0x15555550)
	}
	b.write(emreg.CTRL, emreg.CtrlRST|emreg.CtrlVME)
	for _, r := range [][2]uint32{{emreg.CTRL, 0x00140241}, {emreg.PBA, 0x15555550}, {emreg.RAL, 0x00000002}, {emreg.MTA + 4, 0},
		{0x1fffc, 0}, {emreg.IMS, 0}, {emreg.ICR, 0}, {emreg.TCTL, 0}, {emreg.TDH, 0}, {emreg.TDT, 0}, {emreg.TDBAL, 0}, {emreg.TPT, 0}} {
		if v := b.read(uint64(r[0])); v != r[1] {
			t.Errorf("register %#x is %#x after RST, want %#x", r[0], v, r[1])
		}
	}
	b.nic.Reset()
	if v := b.read(emreg.PBA); v != 0x00140014 {
		t.Errorf("PBA %#x after a function reset", v)
	}
}

func TestPlainRegistersAreMemory(t *testing.T) {
	b := newBoard(t, "82540EM")
	for _, off := range []uint64{0x24, 0x100c, 0x5008, 0x5bb8, 0xc000, 0x1fffc, emreg.IVAR, emreg.EIAC, emreg.SWSM} {
		b.write(off, 0xa5a5a5a5)
		if v := b.read(off); v != 0xa5a5a5a5 {
			t.Errorf("register %#x reads %#x", off, v)
		}
	}
}

func TestNVMByEERD(t *testing.T) {
	b := newBoard(t, "82574L")
	word := func(i uint32) uint16 {
		b.write(emreg.EERD, i<<2|1)
		v := b.read(emreg.EERD)
		if v&2 == 0 || v>>2&0x3fff != i {
			t.Fatalf("EERD %#x for word %d", v, i)
		}
		return uint16(v >> 16)
	}
	sum := uint16(0)
	for i := range uint32(0x40) {
		sum += word(i)
	}
	if sum != 0xbaba {
		t.Errorf("checksum %#x, want 0xbaba", sum)
	}
	if got := [5]uint16{word(0), word(1), word(2), word(0x1b) >> 7 & 7, word(0x1000)}; got != [5]uint16{0x0002, 0, 0x0100, 4, 0xffff} {
		t.Errorf("words %x", got)
	}
	b.write(emreg.EEWR, 0x1234<<16|5<<2|1)
	if v := b.read(emreg.EEWR); v&2 == 0 || word(5) != 0x1234 {
		t.Errorf("EEWR %#x, word %#x", v, word(5))
	}
	must(t, b.k.Sysctl.SetText("debug.fail_point.hw.em0.eeprom", "return(255)"))
	if v := word(0); v != 0x00fd {
		t.Errorf("word with the eeprom fault %#x, want 0xfd", v)
	}
}

// TestNVMByMicrowire reads as a driver does: three bits of opcode, six of address, then
// 16 bits, DO looked at while SK is high.
func TestNVMByMicrowire(t *testing.T) {
	b := newBoard(t, "82545EM")
	pins := uint32(emreg.EECDReq)
	set := func(bits uint32, on bool) {
		pins &^= bits
		if on {
			pins |= bits
		}
		b.write(emreg.EECD, pins)
	}
	set(0, false)
	if v := b.read(emreg.EECD); v&(emreg.EECDGnt|emreg.EECDPres) != emreg.EECDGnt|emreg.EECDPres {
		t.Fatalf("EECD %#x: not granted", v)
	}
	clock := func() (do uint16) {
		set(emreg.EECDSK, true)
		if b.read(emreg.EECD)&emreg.EECDDO != 0 {
			do = 1
		}
		set(emreg.EECDSK, false)
		return do
	}
	word := func(addr uint32) (w uint16) {
		set(emreg.EECDCS, true)
		clock() // a leading zero does not count
		for cmd, i := 6<<6|addr, 8; i >= 0; i-- {
			set(emreg.EECDDI, cmd>>i&1 != 0)
			clock()
		}
		set(emreg.EECDDI, false)
		for range 16 {
			w = w<<1 | clock()
		}
		set(emreg.EECDCS, false)
		return w
	}
	sum := uint16(0)
	for i := range uint32(0x40) {
		sum += word(i)
	}
	if sum != 0xbaba || word(0) != 0x0002 || word(2) != 0x0100 || word(0xe) != 0x8086 {
		t.Errorf("sum %#x, words %x %x %x", sum, word(0), word(2), word(0xe))
	}
}

func TestPHYIdentityAndAddress(t *testing.T) {
	for chip, id := range map[string]uint32{"82574L": 0x01410cb1, "82545EM": 0x01410c20, "82540EM": 0x01410c20} {
		b := newBoard(t, chip)
		if got := uint32(b.mdio().Read(2))<<16 | uint32(b.mdio().Read(3)); got != id {
			t.Errorf("%s: id %#x, want %#x", chip, got, id)
		}
		if v := b.mdio().Access(emreg.MDICOpRead, 2, 2, 0); v&emreg.MDICError == 0 {
			t.Errorf("%s: no error for PHY 2", chip)
		}
		b.read(emreg.ICR)
		b.mdio().Access(emreg.MDICOpRead|emreg.MDICIntEn, 1, 2, 0)
		if v := b.read(emreg.ICR); v != emreg.ICRMDAC {
			t.Errorf("%s: ICR %#x, want MDAC", chip, v)
		}
	}
}

func TestPHYPagesOfBME1000(t *testing.T) {
	b := newBoard(t, "82574L")
	b.mdio().Write(22, 769)
	b.mdio().Write(16, 0x1234)
	b.mdio().Write(22, 0)
	if v := b.mdio().Read(16); v != 0x0360 {
		t.Errorf("page 0 register 16 is %#x", v)
	}
	b.mdio().Write(22, 769)
	if v := b.mdio().Read(16); v != 0x1234 {
		t.Errorf("page 769 register 16 is %#x", v)
	}
}

func TestLinkFollowsPortMACAndPHY(t *testing.T) {
	b := newBoard(t, "82574L")
	lsc := func() bool { return b.read(emreg.ICR)&emreg.ICRLSC != 0 }
	check := func(what string, up, changed bool) {
		t.Helper()
		if got := b.read(emreg.STATUS)&emreg.StatusLU != 0; got != up {
			t.Errorf("%s: LU %v, want %v", what, got, up)
		}
		if got := lsc(); got != changed {
			t.Errorf("%s: LSC %v, want %v", what, got, changed)
		}
	}
	check("plugged", true, true)
	if v := b.read(emreg.STATUS); v != 0x00080083 {
		t.Errorf("STATUS %#x", v)
	}
	if bmsr, pssr := b.mdio().Read(1), b.mdio().Read(17); bmsr != 0x7969 && bmsr != 0x796d || pssr != 0xac00 {
		t.Errorf("BMSR %#x, PSSR %#x", bmsr, pssr)
	}
	b.write(emreg.CTRL, b.read(emreg.CTRL)&^emreg.CtrlSLU)
	check("SLU off", false, true)
	b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlSLU)
	check("SLU on", true, true)
	// The link bit of BMSR latches low: it is read twice.
	if first, second := b.mdio().Read(1), b.mdio().Read(1); first != 0x7969 || second != 0x796d {
		t.Errorf("BMSR %#x, then %#x", first, second)
	}
	b.mdio().Write(0, 0x1340) // restart
	check("restarted", true, true)
	if v := b.mdio().Read(0); v != 0x1140 {
		t.Errorf("BMCR %#x: restart does not clear itself", v)
	}
	b.mdio().Write(0, 0x1940)
	check("powered down", false, true)
	b.mdio().Write(9, 0)
	b.mdio().Write(0, 0x1340)
	check("100 at most", true, true)
	if v := b.read(emreg.STATUS) & 0xc0; v != 0x40 {
		t.Errorf("speed field %#x, want 100", v)
	}
	must(t, b.far.Close())
	check("far end gone", false, true)
}

func TestNegotiationTakesItsTime(t *testing.T) {
	k, _ := newKernel(t, stepped())
	must(t, k.Env.Set("hint.em.0.autoneg_ms", "500"))
	b := plug(t, k, "82540EM", hw.Config{Name: "em0", Port: null.New(), MAC: macHW})
	for _, step := range []struct {
		wait time.Duration
		up   bool
	}{{0, false}, {490 * time.Millisecond, false}, {20 * time.Millisecond, true}} {
		k.Advance(step.wait)
		if up := b.read(emreg.STATUS)&emreg.StatusLU != 0; up != step.up {
			t.Errorf("link %v, want %v", up, step.up)
		}
	}
}

func TestForcedSpeedShowsInStatus(t *testing.T) {
	b := newBoard(t, "82540EM")
	b.write(emreg.CTRL, emreg.CtrlSLU|emreg.CtrlFrcSpd|emreg.CtrlFrcDpx|emreg.CtrlSpd100)
	if v := b.read(emreg.STATUS); v != 0x80080042 {
		t.Errorf("STATUS %#x, want LU, 100, half duplex", v)
	}
}

func TestGIOMasterStops(t *testing.T) {
	b := newBoard(t, "82574L")
	b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlGIOMasterDisable)
	if v := b.read(emreg.STATUS); v&emreg.StatusGIOMasterEnable != 0 {
		t.Errorf("STATUS %#x", v)
	}
}

func TestSemaphores(t *testing.T) {
	b := newBoard(t, "82574L")
	if a, c := b.read(emreg.SWSM), b.read(emreg.SWSM); a&1 != 0 || c&1 != 1 {
		t.Errorf("SMBI %d, then %d", a&1, c&1)
	}
	b.write(emreg.SWSM, emreg.SWSMSWESMBI)
	if a, c := b.read(emreg.SWSM), b.read(emreg.SWSM); a != 2 || c != 3 {
		t.Errorf("SWSM %d, then %d", a, c)
	}
	b.write(emreg.EXTCNFCtrl, b.read(emreg.EXTCNFCtrl)|emreg.EXTCNFSWOwnership)
	if v := b.read(emreg.EXTCNFCtrl); v != 0x28 {
		t.Errorf("EXTCNF %#x", v)
	}
}

func TestIOBARReachesTheRegisters(t *testing.T) {
	b := newBoard(t, "82540EM")
	io, err := b.fn.MapBAR(pci.BARReg(2))
	must(t, err)
	io.Write32(0, emreg.RCTL)
	io.Write32(4, 0x8000)
	if v := b.read(emreg.RCTL); v != 0x8000 || io.Read32(4) != 0x8000 || io.Read32(0) != emreg.RCTL {
		t.Errorf("RCTL %#x", v)
	}
	b.write(emreg.PBA, 0x28)
	io.Write32(0, emreg.CTRL)
	io.Write32(4, emreg.CtrlRST)
	if v := b.read(emreg.RCTL); v != 0 || b.read(emreg.PBA) != 0x28 {
		t.Errorf("after RST through the I/O BAR: RCTL %#x", v)
	}
	io.Write32(0, emreg.BARSize)
	io.Write32(4, 1)
	if v := io.Read32(4); v != 0 {
		t.Errorf("outside the registers: %#x", v)
	}
}

func TestReceiveControlOf82574IsMirrored(t *testing.T) {
	b := newBoard(t, "82574L")
	b.write(emreg.RXDCTL, 0x01040420)
	if v := b.read(emreg.RXDCTL + emreg.RingStride); v != 0x01040420 {
		t.Errorf("RXDCTL(1) %#x", v)
	}
}
