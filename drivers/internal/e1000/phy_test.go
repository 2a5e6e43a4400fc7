package e1000

import (
	"errors"
	"syscall"
	"testing"
)

func TestPHYAccessChecksTheAnswer(t *testing.T) {
	b, r := bench(t)
	p := PHY{Regs: r}
	id, err := p.ID()
	must(t, err)
	if id != testPHY {
		t.Errorf("id %#x, want %#x", id, testPHY)
	}
	for name, answer := range map[string]uint32{
		"error":          1<<28 | 1<<30 | 2<<16,
		"another's data": 1<<28 | 7<<16 | 0x141,
	} {
		b.Fuzz = func(uint64, uint32) uint32 { return answer }
		if _, err := p.ReadReg(2); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v, want EIO", name, err)
		}
	}
}

func TestLinkIsTheSecondReading(t *testing.T) {
	b, r := bench(t)
	reads := 0
	b.Fuzz = func(off uint64, v uint32) uint32 {
		if off == mdicReg {
			if reads++; reads == 1 {
				v &^= statusLink
			}
		}
		return v
	}
	up, err := PHY{Regs: r}.Link()
	must(t, err)
	if !up {
		t.Error("a loss of link that is over hides the link")
	}
}

func TestAdvertisement(t *testing.T) {
	for _, tc := range []struct {
		modes Modes
		fc    FlowControl
		adv   uint16
		giga  uint16
	}{
		{ModesAll, FlowFull, 0x0de1, 0x0e00},
		{ModesAll, FlowNone, 0x01e1, 0x0e00},
		{ModesAll, FlowTx, 0x09e1, 0x0e00},
		{ModesAll, FlowRx, 0x0de1, 0x0e00},
		{Mode1000FD, FlowFull, 0x0c01, 0x0e00},
		{Mode100FD, FlowNone, 0x0101, 0x0c00},
		{Mode10HD, FlowNone, 0x0021, 0x0c00},
	} {
		b, r := bench(t)
		must(t, PHY{Regs: r}.StartAutoNeg(tc.modes, tc.fc))
		giga := b.PHY[9] &^ 0x100 // the board offers half duplex, the driver does not
		if b.PHY[4] != tc.adv || giga != tc.giga || b.PHY[9]&0x100 != 0 {
			t.Errorf("modes %#x flow %d: advertised %#04x and %#04x, want %#04x and %#04x",
				tc.modes, tc.fc, b.PHY[4], b.PHY[9], tc.adv, tc.giga)
		}
		if b.PHY[0]&0x1000 == 0 {
			t.Errorf("modes %#x: negotiation is off", tc.modes)
		}
	}
}

func TestForcedModes(t *testing.T) {
	for mode, want := range map[Modes]uint16{Mode10HD: 0, Mode10FD: 0x0100, Mode100HD: 0x2000, Mode100FD: 0x2100} {
		b, r := bench(t)
		must(t, PHY{Regs: r}.Force(mode))
		if b.PHY[0] != want {
			t.Errorf("mode %#x: BMCR %#04x, want %#04x", mode, b.PHY[0], want)
		}
	}
}

// Table 28B-3 of IEEE 802.3.
func TestFlowControlResolution(t *testing.T) {
	const pause, asm = 0x400, 0x800
	for _, tc := range []struct {
		want         FlowControl
		adv, partner uint16
		got          FlowControl
	}{
		{FlowFull, 0, pause, FlowNone},
		{FlowFull, pause | asm, 0, FlowNone},
		{FlowFull, pause | asm, pause | asm, FlowFull},
		{FlowFull, pause | asm, pause, FlowFull},
		{FlowRx, pause | asm, pause | asm, FlowRx},
		{FlowTx, asm, pause | asm, FlowTx},
		{FlowTx, asm, pause, FlowNone},
		{FlowRx, pause | asm, asm, FlowRx},
	} {
		if got := resolveFlow(tc.want, tc.adv, tc.partner); got != tc.got {
			t.Errorf("want %d, advertised %#x, partner %#x: %d, want %d", tc.want, tc.adv, tc.partner, got, tc.got)
		}
	}
}
