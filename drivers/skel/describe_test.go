package skel

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
)

func TestDescriptorsAreExplained(t *testing.T) {
	var sc softc
	for _, c := range []struct {
		words []uint64
		want  string
	}{
		{[]uint64{0, 0}, "desc addr=0x0 len=0 tag=0x0000 bits=-"},
		{[]uint64{0x123000, skelreg.DescOwn | skelreg.DescEnd | skelreg.DescTag | 0x2064<<16 | 60}, "desc addr=0x123000 len=60 tag=0x2064 bits=OWN|END|TAG"},
		{[]uint64{1, 1 << 62}, "desc addr=0x1 len=0 tag=0x0000 bits=0x4000000000000000"},
		{[]uint64{1}, ""},
	} {
		if got := sc.Descriptor(iflib.RingID{}, c.words); got != c.want {
			t.Errorf("%x: got %q, want %q", c.words, got, c.want)
		}
	}
}
