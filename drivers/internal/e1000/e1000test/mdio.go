package e1000test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// MDIO reaches the PHY of a model through MDIC.
type MDIO struct {
	T   testing.TB
	BAR pci.BAR
}

// Access does one access and returns MDIC, after having checked what it echoes.
func (m MDIO) Access(op, phy, reg uint32, data uint16) uint32 {
	m.T.Helper()
	const echoed = emreg.MDICOpMask | emreg.MDICPHYMask | emreg.MDICRegMask
	cmd := op | phy<<emreg.MDICPHYShift | reg<<emreg.MDICRegShift | uint32(data)
	m.BAR.Write32(emreg.MDIC, cmd)
	v := m.BAR.Read32(emreg.MDIC)
	if v&echoed != cmd&echoed || v&emreg.MDICReady == 0 {
		m.T.Fatalf("MDIC %#x for %#x", v, cmd)
	}
	return v
}

// Read reads a register of the PHY at the usual address.
func (m MDIO) Read(reg uint32) uint16 {
	m.T.Helper()
	return uint16(m.Access(emreg.MDICOpRead, emreg.PHYAddr, reg, 0))
}

// Write writes a register of the PHY at the usual address.
func (m MDIO) Write(reg uint32, v uint16) {
	m.T.Helper()
	m.Access(emreg.MDICOpWrite, emreg.PHYAddr, reg, v)
}
