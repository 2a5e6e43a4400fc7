package emreg

import (
	"fmt"
	"slices"

	"github.com/ifsim/ifsim/internal/bitname"
)

// Bits of the control registers, for dumps.
var (
	ctrlBits = []bitname.Bit{{Mask: CtrlFD, Name: "FD"}, {Mask: CtrlGIOMasterDisable, Name: "GIO_MASTER_DISABLE"}, {Mask: CtrlLRST, Name: "LRST"},
		{Mask: CtrlASDE, Name: "ASDE"}, {Mask: CtrlSLU, Name: "SLU"}, {Mask: CtrlILOS, Name: "ILOS"}, {Mask: CtrlSpd100, Name: "SPD_100"},
		{Mask: CtrlSpd1000, Name: "SPD_1000"}, {Mask: CtrlFrcSpd, Name: "FRCSPD"}, {Mask: CtrlFrcDpx, Name: "FRCDPX"},
		{Mask: CtrlSWDPIN0, Name: "SWDPIN0"}, {Mask: CtrlSWDPIN1, Name: "SWDPIN1"}, {Mask: CtrlADVD3WUC, Name: "ADVD3WUC"},
		{Mask: CtrlRST, Name: "RST"}, {Mask: CtrlRFCE, Name: "RFCE"}, {Mask: CtrlTFCE, Name: "TFCE"}, {Mask: CtrlVME, Name: "VME"},
		{Mask: CtrlPHYRST, Name: "PHY_RST"}}
	statusBits = []bitname.Bit{{Mask: StatusFD, Name: "FD"}, {Mask: StatusLU, Name: "LU"}, {Mask: StatusTXOFF, Name: "TXOFF"},
		{Mask: StatusSpeed100, Name: "SPEED_100"}, {Mask: StatusSpeed1000, Name: "SPEED_1000"}, {Mask: StatusLANInitDone, Name: "LAN_INIT_DONE"},
		{Mask: StatusPHYRA, Name: "PHYRA"}, {Mask: StatusGIOMasterEnable, Name: "GIO_MASTER_ENABLE"}}
	ctrlExtBits = []bitname.Bit{{Mask: CtrlExtEERST, Name: "EE_RST"}, {Mask: CtrlExtSpdByps, Name: "SPD_BYPS"}, {Mask: CtrlExtRODis, Name: "RO_DIS"},
		{Mask: CtrlExtPHYPDEN, Name: "PHYPDEN"}, {Mask: CtrlExtEIAME, Name: "EIAME"}, {Mask: CtrlExtIAME, Name: "IAME"},
		{Mask: CtrlExtDrvLoad, Name: "DRV_LOAD"}, {Mask: CtrlExtPBAClr, Name: "PBA_CLR"}}
	rctlBits = []bitname.Bit{{Mask: RCTLRST, Name: "RST"}, {Mask: RCTLEN, Name: "EN"}, {Mask: RCTLSBP, Name: "SBP"}, {Mask: RCTLUPE, Name: "UPE"},
		{Mask: RCTLMPE, Name: "MPE"}, {Mask: RCTLLPE, Name: "LPE"}, {Mask: RCTLLBMMAC, Name: "LBM_MAC"}, {Mask: RCTLBAM, Name: "BAM"},
		{Mask: RCTLVFE, Name: "VFE"}, {Mask: RCTLCFIEN, Name: "CFIEN"}, {Mask: RCTLCFI, Name: "CFI"}, {Mask: RCTLDPF, Name: "DPF"},
		{Mask: RCTLPMCF, Name: "PMCF"}, {Mask: RCTLBSEX, Name: "BSEX"}, {Mask: RCTLSECRC, Name: "SECRC"}}
	tctlBits   = []bitname.Bit{{Mask: TCTLEN, Name: "EN"}, {Mask: TCTLPSP, Name: "PSP"}, {Mask: TCTLRTLC, Name: "RTLC"}, {Mask: TCTLMULR, Name: "MULR"}}
	rxcsumBits = []bitname.Bit{{Mask: RXCSUMIPOFL, Name: "IPOFL"}, {Mask: RXCSUMTUOFL, Name: "TUOFL"}, {Mask: RXCSUMIPV6OFL, Name: "IPV6OFL"},
		{Mask: RXCSUMIPPCSE, Name: "IPPCSE"}, {Mask: RXCSUMPCSD, Name: "PCSD"}}
	rfctlBits = []bitname.Bit{{Mask: RFCTLACKDis, Name: "ACK_DIS"}, {Mask: RFCTLEXTEN, Name: "EXTEN"}, {Mask: RFCTLIPv6ExDis, Name: "IPV6_EX_DIS"}}
	mrqcBits  = []bitname.Bit{{Mask: MRQCTCPIPv4, Name: "TCP_IPV4"}, {Mask: MRQCIPv4, Name: "IPV4"}, {Mask: MRQCTCPIPv6Ex, Name: "TCP_IPV6_EX"},
		{Mask: MRQCIPv6Ex, Name: "IPV6_EX"}, {Mask: MRQCIPv6, Name: "IPV6"}, {Mask: MRQCTCPIPv6, Name: "TCP_IPV6"}}
	rahBits = []bitname.Bit{{Mask: RAHAV, Name: "AV"}}
)

