package packet_test

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jsimonetti/rtnetlink/v2"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
)

const iflaPromiscuity = 30

// promiscuity returns how many users have asked for promiscuous mode.
func promiscuity(t testing.TB, name string) (n uint32) {
	t.Helper()
	here.Change(t, name, func(_ *rtnetlink.Conn, index uint32) error {
		c, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
		if err != nil {
			return err
		}
		defer c.Close()
		req := make([]byte, unix.SizeofIfInfomsg)
		binary.NativeEndian.PutUint32(req[4:], index)
		msgs, err := c.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_GETLINK, Flags: netlink.Request}, Data: req})
		if err != nil {
			return err
		}
		attrs, err := netlink.NewAttributeDecoder(msgs[0].Data[unix.SizeofIfInfomsg:])
		if err != nil {
			return err
		}
		for attrs.Next() {
			if attrs.Type() == iflaPromiscuity {
				n = attrs.Uint32()
			}
		}
		return attrs.Err()
	})
	return n
}

// wantEvents waits for what the client is told of the link.
func wantEvents(t *testing.T, c *client, want ...bool) {
	t.Helper()
	eventually(t, "link event", func() bool { return len(c.events()) >= len(want) })
	if d := cmp.Diff(want, c.events()); d != "" {
		t.Fatalf("link events (-want +got):\n%s", d)
	}
}

// traffic sends frames both ways.
func traffic(t *testing.T, a, b port.Port, ca, cb *client) {
	t.Helper()
	const count = 10
	sendAll(t, a, ca, 0, frames(count, 64, 100))
	sendAll(t, b, cb, 0, frames(count, 64, 200))
	for i, f := range receive(t, cb, hw.NewRxSource(b, 0), count) {
		if seqOf(f) != 100+uint32(i) {
			t.Fatalf("frame %d is %d", i, seqOf(f))
		}
	}
	for i, f := range receive(t, ca, hw.NewRxSource(a, 0), count) {
		if seqOf(f) != 200+uint32(i) {
			t.Fatalf("frame %d is %d", i, seqOf(f))
		}
	}
	if a.TakeErrors(0) != 0 || b.TakeErrors(0) != 0 {
		t.Error("frames refused")
	}
}

func TestInterfaceDownRefusesAndUpGoesOn(t *testing.T) {
	w := newCable(t)
	files := openFiles(t)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	traffic(t, a, b, ca, cb)
	setUp(t, nil, w.a, false)
	wantEvents(t, ca, true, false)
	wantEvents(t, cb, true, false) // no carrier
	for _, p := range []port.Port{a, b} {
		if n := p.Send(0, frames(40, 64, 0)); n != 40 {
			t.Errorf("took %d, want 40", n)
		}
		if n := p.TakeErrors(0); n != 40 {
			t.Errorf("refused %d, want 40", n)
		}
		if n := p.Stats().TxErrors[port.LinkDown]; n != 40 {
			t.Errorf("%d counted as link down, want 40", n)
		}
	}
	setUp(t, nil, w.a, true)
	wantEvents(t, ca, true, false, true)
	wantEvents(t, cb, true, false, true)
	traffic(t, a, b, ca, cb) // nothing stale comes first
	check(t, a.Close())
	check(t, b.Close())
	if n := openFiles(t); n != files {
		t.Errorf("%d files open, %d before", n, files)
	}
}

// With the peer down the kernel answers ENOBUFS, which is "full", until the carrier is
// known to be gone; in between it takes a few frames and loses them, as a cable would that
// is being pulled. Whenever that is, every frame ends, and is counted once.
func TestPeerGoingDownLeavesNoFrameBehind(t *testing.T) {
	const count = 20000
	w := newCable(t)
	a, ca := openPort(t, w.a)
	before := here.Counters(t, w.b)
	fs := frames(100, 64, 0)
	for sent := 0; sent < count; sent += len(fs) {
		if sent == count/2 {
			setUp(t, nil, w.b, false)
		}
		sendAll(t, a, ca, 2, fs)
	}
	wantEvents(t, ca, true, false)
	s := a.Stats()
	if done := a.Completed(2); done != count || s.TxFrames+s.TxErrors[port.LinkDown] != count {
		t.Errorf("completed %d, stats %+v", done, s)
	}
	after := here.Counters(t, w.b)
	if got := after.RxPackets - before.RxPackets; got != count/2 || got > s.TxFrames {
		t.Errorf("the peer counts %d, the port %d", got, s.TxFrames)
	}
}

func TestInterfaceThatVanishesIsDownAndComesBackUnderItsName(t *testing.T) {
	w := newCable(t)
	a, ca := openPort(t, w.a)
	files := openFiles(t)
	for round := range 2 {
		up := 2*round + 1
		w.remove(t)
		eventually(t, "link down", func() bool { return len(ca.events()) == up+1 })
		if a.Link().Up {
			t.Error("up without an interface")
		}
		if n := a.Send(0, frames(3, 64, 0)); n != 3 || a.TakeErrors(0) != 3 {
			t.Errorf("took %d, want 3 refused", n)
		}
		w.plug(t)
		w.up(t)
		eventually(t, "link up", func() bool { return len(ca.events()) == up+2 })
		b, cb := openPort(t, w.b)
		traffic(t, a, b, ca, cb)
		if n := promiscuity(t, w.a); n != 1 {
			t.Errorf("promiscuity %d, want 1", n)
		}
		check(t, b.Close())
	}
	wantEvents(t, ca, true, false, true, false, true)
	if n := openFiles(t); n != files {
		t.Errorf("%d files open, %d before", n, files)
	}
}

func TestInterfaceThatVanishedBeforeBindIsDown(t *testing.T) {
	w := newCable(t)
	p, err := fabric().Open("packet:" + w.a)
	check(t, err)
	defer p.Close()
	w.remove(t)
	c := newClient()
	check(t, p.Bind(c))
	if p.Link().Up || len(c.events()) != 0 {
		t.Errorf("up; events %v", c.events())
	}
	w.plug(t)
	w.up(t)
	wantEvents(t, c, true)
}

func TestRenamedInterfaceStaysThePorts(t *testing.T) {
	w := newCable(t)
	a, ca := openPort(t, w.a)
	here.Change(t, w.a, func(c *rtnetlink.Conn, index uint32) error {
		return c.Link.Set(&rtnetlink.LinkMessage{Index: index, Attributes: &rtnetlink.LinkAttributes{Name: w.a + "x"}})
	})
	w.a += "x"
	b, cb := openPort(t, w.b)
	traffic(t, a, b, ca, cb)
	wantEvents(t, ca, true)
}

func TestInterfaceThatIsDownWhenOpenedComesUp(t *testing.T) {
	w := plainCable(t, nil)
	a, ca := openPort(t, w.a)
	b, cb := openPort(t, w.b)
	if a.Link().Up || len(ca.events()) != 0 {
		t.Errorf("up; events %v", ca.events())
	}
	w.up(t)
	wantEvents(t, ca, true)
	wantEvents(t, cb, true)
	traffic(t, a, b, ca, cb)
}
