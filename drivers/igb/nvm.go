package igb

import (
	"fmt"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igb/igbreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

// noWord is a word of an NVM that was never written.
const noWord = 0xffff

// Word counts of the NVM (spec 1g 5.7).
const (
	nvmMinShift = 6  // 2^(6 + EECD.SIZE_EX) words
	nvmMaxShift = 14 // more than EERD's address has bits for
)

// findNVM reads from EECD which kind of NVM there is and how big
// (e1000_init_nvm_params_82575, _i210).
func (c chip) findNVM(r *e1000.Regs) e1000.NVM {
	eecd := r.Read32(emreg.EECD)
	if c.oneTime(eecd) {
		return invm{r}
	}
	shift := nvmMinShift + (eecd&emreg.EECDSizeExMask)>>emreg.EECDSizeExShift
	n := e1000.EERDNVM{Regs: r, Read: emreg.EERD, Write: emreg.EEWR, Words: 1 << min(shift, nvmMaxShift)}
	if c.mac == macI210 {
		n.Read, n.Write = igbreg.EERDI210, igbreg.EEWRI210
	}
	return n
}

// oneTime reports whether the part has memory that is written once instead of a flash.
func (c chip) oneTime(eecd uint32) bool {
	return c.mac == macI211 || c.mac == macI210 && eecd&e1000reg.EECDFlashPresent == 0
}

// sections are the first words of the sections of the NVM that have a checksum (spec 1g
// 5.7).
func (c chip) sections(n e1000.NVM) ([]int, error) {
	if shared, ok := n.(e1000.SharedNVM); ok {
		if _, once := shared.NVM.(invm); once {
			return nil, nil
		}
	}
	all := igbreg.SectionWords()
	switch c.mac {
	case macI350:
		return all[:], nil
	case mac82580:
		w, err := n.ReadWord(emreg.NVMCompat)
		if err != nil {
			return nil, err
		}
		if w&igbreg.Compat82580 != 0 {
			return all[:], nil
		}
	}
	return all[:1], nil
}

// Records of one-time memory (spec 1g 5.1 INVM; e1000_i210.h).
const (
	invmSize       = 64 // dwords (INVM_SIZE)
	invmTypeMask   = 7  // INVM_DWORD_TO_RECORD_TYPE
	invmNothing    = 0  // INVM_UNINITIALIZED_STRUCTURE
	invmWord       = 1  // INVM_WORD_AUTOLOAD_STRUCTURE
	invmCSR        = 2  // INVM_CSR_AUTOLOAD_STRUCTURE
	invmKey        = 4  // INVM_RSA_KEY_SHA256_STRUCTURE
	invmAddrShift  = 9  // INVM_DWORD_TO_WORD_ADDRESS
	invmAddrMask   = 0x7f
	invmValueShift = 16
	invmCSRSize    = 1 // dwords behind its first (INVM_CSR_AUTOLOAD_DATA_SIZE_IN_DWORDS)
	invmKeySize    = 8
)

// invm is the one-time memory of parts without flash: records, of which those of words
// stand for an NVM's (e1000_read_invm_word_i210).
type invm struct{ *e1000.Regs }

// ReadWord finds the record of a word; a word without one reads as all ones.
func (m invm) ReadWord(word int) (uint16, error) {
	for i := 0; i < invmSize; i++ {
		d := m.Read32(igbreg.INVMData + uint64(i)*emreg.RegStride)
		switch d & invmTypeMask {
		case invmNothing:
			return noWord, nil
		case invmCSR:
			i += invmCSRSize
		case invmKey:
			i += invmKeySize
		case invmWord:
			if int(d>>invmAddrShift&invmAddrMask) == word {
				return uint16(d >> invmValueShift), nil
			}
		}
	}
	return noWord, nil
}

// WriteWord refuses: the driver never changes such memory.
func (m invm) WriteWord(word int, _ uint16) error {
	return fmt.Errorf("writing NVM word %#x of one-time memory: %w", word, syscall.EIO)
}
