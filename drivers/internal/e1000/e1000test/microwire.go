package e1000test

// Wires of EECD.
const (
	wireSK = 1 << 0
	wireCS = 1 << 1
	wireDI = 1 << 2
	wireDO = 1 << 3

	readCommand = 6 // start bit and opcode
	commandBits = 3
	addrBits    = 6
)

// microwire is a serial EEPROM of 64 words: DI is taken at the rise of SK, DO changes
// at its fall (spec 1g 5.7).
type microwire struct {
	wires uint32
	bits  int    // taken since the chip was selected
	in    uint32 // what they say
	data  uint16
	do    bool
}

// move follows the wires.
func (m *microwire) move(wires uint32, nvm *[NVMWords]uint16) {
	rise := wires&^m.wires&wireSK != 0
	fall := m.wires&^wires&wireSK != 0
	m.wires = wires
	switch {
	case wires&wireCS == 0:
		m.bits, m.in, m.do = 0, 0, false
	case rise && m.bits < commandBits+addrBits:
		m.in <<= 1
		if wires&wireDI != 0 {
			m.in |= 1
		}
		m.bits++
		if m.bits == commandBits+addrBits && m.in>>addrBits == readCommand {
			m.data = nvm[m.in&(NVMWords-1)]
		}
	case fall && m.bits == commandBits+addrBits:
		m.do = m.data&(1<<15) != 0
		m.data <<= 1
	}
}

func (m *microwire) out() uint32 {
	if m.do {
		return wireDO
	}
	return 0
}
