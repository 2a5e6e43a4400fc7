package skel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/drivers/skel"
	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib/iflibtest"
)

// TestConformance runs the driver through the whole contract with iflib.
func TestConformance(t *testing.T) {
	iflibtest.Run(t, func() iflibtest.Device {
		return iflibtest.Device{Driver: &skel.Driver, Hardware: skelhw.New, Decode: decode}
	})
}

// bits are the names of a descriptor's bits, for decode.
var bits = []struct {
	bit  uint64
	name string
}{
	{skelreg.DescOwn, "own"}, {skelreg.DescEnd, "end"}, {skelreg.DescNotify, "notify"}, {skelreg.DescTag, "tag"},
	{skelreg.DescIPSum, "ipsum"}, {skelreg.DescL4Sum, "l4sum"}, {skelreg.DescHash, "hash"},
}

// decode explains a descriptor in the dump that goes with a failure (datasheet 3.1, 4.1).
func decode(_ iflibtest.Ring, words []uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%#x len=%d tag=%#x", words[0], words[1]&skelreg.DescLenMask, words[1]>>skelreg.DescTagShift&skelreg.DescLenMask)
	for _, n := range bits {
		if words[1]&n.bit != 0 {
			b.WriteString(" " + n.name)
		}
	}
	if rest := words[1] &^ skelreg.DescAll; rest != 0 {
		fmt.Fprintf(&b, " unknown=%#x", rest)
	}
	return b.String()
}
