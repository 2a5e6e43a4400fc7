package altqbench

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	mdpacket "github.com/mdlayher/packet"
	"github.com/prometheus/procfs"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/netns"
)

// Ends of a wire, both in the namespace of this process.
const (
	nicEnd  = "nic0"
	peerEnd = "peer0"
)

// peer is the end of a wire at which the host's kernel counts: frames and bytes of the
// interface, and frames of each flow, by the statistics of packet sockets with filters.
type peer struct {
	mac     [ifnet.EtherAddrLen]byte
	proc    procfs.Proc
	sockets []*mdpacket.Conn
	frames  []uint64 // of each flow; the kernel's statistics begin anew when they are read
}

// errNoWire: the host has no veth for this process.
var errNoWire = errors.New("no wire")

// newPeer makes the wire, whose ends send nothing by themselves.
func newPeer(flows int) (p *peer, err error) {
	var here *netns.NS
	if err := here.AddVeth(nicEnd, peerEnd, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoWire, err)
	}
	p = &peer{frames: make([]uint64, flows)}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	for _, name := range []string{nicEnd, peerEnd} {
		if err := here.Silence(name); err != nil {
			return nil, err
		}
		if err := here.SetFlags(name, unix.IFF_UP, unix.IFF_UP); err != nil {
			return nil, err
		}
	}
	i, err := net.InterfaceByName(peerEnd)
	if err != nil {
		return nil, err
	}
	p.mac = [ifnet.EtherAddrLen]byte(i.HardwareAddr)
	if p.proc, err = procfs.Self(); err != nil {
		return nil, err
	}
	for n := range flows {
		conn, err := counter(i, uint32(firstPort+n))
		if err != nil {
			return nil, fmt.Errorf("a socket that counts: %w", err)
		}
		p.sockets = append(p.sockets, conn)
	}
	return p, nil
}

// close ends the wire.
func (p *peer) close() error {
	var errs []error
	for _, s := range p.sockets {
		errs = append(errs, s.Close())
	}
	var here *netns.NS
	return errors.Join(append(errs, here.DeleteLink(peerEnd))...)
}

// counter is a socket that counts the frames to a UDP port. It keeps none.
func counter(i *net.Interface, port uint32) (*mdpacket.Conn, error) {
	const (
		protocol = ifnet.EtherHdrLen + 9 // of IPv4
		dstPort  = ifnet.EtherHdrLen + 20 + 2
		least    = 1 // byte to keep
	)
	filter, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: protocol, Size: 1},
		bpf.JumpIf{Val: unix.IPPROTO_UDP, SkipFalse: 3},
		bpf.LoadAbsolute{Off: dstPort, Size: 2},
		bpf.JumpIf{Val: port, SkipFalse: 1},
		bpf.RetConstant{Val: least},
		bpf.RetConstant{},
	})
	if err != nil {
		return nil, err
	}
	conn, err := mdpacket.Listen(i, mdpacket.Raw, unix.ETH_P_IP, &mdpacket.Config{Filter: filter})
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, least) })
	if err = errors.Join(err, set); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// count is what the kernel has counted.
type count struct {
	before, after time.Time // the interface's counters were read in between
	frames, bytes uint64
	flows         []uint64 // frames
}

// count reads the counters.
func (p *peer) count() (c count, err error) {
	c.before = time.Now()
	devs, err := p.proc.NetDev()
	c.after = time.Now()
	if err != nil {
		return c, err
	}
	c.frames, c.bytes = devs[peerEnd].RxPackets, devs[peerEnd].RxBytes
	for i, s := range p.sockets {
		st, err := s.Stats()
		if err != nil {
			return c, err
		}
		p.frames[i] += uint64(st.Packets)
		c.flows = append(c.flows, p.frames[i])
	}
	return c, nil
}
