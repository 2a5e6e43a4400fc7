package ifnet

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"pgregory.net/rapid"
)

// sink registers protocols that record and free what they get.
type sink struct {
	got   [][]byte
	flags []mbuf.Flags
	vtags []uint16
}

func (r *rig) sink(types ...uint16) *sink {
	s := &sink{}
	for _, et := range types {
		r.t.Cleanup(RegisterProtocol(r.k, et, func(c *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf) {
			s.got = append(s.got, bytesOf(m))
			s.flags = append(s.flags, m.Flags)
			s.vtags = append(s.vtags, m.Pkt.EtherVtag)
			c.FreeChain(m)
		}))
	}
	return s
}

var bcastMAC = EtherBroadcast

func TestEtherInputRules(t *testing.T) {
	ip := []uint16{EtherTypeIP}
	tag := func(tci uint16) []uint16 { return []uint16{EtherTypeVLAN, tci, EtherTypeIP} }
	for _, tt := range []struct {
		name     string
		prep     func(n *nic)
		data     []byte
		vtag     int // out of band when >= 0
		counters string
		deliver  string
		flags    mbuf.Flags
		taps     int
		log      string
	}{
		{"own unicast", nil, frame(ownMAC, ip, "ip"), -1, "ibytes=16", "ip", 0, 1, ""},
		{"not up", func(n *nic) { n.SetFlags(0, FlagUp) }, frame(ownMAC, ip, "ip"), -1, "", "", 0, 0, ""},
		{"up but not running", func(n *nic) { n.SetDrvFlags(0, FlagRunning) }, frame(ownMAC, ip, "ip"), -1, "ibytes=16", "ip", 0, 1, ""},
		{"13 bytes", nil, frame(ownMAC, ip, "")[:13], -1, "ierrors=1", "", 0, 0,
			"em0: discard frame w/o leading ethernet header (len 13 pkt len 13)\n"},
		{"broadcast", nil, frame(bcastMAC, ip, "ip"), -1, "ibytes=16 imcasts=1", "ip", mbuf.FlagBcast, 1, ""},
		{"group", nil, frame(groupMAC, ip, "ip"), -1, "ibytes=16 imcasts=1", "ip", mbuf.FlagMcast, 1, ""},
		{"hardware statistics", func(n *nic) { n.SetCapenable(CapHWStats, 0) }, frame(groupMAC, ip, "ip"), -1, "imcasts=1", "ip", mbuf.FlagMcast, 1, ""},
		{"monitor", func(n *nic) { n.SetFlags(FlagMonitor, 0) }, frame(ownMAC, ip, "ip"), -1, "ibytes=16", "", 0, 1, ""},
		{"foreign unicast", nil, frame(otherMAC, ip, "ip"), -1, "ibytes=16", "", 0, 1, ""},
		{"foreign unicast, promiscuous for BPF only", func(n *nic) { wantErr(t, "promisc", n.Promisc(true), 0) },
			frame(otherMAC, ip, "ip"), -1, "ibytes=16", "", 0, 1, "em0: promiscuous mode enabled\n"},
		{"foreign unicast, PPROMISC", func(n *nic) { n.SetFlags(FlagPPromisc, 0) }, frame(otherMAC, ip, "ip"), -1,
			"ibytes=16", "ip", mbuf.FlagPromisc, 1, ""},
		{"tag 5 in band without VLAN", nil, frame(ownMAC, tag(5), "ip"), -1, "ibytes=20 noproto=1", "", 0, 1, ""},
		{"tag 5 out of band without VLAN", nil, frame(ownMAC, ip, "ip"), 5, "ibytes=16 noproto=1", "", 0, 1, ""},
		{"priority tag in band", nil, frame(ownMAC, tag(0xa000), "ip"), -1, "ibytes=20", "ip", 0, 1, ""},
		{"priority tag out of band", nil, frame(ownMAC, ip, "ip"), 0xe000, "ibytes=16", "ip", 0, 1, ""},
		{"QinQ type", nil, frame(ownMAC, []uint16{EtherTypeQinQ, 7, EtherTypeIP}, "ip"), -1, "ibytes=20 noproto=1", "", 0, 1, ""},
		{"tag type without room for a tag", nil, frame(ownMAC, []uint16{EtherTypeVLAN}, "abc"), -1, "ierrors=1 ibytes=17", "", 0, 1, ""},
		{"second tag stays when the first is out of band", nil, frame(ownMAC, tag(5), "ip"), 0, "ibytes=20", "", 0, 1, ""},
		{"ARP", nil, frame(bcastMAC, []uint16{EtherTypeARP}, "arp"), -1, "ibytes=17 imcasts=1", "arp", mbuf.FlagBcast, 1, ""},
		{"ARP with NOARP", func(n *nic) { n.SetFlags(FlagNoARP, 0) }, frame(bcastMAC, []uint16{EtherTypeARP}, "arp"), -1,
			"ibytes=17 imcasts=1", "", 0, 1, ""},
		{"IPv6", nil, frame(ownMAC, []uint16{EtherTypeIPv6}, "six"), -1, "ibytes=17", "six", 0, 1, ""},
		{"unknown type", nil, frame(ownMAC, []uint16{EtherTypeLLDP}, "lldp"), -1, "ibytes=18", "", 0, 1, ""},
		{"length instead of a type", nil, frame(ownMAC, []uint16{3}, "abc"), -1, "ibytes=17", "", 0, 1, ""},
		{"header only", nil, frame(ownMAC, ip, ""), -1, "ibytes=14", "", 0, 1, ""},
	} {
		r := newRig(t)
		s := r.sink(EtherTypeIP, EtherTypeARP, EtherTypeIPv6)
		n := r.running()
		log := r.mark()
		if tt.prep != nil {
			tt.prep(n)
		}
		taps := 0
		n.AttachTap(func(_ mbuf.RcvIf, m *mbuf.Mbuf) {
			taps++
			if !bytes.Equal(bytesOf(m), tt.data) {
				t.Errorf("%s: the tap saw %x", tt.name, bytesOf(m))
			}
		})
		m := r.packet(n, tt.data)
		m.Flags |= mbuf.FlagProto3
		if tt.vtag >= 0 {
			m.Flags |= mbuf.FlagVLANTag
			m.Pkt.EtherVtag = uint16(tt.vtag)
		}
		n.InputCache(r.c, m)
		if got := nonzero(n.Ifnet); got != tt.counters {
			t.Errorf("%s: counters %q, want %q", tt.name, got, tt.counters)
		}
		var got string
		for i, b := range s.got {
			got += string(b)
			if f := s.flags[i] &^ (mbuf.FlagExt | mbuf.FlagPktHdr); f != tt.flags {
				t.Errorf("%s: flags %#x, want %#x", tt.name, f, tt.flags)
			}
		}
		if got != tt.deliver || taps != tt.taps {
			t.Errorf("%s: delivered %q, want %q; %d taps, want %d", tt.name, got, tt.deliver, taps, tt.taps)
		}
		if tt.name == "header only" && len(s.got) != 1 {
			t.Errorf("%s: delivered %d packets", tt.name, len(s.got))
		}
		r.wantLog(log, tt.log)
		r.noLeak()
	}
}

