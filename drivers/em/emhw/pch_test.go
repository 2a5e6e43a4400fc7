package emhw_test

import (
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// What the model says about rules that only these parts have.
const (
	noSWFlag     = "PHY access without EXTCNF_CTRL.SWFLAG (I217, I219: MDIC)"
	noMTA        = "multicast table has 32 registers (I217, I219: MTA)"
	noRAR        = "12 receive addresses are there (I217, I219: RAL, RAH)"
	noFlashWrite = "flash cycle is no read (I217, I219: HSFCTL)"
	noFlashRange = "flash address outside the NIC's region (I217, I219: FADDR)"
	unsunk       = "reset with descriptors in the part, which hangs (I219: CTRL.RST)"
)

var pchParts = []string{"I217-LM", "I217-V", "I219-LM", "I219-V", "I219-LM6", "I219-V6"}

// flashOf is the window of a part's flash registers.
func flashOf(t *testing.T, b *board) (bar pci.BAR, base uint64) {
	t.Helper()
	if len(b.nic.BARs()) == 1 {
		return b.bar, emreg.FlashOwn
	}
	bar, err := b.fn.MapBAR(pci.BARReg(emreg.FlashBAR))
	must(t, err)
	return bar, 0
}

// cycle has the flash carry a cycle out and returns its status; by words, as I219 wants.
func cycle(bar pci.BAR, base uint64, addr, control uint32) (status, data uint32) {
	bar.Write32(base+emreg.FlashHSFSTS, 7) // clear
	bar.Write32(base+emreg.FlashFADDR, addr)
	bar.Write32(base+emreg.FlashHSFSTS, (control|1)<<16)
	return bar.Read32(base + emreg.FlashHSFSTS), bar.Read32(base + emreg.FlashFDATA0)
}

func TestHubPartsHaveTheirIdentityAndBARs(t *testing.T) {
	for name, want := range map[string]string{
		"I217-LM": "0x153a 2", "I217-V": "0x153b 2", "I219-LM": "0x156f 1", "I219-V": "0x1570 1",
		"I219-LM6": "0x15bd 1", "I219-V6": "0x15be 1",
	} {
		b := newBoard(t, name)
		if got := fmt.Sprintf("%#x %d", b.fn.Identity().Device, len(b.nic.BARs())); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		if msix, msi := b.nic.Vectors(); msix != 0 || msi != 1 {
			t.Errorf("%s has %d MSI-X and %d MSI vectors", name, msix, msi)
		}
		for off, want := range map[uint64]uint32{emreg.CTRL: 0x00100241, emreg.PBA: 0x0006001a, emreg.FWSM: 0x40,
			emreg.RXCSUM: 0x300, emreg.TARC: 0x403, emreg.RAL: 0x00000002, emreg.RAH: 0x80000100, emreg.EECD: 0, emreg.WUC: 1} {
			if got := b.read(off); got != want {
				t.Errorf("%s: register %#x resets to %#x, want %#x", name, off, got, want)
			}
		}
	}
}

// The words are typed from spec 1g 5.7; the bank with the signature is the first of I217
// and the second of I219.
func TestFlashHoldsTheNVM(t *testing.T) {
	const read2, read4 = 1 << 8, 3 << 8
	for _, name := range pchParts {
		b := newBoard(t, name)
		bar, base := flashOf(t, b)
		region, bank := uint32(0), uint32(4096)
		if base == 0 {
			if got := bar.Read32(emreg.FlashGFPREG); got != 0x00020001 {
				t.Errorf("%s: GFPREG %#x", name, got)
			}
			region, bank = 4096, 0
		} else if got := b.read(emreg.STRAP); got != 1<<1 {
			t.Errorf("%s: STRAP %#x, want two sectors", name, got)
		}
		for word, want := range map[uint32]uint32{0: 0x0002, 1: 0, 2: 0x0100, 3: 0x0421, 0x13: 0x8000, 0x100: 0xffff} {
			if status, got := cycle(bar, base, region+bank+2*word, read2); status != 0x01004001 || got != want {
				t.Errorf("%s: word %#x = %#x, status %#x", name, word, got, status)
			}
		}
		if _, got := cycle(bar, base, region+(bank^4096)+2*0x13, read2); got != 0xffff {
			t.Errorf("%s: signature of the other bank %#x", name, got)
		}
		if _, got := cycle(bar, base, region+bank, read4); got != 0x00000002 {
			t.Errorf("%s: first dword %#x", name, got)
		}
		var sum uint16
		for word := range uint32(64) {
			_, v := cycle(bar, base, region+bank+2*word, read2)
			sum += uint16(v)
		}
		if sum != 0xbaba {
			t.Errorf("%s: checksum %#x", name, sum)
		}
	}
}

func TestFlashRefusesWhatIsNotGranted(t *testing.T) {
	for _, name := range []string{"I217-V", "I219-LM"} {
		b := newBoard(t, name)
		bar, base := flashOf(t, b)
		for _, addr := range []uint32{3 * 4096, 0xffffff, 3*4096 - 1} {
			if base != 0 {
				addr -= 4096
			}
			if status, _ := cycle(bar, base, addr, 1<<8); status&7 != 7 {
				t.Errorf("%s: read at %#x: status %#x, want done, error and access error", name, addr, status)
			}
		}
		for _, kind := range []uint32{2 << 1, 3 << 1} { // write, erase
			if status, _ := cycle(bar, base, 4096, kind); status&7 != 3 {
				t.Errorf("%s: cycle %d: status %#x, want done and error", name, kind>>1, status)
			}
		}
		if r, w := b.count(noFlashRange), b.count(noFlashWrite); r != 3 || w != 2 {
			t.Errorf("%s: %d addresses and %d cycles refused, want 3 and 2", name, r, w)
		}
	}
}

func TestFlashStatusIsClearedByOnes(t *testing.T) {
	b := newBoard(t, "I217-V")
	bar, _ := flashOf(t, b)
	cycle(bar, 0, 0, 0) // in front of the region
	if got := bar.Read16(emreg.FlashHSFSTS); got != 0x4007 {
		t.Errorf("status %#x", got)
	}
	bar.Write16(emreg.FlashHSFSTS, 2)
	if got := bar.Read16(emreg.FlashHSFSTS); got != 0x4005 {
		t.Errorf("status %#x after clearing the error", got)
	}
	bar.Write16(emreg.FlashHSFCTL, 1<<8)
	if got := [2]uint16{bar.Read16(emreg.FlashHSFSTS), bar.Read16(emreg.FlashHSFCTL)}; got != [2]uint16{0x4005, 1 << 8} {
		t.Errorf("status and control %#x: writing one touched the other", got)
	}
}

func TestEEPROMFaultReachesTheFlash(t *testing.T) {
	b := newBoard(t, "I217-V")
	must(t, b.k.FailPoint("hw.em0.eeprom").Set("2*return(0x0100)"))
	bar, base := flashOf(t, b)
	for i, want := range []uint32{0x0521, 0x05, 0x0421} { // a word, its high byte, the word again
		addr, control := uint32(4096+6), uint32(1<<8)
		if i == 1 {
			addr, control = addr+1, 0
		}
		if _, got := cycle(bar, base, addr, control); got != want {
			t.Errorf("read %d gives %#x, want %#x", i, got, want)
		}
	}
}

// mdi makes an access with or without the flag.
func (b *board) mdi(addr, op, reg, v uint32) uint32 {
	b.write(emreg.MDIC, v|reg<<16|addr<<21|op<<26)
	return b.read(emreg.MDIC)
}

func TestPHYOfHubPartsNeedsTheFlag(t *testing.T) {
	const write, read, ready, fault = 1, 2, 1 << 28, 1 << 30
	b := newBoard(t, "I217-V")
	if got := b.mdi(2, read, 2, 0); got&(ready|fault) != ready|fault {
		t.Errorf("MDIC %#x without the flag", got)
	}
	if got := b.count(noSWFlag); got != 1 {
		t.Errorf("%d accesses refused", got)
	}
	b.write(emreg.EXTCNFCtrl, 1<<5)
	for _, c := range []struct{ addr, reg, want uint32 }{
		{2, 2, 0x0154}, {2, 3, 0x00a0}, {2, 0, 0x1140}, {2, 26, 0x200}, {1, 20, 0},
	} {
		if got := b.mdi(c.addr, read, c.reg, 0); got&0xffff != c.want || got&fault != 0 || got>>21&31 != c.addr {
			t.Errorf("register %d at %d: %#x, want %#x", c.reg, c.addr, got, c.want)
		}
	}
	if got := b.mdi(3, read, 2, 0); got&fault == 0 {
		t.Errorf("somebody answers at 3: %#x", got)
	}
	b.mdi(1, write, 31, 772<<5)
	b.mdi(1, write, 20, 0x6000)
	b.mdi(1, write, 31, 776<<5)
	if got := b.mdi(1, read, 20, 0) & 0xffff; got != 0 {
		t.Errorf("page 776 has %#x of page 772", got)
	}
	b.mdi(1, write, 31, 772<<5)
	if got := b.mdi(1, read, 20, 0) & 0xffff; got != 0x6000 {
		t.Errorf("page 772: %#x", got)
	}
	b.mdi(2, write, 16, 0x8002)
	if got := b.mdi(2, read, 17, 0) & 0xffff; got != 6 {
		t.Errorf("partner's EEE %#x, want 100 and 1000", got)
	}
}

func TestPHYResetIsToldInSTATUS(t *testing.T) {
	b := newBoard(t, "I219-V")
	const done, reset = 1 << 9, 1 << 10
	if got := b.read(emreg.STATUS) & (done | reset); got != done {
		t.Errorf("STATUS %#x at first", got)
	}
	b.write(emreg.STATUS, 0)
	if got := b.read(emreg.STATUS) & (done | reset); got != 0 {
		t.Errorf("STATUS %#x after 0 was written", got)
	}
	b.write(emreg.CTRL, 1<<31|1<<6)
	if got := b.read(emreg.STATUS) & (done | reset); got != done|reset {
		t.Errorf("STATUS %#x after PHY_RST", got)
	}
	b.write(emreg.EXTCNFCtrl, 1<<5)
	b.write(emreg.CTRL, 1<<31|1<<26)
	if got := b.read(emreg.EXTCNFCtrl); got != 0 {
		t.Errorf("EXTCNF_CTRL %#x after RST: the flag goes with it", got)
	}
	b.write(emreg.FWSM, 0)
	if got := b.read(emreg.FWSM); got != 0x40 {
		t.Errorf("FWSM %#x: read only", got)
	}
}

func TestHubPartsHaveSmallTables(t *testing.T) {
	b := newBoard(t, "I217-LM")
	for _, off := range []uint64{emreg.MTA + 32*4, emreg.MTA + 127*4, emreg.RAL + 12*8, emreg.RAH + 15*8} {
		b.write(off, 0xffffffff)
		if got := b.read(off); got != 0 {
			t.Errorf("register %#x has %#x", off, got)
		}
	}
	if m, r := b.count(noMTA), b.count(noRAR); m != 2 || r != 2 {
		t.Errorf("%d and %d refused, want 2 and 2", m, r)
	}
	b.write(emreg.MTA+31*4, 1)
	b.write(emreg.RAH+11*8, 0x8000abcd)
	if b.read(emreg.MTA+31*4) != 1 || b.read(emreg.RAH+11*8) != 0x8000abcd {
		t.Error("the last registers that are there do not keep their values")
	}
}

// 01:00:5e:00:00:fb: (0x00>>6 | 0xfb<<2) & 0x3ff = 0x3ec, dword 31, bit 12.
func TestGroupsOfHubPartsHaveTheirOwnHash(t *testing.T) {
	b := newBoard(t, "I217-V")
	b.write(emreg.CTRL, emreg.CtrlSLU)
	rx := b.rxOn(0, 0)
	f := rig.NewFlow(60)
	f.Dst = [6]byte{1, 0, 0x5e, 0, 0, 0xfb}
	b.write(emreg.MTA+31*4, 1<<11)
	b.arrive(f.Build(t))
	if rx.status(0) != 0 {
		t.Error("a group that is not in the table got in")
	}
	b.write(emreg.MTA+31*4, 1<<12)
	b.arrive(f.Build(t))
	if rx.words[1] == 0 {
		t.Error("a group in the table was kept out")
	}
}

// pending leaves a frame in the transmit ring of a part without a link.
func pending(t *testing.T, b *board) *ring {
	t.Helper()
	b.write(emreg.CTRL, 0)
	tx := b.txOn(0)
	tx.data(make([]byte, 60), 0x0b000000, 0)
	tx.doorbell()
	if b.read(emreg.TDH) == b.read(emreg.TDT) {
		t.Fatal("the frame is gone")
	}
	return tx
}

// works reports whether the part sends after a reset.
func works(b *board) bool {
	b.write(emreg.CTRL, emreg.CtrlSLU)
	tx := b.txOn(0)
	tx.data(make([]byte, 60), 0x0b000000, 0)
	tx.doorbell()
	b.k.RunUntilIdle()
	return len(b.frames()) == 1
}

func TestResetWithPendingDescriptorsHangsI219(t *testing.T) {
	for name, hangs := range map[string]bool{"I217-V": false, "I219-LM": true, "I219-LM6": true} {
		b := newBoard(t, name)
		pending(t, b)
		if got := b.fn.ReadConfig16(0xe4)&0x100 != 0; got != hangs {
			t.Errorf("%s: flush required %v, want %v", name, got, hangs)
		}
		b.write(emreg.CTRL, emreg.CtrlRST)
		if got := works(b); got == hangs {
			t.Errorf("%s: works %v after a reset with a frame in the ring", name, got)
		}
		if got := b.count(unsunk) != 0; got != hangs {
			t.Errorf("%s: refused %v, want %v", name, got, hangs)
		}
		b.fn.FLR()
		if !works(b) {
			t.Errorf("%s does not work after the bus has reset it", name)
		}
	}
}

func TestFlushLetsI219Reset(t *testing.T) {
	b := newBoard(t, "I219-V")
	tx := pending(t, b)
	flush := func() { // data without an end of packet behind all others
		tx.data(make([]byte, 512), 0x02000000, 0)
		tx.doorbell()
	}
	flush()
	if b.fn.ReadConfig16(0xe4)&0x100 == 0 {
		t.Error("flushed while FEXTNVM11 does not ask for it")
	}
	b.write(emreg.FEXTNVM11, 1<<13)
	flush()
	if got := b.fn.ReadConfig16(0xe4); got != 0 {
		t.Errorf("state of the rings %#x after the flush", got)
	}
	b.write(emreg.CTRL, emreg.CtrlRST)
	if !works(b) || b.count(unsunk) != 0 {
		t.Error("the part hangs after a reset with flushed rings")
	}
}

func TestReceiveRingOfI219Drains(t *testing.T) {
	b := newBoard(t, "I219-LM")
	b.rxOn(0, 0)
	required := func() bool { return b.fn.ReadConfig16(0xe4)&0x100 != 0 }
	if !required() {
		t.Error("receive descriptors are in the part and need no flush")
	}
	rctl := b.read(emreg.RCTL) &^ emreg.RCTLEN
	b.write(emreg.RCTL, rctl)
	b.write(emreg.RXDCTL, 0x1f|1<<8) // in cache lines: wrong
	b.write(emreg.RCTL, rctl|emreg.RCTLEN)
	if !required() {
		t.Error("drained under thresholds in cache lines")
	}
	b.write(emreg.RXDCTL, 0x1f|1<<8|1<<24)
	b.write(emreg.RCTL, rctl|emreg.RCTLEN)
	b.write(emreg.RCTL, rctl)
	if required() {
		t.Error("not drained under thresholds in descriptors")
	}
}

func TestIdleLinkIsCountedOnlyWithEEE(t *testing.T) {
	b := newBoard(t, "I217-LM")
	b.write(emreg.CTRL, emreg.CtrlSLU)
	b.write(emreg.EXTCNFCtrl, 1<<5)
	tx := b.txOn(0)
	b.rxOn(0, emreg.RCTLUPE)
	traffic := func() [2]uint32 {
		for range 3 {
			tx.data(make([]byte, 60), 0x0b000000, 0)
			tx.doorbell()
			b.arrive(rig.NewFlow(60).Build(t))
		}
		return [2]uint32{b.read(emreg.TLPIC), b.read(emreg.RLPIC)}
	}
	if got := traffic(); got != [2]uint32{} {
		t.Errorf("idled %d times without EEE", got)
	}
	b.mdi(1, 1, 31, 772<<5)
	b.mdi(1, 1, 20, emreg.LPICtrl1000)
	if got := traffic(); got != [2]uint32{3, 3} {
		t.Errorf("idled %d times, want 3 and 3", got)
	}
	b.mdi(1, 1, 20, emreg.LPICtrl100) // not this speed
	if got := traffic(); got != [2]uint32{} {
		t.Errorf("idled %d times at a speed without EEE", got)
	}
}
