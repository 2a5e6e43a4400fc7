package emreg_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
)

func TestTransmitDescriptorsAreDecodedByTheirBits(t *testing.T) {
	for _, c := range []struct {
		name  string
		words [2]uint64
		want  string
	}{
		{"empty", [2]uint64{}, "legacy addr=0x0 len=0 cmd=- sta=-"},
		{"legacy first piece", [2]uint64{0x12345678, 0x02<<24 | 42}, "legacy addr=0x12345678 len=42 cmd=IFCS sta=-"},
		{"legacy last piece, done", [2]uint64{0x9abcdef0_12345678, 1<<32 | 0x8b<<24 | 1300},
			"legacy addr=0x9abcdef012345678 len=1300 cmd=EOP|IFCS|RS|IDE sta=DD"},
		{"legacy checksum", [2]uint64{0x1000, 14<<40 | 0x05<<24 | 24<<16 | 60}, "legacy addr=0x1000 len=60 cmd=EOP|IC sta=- CSS=14 CSO=24"},
		{"legacy tag", [2]uint64{0x1000, 0x2064<<48 | 0x43<<24 | 60}, "legacy addr=0x1000 len=60 cmd=EOP|IFCS|VLE sta=- special=0x2064"},
		{"legacy failure", [2]uint64{0x1000, 0xf<<32 | 0x01<<24 | 60}, "legacy addr=0x1000 len=60 cmd=EOP sta=DD|EC|LC|TU"},
		{"extended, both sums", [2]uint64{0x2000, 3<<40 | 0x2b<<24 | 1<<20 | 0xfffff},
			"extended addr=0x2000 len=1048575 cmd=EOP|IFCS|RS|DEXT sta=- popts=IXSM|TXSM"},
		{"extended TSO, tag", [2]uint64{0x2000, 0x0005<<48 | 2<<40 | 0x64<<24 | 1<<20 | 54},
			"extended addr=0x2000 len=54 cmd=TSE|DEXT|VLE sta=- popts=TXSM special=0x0005"},
		{"checksum context", [2]uint64{34 | 50<<8, 0x22 << 24},
			"context IPCSS=34 IPCSO=50 IPCSE=0 TUCSS=0 TUCSO=0 TUCSE=0 PAYLEN=0 TUCMD=IP|DEXT sta=- HDRLEN=0 MSS=0"},
		{"TSO context", [2]uint64{(34|50<<8)<<32 | 14 | 24<<8 | 33<<16, (54<<8|1460<<16)<<32 | 0x27<<24 | 2920},
			"context IPCSS=14 IPCSO=24 IPCSE=33 TUCSS=34 TUCSO=50 TUCSE=0 PAYLEN=2920 TUCMD=TCP|IP|TSE|DEXT sta=- HDRLEN=54 MSS=1460"},
		{"no such type", [2]uint64{1, 0x20<<24 | 2<<20}, "unknown DTYP=2 0x0000000000000001 0x0000000020200000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := emreg.DecodeTxDesc(c.words); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCausesAndRegistersHaveTheDatasheetsNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{emreg.CauseNames(0), "-"},
		{emreg.CauseNames(1<<0 | 1<<22), "TXDW|TXQ0"},
		{emreg.CauseNames(1<<24 | 1<<31 | 1<<5), "OTHER|INT_ASSERTED|0x20"},
		{emreg.RegName(0x3818), "TDT(0)"},
		{emreg.RegName(0x3918), "TDT(1)"},
		{emreg.RegName(0x00d0), "IMS"},
		{emreg.RegName(0x00ec), "EITR(1)"},
		{emreg.RegName(0x5b30), "0x5b30"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
