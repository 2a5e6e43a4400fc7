package emreg

import "fmt"

// regNames names the registers that a data path touches.
var regNames = map[uint64]string{
	CTRL: "CTRL", STATUS: "STATUS", CTRLExt: "CTRL_EXT",
	ICR: "ICR", ITR: "ITR", ICS: "ICS", IMS: "IMS", IMC: "IMC", EIAC: "EIAC", IAM: "IAM", IVAR: "IVAR",
	RCTL: "RCTL", TCTL: "TCTL", TIPG: "TIPG",
}

// ringNames are the registers that every queue has, RingStride apart.
var ringNames = map[uint64]string{
	RDBAL: "RDBAL", RDBAH: "RDBAH", RDLEN: "RDLEN", RDH: "RDH", RDT: "RDT", RDTR: "RDTR", RXDCTL: "RXDCTL", RADV: "RADV",
	TDBAL: "TDBAL", TDBAH: "TDBAH", TDLEN: "TDLEN", TDH: "TDH", TDT: "TDT", TIDV: "TIDV", TXDCTL: "TXDCTL", TADV: "TADV",
	TARC: "TARC",
}

// RegName returns the datasheet's name of the register at off, with the queue's number
// where there are several ("TDT(0)"), and the offset of one that it has no name for.
func RegName(off uint64) string {
	if s, ok := regNames[off]; ok {
		return s
	}
	if s, ok := ringNames[off&^RingStride]; ok {
		return fmt.Sprintf("%s(%d)", s, off/RingStride&1)
	}
	if off >= EITR && off < EITR+EITRCount*RegStride {
		return fmt.Sprintf("EITR(%d)", (off-EITR)/RegStride)
	}
	return fmt.Sprintf("%#04x", off)
}
