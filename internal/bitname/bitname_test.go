package bitname_test

import (
	"testing"

	"github.com/ifsim/ifsim/internal/bitname"
)

func TestListNamesBitsInOrderAndShowsTheRest(t *testing.T) {
	table := []bitname.Bit{{Mask: 1 << 0, Name: "DD"}, {Mask: 1 << 31, Name: "IDE"}, {Mask: 1 << 1, Name: "EOP"}}
	for _, c := range []struct {
		word uint32
		want string
	}{
		{0, "-"},
		{1 << 0, "DD"},
		{1<<0 | 1<<1 | 1<<31, "DD|IDE|EOP"},
		{1<<1 | 1<<5 | 1<<8, "EOP|0x120"},
	} {
		if got := bitname.List(c.word, table); got != c.want {
			t.Errorf("%#x: got %s, want %s", c.word, got, c.want)
		}
	}
}
