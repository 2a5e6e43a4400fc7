package inet

import (
	"net/netip"
	"syscall"
	"testing"
)

func TestABroadcastAddressCanBeGiven(t *testing.T) {
	r := newRig(t)
	n := r.nic(0, ownMAC, "192.0.2.10/24", "198.51.100.2/31", "2001:db8::1/64")
	check := func(want, other string) {
		t.Helper()
		if got := Addrs(n.Ifnet)[0].Broadcast; got != ip(want) {
			t.Errorf("broadcast address %s, want %s", got, want)
		}
		if e := r.s.fib4.Load().lookup(keyOf(ip(want), 0)); e == nil || e.kind != routeBroadcast {
			t.Errorf("%s is not broadcast", want)
		}
		if e := r.s.fib4.Load().lookup(keyOf(ip(other), 0)); e == nil || e.kind != routeNet {
			t.Errorf("%s is broadcast", other)
		}
	}
	check("192.0.2.255", "192.0.2.0")
	r.must(SetBroadcast(n.Ifnet, ip("192.0.2.10"), ip("192.0.2.0")))
	check("192.0.2.0", "192.0.2.255")
	r.must(SetBroadcast(n.Ifnet, ip("198.51.100.2"), ip("198.51.100.3")))
	if e := r.s.fib4.Load().lookup(keyOf(ip("198.51.100.3"), 0)); e == nil || e.kind != routeBroadcast {
		t.Error("198.51.100.3 is not broadcast")
	}
	r.must(AddAddr(n.Ifnet, prefix("192.0.2.10/25")))
	check("192.0.2.127", "192.0.2.0")
	for _, c := range []struct {
		addr, broadcast netip.Addr
		want            syscall.Errno
	}{
		{ip("192.0.2.11"), ip("192.0.2.0"), syscall.EADDRNOTAVAIL}, {ip("2001:db8::1"), ip("192.0.2.0"), syscall.EINVAL}, {ip("192.0.2.10"), ip("2001:db8::1"), syscall.EINVAL},
	} {
		wantErr(t, SetBroadcast(n.Ifnet, c.addr, c.broadcast), c.want)
	}
}