func TestEtherInputTakesAListInOrder(t *testing.T) {
	r := newRig(t)
	s := r.sink(EtherTypeIP)
	n := r.running()
	var head, tail *mbuf.Mbuf
	for _, p := range []string{"a", "b", "c"} {
		m := r.packet(n, frame(ownMAC, []uint16{EtherTypeIP}, p))
		if head == nil {
			head = m
		} else {
			tail.NextPkt = m
		}
		tail = m
	}
	n.Input(head)
	if got := string(slices.Concat(s.got...)); got != "abc" {
		t.Errorf("delivered %q", got)
	}
	r.noLeak()
}

func TestTagInSharedStorageIsNotMovedThere(t *testing.T) {
	r := newRig(t)
	s := r.sink(EtherTypeIP)
	n := r.running()
	data := frame(ownMAC, []uint16{EtherTypeVLAN, 0xa000, EtherTypeIP}, "payload")
	m := r.packet(n, data)
	dup := r.c.CopyPacket(m)
	n.InputCache(r.c, dup)
	if !bytes.Equal(bytesOf(m), data) {
		t.Errorf("the other holder sees %x", bytesOf(m))
	}
	if len(s.got) != 1 || string(s.got[0]) != "payload" || s.vtags[0] != 0xa000 {
		t.Errorf("delivered %q tags %x", s.got, s.vtags)
	}
	r.c.FreeChain(m)
	r.noLeak()
}

