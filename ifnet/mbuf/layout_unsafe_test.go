package mbuf

import (
	"testing"
	"unsafe"
)

func TestHeadersAreTwoCacheLines(t *testing.T) {
	const line = 64
	var m Mbuf
	if unsafe.Sizeof(m) != 2*line || unsafe.Offsetof(m.Pkt) != line {
		t.Fatalf("mbuf of %d bytes, packet header at %d", unsafe.Sizeof(m), unsafe.Offsetof(m.Pkt))
	}
	c := cache(t, machine(t, false, Config{}))
	for range 1000 {
		if p := uintptr(unsafe.Pointer(c.Get())); p%(2*line) != 0 {
			t.Fatalf("header at %#x", p)
		}
	}
}
