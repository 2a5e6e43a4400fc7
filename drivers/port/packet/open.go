package packet

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	mdpacket "github.com/mdlayher/packet"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const receiveBuffer = 8 << 20 // bytes for super-frames behind the ring

// noFD stands for a descriptor that is not open.
const noFD = -1

// open makes the port of an argument. It checks everything, and receives nothing before
// Bind.
func open(arg string) (*Port, error) {
	s, err := parse(arg)
	if err != nil {
		return nil, err
	}
	p := &Port{name: kindName + ":" + arg, spec: s, txFD: noFD, wakeFD: noFD}
	p.rx.fd = noFD
	if err := inNamespace(s.ns, p.setUp); err != nil {
		p.tearDown()
		return nil, err
	}
	return p, nil
}

// setUp opens the sockets, on a thread in the right namespace.
func (p *Port) setUp() (err error) {
	if p.query, err = netlink.Dial(unix.NETLINK_ROUTE, nil); err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	if p.events, err = netlink.Dial(unix.NETLINK_ROUTE, nil); err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	l, err := lookup(p.query, p.spec.ifname, 0)
	if errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("no such interface: %w", syscall.ENXIO)
	}
	if err != nil {
		return fmt.Errorf("looking up the interface: %w", err)
	}
	if err := checkType(&l); err != nil {
		return err
	}
	if p.wakeFD, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	if p.txFD, err = listen(&l); err != nil {
		return err
	}
	if p.rx.fd, err = listen(&l); err != nil {
		return err
	}
	if err := setReceiveOptions(p.rx.fd); err != nil {
		return err
	}
	return p.rx.ring.mapOn(p.rx.fd, slotSize(int(l.mtu)))
}

// checkType refuses what carries no Ethernet frames.
func checkType(l *link) error {
	if l.typ != unix.ARPHRD_ETHER && l.typ != unix.ARPHRD_LOOPBACK {
		return fmt.Errorf("not an Ethernet interface (type %d): %w", l.typ, syscall.EINVAL)
	}
	return nil
}

// listen opens a packet socket that is bound to the interface and receives nothing. The
// descriptor is a duplicate that Go's poller does not know: it would wake a thread for
// each frame.
func listen(l *link) (int, error) {
	c, err := mdpacket.Listen(&net.Interface{Index: l.index, Name: l.name}, mdpacket.Raw, 0, nil)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return noFD, fmt.Errorf("needs CAP_NET_RAW: %w", err)
	}
	if err != nil {
		return noFD, fmt.Errorf("packet socket: %w", err)
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return noFD, fmt.Errorf("packet socket: %w", err)
	}
	fd, dupErr := noFD, error(nil)
	err = raw.Control(func(s uintptr) { fd, dupErr = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, dupErr); err != nil {
		return noFD, fmt.Errorf("packet socket: %w", err)
	}
	return fd, nil
}

// setReceiveOptions sets what must be set before the ring is made.
func setReceiveOptions(fd int) error {
	for _, o := range [...]struct {
		opt, val int
		name     string
	}{
		{unix.PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING (Linux 4.20)"},
		{unix.PACKET_VERSION, unix.TPACKET_V2, "PACKET_VERSION"},
		{unix.PACKET_VNET_HDR, 1, "PACKET_VNET_HDR"},
		{unix.PACKET_COPY_THRESH, 1, "PACKET_COPY_THRESH"},
	} {
		if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, o.opt, o.val); err != nil {
			return fmt.Errorf("setting %s: %w", o.name, err)
		}
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) == nil {
		return nil
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer); err != nil {
		return fmt.Errorf("setting SO_RCVBUF: %w", err)
	}
	return nil
}
