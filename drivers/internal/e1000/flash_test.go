package e1000

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
)

// nvmWords are words with a signature, by which one can tell where they were read.
func nvmWords() []uint16 {
	w := make([]uint16, 64)
	for i := range w {
		w[i] = uint16(i)*0x101 + 1
	}
	w[0x13] = 0x8013
	return w
}

// newFlashNVM is the NVM of a flash, of I217 with half words, of I219 without.
func newFlashNVM(f *e1000test.Flash, half bool) FlashNVM {
	n := FlashNVM{Regs: &Regs{BAR: f, Delay: func(time.Duration) {}}, Bank: 2048}
	if half {
		n.Half, n.Start = f, e1000test.FlashStart
	} else {
		f.NIC = true
	}
	return n
}

func TestFlashWordsComeFromTheBankInUse(t *testing.T) {
	want := nvmWords()
	for _, half := range []bool{true, false} {
		for bank := range 2 {
			f := e1000test.NewFlash(want, bank)
			n := newFlashNVM(f, half)
			for i, w := range want {
				if got, err := n.ReadWord(i); err != nil || got != w {
					t.Fatalf("half words %v, bank %d: word %#x = %#x (%v), want %#x", half, bank, i, got, err, w)
				}
			}
		}
	}
}

func TestFlashWithoutSignatureIsItsFirstBank(t *testing.T) {
	w := nvmWords()
	w[0x13] = 0
	f := e1000test.NewFlash(w, 0)
	if got, err := newFlashNVM(f, true).ReadWord(5); err != nil || got != w[5] {
		t.Errorf("word 5 = %#x (%v), want %#x", got, err, w[5])
	}
}

func TestFlashCycleIsRepeated(t *testing.T) {
	for _, tc := range []struct{ fails, cycles int }{{0, 2}, {4, 6}, {9, 11}} {
		f := e1000test.NewFlash(nvmWords(), 0)
		f.Fails = tc.fails
		if got, err := newFlashNVM(f, true).ReadWord(7); err != nil || got != nvmWords()[7] {
			t.Errorf("%d failures: word 7 = %#x (%v)", tc.fails, got, err)
		}
		if f.Cycles != tc.cycles {
			t.Errorf("%d failures: %d cycles, want %d", tc.fails, f.Cycles, tc.cycles)
		}
	}
}

func TestFlashThatDoesNotAnswer(t *testing.T) {
	for name, spoil := range map[string]func(*e1000test.Flash){
		"failing":       func(f *e1000test.Flash) { f.Fails = 1000 },
		"no descriptor": func(f *e1000test.Flash) { f.Status = 0 },
		"stuck":         func(f *e1000test.Flash) { f.Stuck = true },
		"busy":          func(f *e1000test.Flash) { f.Status |= flashBusy },
	} {
		for _, half := range []bool{true, false} {
			f := e1000test.NewFlash(nvmWords(), 0)
			spoil(f)
			if _, err := newFlashNVM(f, half).ReadWord(0); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: %v, want EIO", name, err)
			}
		}
	}
	n := newFlashNVM(e1000test.NewFlash(nvmWords(), 0), true)
	for _, word := range []int{-1, 2048} {
		if _, err := n.ReadWord(word); !errors.Is(err, syscall.EIO) {
			t.Errorf("word %#x: %v, want EIO", word, err)
		}
	}
	if err := n.WriteWord(0, 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("write: %v, want EIO", err)
	}
}
