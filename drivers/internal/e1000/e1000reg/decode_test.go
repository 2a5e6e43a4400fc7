package e1000reg_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
)

func TestAdvancedDescriptorsAreDecodedByTheirBits(t *testing.T) {
	for _, c := range []struct {
		name   string
		decode func([2]uint64) string
		words  [2]uint64
		want   string
	}{
		{"data, first piece", e1000reg.DecodeTxDesc, [2]uint64{0x12345678, (1342<<14)<<32 | 0x22300000 | 42},
			"advanced addr=0x12345678 len=42 cmd=IFCS|DEXT sta=- idx=0 popts=- paylen=1342"},
		{"data, last piece of a TSO packet, done", e1000reg.DecodeTxDesc, [2]uint64{0x9abc_1234_5678, (2920<<14|0x311)<<32 | 0xeb300000 | 1300},
			"advanced addr=0x9abc12345678 len=1300 cmd=EOP|IFCS|RS|DEXT|VLE|TSE sta=DD idx=1 popts=IXSM|TXSM paylen=2920"},
		{"context", e1000reg.DecodeTxDesc, [2]uint64{0x2064<<16 | 14<<9 | 20, (1460<<16|20<<8|0x10)<<32 | 0x20200c00},
			"context MACLEN=14 IPLEN=20 VLAN=0x2064 L4T=TCP TUCMD=IPV4|DEXT idx=1 L4LEN=20 MSS=1460"},
		{"context, IPv6 and SCTP", e1000reg.DecodeTxDesc, [2]uint64{18<<9 | 40, 0x20201000},
			"context MACLEN=18 IPLEN=40 VLAN=0x0000 L4T=SCTP TUCMD=DEXT idx=0 L4LEN=0 MSS=0"},
		{"legacy", e1000reg.DecodeTxDesc, [2]uint64{1, 2}, "legacy 0x0000000000000001 0x0000000000000002"},
		{"no such type", e1000reg.DecodeTxDesc, [2]uint64{1, 0x20100000}, "unknown DTYP=1 0x0000000000000001 0x0000000020100000"},
		{"received", e1000reg.DecodeRxDesc, [2]uint64{0x51ccc178<<32 | 0x0111, (5<<16|60)<<32 | 0x20000063},
			"rsstype=1 pkttype=IPV4|TCP hash=0x51ccc178 status=DD|EOP|L4CS|IPCS|L4E len=60 vlan=0x0005"},
		{"free", e1000reg.DecodeRxDesc, [2]uint64{}, "rsstype=0 pkttype=- hash=0x00000000 status=- len=0 vlan=0x0000"},
	} {
		if got := c.decode(c.words); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestRegistersHaveTheDatasheetsNames(t *testing.T) {
	for _, c := range []struct {
		off  uint64
		want string
	}{
		{0x3818, "TDT(0)"}, {0x3b18, "TDT(3)"}, {0xe118, "TDT(4)"}, {0xe018, "TDT(0)"}, {0xc00c, "SRRCTL(0)"}, {0xc3e8, "RXDCTL(15)"},
		{0x1524, "EIMS"}, {0x1684, "EITR(1)"}, {0x1708, "IVAR0(2)"}, {0x1740, "IVAR_MISC"}, {0x3a38, "TDWBAL(2)"}, {0xa000, "0xa000"},
	} {
		if got := e1000reg.RegName(c.off); got != c.want {
			t.Errorf("%#x: got %s, want %s", c.off, got, c.want)
		}
	}
}