func TestTagSplitOverBuffersIsFound(t *testing.T) {
	r := newRig(t)
	s := r.sink(EtherTypeIP)
	n := r.running()
	data := frame(ownMAC, []uint16{EtherTypeVLAN, 0, EtherTypeIP}, "payload")
	for cut := EtherHdrLen; cut < len(data); cut++ {
		n.InputCache(r.c, r.packet(n, data[:cut], data[cut:]))
	}
	for _, b := range s.got {
		if string(b) != "payload" {
			t.Errorf("delivered %q", b)
		}
	}
	if len(s.got) != len(data)-EtherHdrLen {
		t.Errorf("delivered %d", len(s.got))
	}
	r.noLeak()
}

func TestTrunkTakesTaggedPackets(t *testing.T) {
	r := newRig(t)
	n := r.running()
	var tags []uint16
	n.SetTrunk(&VLANTrunk{Input: func(c *mbuf.Cache, parent *Ifnet, m *mbuf.Mbuf) {
		if parent != n.Ifnet || m.Flags&mbuf.FlagVLANTag == 0 {
			t.Error("the trunk got a packet without its tag")
		}
		tags = append(tags, m.Pkt.EtherVtag)
		c.FreeChain(m)
	}})
	n.InputCache(r.c, r.packet(n, frame(ownMAC, []uint16{EtherTypeVLAN, 0x6064, EtherTypeIP}, "ip")))
	n.InputCache(r.c, r.packet(n, frame(ownMAC, []uint16{EtherTypeVLAN, 0, EtherTypeIP}, "ip")))
	if !slices.Equal(tags, []uint16{0x6064}) || n.Trunk() == nil {
		t.Errorf("tags %x", tags)
	}
	r.noLeak()
}

// hook is a packet filter with a fixed answer.
type hook struct {
	answer  PfilResult
	replace bool
	seen    []PfilDir
}

func (h *hook) Hook(c *mbuf.Cache, _ *Ifnet, dir PfilDir, _ AF, m **mbuf.Mbuf) PfilResult {
	h.seen = append(h.seen, dir)
	if h.answer != PfilPass {
		c.FreeChain(*m)
	}
	if h.replace {
		dup := c.Dup(*m)
		c.FreeChain(*m)
		*m = dup
	}
	return h.answer
}

func TestLinkFilterDecidesOnInput(t *testing.T) {
	for _, tt := range []struct {
		hooks []*hook
		dst   [EtherAddrLen]byte
		want  int
		seen  []int
	}{
		{[]*hook{{}, {replace: true}}, ownMAC, 1, []int{1, 1}},
		{[]*hook{{answer: PfilDropped}, {}}, ownMAC, 0, []int{1, 0}},
		{[]*hook{{answer: PfilConsumed}}, ownMAC, 0, []int{1}},
		{[]*hook{{}}, otherMAC, 0, []int{0}},
	} {
		r := newRig(t)
		s := r.sink(EtherTypeIP)
		n := r.running()
		for _, h := range tt.hooks {
			n.LinkPfil().Add(h)
		}
		n.InputCache(r.c, r.packet(n, frame(tt.dst, []uint16{EtherTypeIP}, "ip")))
		if len(s.got) != tt.want {
			t.Errorf("delivered %d, want %d", len(s.got), tt.want)
		}
		for i, h := range tt.hooks {
			if len(h.seen) != tt.seen[i] {
				t.Errorf("hook %d saw %d", i, len(h.seen))
			}
			n.LinkPfil().Remove(h)
		}
		if n.LinkPfil().Hooked() {
			t.Error("hooked after all were removed")
		}
		r.noLeak()
	}
}

func TestOutgoingDuplicateIsNotShown(t *testing.T) {
	r := newRig(t)
	n := r.running()
	shown := 0
	n.AttachTap(func(mbuf.RcvIf, *mbuf.Mbuf) { shown++ })
	m := r.packet(nil, frame(otherMAC, []uint16{EtherTypeIP}, "ip"))
	m.Flags |= mbuf.FlagPromisc
	n.Tap(m)
	if shown != 0 || m.Flags&mbuf.FlagPromisc != 0 {
		t.Errorf("shown %d, flags %#x", shown, m.Flags)
	}
	n.Tap(m)
	if shown != 1 {
		t.Errorf("shown %d", shown)
	}
	r.c.FreeChain(m)
}

