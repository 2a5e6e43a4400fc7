package ifnet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

var (
	ownMAC   = [EtherAddrLen]byte{2, 0, 0, 0, 0, 1}
	otherMAC = [EtherAddrLen]byte{2, 0, 0, 0, 0, 0x99}
	groupMAC = [EtherAddrLen]byte{0x01, 0x00, 0x5e, 0, 0, 1}
)

// rig is a machine with a cache for the test.
type rig struct {
	t testing.TB
	k *kern.Kernel
	z *mbuf.Zones
	c *mbuf.Cache
}

func newRig(t testing.TB) *rig { return newRigOn(t, kern.Stepped, kern.ManualClock) }

func newRigOn(t testing.TB, ex kern.Executor, clock kern.ClockKind) *rig {
	t.Helper()
	return newRigWith(t, kern.Config{NCPU: 2, Executor: ex, Clock: clock})
}

func newRigWith(t testing.TB, cfg kern.Config) *rig {
	t.Helper()
	cfg.Invariants = true
	cfg.Mem = physmem.Config{Size: 8 << 20}
	k, err := kern.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	z, err := mbuf.Init(k, mbuf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Init(k); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, k: k, z: z, c: z.NewCache()}
	t.Cleanup(r.c.Close)
	return r
}

// nic is an interface whose driver records what it is asked.
type nic struct {
	*Ifnet
	r      *rig
	asked  []string
	flags  []Flags // if_flags at each SIOCSIFFLAGS
	answer error   // of Ioctl
	sent   []*mbuf.Mbuf
	inits  int
	flush  int
}

const (
	nicFlags = FlagBroadcast | FlagSimplex | FlagMulticast
	nicCaps  = CapHWCsum | CapVLANHWTag | CapVLANMTU | CapTSO
)

func (r *rig) nic(unit int) *nic {
	r.t.Helper()
	n := r.bareNIC(unit)
	EtherAttach(n.Ifnet, ownMAC)
	return n
}

func (r *rig) bareNIC(unit int) *nic {
	n := &nic{Ifnet: Alloc(r.k, TypeEther), r: r}
	n.InitName("em", unit)
	n.SetFlags(nicFlags, 0)
	n.SetCapabilities(nicCaps, 0)
	n.SetMethods(Methods{
		Init: func() { n.inits++ },
		Ioctl: func(cmd Ioctl, data any) error {
			n.asked = append(n.asked, cmd.String())
			if cmd == IoctlSetFlags {
				n.flags = append(n.flags, n.Flags())
			}
			if n.answer != nil || cmd != IoctlSetMTU && cmd != IoctlSetLANPCP && cmd != IoctlGetLANPCP && cmd != IoctlSetAddr {
				return n.answer
			}
			return EtherIoctl(n.Ifnet, cmd, data)
		},
		Transmit: func(m *mbuf.Mbuf) error { n.sent = append(n.sent, m); return nil },
		QFlush:   func() { n.flush++ },
	})
	return n
}

// running is an interface that may send and receive.
func (r *rig) running() *nic {
	r.t.Helper()
	n := r.nic(0)
	n.SetFlags(FlagUp, 0)
	n.SetDrvFlags(FlagRunning, 0)
	return n
}

// drop frees what was transmitted.
func (n *nic) drop() {
	for _, m := range n.sent {
		n.r.c.FreeChain(m)
	}
	n.sent = nil
}

// packet makes an mbuf chain of the parts with a packet header, received on n if not nil.
func (r *rig) packet(n *nic, parts ...[]byte) *mbuf.Mbuf {
	r.t.Helper()
	var head, tail *mbuf.Mbuf
	for i, p := range parts {
		var m *mbuf.Mbuf
		if i == 0 {
			m = r.c.GetCl(mbuf.FlagPktHdr)
		} else {
			m = r.c.GetCl(0)
		}
		m.SetLen(copy(m.Room(), p))
		if head == nil {
			head = m
		} else {
			tail.Next = m
		}
		tail = m
	}
	head.FixHdr()
	if n != nil {
		head.Pkt.RcvIf = n.Ifnet
	}
	return head
}

// frame is an Ethernet frame: addresses, types and tags as 16-bit words, then payload.
func frame(dst [EtherAddrLen]byte, words []uint16, payload string) []byte {
	b := slices.Concat(dst[:], otherMAC[:])
	for _, w := range words {
		b = append(b, byte(w>>8), byte(w))
	}
	return append(b, payload...)
}

func bytesOf(m *mbuf.Mbuf) []byte {
	b := make([]byte, m.Length())
	m.CopyData(0, b)
	return b
}

// console is what was printed since the call of the result of mark.
func (r *rig) mark() func() string {
	n := len(r.k.Dmesg())
	return func() string { return r.k.Dmesg()[n:] }
}

func (r *rig) wantLog(since func() string, want string) {
	r.t.Helper()
	if got := since(); got != want {
		r.t.Errorf("console:\n got %q\nwant %q", got, want)
	}
}

func (r *rig) noLeak() {
	r.t.Helper()
	if u := r.z.Usage(); u.Any() {
		r.t.Errorf("mbufs in use: %+v", u)
	}
}

func wantErr(t testing.TB, what string, err error, want syscall.Errno) {
	t.Helper()
	switch {
	case want == 0 && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != 0 && !errors.Is(err, want):
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// nonzero lists the counters that are not 0 as "name=value".
func nonzero(ifp *Ifnet) string {
	names := [NumCounters]string{"ipackets", "ierrors", "opackets", "oerrors", "collisions", "ibytes", "obytes",
		"imcasts", "omcasts", "iqdrops", "oqdrops", "noproto"}
	var out []string
	for c := range NumCounters {
		if v := ifp.GetCounter(c); v != 0 {
			out = append(out, fmt.Sprintf("%s=%d", names[c], v))
		}
	}
	return strings.Join(out, " ")
}

// events records the events of a machine as "name kind".
func (r *rig) events() *[]string {
	var list []string
	r.t.Cleanup(OnEvent(r.k, func(ifp *Ifnet, e EventKind) { list = append(list, ifp.Name()+" "+e.String()) }))
	return &list
}

func wantList(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
