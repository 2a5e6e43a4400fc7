package packet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Offsets in struct ifinfomsg.
const (
	ifiFamily = 0
	ifiType   = 2
	ifiIndex  = 4
	ifiFlags  = 8
)

const flagsUp = unix.IFF_UP | unix.IFF_RUNNING

var errShortLink = errors.New("short link message")

// link is what a link message says of an interface.
type link struct {
	family uint8
	typ    uint16 // ARPHRD_*
	index  int
	flags  uint32 // IFF_*
	name   string
	mtu    uint32
}

func (l *link) up() bool { return l.flags&flagsUp == flagsUp }

// parseLink reads the payload of RTM_NEWLINK or RTM_DELLINK.
func parseLink(b []byte) (link, error) {
	if len(b) < unix.SizeofIfInfomsg {
		return link{}, errShortLink
	}
	l := link{
		family: b[ifiFamily],
		typ:    binary.NativeEndian.Uint16(b[ifiType:]),
		index:  int(int32(binary.NativeEndian.Uint32(b[ifiIndex:]))),
		flags:  binary.NativeEndian.Uint32(b[ifiFlags:]),
	}
	attrs, err := netlink.NewAttributeDecoder(b[unix.SizeofIfInfomsg:])
	if err != nil {
		return link{}, err
	}
	for attrs.Next() {
		switch attrs.Type() {
		case unix.IFLA_IFNAME:
			l.name = attrs.String()
		case unix.IFLA_MTU:
			l.mtu = attrs.Uint32()
		}
	}
	return l, attrs.Err()
}

// lookup asks the kernel for the interface of a name, or of an index if the name is "".
// The error of a missing one wraps ENODEV.
func lookup(c *netlink.Conn, name string, index int) (link, error) {
	req := make([]byte, unix.SizeofIfInfomsg)
	if name == "" {
		binary.NativeEndian.PutUint32(req[ifiIndex:], uint32(index))
	} else {
		attrs := netlink.NewAttributeEncoder()
		attrs.String(unix.IFLA_IFNAME, name)
		b, err := attrs.Encode()
		if err != nil {
			return link{}, err
		}
		req = append(req, b...)
	}
	replies, err := c.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETLINK, Flags: netlink.Request},
		Data:   req,
	})
	if err != nil {
		return link{}, err
	}
	for _, m := range replies {
		if m.Header.Type == unix.RTM_NEWLINK {
			return parseLink(m.Data)
		}
	}
	return link{}, syscall.ENODEV
}

// monitor follows the interface until the events socket is closed.
func (p *Port) monitor() {
	defer p.wg.Done()
	for {
		msgs, err := p.events.Receive()
		switch {
		case p.closing.Load() || errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed) || errors.Is(err, unix.EBADF):
			return
		case err != nil: // ENOBUFS: messages were lost
			p.resync()
			continue
		}
		for _, m := range msgs {
			l, err := parseLink(m.Data)
			if err != nil || l.family != unix.AF_UNSPEC {
				continue // a bridge says the same of its ports in messages of its own
			}
			switch m.Header.Type {
			case unix.RTM_NEWLINK:
				p.linkIs(&l)
			case unix.RTM_DELLINK:
				p.linkGone(&l)
			}
		}
	}
}

// resync asks for the state instead of being told.
func (p *Port) resync() {
	if p.index != 0 {
		l, err := lookup(p.query, "", p.index)
		if err == nil {
			p.linkIs(&l)
			return
		}
		if !errors.Is(err, unix.ENODEV) {
			return
		}
		p.index = 0
		p.setLink(false)
	}
	if l, err := lookup(p.query, p.spec.ifname, 0); err == nil {
		p.linkIs(&l)
	}
}

// linkIs takes note of an interface: the port's, or one that has come for it.
func (p *Port) linkIs(l *link) {
	if p.index == 0 && l.name == p.spec.ifname && checkType(l) == nil {
		if err := p.attach(l.index); err != nil {
			return // gone again; the next message says more
		}
	}
	if p.index != 0 && p.index == l.index {
		p.setLink(l.up())
	}
}

// linkGone takes note of an interface that was removed or moved to another namespace.
func (p *Port) linkGone(l *link) {
	if p.index == 0 || p.index != l.index {
		return
	}
	p.index = 0
	p.setLink(false)
	p.resync()
}

// setLink publishes the link and tells the client of a change. Called by Bind, then by
// the monitor alone, so changes are told in order.
func (p *Port) setLink(up bool) {
	if p.linkUp.Swap(up) != up {
		p.client.LinkChanged(p.Link())
	}
}

// attach binds both sockets to an interface: the transmit socket, which receives nothing,
// and then the receive socket, from when on frames arrive.
func (p *Port) attach(index int) error {
	if err := unix.Bind(p.txFD, &unix.SockaddrLinklayer{Ifindex: index}); err != nil {
		return fmt.Errorf("binding: %w", err)
	}
	all := &unix.SockaddrLinklayer{Ifindex: index, Protocol: networkOrder(unix.ETH_P_ALL)}
	if err := unix.Bind(p.rx.fd, all); err != nil {
		return fmt.Errorf("binding: %w", err)
	}
	mreq := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
	if err := unix.SetsockoptPacketMreq(p.rx.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &mreq); err != nil {
		return fmt.Errorf("promiscuous mode: %w", err)
	}
	p.index = index
	return nil
}

// networkOrder returns v as it stands in memory in network byte order.
func networkOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}
