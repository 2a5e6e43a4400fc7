package ifconfig8_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
)

// memory is that of a module, with texts and words at places.
func memory(texts map[int]string, words map[int]uint16) *[256]byte {
	var m [256]byte
	for at, text := range texts {
		copy(m[at:], text)
	}
	for at, w := range words {
		binary.BigEndian.PutUint16(m[at:], w)
	}
	return &m
}

const pad = "                "

func TestModulesAreShownWithV(t *testing.T) {
	names := func(vendor, part, serial, date int) map[int]string {
		return map[int]string{vendor: ("Vendor Inc" + pad)[:16], part: ("PN-1" + pad)[:16], serial: ("SN0123456789ABCD"), date: "260131  "}
	}
	const vendor = "\tvendor: Vendor Inc PN: PN-1 SN: SN0123456789ABCD DATE: 2026-01-31\n"
	sfp := func(words map[int]uint16) *[256]byte { return memory(names(20, 40, 68, 84), words) }
	qsfp := func(words map[int]uint16) *[256]byte { return memory(names(148, 168, 196, 212), words) }
	for _, c := range []struct {
		name string
		i2c  map[uint8]*[256]byte
		want string
	}{
		{"none", nil, ""},
		{"SFP", map[uint8]*[256]byte{ifnet.I2CAddrA0: sfp(map[int]uint16{0: 0x0304, 2: 0x0720, 92: 0x6800}),
			ifnet.I2CAddrA2: memory(nil, map[int]uint16{96: 0xff80, 98: 33000, 100: 3000, 104: 5000})},
			"\tplugged: SFP/SFP+/SFP28 10G Base-LR (LC)\n" + vendor +
				"\tmodule temperature: -0.50 C voltage: 3.30 Volts\n\tlane 1: RX power: 0.50 mW (-3.01 dBm) TX bias: 6.00 mA\n"},
		{"SFP without light", map[uint8]*[256]byte{ifnet.I2CAddrA0: sfp(map[int]uint16{0: 0x0304, 2: 0x0700, 6: 0x0100, 92: 0x6000}),
			ifnet.I2CAddrA2: memory(nil, map[int]uint16{96: 0x1940, 98: 33049})},
			"\tplugged: SFP/SFP+/SFP28 1000BASE-SX (LC)\n" + vendor +
				"\tmodule temperature: 25.25 C voltage: 3.30 Volts\n\tlane 1: RX power: 0.00 mW (-inf dBm) TX bias: 0.00 mA\n"},
		{"cable", map[uint8]*[256]byte{ifnet.I2CAddrA0: sfp(map[int]uint16{0: 0x0304, 2: 0x2100, 36: 0x0b00})},
			"\tplugged: SFP/SFP+/SFP28 100GBASE-CR4 or 25GBASE-CR CA-L (Copper pigtail)\n" + vendor},
		{"nobody knows", map[uint8]*[256]byte{ifnet.I2CAddrA0: sfp(map[int]uint16{0: 0x7f00, 2: 0x3000})},
			"\tplugged: Reserved Unknown (Unallocated)\n" + vendor},
		{"somebody's", map[uint8]*[256]byte{ifnet.I2CAddrA0: sfp(map[int]uint16{0: 0x9000, 2: 0x8000, 36: 0xff00})},
			"\tplugged: Vendor specific Reserved (Vendor specific)\n" + vendor},
		{"QSFP", map[uint8]*[256]byte{ifnet.I2CAddrA0: qsfp(map[int]uint16{0: 0x0d00, 22: 0x2000, 26: 32000, 34: 10000, 36: 20000, 38: 100, 40: 0, 42: 500, 48: 1000, 130: 0x0c04})},
			"\tplugged: QSFP+ 40GBASE-SR4 (MPO 1x12 Parallel Optic)\n" + vendor + "\tmodule temperature: 32.00 C voltage: 3.20 Volts\n" +
				"\tlane 1: RX power: 1.00 mW (0.00 dBm) TX bias: 1.00 mA\n\tlane 2: RX power: 2.00 mW (3.01 dBm) TX bias: 0.00 mA\n" +
				"\tlane 3: RX power: 0.01 mW (-20.00 dBm) TX bias: 0.00 mA\n\tlane 4: RX power: 0.00 mW (-inf dBm) TX bias: 2.00 mA\n"},
		{"QSFP28 cable", map[uint8]*[256]byte{ifnet.I2CAddrA0: qsfp(map[int]uint16{0: 0x1100, 130: 0x2380, 192: 0x0200})},
			"\tplugged: QSFP28 100GBASE-SR4 or 25GBASE-SR (No separable connector)\n" + vendor},
		{"QSFP of nothing", map[uint8]*[256]byte{ifnet.I2CAddrA0: qsfp(map[int]uint16{0: 0x0c00})}, "\tplugged: QSFP Unknown (Unknown)\n" + vendor},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			b.add("ix", 0, nic{i2c: c.i2c})
			stdout, stderr, exit := b.run("-v", "ix0")
			if _, got, _ := strings.Cut(stdout, "\tdrivername: ix0\n"); got != c.want || stderr != "" || exit != 0 {
				t.Errorf("%q, %q, %d; want %q", got, stderr, exit, c.want)
			}
			if stdout, _, _ := b.run("ix0"); strings.Contains(stdout, "plugged") {
				t.Errorf("without -v: %q", stdout)
			}
		})
	}
}
