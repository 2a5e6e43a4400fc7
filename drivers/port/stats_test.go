package port_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/port"
)

func TestCheckLengthBounds(t *testing.T) {
	for _, tc := range []struct {
		n     int
		cause port.Cause
		ok    bool
	}{
		{0, port.TooShort, false}, {13, port.TooShort, false}, {14, 0, true}, {16384, 0, true}, {16385, port.TooLong, false},
	} {
		f := port.Frame{Segs: [][]byte{make([]byte, tc.n/2), nil, make([]byte, tc.n-tc.n/2)}}
		if c, ok := port.CheckLength(f.Len()); c != tc.cause || ok != tc.ok {
			t.Errorf("%d bytes: %v, %v; want %v, %v", tc.n, c, ok, tc.cause, tc.ok)
		}
	}
}
