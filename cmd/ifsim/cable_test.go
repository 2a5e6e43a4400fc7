package main

import (
	"net"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/nstest"
	"github.com/jsimonetti/rtnetlink/v2"
	"github.com/jsimonetti/rtnetlink/v2/driver"
	mdpacket "github.com/mdlayher/packet"
	"golang.org/x/sys/unix"
)

// Ends of a cable: the machine's, and the host's in a namespace of its own.
const (
	nicEnd  = "nic0"
	hostEnd = "host0"
)

// cable is a veth pair, silent but for what the test sends.
type cable struct{ host *nstest.NS }

func newCable(t testing.TB) *cable {
	t.Helper()
	c := &cable{host: nstest.New(t)}
	c.plug(t)
	t.Cleanup(func() {
		if _, err := net.InterfaceByName(nicEnd); err == nil {
			c.unplug(t)
		}
	})
	return c
}

// plug makes the interfaces and brings them up.
func (c *cable) plug(t testing.TB) {
	t.Helper()
	peer := &rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{
		Name: hostEnd, NetNS: rtnetlink.NetNSForFD(c.host.FD()),
	}}
	conn, err := rtnetlink.Dial(nil)
	check(t, err)
	defer conn.Close()
	if err := conn.Link.New(&rtnetlink.LinkMessage{Attributes: &rtnetlink.LinkAttributes{
		Name: nicEnd, Info: &rtnetlink.LinkInfo{Kind: "veth", Data: &driver.Veth{PeerInfo: peer}},
	}}); err != nil {
		nstest.Unavailable(t, "no veth: %v", err)
	}
	var here *nstest.NS
	here.Silence(t, nicEnd)
	c.host.Silence(t, hostEnd)
	here.SetFlags(t, nicEnd, unix.IFF_UP, unix.IFF_UP)
	c.host.SetFlags(t, hostEnd, unix.IFF_UP, unix.IFF_UP)
	here.AwaitUp(t, nicEnd)
	c.host.AwaitUp(t, hostEnd)
}

// unplug deletes the host's end, and the other with it.
func (c *cable) unplug(t testing.TB) {
	t.Helper()
	c.host.Change(t, hostEnd, func(conn *rtnetlink.Conn, index uint32) error { return conn.Link.Delete(index) })
	eventually(t, nicEnd+" is there", func() bool {
		_, err := net.InterfaceByName(nicEnd)
		return err != nil
	})
}

// address gives the host's end an address.
func (c *cable) address(t testing.TB, ip net.IP, bits uint8) {
	t.Helper()
	c.host.Change(t, hostEnd, func(conn *rtnetlink.Conn, index uint32) error {
		return conn.Address.New(&rtnetlink.AddressMessage{
			Family: unix.AF_INET, PrefixLength: bits, Index: index,
			Attributes: &rtnetlink.AddressAttributes{Address: ip, Local: ip},
		})
	})
}

// neighbour gives the host a permanent entry.
func (c *cable) neighbour(t testing.TB, ip net.IP, mac net.HardwareAddr) {
	t.Helper()
	c.host.Change(t, hostEnd, func(conn *rtnetlink.Conn, index uint32) error {
		return conn.Neigh.New(&rtnetlink.NeighMessage{
			Family: unix.AF_INET, Index: index, State: unix.NUD_PERMANENT,
			Attributes: &rtnetlink.NeighAttributes{Address: ip, LLAddress: mac},
		})
	})
}

// socket sends frames as they are from the host's end.
func (c *cable) socket(t testing.TB) (send func(b []byte), mac net.HardwareAddr) {
	t.Helper()
	var conn *mdpacket.Conn
	c.host.Run(t, func() (err error) {
		i, err := net.InterfaceByName(hostEnd)
		if err != nil {
			return err
		}
		mac = i.HardwareAddr
		conn, err = mdpacket.Listen(i, mdpacket.Raw, 0, nil)
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	to := &mdpacket.Addr{HardwareAddr: mac}
	return func(b []byte) {
		if _, err := conn.WriteTo(b, to); err != nil {
			t.Errorf("sending from the host: %v", err)
		}
	}, mac
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until something is so.
func eventually(t testing.TB, otherwise string, is func() bool) {
	t.Helper()
	const step = 5 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s after %v", otherwise, patience)
		}
	}
}
