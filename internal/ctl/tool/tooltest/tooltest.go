// Package tooltest has a machine with protocols and made-up interfaces for tests of tools.
// Only tests import it.
package tooltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

const memSize = 16 << 20

// Host is a machine on a manual clock in the stepped executor, whose interfaces keep what
// they send.
type Host struct {
	K *kern.Kernel
	// Files are those that a tool can open.
	Files map[string]string
	// Pauses is how often a tool may wait before it is interrupted.
	Pauses int
	// OnPause is called in each wait, which takes no time but its own.
	OnPause func()

	t testing.TB
	c *mbuf.Cache
}

// NewHost makes a host, which the test closes.
func NewHost(t testing.TB) *Host {
	t.Helper()
	k, err := kern.New(kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true, Mem: physmem.Config{Size: memSize}})
	h := &Host{K: k, Files: make(map[string]string), t: t}
	h.must(err)
	z, err := mbuf.Init(k, mbuf.Config{})
	h.must(err)
	h.must(inet.Init(k))
	h.c = z.NewCache()
	t.Cleanup(func() {
		h.c.Close()
		h.must(k.Close())
	})
	return h
}

func (h *Host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// NIC is an interface of a host.
type NIC struct {
	*ifnet.Ifnet
	Sent [][]byte // frames
	h    *Host
}

// NIC adds an Ethernet interface with addresses; its own ends in unit + 1.
func (h *Host) NIC(driver string, unit int, addrs ...string) *NIC {
	h.t.Helper()
	n := &NIC{Ifnet: ifnet.Alloc(h.K, ifnet.TypeEther), h: h}
	n.InitName(driver, unit)
	n.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	n.SetMethods(ifnet.Methods{
		Init:     func() { n.SetDrvFlags(ifnet.FlagRunning, 0) },
		Ioctl:    n.ioctl,
		Transmit: n.transmit,
		QFlush:   func() {},
	})
	ifnet.EtherAttach(n.Ifnet, [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, byte(unit + 1)})
	h.t.Cleanup(func() {
		ifnet.EtherDetach(n.Ifnet)
		ifnet.Free(n.Ifnet)
	})
	for _, a := range addrs {
		h.must(inet.AddAddr(n.Ifnet, netip.MustParsePrefix(a)))
	}
	h.K.Advance(detection)
	n.Sent = nil
	return n
}

// detection is the time in which IPv6 addresses become valid.
const detection = 2 * time.Second

// ioctl serves what every Ethernet interface does, and lets it be promiscuous.
func (n *NIC) ioctl(cmd ifnet.Ioctl, data any) error {
	if cmd == ifnet.IoctlSetFlags {
		return nil
	}
	return ifnet.EtherIoctl(n.Ifnet, cmd, data)
}

func (n *NIC) transmit(m *mbuf.Mbuf) error {
	b := make([]byte, m.Length())
	m.CopyData(0, b)
	n.Sent = append(n.Sent, b)
	mbuf.FreeChain(m)
	return nil
}

// Input gives the interface a frame.
func (n *NIC) Input(frame []byte) {
	n.h.t.Helper()
	m := n.h.c.GetHdr()
	if m == nil || !n.h.c.Append(m, frame) {
		n.h.t.Fatal("no mbufs")
	}
	m.Pkt.RcvIf = n.Ifnet
	n.InputCache(n.h.c, m)
	n.h.K.RunUntilIdle()
}

// Tool is a tool that runs on a kernel.
type Tool func(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) int

// errInterrupted is what ends a tool that waits.
var errInterrupted = errors.New("interrupted")

// Run runs a tool with a command line, cut at blanks.
func (h *Host) Run(run Tool, line string) (stdout, stderr string, exit int) {
	var o, e bytes.Buffer
	pauses := h.Pauses
	exit = run(context.Background(), h.K, strings.Fields(line), tool.IO{
		Stdout: &o, Stderr: &e,
		Wait: func(_ context.Context, d time.Duration) error {
			if pauses--; pauses < 0 {
				return errInterrupted
			}
			if h.OnPause != nil {
				h.OnPause()
			}
			h.K.Advance(d)
			return nil
		},
		Open: func(name string) (io.ReadCloser, error) {
			text, ok := h.Files[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(text)), nil
		},
	})
	return o.String(), e.String(), exit
}

// Want runs a tool and compares what it prints and its exit status.
func (h *Host) Want(run Tool, line, stdout, stderr string, exit int) {
	h.t.Helper()
	o, e, x := h.Run(run, line)
	if d := cmp.Diff(stdout, o); d != "" {
		h.t.Errorf("%s: stdout (-want +got):\n%s", line, d)
	}
	if d := cmp.Diff(stderr, e); d != "" {
		h.t.Errorf("%s: stderr (-want +got):\n%s", line, d)
	}
	if x != exit {
		h.t.Errorf("%s: exit status %d, want %d", line, x, exit)
	}
}
