package e1000hw

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/iflib/pci"
)

// advanced is a NIC with advanced descriptors.
type advanced struct {
	Core
	chip *Chip
	tx   []*TxQueue
	rx   *RxUnit
	ctx  [][contextSlots]txContext // of each queue, its engine run's

	causes    Causes
	throttles []*hw.Throttle // EITR(v); the first is the line's too
	eicr      atomic.Uint32
	eims      atomic.Uint32
	vectors   uint32 // bits of EICR that are there
}

var (
	_ hw.NIC         = (*advanced)(nil)
	_ pci.PCIeDevice = (*advanced)(nil)
	_ Counter        = (*advanced)(nil)
)

// points are the trace points of the advanced parts.
var points = func() *Trace {
	t := DefineTrace("e1000hw")
	t.RegName, t.CauseNames = e1000reg.RegName, emreg.CauseNames
	t.DecodeTx, t.DecodeRx = e1000reg.DecodeTxDesc, e1000reg.DecodeRxDesc
	return &t
}()

// advancedRules are the rules of the advanced parts, by the names of their datasheets'
// registers and fields.
var advancedRules = RuleTexts{
	RuleTxTail:       "tail outside the ring (TDT)",
	RuleTxHead:       "head outside the ring (TDH)",
	RuleTxDisabled:   "tail written while TCTL.EN is 0 (TDT)",
	RuleTxQueueOff:   "tail written while the queue is disabled (TXDCTL.ENABLE)",
	RuleTxBusyHead:   "head written while the queue has work (TDH)",
	RuleRingLen:      "ring length not a multiple of 128 bytes, or none (TDLEN, RDLEN)",
	RuleContextPlace: "context descriptor inside a packet (advanced transmit context)",
	RuleNoContext:    "offload asked for without a context in the slot (TDESC.IDX)",
	RuleDescType:     "transmit descriptor is neither advanced data nor context (TDESC.DTYP, DEXT)",
	RulePayLen:       "PAYLEN is not the length of the packet (TDESC.PAYLEN)",
	RuleHdrLen:       "header lengths of the context are too short (MACLEN, IPLEN, L4LEN)",
	RuleTSOLen:       "packet is not its headers and PAYLEN bytes long (TDESC.PAYLEN with TSE)",
	RuleL4Type:       "layer 4 type of the context cannot do what the packet asks for (L4T)",
	RuleOffload:      "checksum, tag or segment outside the packet (POPTS, VLE, MSS)",
	RuleRxTail:       "tail outside the ring (RDT)",
	RuleRxHead:       "head outside the ring (RDH)",
	RuleRxType:       "receive descriptors are not of the advanced one-buffer type (SRRCTL.DESCTYPE)",
	RuleVector:       "vector that is not there (IVAR)",
}

// newAdvanced makes a NIC.
func newAdvanced(chip *Chip, cfg hw.Config) (hw.NIC, error) {
	a := &advanced{chip: chip, vectors: 1<<chip.Vectors - 1, ctx: make([][contextSlots]txContext, chip.Queues)}
	nvm := chip.NVM
	nvm.ID = chip.ID
	err := a.Init(&CoreConfig{Config: cfg, Queues: chip.Queues, Speeds: chip.Speeds, PHY: chip.PHY, NVM: nvm,
		Rules: advancedRules, Trace: points, StatsLast: e1000reg.RLPIC, Raise: a.raise})
	if err != nil {
		return nil, err
	}
	a.initInterrupts()
	format := &TxFormat{Data: e1000reg.TxdDtypData, LenMask: e1000reg.TxdLenMask, NotPlain: advNotPlain, PayLen: true,
		Context: a.context, Request: a.request, Enabled: queueEnabled, Raise: a.txEvents}
	for q := range chip.Queues {
		a.tx = append(a.tx, NewTxQueue(&a.Core, q, e1000reg.TxQueue(q), format))
	}
	a.rx = NewRxUnit(&a.Core, chip.Queues, &RxConfig{Ring: e1000reg.RxQueue, Advanced: true, RARs: chip.RARs, UTA: true,
		NoVLANFilter: chip.NoVLANFilter, MRQC: e1000reg.MRQCRSS, HashTypes: len(rssFields),
		RETAMask: uint32(chip.Queues - 1), Raise: a.rxEvents})
	a.SetQueues(a.tx, a.rx)
	a.Reset()
	if err := a.Start(a); err != nil {
		a.closeInterrupts()
		return nil, err
	}
	return a, nil
}

