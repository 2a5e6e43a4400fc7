package igb

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
)

// FuzzDeviceState lets a part answer and write back anything: attach may fail, but
// nothing panics, hangs or leaves its bounds.
func FuzzDeviceState(f *testing.F) {
	f.Add(uint8(0), false, []byte{0})
	f.Add(uint8(1), false, []byte{0xff})
	f.Add(uint8(3), true, []byte{0x03, 0, 0, 0, 0x3c, 0, 0, 0, 1})
	f.Add(uint8(6), true, []byte{0x80, 0, 0, 0x44, 0x12, 0x34})
	f.Fuzz(func(t *testing.T, part uint8, spoilAttach bool, data []byte) {
		c := newCard(chips[int(part)%len(chips)])
		e1000test.FuzzDevice(t, &Driver, c, spoilAttach, &e1000test.Garbage{Data: data})
	})
}
