package e1000

import (
	"errors"
	"syscall"
	"testing"
)

const (
	eecdOff = 0x10
	eerdOff = 0x14
	eewrOff = 0x102c
)

func TestNVMsReadTheSameWords(t *testing.T) {
	b, r := bench(t)
	for i := range b.NVM {
		b.NVM[i] ^= uint16(i * 0x1357)
	}
	nvms := map[string]NVM{
		"EERD":      EERDNVM{Regs: r, Read: eerdOff, Write: eewrOff, Words: len(b.NVM)},
		"Microwire": MicrowireNVM{Regs: r, EECD: eecdOff, AddrBits: 6},
	}
	for name, n := range nvms {
		for i, want := range b.NVM {
			got, err := n.ReadWord(i)
			must(t, err)
			if got != want {
				t.Errorf("%s word %#x = %#04x, want %#04x", name, i, got, want)
			}
		}
		for _, bad := range []int{-1, len(b.NVM)} {
			if _, err := n.ReadWord(bad); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s word %d: %v, want EIO", name, bad, err)
			}
		}
	}
	if req := b.Reg(eecdOff) & 0xc7; req != 0 {
		t.Errorf("EECD %#x after reading: wires or request are left up", req)
	}
}

func TestChecksumIsCheckedAndRepaired(t *testing.T) {
	b, r := bench(t)
	n := EERDNVM{Regs: r, Read: eerdOff, Write: eewrOff, Words: len(b.NVM)}
	for _, step := range []struct {
		do   func()
		want bool
	}{
		{func() {}, true},
		{func() { must(t, n.WriteWord(5, 0x1234)) }, false},
		{func() { must(t, UpdateNVMChecksum(n)) }, true},
	} {
		step.do()
		got, err := NVMChecksumOK(n, 0)
		must(t, err)
		if got != step.want {
			t.Errorf("checksum right: %v, want %v", got, step.want)
		}
	}
	if b.NVM[5] != 0x1234 {
		t.Errorf("word 5 = %#x after writing 0x1234", b.NVM[5])
	}
	mac, err := MACFromNVM(n)
	must(t, err)
	if mac != testMAC {
		t.Errorf("MAC %x, want %x", mac, testMAC)
	}
}

func TestSilentPartIsAnError(t *testing.T) {
	b, r := bench(t)
	b.Fuzz = func(uint64, uint32) uint32 { return 0 }
	for name, read := range map[string]func() error{
		"EERD": func() error {
			_, err := EERDNVM{Regs: r, Read: eerdOff, Write: eewrOff, Words: 64}.ReadWord(0)
			return err
		},
		"EEWR":      func() error { return EERDNVM{Regs: r, Read: eerdOff, Write: eewrOff, Words: 64}.WriteWord(0, 0) },
		"Microwire": func() error { _, err := MicrowireNVM{Regs: r, EECD: eecdOff, AddrBits: 6}.ReadWord(0); return err },
		"PHY":       func() error { _, err := PHY{Regs: r}.ID(); return err },
		"link":      func() error { _, err := PHY{Regs: r}.Link(); return err },
		"autoneg":   func() error { return PHY{Regs: r}.StartAutoNeg(ModesAll, FlowFull) },
	} {
		if err := read(); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s of a silent part: %v, want EIO", name, err)
		}
	}
}