func TestTapsSeePacketsNewestFirst(t *testing.T) {
	r := newRig(t)
	n := r.running()
	var order []int
	var stop []func()
	for i := range 3 {
		stop = append(stop, n.AttachTap(func(mbuf.RcvIf, *mbuf.Mbuf) { order = append(order, i) }))
	}
	m := r.packet(n, frame(ownMAC, []uint16{EtherTypeIP}, "ip"))
	n.Tap(m)
	stop[1]()
	n.Tap(m)
	stop[0]()
	stop[2]()
	n.Tap(m)
	if !slices.Equal(order, []int{2, 1, 0, 2, 0}) || n.TapOn() {
		t.Errorf("order %v", order)
	}
	r.c.FreeChain(m)
}

func TestDriverThatLiesAboutTheInterfacePanicsInCheckingMode(t *testing.T) {
	r := newRig(t)
	n := r.running()
	m := r.packet(nil, frame(ownMAC, []uint16{EtherTypeIP}, "ip"))
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
		r.c.FreeChain(m)
	}()
	n.InputCache(r.c, m)
}

func TestProtocolsAreRegisteredOnce(t *testing.T) {
	r := newRig(t)
	cancel := RegisterProtocol(r.k, EtherTypeLLDP, dropProtocol)
	func() {
		defer func() {
			if got, want := recover(), "netisr_register: EtherType 0x88cc is already registered"; got != want {
				t.Errorf("panic %v, want %q", got, want)
			}
		}()
		RegisterProtocol(r.k, EtherTypeLLDP, dropProtocol)
	}()
	cancel()
	RegisterProtocol(r.k, EtherTypeLLDP, dropProtocol)()
}

func dropProtocol(c *mbuf.Cache, _ *Ifnet, m *mbuf.Mbuf) { c.FreeChain(m) }

// fate counts where a frame may end, from the frame alone: the model of the input path.
type fate struct{ delivered, noproto, ierrors, silent, imcasts, ibytes uint64 }

func (f *fate) add(flags Flags, data []byte, vtag int) {
	if flags&FlagUp == 0 {
		f.silent++
		return
	}
	if len(data) < EtherHdrLen {
		f.ierrors++
		return
	}
	group := data[0]&1 != 0
	if group {
		f.imcasts++
	}
	f.ibytes += uint64(len(data))
	etype := etherType(data)
	tci := vtag
	switch {
	case flags&FlagMonitor != 0:
		f.silent++
		return
	case vtag < 0 && (etype == EtherTypeVLAN || etype == EtherTypeQinQ):
		if len(data) < EtherVLANHdrLen {
			f.ierrors++
			return
		}
		tci, etype = int(tagOf(data)), etherType(data[EtherVLANEncapLen:])
	}
	switch {
	case tci > 0 && tci&vlanVIDMask != 0:
		f.noproto++
	case !group && [EtherAddrLen]byte(data) != ownMAC && flags&FlagPPromisc == 0,
		etype == EtherTypeARP && flags&FlagNoARP != 0,
		etype != EtherTypeIP && etype != EtherTypeARP && etype != EtherTypeIPv6:
		f.silent++
	default:
		f.delivered++
	}
}

func (f *fate) check(fatalf func(string, ...any), n *nic, delivered int) {
	got := fate{delivered: uint64(delivered), noproto: n.GetCounter(CounterNoProto), ierrors: n.GetCounter(CounterIErrors),
		imcasts: n.GetCounter(CounterIMcasts), ibytes: n.GetCounter(CounterIBytes), silent: f.silent}
	if got != *f {
		fatalf("fates %+v, want %+v", got, *f)
	}
}

func drawFrame(rt *rapid.T) []byte {
	dst := rapid.SampledFrom([][EtherAddrLen]byte{ownMAC, otherMAC, groupMAC, bcastMAC}).Draw(rt, "dst")
	types := rapid.SampledFrom([]uint16{EtherTypeIP, EtherTypeARP, EtherTypeIPv6, EtherTypeVLAN, EtherTypeQinQ, EtherTypeLLDP, 60, 0, 5, 0xa000})
	words := rapid.SliceOfN(types, 1, 5).Draw(rt, "words")
	b := frame(dst, words, string(rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(rt, "payload")))
	return b[:rapid.IntRange(0, len(b)).Draw(rt, "len")]
}

