package bpf_test

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	netbpf "golang.org/x/net/bpf"
)

type rig struct {
	t   testing.TB
	k   *kern.Kernel
	z   *mbuf.Zones
	c   *mbuf.Cache
	ifp *ifnet.Ifnet
}

func newRig(t testing.TB, ex kern.Executor, clock kern.ClockKind) *rig {
	t.Helper()
	k, err := kern.New(kern.Config{NCPU: 1, Executor: ex, Clock: clock, Invariants: true,
		Mem: physmem.Config{Size: 8 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	z, err := mbuf.Init(k, mbuf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, k: k, z: z, c: z.NewCache(), ifp: ifnet.Alloc(k, ifnet.TypeEther)}
	t.Cleanup(r.c.Close)
	r.ifp.InitName("em", 0)
	r.ifp.SetMethods(ifnet.Methods{Ioctl: func(ifnet.Ioctl, any) error { return nil }})
	r.ifp.SetFlags(ifnet.FlagUp, 0)
	ifnet.EtherAttach(r.ifp, [6]byte{2, 0, 0, 0, 0, 1})
	return r
}

func steppedRig(t testing.TB) *rig { return newRig(t, kern.Stepped, kern.ManualClock) }

func (r *rig) open(cfg bpf.Config) *bpf.Listener {
	r.t.Helper()
	l, err := bpf.Open(r.k, r.ifp, cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	return l
}

// show taps the interface with a packet of the parts, received or sent.
func (r *rig) show(received bool, vtag int, parts ...string) {
	var head, tail *mbuf.Mbuf
	for i, p := range parts {
		var m *mbuf.Mbuf
		if i == 0 {
			m = r.c.GetCl(mbuf.FlagPktHdr)
			head = m
		} else {
			m = r.c.GetCl(0)
			tail.Next = m
		}
		m.SetLen(copy(m.Room(), p))
		tail = m
	}
	head.FixHdr()
	if received {
		head.Pkt.RcvIf = r.ifp
	}
	if vtag >= 0 {
		head.Flags |= mbuf.FlagVLANTag
		head.Pkt.EtherVtag = uint16(vtag)
	}
	before := make([]byte, head.Length())
	head.CopyData(0, before)
	flags := head.Flags
	r.ifp.Tap(head)
	after := make([]byte, head.Length())
	head.CopyData(0, after)
	if string(before) != string(after) || head.Flags != flags {
		r.t.Errorf("tapping changed the packet: %x, then %x", before, after)
	}
	r.c.FreeChain(head)
}

// read takes everything out of a listener, as text.
func read(l *bpf.Listener) (packets []bpf.Packet) {
	l.Read(func(p bpf.Packet) bool {
		p.Data = append([]byte(nil), p.Data...)
		packets = append(packets, p)
		return true
	})
	return packets
}

func assemble(t testing.TB, insns ...netbpf.Instruction) bpf.Program {
	t.Helper()
	p, err := netbpf.Assemble(insns)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// etherType accepts n bytes of frames of one type.
func etherType(t testing.TB, etype, n uint32) bpf.Program {
	return assemble(t, netbpf.LoadAbsolute{Off: 12, Size: 2}, netbpf.JumpIf{Cond: netbpf.JumpEqual, Val: etype, SkipFalse: 1},
		netbpf.RetConstant{Val: n}, netbpf.RetConstant{Val: 0})
}

const (
	addrs   = "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02"
	ipFrame = addrs + "\x08\x00payload"
	arp     = addrs + "\x08\x06arp"
)
