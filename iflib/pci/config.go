package pci

import "encoding/binary"

// ConfigSize is the size of a configuration space in bytes.
const ConfigSize = 256

// Registers of the header (PCI 3.0 section 6.1; FreeBSD's PCIR_*).
const (
	RegVendor     = 0x00
	RegDevice     = 0x02
	RegCommand    = 0x04
	RegStatus     = 0x06
	RegRevision   = 0x08
	RegCacheLine  = 0x0c
	RegHeaderType = 0x0e
	RegBAR0       = 0x10
	RegSubVendor  = 0x2c
	RegSubDevice  = 0x2e
	RegCapPtr     = 0x34
	RegIntLine    = 0x3c
	RegIntPin     = 0x3d

	// RegPrivate is from where on the space belongs to the device, but for capabilities
	// that lie there: see ConfigDevice.
	RegPrivate = 0xe0
)

// Bits of the command and status registers.
const (
	CmdIO        = 0x0001 // decode I/O (PCIM_CMD_PORTEN)
	CmdMem       = 0x0002 // decode memory (PCIM_CMD_MEMEN)
	CmdBusMaster = 0x0004 // may read and write memory (PCIM_CMD_BUSMASTEREN)
	CmdINTxDis   = 0x0400 // may not assert INTx (PCIM_CMD_INTxDIS)

	StatusINTx    = 0x0008 // INTx is asserted inside the function
	StatusCapList = 0x0010

	cmdWritable  = CmdIO | CmdMem | CmdBusMaster | 0x0140 | CmdINTxDis // and parity, SERR#
	statusErrors = 0xf900                                              // write 1 to clear
	intPinA      = 1
	barCount     = 6
	barRegSize   = 4
	barIOFlag    = 1
	barMem64Flag = 4
)

// BARReg returns the register of base address i: the rid of MapBAR (PCIR_BAR).
func BARReg(i int) int { return RegBAR0 + barRegSize*i }

// space is a configuration space: values, and for each byte which bits software may
// write and which it clears by writing 1. The owner locks.
type space struct {
	val, write, clear [ConfigSize]byte
	owned             [ConfigSize]bool // belongs to a capability; constant
	at                places           // constant
	msiMasks          bool             // MSI has a mask per message; constant
}

func (s *space) get16(reg int) uint16 { return binary.LittleEndian.Uint16(s.val[reg:]) }
func (s *space) get32(reg int) uint32 { return binary.LittleEndian.Uint32(s.val[reg:]) }

func (s *space) set16(reg int, v, write uint16) {
	binary.LittleEndian.PutUint16(s.val[reg:], v)
	binary.LittleEndian.PutUint16(s.write[reg:], write)
}

func (s *space) set32(reg int, v, write uint32) {
	binary.LittleEndian.PutUint32(s.val[reg:], v)
	binary.LittleEndian.PutUint32(s.write[reg:], write)
}

// word returns width bytes at reg; outside the space, or across its end, all ones.
func (s *space) word(reg, width int) uint32 {
	if reg < 0 || reg > ConfigSize-width {
		return ^uint32(0)
	}
	var b [wordSize]byte
	copy(b[:], s.val[reg:reg+width])
	return binary.LittleEndian.Uint32(b[:])
}

// software applies a write of software; the bytes are inside the space.
func (s *space) software(reg int, p []byte) {
	for i, b := range p {
		r := reg + i
		s.val[r] = (s.val[r]&^s.write[r] | b&s.write[r]) &^ (b & s.clear[r])
	}
}

// header fills in the 64 bytes that every function has.
func (s *space) header(id Identity) {
	s.set16(RegVendor, id.Vendor, 0)
	s.set16(RegDevice, id.Device, 0)
	s.set16(RegCommand, 0, cmdWritable)
	s.set16(RegStatus, StatusCapList, 0)
	binary.LittleEndian.PutUint16(s.clear[RegStatus:], statusErrors)
	s.set32(RegRevision, id.Class<<8|uint32(id.Revision), 0)
	s.write[RegCacheLine] = 0xff
	s.set16(RegSubVendor, id.SubVendor, 0)
	s.set16(RegSubDevice, id.SubDevice, 0)
	s.write[RegIntLine] = 0xff
	s.val[RegIntPin] = intPinA
}

// bar makes the registers of b read as sized by an all-ones write (PCI 3.0 6.2.5.1):
// the bits below the size are wired to 0, the rest can be written.
func (s *space) bar(b BARInfo, addr uint64) {
	mask, reg := ^(b.Size - 1), BARReg(b.Index)
	switch b.Kind {
	case IO:
		s.set32(reg, uint32(addr)|barIOFlag, uint32(mask))
	case Mem64:
		s.set32(reg, uint32(addr)|barMem64Flag, uint32(mask))
		s.set32(reg+barRegSize, uint32(addr>>32), uint32(mask>>32))
	default:
		s.set32(reg, uint32(addr), uint32(mask))
	}
}
