package pci_test

import (
	"testing"

	"github.com/ifsim/ifsim/iflib/pci"
)

// doorbells is a NIC whose first register can be written by itself.
type doorbells struct {
	*nic
	asked []uint64
	rung  []uint32
}

func (d *doorbells) Register(off uint64) pci.RegisterWriter {
	d.asked = append(d.asked, off)
	if off == 0 {
		return d
	}
	return nil
}

func (d *doorbells) WriteRegister(v uint32) { d.rung = append(d.rung, v) }

func newDoorbells() *doorbells {
	d := &doorbells{nic: newNIC()}
	for i := range d.bars {
		d.bars[i].BAR = pci.Regs32{Registers32: d}
	}
	return d
}

func TestRegisterReachesHardwareThatHasItByItself(t *testing.T) {
	d := newDoorbells()
	_, f := plugged(t, stepped(0), d)
	bar := mapBAR(t, f, pci.BARReg(0))
	own, other, odd := pci.RegisterAt(bar, 0), pci.RegisterAt(bar, 8), pci.RegisterAt(bar, 2)
	beyond := pci.RegisterAt(bar, barSize)
	own.Write(5)
	other.Write(6)
	beyond.Write(7)
	if len(d.rung) != 1 || d.rung[0] != 5 || d.regs[2] != 6 || d.regs[0] != 0 {
		t.Errorf("rung %d, registers %d; want 5 at the doorbell and 6 in the third", d.rung, d.regs[:4])
	}
	if len(d.asked) != 2 || d.asked[0] != 0 || d.asked[1] != 8 {
		t.Errorf("hardware was asked for %d, want the aligned ones inside", d.asked)
	}
	if own.Offset() != 0 || other.Offset() != 8 || odd.Offset() != 2 {
		t.Errorf("offsets %d, %d, %d", own.Offset(), other.Offset(), odd.Offset())
	}
}

func TestRegisterOfAFunctionThatDoesNotDecodeLosesTheWrite(t *testing.T) {
	d := newDoorbells()
	_, f := plugged(t, stepped(0), d)
	r := pci.RegisterAt(mapBAR(t, f, pci.BARReg(0)), 0)
	cmd := f.ReadConfig16(pci.RegCommand)
	f.WriteConfig16(pci.RegCommand, cmd&^pci.CmdMem)
	r.Write(1)
	if len(d.rung) != 0 {
		t.Errorf("rung %d while memory decoding is off", d.rung)
	}
	f.WriteConfig16(pci.RegCommand, cmd)
	r.Write(2)
	if len(d.rung) != 1 || d.rung[0] != 2 {
		t.Errorf("rung %d, want 2", d.rung)
	}
}

func TestRegisterOfACostlyBusGoesThroughTheBus(t *testing.T) {
	d := newDoorbells()
	_, f := plugged(t, stepped(0), d, pci.WithMMIOCost(pci.MMIOCost{Write: 1}))
	r := pci.RegisterAt(mapBAR(t, f, pci.BARReg(0)), 0)
	r.Write(3)
	if len(d.rung) != 0 || d.regs[0] != 3 {
		t.Errorf("rung %d, register %d; want a write of the BAR", d.rung, d.regs[0])
	}
}