// dumpedControl are the registers of a part without those of its queues. ICS reads as ICR
// does, and clears nothing.
var dumpedControl = []bitname.Register{
	{Name: "CTRL", Offset: CTRL, Bits: ctrlBits}, {Name: "STATUS", Offset: STATUS, Bits: statusBits}, {Name: "EECD", Offset: EECD},
	{Name: "CTRL_EXT", Offset: CTRLExt, Bits: ctrlExtBits}, {Name: "MDIC", Offset: MDIC}, {Name: "FCTTV", Offset: FCTTV},
	{Name: "ICR", Offset: ICR, Touchy: true}, {Name: "ICS", Offset: ICS, Bits: causes}, {Name: "IMS", Offset: IMS, Bits: causes},
	{Name: "IAM", Offset: IAM, Bits: causes},
	{Name: "RCTL", Offset: RCTL, Bits: rctlBits}, {Name: "TCTL", Offset: TCTL, Bits: tctlBits}, {Name: "TIPG", Offset: TIPG},
	{Name: "PBA", Offset: PBA}, {Name: "FCRTL", Offset: FCRTL}, {Name: "FCRTH", Offset: FCRTH},
	{Name: "RXCSUM", Offset: RXCSUM, Bits: rxcsumBits}, {Name: "RFCTL", Offset: RFCTL, Bits: rfctlBits}, {Name: "MRQC", Offset: MRQC, Bits: mrqcBits},
	{Name: "RAL(0)", Offset: RAL}, {Name: "RAH(0)", Offset: RAH, Bits: rahBits}, {Name: "MANC", Offset: MANC},
	{Name: "WUC", Offset: WUC}, {Name: "WUFC", Offset: WUFC}, {Name: "SWSM", Offset: SWSM, Touchy: true}, {Name: "FWSM", Offset: FWSM},
	{Name: "CRCERRS", Offset: CRCERRS, Touchy: true}, {Name: "MPC", Offset: MPC, Touchy: true}, {Name: "RNBC", Offset: RNBC, Touchy: true},
	{Name: "GPRC", Offset: GPRC, Touchy: true}, {Name: "GPTC", Offset: GPTC, Touchy: true}, {Name: "TPR", Offset: TPR, Touchy: true},
	{Name: "TPT", Offset: TPT, Touchy: true},
}

// dumpedVectors are those that only 82574 has.
var dumpedVectors = []bitname.Register{
	{Name: "EIAC", Offset: EIAC, Bits: causes}, {Name: "IVAR", Offset: IVAR},
}

// dumpedQueue are the registers of queue 0, RingStride from the next one's.
var dumpedQueue = []bitname.Register{
	{Name: "RDBAL", Offset: RDBAL}, {Name: "RDBAH", Offset: RDBAH}, {Name: "RDLEN", Offset: RDLEN}, {Name: "RDH", Offset: RDH},
	{Name: "RDT", Offset: RDT}, {Name: "RDTR", Offset: RDTR}, {Name: "RXDCTL", Offset: RXDCTL}, {Name: "RADV", Offset: RADV},
	{Name: "TDBAL", Offset: TDBAL}, {Name: "TDBAH", Offset: TDBAH}, {Name: "TDLEN", Offset: TDLEN}, {Name: "TDH", Offset: TDH},
	{Name: "TDT", Offset: TDT}, {Name: "TIDV", Offset: TIDV}, {Name: "TXDCTL", Offset: TXDCTL}, {Name: "TADV", Offset: TADV},
	{Name: "TARC", Offset: TARC},
}

// DumpedControl are the registers that a dump of any part of the family shows, but for
// those of queues and vectors.
func DumpedControl() []bitname.Register { return slices.Clone(dumpedControl) }

// Dumped are the registers that a dump shows of a part of em with so many queues, with
// MSI-X if it is 82574.
func Dumped(queues int, msix bool) []bitname.Register {
	list := DumpedControl()
	if msix {
		list = append(list, dumpedVectors...)
		for v := range uint64(EITRCount) {
			list = append(list, bitname.Register{Name: fmt.Sprintf("EITR(%d)", v), Offset: EITR + v*RegStride})
		}
	}
	for q := range queues {
		for _, r := range dumpedQueue {
			r.Name = fmt.Sprintf("%s(%d)", r.Name, q)
			r.Offset += uint64(q) * RingStride
			list = append(list, r)
		}
	}
	return list
}
