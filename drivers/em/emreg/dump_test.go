package emreg_test

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/internal/bitname"
)

// TestDumpsNameRegistersAsTracesDo checks the tables of dumps against RegName, which is
// typed apart, and that reading leaves alone what reading changes.
func TestDumpsNameRegistersAsTracesDo(t *testing.T) {
	const queues, vectors = 4, 5
	for family, c := range map[string]struct {
		table []bitname.Register
		name  func(off uint64) string
	}{
		"em":       {emreg.Dumped(2, true), emreg.RegName},
		"advanced": {e1000reg.Dumped(emreg.DumpedControl(), queues, queues, vectors), e1000reg.RegName},
	} {
		seen, named := map[uint64]string{}, 0
		for _, r := range c.table {
			if other, twice := seen[r.Offset]; twice {
				t.Errorf("%s: %s and %s are both at %#x", family, r.Name, other, r.Offset)
			}
			seen[r.Offset] = r.Name
			if name := c.name(r.Offset); !strings.HasPrefix(name, "0x") {
				named++
				if name != r.Name {
					t.Errorf("%s: %#x is %s, the dump says %s", family, r.Offset, name, r.Name)
				}
			}
			statistics := r.Offset >= emreg.StatsFirst && r.Offset <= emreg.StatsLast
			cleared := statistics || r.Offset == emreg.ICR || r.Offset == emreg.SWSM || r.Offset == e1000reg.EICR || strings.HasPrefix(r.Name, "RQDPC")
			if r.Touchy != cleared {
				t.Errorf("%s: %s: touchy %v", family, r.Name, r.Touchy)
			}
			var all uint32
			for _, b := range r.Bits {
				if b.Mask == 0 || all&b.Mask != 0 {
					t.Errorf("%s: %s: bits %s overlap", family, r.Name, b.Name)
				}
				all |= b.Mask
			}
		}
		if named < 30 {
			t.Errorf("%s: %d registers that traces name too", family, named)
		}
	}
}

func TestReceiveDescriptorsAreDecodedByTheirBits(t *testing.T) {
	for _, c := range []struct {
		name   string
		decode func([2]uint64) string
		words  [2]uint64
		want   string
	}{
		{"posted", emreg.DecodeRxDesc, [2]uint64{0x123000, 0}, "buffer addr=0x123000"},
		{"extended", emreg.DecodeRxDesc, [2]uint64{0x51ccc178<<32 | 1<<8 | 1, (0x2064<<16|60)<<32 | 0x20000063},
			"extended rsstype=1 queue=1 hash=0x51ccc178 status=DD|EOP|TCPCS|IPCS errors=TCPE len=60 vlan=0x2064"},
		{"legacy posted", emreg.DecodeRxLegacy, [2]uint64{0x123000, 0}, "buffer addr=0x123000"},
		{"legacy", emreg.DecodeRxLegacy, [2]uint64{0x123000, (5<<16|0x81<<8|0x0b)<<32 | 0xbeef<<16 | 64},
			"legacy addr=0x123000 len=64 csum=0xbeef status=DD|EOP|VP errors=CE|RXE special=0x0005"},
		{"advanced posted", e1000reg.DescribeRxDesc, [2]uint64{0x123000, 0}, "buffer addr=0x123000"},
		{"advanced", e1000reg.DescribeRxDesc, [2]uint64{0x51ccc178<<32 | 0x0111, (5<<16|60)<<32 | 0x20000063},
			"advanced rsstype=1 pkttype=IPV4|TCP hash=0x51ccc178 status=DD|EOP|L4CS|IPCS|L4E len=60 vlan=0x0005"},
	} {
		if got := c.decode(c.words); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}
