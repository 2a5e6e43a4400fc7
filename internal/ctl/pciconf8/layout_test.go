package pciconf8

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/iflib/pci"
)

// space is a configuration space of a test.
type space [pci.ConfigSize]byte

func (s *space) read(reg, width int) (v uint32) {
	for i := range width {
		v |= uint32(s[reg+i]) << (8 * i)
	}
	return v
}

// set stores the bytes of a register.
func (s *space) set(reg int, bytes ...byte) { copy(s[reg:], bytes) }

func TestCapabilitiesThatNoModelHas(t *testing.T) {
	var s space
	s.set(pci.RegStatus, 0x10)
	s.set(pci.RegCapPtr, 0x40)
	s.set(0x40, 0x01, 0x48, 0x02, 0x06, 0x03)                                                 // D1, D2, asleep
	s.set(0x48, 0x05, 0x60, 0x25, 0x00)                                                       // four of them, of which enabled four
	s.set(0x60, 0x11, 0x70, 0x00, 0x00, 0x03, 0x20, 0, 0, 0x04, 0x30)                         // one vector, off
	s.set(0x70, 0x10, 0xb0, 0x42, 0x00, 0x00, 0, 0, 0, 0xe0, 0x70)                            // a root port without a link
	s.set(0xb0, 0x10, 0xd0, 0x73, 0x00, 0x05, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0, 0) // down
	s.set(0xd0, 0x09, 0xd4)
	s.set(0xd4, 0x07, 0xe0, 0x02, 0x00, 0, 0, 0x80, 0x01)
	s.set(0xe0, 0x13, 0x40) // back to the first
	c := command{stdout: new(bytes.Buffer)}
	c.capabilities(s.read)
	want := `    cap 01[40] = powerspec 2  supports D0 D1 D2 D3  current D3
    cap 05[48] = MSI supports 4 messages enabled with 4 messages
    cap 11[60] = MSI-X supports 1 message
                 Table in map 0x1c[0x2000], PBA in map 0x20[0x3000]
    cap 10[70] = PCI-Express 2 root port max data 16384(128)
                 max read undef
    cap 10[b0] = PCI-Express 3 PCI bridge max data 128(4096)
                 max read 128
                 link x0(x1) speed 0.0(2.5)
    cap 09[d0] = unknown
    cap 07[d4] = PCI-X supports 512 burst read, 4 split transactions
    cap 13[e0] = PCI Advanced Features:
`
	if diff := cmp.Diff(want, c.stdout.String()); diff != "" {
		t.Error(diff)
	}
	s.set(pci.RegStatus, 0)
	c.stdout.Reset()
	if c.capabilities(s.read); c.stdout.Len() > 0 {
		t.Errorf("a list without a list: %s", c.stdout)
	}
}

func TestErrorsStandBelowEachOther(t *testing.T) {
	var s space
	s.set(pci.RegStatus, 0x10, 0xf9)
	s.set(pci.RegCapPtr, 0x40)
	s.set(0x40, 0x10)
	s.set(0x4a, 0x0a)
	c := command{stdout: new(bytes.Buffer)}
	c.listErrors(s.read)
	want := `    PCI errors = Master Data Parity Error
                 Sent Target-Abort
                 Received Target-Abort
                 Received Master-Abort
                 Signalled System Error
                 Detected Parity Error
  PCI-e errors = Non-Fatal Error Detected
                 Unsupported Request Detected
`
	if diff := cmp.Diff(want, c.stdout.String()); diff != "" {
		t.Error(diff)
	}
}

func TestLeadingNumbers(t *testing.T) {
	for word, want := range map[string]struct {
		n    int64
		rest string
	}{"": {0, ""}, "12": {12, ""}, "0x1F:": {31, ":"}, "017": {15, ""}, "08": {0, "8"}, "0x": {0, "x"}, "-3x": {-3, "x"},
		"+5": {5, ""}, "x": {0, "x"}, "99999999999999999999": {1<<63 - 1, ""}, "0x10:0x2": {16, ":0x2"}, "1_0": {1, "_0"}} {
		n, rest := leadingNumber(word)
		if n != want.n || rest != want.rest {
			t.Errorf("%q: %d and %q, want %d and %q", word, n, rest, want.n, want.rest)
		}
	}
}
