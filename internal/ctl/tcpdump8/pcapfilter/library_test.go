package pcapfilter

import (
	"strings"
	"testing"

	"github.com/packetcap/go-pcap/filter"
	"golang.org/x/net/bpf"
)

// The library's programs that would capture other packets. If one is right some day the
// comment of library is out of date.
func TestTheLibraryIsStillWrongWhereItIsNotUsed(t *testing.T) {
	udp := append(make([]byte, 12), "\x08\x00\x45\x00\x00\x1c\x00\x00\x00\x00\x40\x11\x00\x00\x0a\x00\x00\x01\x0a\x00\x00\x02\x00\x01\x00\x02\x00\x08\x00\x00"...)
	for expression, want := range map[string]bool{
		"icmp": false, "portrange 5-9": false, "igmp": false, // each accepts everything
		"not tcp and not icmp": true, "not udp and ip": false, "tcp and arp or udp": true, "arp and (tcp or udp)": false,
	} {
		program, err := filter.NewExpression(expression).Compile().Compile()
		if err != nil {
			continue
		}
		vm, err := bpf.NewVM(program)
		if err != nil {
			continue
		}
		if n, err := vm.Run(udp); err == nil && (n != 0) == want {
			t.Errorf("%q is right", expression)
		}
		if n, err := Compile(expression, 1); err != nil {
			t.Errorf("%q: %v", expression, err)
		} else if vm, err := bpf.NewVM(n); err != nil {
			t.Errorf("%q: %v", expression, err)
		} else if n, err := vm.Run(udp); err != nil || (n != 0) != want {
			t.Errorf("%q keeps %d, want %v", expression, n, want)
		}
	}
}

func TestPrimitivesOfAnotherShapeAreRefusedByName(t *testing.T) {
	for _, text := range []string{"ip", "net fe80::/64", "ip proto icmp", "not tcp"} {
		_, err := library(text, 0)
		if err == nil || !strings.Contains(err.Error(), "'"+text+"' is not compiled rightly by the filter library") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := library("host", 0); err == nil {
		t.Error("what the library refuses is taken")
	}
}
