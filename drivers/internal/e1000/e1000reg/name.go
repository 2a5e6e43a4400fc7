package e1000reg

import "fmt"

// regNames names the registers that a data path touches, by the offsets of the common
// aliases too.
var regNames = map[uint64]string{
	0x0000: "CTRL", 0x0008: "STATUS", 0x0018: "CTRL_EXT", 0x0100: "RCTL", 0x0400: "TCTL",
	0x00c0: "ICR", 0x00c8: "ICS", 0x00d0: "IMS", 0x00d8: "IMC", 0x00e0: "IAM",
	ICR: "ICR", ICS: "ICS", IMS: "IMS", IMC: "IMC", IAM: "IAM", GPIE: "GPIE",
	EICS: "EICS", EIMS: "EIMS", EIMC: "EIMC", EIAC: "EIAC", EIAM: "EIAM", EICR: "EICR", IVARMisc: "IVAR_MISC",
	DTXTCPFLGL: "DTXTCPFLGL", DTXTCPFLGH: "DTXTCPFLGH", RLPML: "RLPML",
}

// Names of a queue's registers.
var (
	rxNames = map[uint64]string{BAL: "RDBAL", BAH: "RDBAH", LEN: "RDLEN", SRRCTL: "SRRCTL", HEAD: "RDH", DCA: "RXCTL",
		TAIL: "RDT", DCTL: "RXDCTL", RQDPC: "RQDPC"}
	txNames = map[uint64]string{BAL: "TDBAL", BAH: "TDBAH", LEN: "TDLEN", HEAD: "TDH", DCA: "TXCTL",
		TAIL: "TDT", DCTL: "TXDCTL", WBAL: "TDWBAL", WBAH: "TDWBAH"}
)

// RegName returns the datasheet's name of the register at off, with the number of queue
// or vector where there are several ("TDT(0)"), and the offset of one that it has no
// name for. It is for the parts with advanced descriptors.
func RegName(off uint64) string {
	if s, ok := regNames[off]; ok {
		return s
	}
	const word = 4
	switch {
	case off >= EITR && off < EITR+MaxVector*word:
		return fmt.Sprintf("EITR(%d)", (off-EITR)/word)
	case off >= IVAR0 && off < IVAR0+IVARs*word:
		return fmt.Sprintf("IVAR0(%d)", (off-IVAR0)/word)
	}
	for _, b := range [...]struct {
		first  uint64
		stride uint64
		queues uint64
		names  map[uint64]string
	}{
		{RxQueues, OldStride, OldQueues, rxNames}, {TxQueues, OldStride, OldQueues, txNames},
		{RxQueuesNew, NewStride, MaxQueues, rxNames}, {TxQueuesNew, NewStride, MaxQueues, txNames},
	} {
		if off < b.first || off >= b.first+b.queues*b.stride {
			continue
		}
		if s, ok := b.names[(off-b.first)%b.stride]; ok {
			return fmt.Sprintf("%s(%d)", s, (off-b.first)/b.stride)
		}
	}
	return fmt.Sprintf("%#04x", off)
}
