package machine_test

import (
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestIfconfigEndsAtTheFirstCommandThatFails(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("boot/device.hints", "hint.em.0.port=null\n")})
	ifp := b.Ifnet("em0")
	for _, c := range []struct {
		words []string
		err   string
		mtu   int
	}{
		{[]string{"mtu", "1400", "up"}, "<nil>", 1400},
		{[]string{"mtu", "1300", "mtu", "71", "mtu", "1200"}, "ioctl SIOCSIFMTU (set mtu): Invalid argument", 1300},
		{[]string{"mtu"}, "'mtu' requires argument", 1300},
		{[]string{"foo", "mtu", "1200"}, "foo: bad value", 1300},
		{[]string{"192.0.2.1/24", "-tso4"}, "<nil>", 1300},
		{[]string{"media", "10baseT", "mediaopt", "full-duplex"}, "<nil>", 1300},
		{[]string{"media", "100GBase-LR4"}, "SIOCSIFMEDIA (media): Device not configured", 1300},
		{[]string{"group", "lab", "group", "lab", "-group", "lab", "-group", "lab"}, "<nil>", 1300},
		{[]string{"group", "em0"}, "setifgroup: group names may not end in a digit", 1300},
	} {
		if got := fmt.Sprint(b.Ifconfig(ifp, c.words)); got != c.err || ifp.MTU() != c.mtu {
			t.Errorf("%q: %s, mtu %d; want %s, %d", c.words, got, ifp.MTU(), c.err, c.mtu)
		}
	}
	if got := fmt.Sprint(b.Addrs("em0")); got != "[192.0.2.1/24]" {
		t.Errorf("addresses %s", got)
	}
	if len(b.Warnings()) != 0 {
		t.Errorf("warnings %q", b.Warnings())
	}
	must(t, b.Detach("em0"))
	if got := fmt.Sprint(b.Ifconfig(ifp, []string{"promisc"})); got != "promisc: no such interface" {
		t.Errorf("promisc after detach: %s", got)
	}
	if ifp.Flags()&ifnet.FlagDying == 0 {
		t.Error("the interface did not go away")
	}
}