// Identity implements pci.Device.
func (a *advanced) Identity() pci.Identity { return a.chip.ID }

// BARs implements pci.Device: BAR 0. The MSI-X table is in the BAR that pci adds.
func (a *advanced) BARs() []pci.BARInfo {
	return []pci.BARInfo{{Index: 0, Size: emreg.BARSize, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: a}}}
}

// Vectors implements pci.Device.
func (a *advanced) Vectors() (msix, msi int) { return a.chip.Vectors, 1 }

// PCIeLink implements pci.PCIeDevice.
func (a *advanced) PCIeLink() pci.PCIeLink { return a.chip.Link }

// Close implements pci.Device: it closes the port and ends engine and timers.
func (a *advanced) Close() error { return a.CloseWith(a.closeInterrupts) }

// commonReset are the reset values that all parts have (spec 1g 5.1, 5.3; the TCP flags
// are those of the datasheets).
var commonReset = []RegValue{
	{emreg.EEMNGCTL, 1<<31 | 0xf*emreg.EEMNGCfgDone0},
	{emreg.GCR, emreg.GCRCapVer2},
	{emreg.TIPG, 0x00601008},
	{emreg.TCTL, emreg.TCTLPSP | emreg.CollisionThreshold<<emreg.TCTLCTShift | 64<<emreg.TCTLCOLDShift},
	{emreg.TCTLExt, 0x40 | 0x42<<10},
	{emreg.RXCSUM, emreg.RXCSUMIPOFL | emreg.RXCSUMTUOFL},
	{e1000reg.RLPML, 0x2600},
	{e1000reg.DTXTCPFLGL, hw.DefaultFirstFlags | hw.DefaultMiddleFlags<<e1000reg.DTXMiddleShift},
	{e1000reg.DTXTCPFLGH, hw.DefaultLastFlags},
}

// resetValues are the registers of a chip that are not 0 after a reset.
func (a *advanced) resetValues() []RegValue {
	out := append(append([]RegValue(nil), commonReset...), a.chip.Reset...)
	for q := range a.chip.Queues {
		out = append(out, RegValue{e1000reg.RxQueue(q) + e1000reg.DCTL, 1 << emreg.DCTLWthreshShift})
	}
	first := RegValue{e1000reg.RxQueue(0) + e1000reg.DCTL, e1000reg.DCTLEnable | 1<<emreg.DCTLWthreshShift}
	return append(out, first, RegValue{e1000reg.TxQueue(0) + e1000reg.DCTL, e1000reg.DCTLEnable},
		RegValue{a.chip.EERD, emreg.NVMRWDone}, RegValue{a.chip.EEWR, emreg.NVMRWDone})
}

// survivors are the registers that CTRL.RST leaves alone (spec 1g 5.3, Reset).
func (a *advanced) survivors() []uint64 {
	out := []uint64{e1000reg.RXPBS, e1000reg.TXPBS}
	for v := range a.chip.Vectors {
		out = append(out, eitr(v))
	}
	return out
}

// Reset implements pci.Device: everything as after power on.
func (a *advanced) Reset() {
	a.PHY.Reset()
	a.ResetRegs(a.resetValues(), nil, a.resetRest)
}

// resetRest is what a reset does beside the registers.
func (a *advanced) resetRest() {
	for q := range a.ctx {
		a.ctx[q] = [contextSlots]txContext{}
	}
	a.resetInterrupts()
}
