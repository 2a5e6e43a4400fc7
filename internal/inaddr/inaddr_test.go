package inaddr_test

import (
	"net/netip"
	"testing"

	"github.com/ifsim/ifsim/internal/inaddr"
)

func TestLengthsOfPrefixes(t *testing.T) {
	for _, c := range []struct {
		addr, length, mask string
		def, n             int // n: -1 for none
	}{
		{"10.0.0.1", "9", "", 8, 9}, {"127.0.0.1", "33", "", 8, -1}, {"128.0.0.1", "x", "", 16, -1}, {"192.0.2.1", "0", "", 24, 0},
		{"10.0.0.1", "", "255.255.255.0", 8, 24}, {"10.0.0.1", "", "0xffff0000", 8, 16}, {"10.0.0.1", "", "255.0.255.0", 8, -1},
		{"10.0.0.1", "", "ffff::", 8, -1}, {"10.0.0.1", "", "mask", 8, -1}, {"10.0.0.1", "", "0", 8, 0},
		{"2001:db8::1", "128", "", 64, 128}, {"2001:db8::1", "129", "", 64, -1}, {"2001:db8::1", "", "ffff:ffff::", 64, 32}, {"2001:db8::1", "", "0xff000000", 64, -1},
	} {
		addr := netip.MustParseAddr(c.addr)
		if got := inaddr.DefaultBits(addr); got != c.def {
			t.Errorf("%s: %d bits, want %d", c.addr, got, c.def)
		}
		n, ok := inaddr.PrefixLength(addr, c.length)
		if c.mask != "" {
			n, ok = inaddr.MaskLength(addr, c.mask)
		}
		if ok != (c.n >= 0) || ok && n != c.n {
			t.Errorf("%s %s%s: %d, %v, want %d", c.addr, c.length, c.mask, n, ok, c.n)
		}
	}
}

func TestEthernetAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"2:0:0:0:0:1": "02:00:00:00:00:01", "00:1b:21:C4:95:7a": "00:1b:21:c4:95:7a",
		"00:1b": "", "00-1b-21-c4-95-7a": "", "100:0:0:0:0:0": "", ":::::": "", "": "",
	} {
		mac, ok := inaddr.Ether(text)
		if ok != (want != "") || ok && inaddr.EtherText(mac) != want {
			t.Errorf("%q: %s, %v", text, inaddr.EtherText(mac), ok)
		}
	}
}
