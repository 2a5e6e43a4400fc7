package e1000

import (
	"fmt"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
)

// SyncSemaphore shares resources of a part with its firmware: bits of SW_FW_SYNC, which
// the hardware semaphore guards (e1000_acquire_swfw_sync; spec 1g 5.1).
type SyncSemaphore struct {
	*Regs
	Bits uint32 // software's; the firmware's are syncFirmware higher
}

const (
	syncFirmware = 16
	syncStep     = 5 * time.Millisecond
	syncTries    = 200
	smbiStep     = 50 * time.Microsecond
	smbiTries    = 2000
)

// Acquire waits until the firmware does not use the resource. The error wraps EIO: it
// does not let go.
func (s SyncSemaphore) Acquire() error {
	for range syncTries {
		if err := s.lock(); err != nil {
			return err
		}
		v := s.Read32(emreg.SWFWSync)
		free := v&(s.Bits|s.Bits<<syncFirmware) == 0
		if free {
			s.Write32(emreg.SWFWSync, v|s.Bits)
		}
		s.unlock()
		if free {
			return nil
		}
		s.Delay(syncStep)
	}
	return fmt.Errorf("resource %#x is in use (SW_FW_SYNC): %w", s.Bits, syscall.EIO)
}

// Release lets the resource go.
func (s SyncSemaphore) Release() {
	if s.lock() == nil {
		s.Clear(emreg.SWFWSync, s.Bits)
		s.unlock()
	}
}

// lock takes SWSM: SMBI, which reading sets, from other functions, and SWESMBI from the
// firmware (e1000_get_hw_semaphore).
func (s SyncSemaphore) lock() error {
	_, ok := s.Poll(emreg.SWSM, emreg.SWSMSMBI, 0, smbiStep, smbiTries)
	for range smbiTries {
		if !ok {
			break
		}
		s.Set(emreg.SWSM, emreg.SWSMSWESMBI)
		if s.Read32(emreg.SWSM)&emreg.SWSMSWESMBI != 0 {
			return nil
		}
		s.Delay(smbiStep)
	}
	s.unlock()
	return fmt.Errorf("semaphore is held (SWSM): %w", syscall.EIO)
}

func (s SyncSemaphore) unlock() { s.Clear(emreg.SWSM, emreg.SWSMSMBI|emreg.SWSMSWESMBI) }

// SharedNVM is an NVM that firmware uses too.
type SharedNVM struct {
	NVM
	Sem Semaphore
}

// ReadWord reads one word; the error may be the semaphore's.
func (n SharedNVM) ReadWord(word int) (uint16, error) {
	if err := n.Sem.Acquire(); err != nil {
		return 0, fmt.Errorf("reading NVM word %#x: %w", word, err)
	}
	defer n.Sem.Release()
	return n.NVM.ReadWord(word)
}

// WriteWord writes one word; the error may be the semaphore's.
func (n SharedNVM) WriteWord(word int, v uint16) error {
	if err := n.Sem.Acquire(); err != nil {
		return fmt.Errorf("writing NVM word %#x: %w", word, err)
	}
	defer n.Sem.Release()
	return n.NVM.WriteWord(word, v)
}
