package pf_test

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// bed is a machine with a packet filter and interfaces that can shape.
type bed struct {
	t testing.TB
	k *kern.Kernel
	p *pf.PF
	c *mbuf.Cache
	q map[*ifnet.Ifnet]*altq.Queue
}

func newBed(t testing.TB) *bed {
	t.Helper()
	k := altqtest.Kernel(t, true)
	must(t, pf.Init(k))
	p, err := pf.Of(k)
	must(t, err)
	b := &bed{t: t, k: k, p: p, c: mbuf.Of(k).NewCache(), q: make(map[*ifnet.Ifnet]*altq.Queue)}
	t.Cleanup(func() {
		b.c.Close()
		if u := mbuf.Of(k).Usage(); u.Any() {
			t.Errorf("mbufs in use: %+v", u)
		}
	})
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// iface attaches an interface of 1 Gb/s with a send queue that can shape.
func (b *bed) iface(name string, unit int) *ifnet.Ifnet {
	b.t.Helper()
	ifp := ifnet.Alloc(b.k, ifnet.TypeEther)
	ifp.InitName(name, unit)
	ifp.SetMethods(ifnet.Methods{Init: func() {}, Transmit: func(m *mbuf.Mbuf) error { b.c.FreeChain(m); return nil }, QFlush: func() {}})
	ifp.SetBaudrate(1e9)
	q := altq.NewQueue(altq.Env{Kernel: b.k, Name: ifp.Name(), MaxLen: 50})
	ifp.SetSendQueue(q)
	ifnet.EtherAttach(ifp, [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, byte(unit + 1)})
	b.q[ifp] = q
	b.t.Cleanup(func() { b.detach(ifp) })
	return ifp
}

// detach takes an interface away; a second time does nothing.
func (b *bed) detach(ifp *ifnet.Ifnet) {
	q := b.q[ifp]
	if q == nil {
		return
	}
	delete(b.q, ifp)
	ifnet.EtherDetach(ifp)
	ifp.SetSendQueue(nil)
	q.Close()
	ifnet.Free(ifp)
}

// load puts a text into force.
func (b *bed) load(text string) {
	b.t.Helper()
	cfg, msgs, ok := b.p.Parse("pf.conf", text, conf.Options{})
	if !ok {
		b.t.Fatalf("%s\ndoes not load: %v", text, msgs)
	}
	must(b.t, b.p.Load(cfg))
}

// pkt describes a packet.
type pkt struct {
	src, dst     string
	proto        uint8
	sport, dport uint16 // of ICMP: identifier, and type
	flags        uint8
	tos          uint8
	payload      int
	offset       uint16 // of a fragment, in 8 bytes
	cut          int    // bytes to a buffer; 0: all in one
}

// bytes is the packet from its network header on.
func (d pkt) bytes() []byte {
	var up []byte
	switch d.proto {
	case 6:
		up = make([]byte, 20)
		up[12] = 5 << 4
		up[13] = d.flags
	case 1, 58:
		up = make([]byte, 8)
		up[0] = byte(d.dport)
		binary.BigEndian.PutUint16(up[4:], d.sport)
	default:
		up = make([]byte, 8)
	}
	if d.proto == 6 || d.proto == 17 {
		binary.BigEndian.PutUint16(up, d.sport)
		binary.BigEndian.PutUint16(up[2:], d.dport)
	}
	up = append(up, make([]byte, d.payload)...)
	src, dst := netip.MustParseAddr(d.src), netip.MustParseAddr(d.dst)
	if src.Is4() {
		h := make([]byte, 20)
		h[0], h[1], h[9] = 0x45, d.tos, d.proto
		binary.BigEndian.PutUint16(h[2:], uint16(20+len(up)))
		binary.BigEndian.PutUint16(h[6:], d.offset)
		copy(h[12:], src.AsSlice())
		copy(h[16:], dst.AsSlice())
		return append(h, up...)
	}
	h := make([]byte, 40)
	binary.BigEndian.PutUint16(h, 6<<12|uint16(d.tos)<<4)
	h[6] = d.proto
	if d.offset != 0 {
		ext := make([]byte, 8)
		ext[0], h[6] = d.proto, 44
		binary.BigEndian.PutUint16(ext[2:], d.offset<<3)
		up = append(ext, up...)
	}
	binary.BigEndian.PutUint16(h[4:], uint16(len(up)))
	copy(h[8:], src.AsSlice())
	copy(h[24:], dst.AsSlice())
	return append(h, up...)
}

// chain makes an mbuf chain of bytes, cut into buffers of n.
func (b *bed) chain(data []byte, n int) *mbuf.Mbuf {
	b.t.Helper()
	if n == 0 {
		n = len(data)
	}
	var head, tail *mbuf.Mbuf
	for first := true; first || len(data) > 0; first = false {
		var m *mbuf.Mbuf
		if first {
			m = b.c.GetCl(mbuf.FlagPktHdr)
			head = m
		} else {
			m = b.c.GetCl(0)
			tail.Next = m
		}
		m.SetLen(copy(m.Room(), data[:min(n, len(data))]))
		data = data[min(n, len(data)):]
		tail = m
	}
	head.FixHdr()
	return head
}

// verdict is what became of a packet.
type verdict struct {
	pass bool
	qid  altq.QID
	hash bool
}

// run shows a packet to the filter and frees it.
func (b *bed) run(ifp *ifnet.Ifnet, dir ifnet.PfilDir, d pkt) verdict {
	b.t.Helper()
	return b.runBytes(ifp, dir, afOf(d), d.bytes(), d.cut)
}

func afOf(d pkt) ifnet.AF {
	if netip.MustParseAddr(d.src).Is4() {
		return ifnet.AFInet
	}
	return ifnet.AFInet6
}

func (b *bed) runBytes(ifp *ifnet.Ifnet, dir ifnet.PfilDir, af ifnet.AF, data []byte, cut int) verdict {
	m := b.chain(data, cut)
	if r := b.p.Hook(b.c, ifp, dir, af, &m); r != ifnet.PfilPass {
		if r != ifnet.PfilDropped || m != nil {
			b.t.Errorf("result %d, packet %p", r, m)
		}
		return verdict{}
	}
	v := verdict{pass: true, qid: m.QID, hash: m.QIDHash != 0}
	b.c.FreeChain(m)
	return v
}

// qids are the numbers of queues by name.
func (b *bed) qids() map[string]altq.QID {
	list, _ := b.p.Queues()
	ids := make(map[string]altq.QID)
	for _, q := range list {
		ids[q.Qname] = q.QID
	}
	return ids
}

// advance lets time pass.
func (b *bed) advance(d time.Duration) { b.k.Advance(d) }

func parse(t fataler, text string) conf.Config {
	t.Helper()
	cfg, msgs, ok := conf.Parse("pf.conf", text, conf.Options{})
	if !ok {
		t.Fatalf("%s\ndoes not load: %v", text, msgs)
	}
	return cfg
}

// fataler is what testing and rapid have in common.
type fataler interface {
	Helper()
	Fatalf(format string, a ...any)
}

// loads reports whether a text is right.
func loads(text string) bool {
	_, _, ok := conf.Parse("pf.conf", text+"\n", conf.Options{})
	return ok
}
