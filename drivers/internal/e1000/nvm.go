package e1000

import (
	"fmt"
	"syscall"
	"time"
)

// NVM is non-volatile memory of 16-bit words (e1000_nvm_info). The ctx lock of the
// device is held. Errors wrap EIO: the part did not answer, or there is no such word.
type NVM interface {
	ReadWord(word int) (uint16, error)
	WriteWord(word int, v uint16) error
}

// Words of the NVM that all parts have (spec 1g 5.7).
const (
	NVMChecksumWord = 0x3f   // NVM_CHECKSUM_REG: balances the sum
	NVMSum          = 0xbaba // NVM_SUM of words 0..NVMChecksumWord
)

// MACFromNVM reads the Ethernet address of words 0 to 2, bytes in little-endian order
// (e1000_read_mac_addr_generic of parts that do not load it themselves).
func MACFromNVM(n NVM) (mac [6]byte, err error) {
	for i := range len(mac) / 2 {
		w, err := n.ReadWord(i)
		if err != nil {
			return mac, fmt.Errorf("reading the MAC address: %w", err)
		}
		mac[2*i], mac[2*i+1] = byte(w), byte(w>>8)
	}
	return mac, nil
}

// NVMChecksumOK sums the section that begins at word first
// (e1000_validate_nvm_checksum_generic).
func NVMChecksumOK(n NVM, first int) (bool, error) {
	sum, err := nvmSum(n, first, NVMChecksumWord+1)
	return sum == NVMSum, err
}

// UpdateNVMChecksum rewrites the word that balances the first section
// (e1000_update_nvm_checksum_generic).
func UpdateNVMChecksum(n NVM) error {
	sum, err := nvmSum(n, 0, NVMChecksumWord)
	if err != nil {
		return err
	}
	return n.WriteWord(NVMChecksumWord, NVMSum-sum)
}

func nvmSum(n NVM, first, words int) (sum uint16, err error) {
	for i := range words {
		w, err := n.ReadWord(first + i)
		if err != nil {
			return 0, fmt.Errorf("summing the NVM: %w", err)
		}
		sum += w
	}
	return sum, nil
}

// EERDNVM is NVM behind a read and a write register of one layout (spec 1g 5.1 EERD,
// EEWR; e1000_read_nvm_eerd, e1000_write_nvm_eewr).
type EERDNVM struct {
	*Regs
	Read, Write uint64 // offsets of EERD and EEWR, or of the like of later parts
	Words       int    // how many there are
}

const (
	eerdStart     = 1 << 0
	eerdDone      = 1 << 1
	eerdAddrShift = 2
	eerdDataShift = 16

	eerdStep  = 5 * time.Microsecond
	eerdTries = 100_000 // of e1000_poll_eerd_eewr_done
)

// ReadWord reads one word.
func (n EERDNVM) ReadWord(word int) (uint16, error) {
	if err := n.check(word); err != nil {
		return 0, err
	}
	n.Regs.Write32(n.Read, uint32(word)<<eerdAddrShift|eerdStart)
	v, done := n.Poll(n.Read, eerdDone, eerdDone, eerdStep, eerdTries)
	if !done {
		return 0, fmt.Errorf("reading NVM word %#x: no answer: %w", word, syscall.EIO)
	}
	return uint16(v >> eerdDataShift), nil
}

// WriteWord writes one word.
func (n EERDNVM) WriteWord(word int, v uint16) error {
	if err := n.check(word); err != nil {
		return err
	}
	_, idle := n.Poll(n.Write, eerdDone, eerdDone, eerdStep, eerdTries)
	n.Regs.Write32(n.Write, uint32(v)<<eerdDataShift|uint32(word)<<eerdAddrShift|eerdStart)
	_, done := n.Poll(n.Write, eerdDone, eerdDone, eerdStep, eerdTries)
	if !idle || !done {
		return fmt.Errorf("writing NVM word %#x: no answer: %w", word, syscall.EIO)
	}
	return nil
}

func (n EERDNVM) check(word int) error {
	if word < 0 || word >= n.Words {
		return fmt.Errorf("NVM word %#x of %#x: %w", word, n.Words, syscall.EIO)
	}
	return nil
}