func TestEveryFrameIsDeliveredOrAccountedFor(t *testing.T) {
	r := newRig(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := r.sink(EtherTypeIP, EtherTypeARP, EtherTypeIPv6)
		n := r.running()
		flags := Flags(0)
		for _, f := range []Flags{FlagUp, FlagUp, FlagMonitor, FlagPPromisc, FlagNoARP} {
			if rapid.Bool().Draw(rt, "flag") {
				flags |= f
			}
		}
		n.SetFlags(flags, ^flags&^nicFlags)
		var want fate
		for range rapid.IntRange(1, 12).Draw(rt, "frames") {
			data := drawFrame(rt)
			cut := rapid.IntRange(0, len(data)).Draw(rt, "cut")
			if cut < EtherHdrLen {
				cut = len(data)
			}
			m := r.packet(n, data[:cut], data[cut:])
			vtag := -1
			if rapid.Bool().Draw(rt, "tagged") {
				vtag = rapid.IntRange(0, 0xffff).Draw(rt, "tci")
				m.Flags |= mbuf.FlagVLANTag
				m.Pkt.EtherVtag = uint16(vtag)
			}
			want.add(flags, data, vtag)
			n.InputCache(r.c, m)
		}
		want.check(rt.Fatalf, n, len(s.got))
		EtherDetach(n.Ifnet)
		Free(n.Ifnet)
		for _, p := range []uint16{EtherTypeIP, EtherTypeARP, EtherTypeIPv6} {
			r.unregister(p)
		}
		if u := r.z.Usage(); u.Any() {
			rt.Fatalf("in use: %+v", u)
		}
	})
}

// unregister takes a protocol away at once, for tests that register in a loop.
func (r *rig) unregister(etype uint16) {
	s := stackOf(r.k)
	list := slices.DeleteFunc(slices.Clone(s.protocolList()), func(p protocol) bool { return p.etype == etype })
	s.protocols.Store(&list)
}

func FuzzEtherInput(f *testing.F) {
	f.Add(frame(ownMAC, []uint16{EtherTypeIP}, "payload"), uint16(0), uint8(0), uint8(20))
	f.Add(frame(bcastMAC, []uint16{EtherTypeVLAN, 0, EtherTypeARP}, ""), uint16(5), uint8(1), uint8(14))
	f.Add(frame(groupMAC, []uint16{EtherTypeQinQ, 1, EtherTypeVLAN, 2}, "x"), uint16(0), uint8(2), uint8(15))
	f.Add([]byte{1, 2, 3}, uint16(9), uint8(3), uint8(0))
	r := newRigOn(f, kern.Stepped, kern.ManualClock)
	s := r.sink(EtherTypeIP, EtherTypeARP, EtherTypeIPv6)
	unit := 0
	f.Fuzz(func(t *testing.T, data []byte, tci uint16, knobs, cut uint8) {
		r.t = t
		defer func() { r.t = f }()
		data = data[:min(len(data), mbuf.MClBytes)]
		n := r.bareNIC(unit)
		unit++
		EtherAttach(n.Ifnet, ownMAC)
		flags := FlagUp
		if knobs&2 != 0 {
			flags |= FlagPPromisc
		}
		n.SetFlags(flags, 0)
		n.AttachTap(func(_ mbuf.RcvIf, m *mbuf.Mbuf) { _ = bytesOf(m) })
		at := max(min(int(cut), len(data)), min(EtherHdrLen, len(data)))
		m := r.packet(n, data[:at], data[at:])
		vtag := -1
		if knobs&1 != 0 {
			vtag = int(tci)
			m.Flags |= mbuf.FlagVLANTag
			m.Pkt.EtherVtag = tci
		}
		var want fate
		want.add(flags, data, vtag)
		before := len(s.got)
		n.InputCache(r.c, m)
		want.check(t.Fatalf, n, len(s.got)-before)
		s.got, s.flags, s.vtags = nil, nil, nil
		EtherDetach(n.Ifnet)
		Free(n.Ifnet)
		if u := r.z.Usage(); u.Any() {
			t.Fatalf("in use: %+v", u)
		}
	})
}
