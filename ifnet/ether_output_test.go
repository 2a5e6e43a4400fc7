package ifnet

import (
	"bytes"
	"net/netip"
	"slices"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

var (
	neighbour = netip.MustParseAddr("192.0.2.2")
	silent    = netip.MustParseAddr("192.0.2.3")
	missing   = netip.MustParseAddr("192.0.2.4")
	myself    = netip.MustParseAddr("192.0.2.1")
)

// resolve knows four neighbours.
func (r *rig) resolve() {
	r.t.Cleanup(RegisterResolver(r.k, AFInet, func(c *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf, dst netip.Addr) ([EtherAddrLen]byte, bool, error) {
		switch dst {
		case neighbour:
			return otherMAC, true, nil
		case myself:
			return ownMAC, true, nil
		case silent:
			c.FreeChain(m) // "queued"
			return [EtherAddrLen]byte{}, false, nil
		}
		c.FreeChain(m)
		return [EtherAddrLen]byte{}, false, syscall.EHOSTDOWN
	}))
}

// header is what Ethernet output puts in front.
func header(dst [EtherAddrLen]byte, etype uint16) []byte {
	return append(slices.Concat(dst[:], ownMAC[:]), byte(etype>>8), byte(etype))
}

func TestEtherOutputRules(t *testing.T) {
	group := netip.MustParseAddr("224.0.0.251")
	for _, tt := range []struct {
		name  string
		prep  func(n *nic)
		flags mbuf.Flags
		dst   netip.Addr
		af    AF
		want  syscall.Errno
		sent  []byte // header
		log   string
	}{
		{"neighbour", nil, 0, neighbour, AFInet, 0, header(otherMAC, EtherTypeIP), ""},
		{"monitor", func(n *nic) { n.SetFlags(FlagMonitor, 0) }, 0, neighbour, AFInet, syscall.ENETDOWN, nil, ""},
		{"not up", func(n *nic) { n.SetFlags(0, FlagUp) }, 0, neighbour, AFInet, syscall.ENETDOWN, nil, ""},
		{"not running", func(n *nic) { n.SetDrvFlags(0, FlagRunning) }, 0, neighbour, AFInet, syscall.ENETDOWN, nil, ""},
		{"other family", nil, 0, neighbour, AFLink, syscall.EAFNOSUPPORT, nil, "em0: can't handle af18\n"},
		{"resolution pending", nil, 0, silent, AFInet, 0, nil, ""},
		{"resolution failed", nil, 0, missing, AFInet, syscall.EHOSTDOWN, nil, ""},
		{"no resolver", nil, 0, netip.MustParseAddr("2001:db8::1"), AFInet6, syscall.EHOSTUNREACH, nil, ""},
		{"group", nil, mbuf.FlagMcast, group, AFInet, 0, header([EtherAddrLen]byte{1, 0, 0x5e, 0, 0, 0xfb}, EtherTypeIP), ""},
		{"IPv6 group", nil, mbuf.FlagMcast, netip.MustParseAddr("ff02::2"), AFInet6, 0,
			header([EtherAddrLen]byte{0x33, 0x33, 0, 0, 0, 2}, EtherTypeIPv6), ""},
		{"broadcast, not simplex", func(n *nic) { n.SetFlags(0, FlagSimplex) }, mbuf.FlagBcast, missing, AFInet, 0,
			header(bcastMAC, EtherTypeIP), ""},
		{"own address", nil, 0, myself, AFInet, 0, nil, ""},
	} {
		r := newRig(t)
		r.resolve()
		n := r.running()
		log := r.mark()
		if tt.prep != nil {
			tt.prep(n)
		}
		m := r.packet(nil, []byte("payload"))
		m.Flags |= tt.flags
		wantErr(t, tt.name, n.Output(r.c, m, tt.dst, tt.af), tt.want)
		var got []byte
		for _, m := range n.sent {
			got = append(got, bytesOf(m)...)
		}
		want := tt.sent
		if want != nil {
			want = append(slices.Clone(want), "payload"...)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: sent %x, want %x", tt.name, got, want)
		}
		r.wantLog(log, tt.log)
		n.drop()
		r.k.RunUntilIdle()
		r.noLeak()
	}
}

func TestOwnAddressLoopsBackVerified(t *testing.T) {
	for _, tt := range []struct {
		asked, want mbuf.CsumFlags
		data        uint32
	}{
		{0, 0, 0},
		{mbuf.CsumIP, mbuf.CsumIP | mbuf.CsumL3Calc | mbuf.CsumL3Valid, 0},
		{mbuf.CsumIP | mbuf.CsumIPTCP, mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumL3Calc | mbuf.CsumL3Valid | mbuf.CsumL4Calc | mbuf.CsumL4Valid, 0xffff},
		{mbuf.CsumIP6UDP, mbuf.CsumIP6UDP | mbuf.CsumL4Calc | mbuf.CsumL4Valid, 0xffff},
	} {
		r := newRig(t)
		r.resolve()
		n := r.running()
		var got []*mbuf.Mbuf
		t.Cleanup(RegisterProtocol(r.k, EtherTypeIP, func(_ *mbuf.Cache, ifp *Ifnet, m *mbuf.Mbuf) {
			if ifp != n.Ifnet || m.Pkt.RcvIf != mbuf.RcvIf(ifp) {
				t.Error("received on another interface")
			}
			got = append(got, m)
		}))
		m := r.packet(nil, []byte("payload"))
		m.Pkt.CsumFlags = tt.asked
		m.TagPrepend(r.c.TagAlloc(1, 2))
		wantErr(t, "output", n.Output(r.c, m, myself, AFInet), 0)
		if len(got) != 0 {
			t.Error("delivered inside the call")
		}
		m2 := r.packet(nil, []byte("second"))
		wantErr(t, "output", n.OutputTo(r.c, m2, ownMAC, EtherTypeIP), 0)
		r.k.RunUntilIdle()
		if len(got) != 2 || string(bytesOf(got[0])) != "payload" || string(bytesOf(got[1])) != "second" {
			t.Fatalf("delivered %d packets", len(got))
		}
		if h := got[0].Pkt; h.CsumFlags != tt.want || h.CsumData != tt.data || h.Tags != nil {
			t.Errorf("asked %#x: got %#x data %#x", tt.asked, h.CsumFlags, h.CsumData)
		}
		r.c.FreeChain(got[0])
		r.c.FreeChain(got[1])
		if len(n.sent) != 0 || nonzero(n.Ifnet) != "" {
			t.Errorf("sent %d, counters %q", len(n.sent), nonzero(n.Ifnet))
		}
		r.noLeak()
	}
}

func TestBroadcastIsCopiedToASimplexInterface(t *testing.T) {
	r := newRig(t)
	s := r.sink(EtherTypeIP)
	n := r.running()
	var tapped [][]byte
	n.AttachTap(func(ifp mbuf.RcvIf, m *mbuf.Mbuf) {
		if m.Pkt.RcvIf != ifp {
			t.Error("the copy does not look received")
		}
		tapped = append(tapped, bytesOf(m))
	})
	m := r.packet(nil, []byte("hello"))
	m.Flags |= mbuf.FlagBcast
	wantErr(t, "output", n.Output(r.c, m, missing, AFInet), 0)
	r.k.RunUntilIdle()
	want := append(header(bcastMAC, EtherTypeIP), "hello"...)
	if len(tapped) != 1 || !bytes.Equal(tapped[0], want) || len(s.got) != 1 || string(s.got[0]) != "hello" {
		t.Errorf("tapped %x, delivered %q", tapped, s.got)
	}
	if len(n.sent) != 1 || !bytes.Equal(bytesOf(n.sent[0]), want) || n.sent[0].Pkt.RcvIf != nil {
		t.Errorf("sent %d", len(n.sent))
	}
	n.drop()
	m = r.packet(nil, []byte("arp"))
	m.Flags |= mbuf.FlagBcast
	wantErr(t, "ARP", n.OutputTo(r.c, m, bcastMAC, EtherTypeARP), 0)
	r.k.RunUntilIdle()
	if len(s.got) != 1 || len(n.sent) != 1 {
		t.Errorf("a precomputed header was looped: delivered %d, sent %d", len(s.got), len(n.sent))
	}
	n.drop()
	r.noLeak()
}

func TestFailedBroadcastCopyCountsAnInputDrop(t *testing.T) {
	r := newRig(t)
	n := r.running()
	m := r.packet(nil, []byte("hello"))
	m.Flags |= mbuf.FlagBcast
	m = r.c.Prepend(m, 0)
	for _, fp := range []string{"mbuf.get", "mbuf.cluster"} {
		if err := r.k.Sysctl.SetText("debug.fail_point."+fp, "return(1)"); err != nil {
			t.Fatal(err)
		}
	}
	err := n.Output(r.c, m, missing, AFInet)
	// without a buffer for the header there is no copy either
	wantErr(t, "output", err, syscall.ENOBUFS)
	if err := r.k.Sysctl.SetText("debug.fail_point.mbuf.get", "off"); err != nil {
		t.Fatal(err)
	}
	if err := r.k.Sysctl.SetText("debug.fail_point.mbuf.cluster", "off"); err != nil {
		t.Fatal(err)
	}
	m = r.packet(nil, []byte("hello there"))
	m.Flags |= mbuf.FlagBcast
	r.c.Adj(m, 0)
	m.ShiftData(64)
	if err := r.k.Sysctl.SetText("debug.fail_point.mbuf.get", "return(1)"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "output", n.Output(r.c, m, missing, AFInet), 0)
	if got := nonzero(n.Ifnet); got != "iqdrops=1" || len(n.sent) != 1 {
		t.Errorf("counters %q, sent %d", got, len(n.sent))
	}
	n.drop()
	r.noLeak()
}

func TestFullLoopQueueCountsInputDrops(t *testing.T) {
	r := newRig(t)
	r.resolve()
	s := r.sink(EtherTypeIP)
	n := r.running()
	for range loopLimit {
		wantErr(t, "output", n.Output(r.c, r.packet(nil, []byte("x")), myself, AFInet), 0)
	}
	wantErr(t, "output", n.Output(r.c, r.packet(nil, []byte("x")), myself, AFInet), syscall.ENOBUFS)
	r.k.RunUntilIdle()
	if got := nonzero(n.Ifnet); got != "iqdrops=1" || len(s.got) != loopLimit {
		t.Errorf("counters %q, delivered %d", got, len(s.got))
	}
	wantErr(t, "output", n.Output(r.c, r.packet(nil, []byte("x")), myself, AFInet), 0)
	stackOf(r.k).loop.purge()
	r.noLeak()
}

func TestPriorityTagRules(t *testing.T) {
	const none = -1
	plain := []uint16{EtherTypeIP}
	tagged := func(tci uint16) []uint16 { return []uint16{EtherTypeVLAN, tci, EtherTypeIP} }
	for _, tt := range []struct {
		name  string
		pcp   uint8
		hwtag bool
		vtag  int
		in    []uint16
		out   []uint16
		oob   int
	}{
		{"nothing asked", PCPNone, false, none, plain, plain, none},
		{"interface priority, software", 5, false, none, plain, tagged(0xa000), none},
		{"interface priority, hardware", 5, true, none, plain, plain, 0xa000},
		{"packet priority wins, VLAN id does not count", 5, false, 0x6064, plain, tagged(0x6000), none},
		{"packet priority, hardware", PCPNone, true, 0x6064, plain, plain, 0x6000},
		{"frame that has a tag already (case 22)", PCPNone, false, 0, tagged(0xa064), tagged(0xa064), none},
		{"frame that has a tag already, hardware", 3, true, 0x6000, tagged(0xa064), tagged(0xa064), none},
		{"QinQ frame", 3, false, none, []uint16{EtherTypeQinQ, 1, EtherTypeIP}, []uint16{EtherTypeQinQ, 1, EtherTypeIP}, none},
	} {
		r := newRig(t)
		n := r.running()
		n.SetPCP(tt.pcp)
		if tt.hwtag {
			n.SetCapenable(CapVLANHWTag, 0)
		}
		m := r.packet(nil, frame(otherMAC, tt.in, "p"))
		if tt.vtag != none {
			m.Flags |= mbuf.FlagVLANTag
			m.Pkt.EtherVtag = uint16(tt.vtag)
		}
		wantErr(t, tt.name, n.OutputFrame(r.c, m), 0)
		if len(n.sent) != 1 {
			t.Fatalf("%s: sent %d", tt.name, len(n.sent))
		}
		oob := none
		if n.sent[0].Flags&mbuf.FlagVLANTag != 0 {
			oob = int(n.sent[0].Pkt.EtherVtag)
		}
		if got, want := bytesOf(n.sent[0]), frame(otherMAC, tt.out, "p"); !bytes.Equal(got, want) || oob != tt.oob {
			t.Errorf("%s: sent %x tag %#x, want %x tag %#x", tt.name, got, oob, want, tt.oob)
		}
		if int(n.sent[0].Pkt.Len) != n.sent[0].Length() {
			t.Errorf("%s: packet length %d of %d", tt.name, n.sent[0].Pkt.Len, n.sent[0].Length())
		}
		n.drop()
		r.noLeak()
	}
}

func TestPriorityTagWithoutMemoryIsAnOutputError(t *testing.T) {
	r := newRig(t)
	n := r.running()
	n.SetPCP(1)
	m := r.packet(nil, frame(otherMAC, []uint16{EtherTypeIP}, "p"))
	if err := r.k.Sysctl.SetText("debug.fail_point.mbuf.get", "return(1)"); err != nil {
		t.Fatal(err)
	}
	log := r.mark()
	wantErr(t, "output", n.OutputFrame(r.c, m), 0)
	r.wantLog(log, "em0: unable to prepend 802.1Q header\n")
	if got := nonzero(n.Ifnet); got != "oerrors=1" || len(n.sent) != 0 {
		t.Errorf("counters %q, sent %d", got, len(n.sent))
	}
	r.noLeak()
}

func TestLinkFilterDecidesOnOutput(t *testing.T) {
	for _, tt := range []struct {
		answer PfilResult
		want   syscall.Errno
		sent   int
	}{{PfilPass, 0, 1}, {PfilDropped, syscall.EACCES, 0}, {PfilConsumed, 0, 0}} {
		r := newRig(t)
		n := r.running()
		h := &hook{answer: tt.answer}
		n.LinkPfil().Add(h)
		wantErr(t, "output", n.OutputFrame(r.c, r.packet(nil, frame(otherMAC, []uint16{EtherTypeIP}, "p"))), tt.want)
		if len(n.sent) != tt.sent || !slices.Equal(h.seen, []PfilDir{PfilOut}) {
			t.Errorf("answer %d: sent %d, hook saw %v", tt.answer, len(n.sent), h.seen)
		}
		n.drop()
		r.noLeak()
	}
}

func TestNetworkFilterHeads(t *testing.T) {
	r := newRig(t)
	if InetPfil(r.k, AFInet) == nil || InetPfil(r.k, AFInet6) == InetPfil(r.k, AFInet) || InetPfil(r.k, AFLink) != nil {
		t.Error("heads")
	}
}

func TestVLANEventsReachTheirWatchers(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	var got []uint16
	on := OnVLANConfig(r.k, func(ifp *Ifnet, vid uint16) { got = append(got, vid) })
	off := OnVLANUnconfig(r.k, func(ifp *Ifnet, vid uint16) { got = append(got, vid|0x8000) })
	n.VLANConfig(5)
	n.VLANUnconfig(5)
	on()
	off()
	n.VLANConfig(6)
	n.VLANUnconfig(6)
	if !slices.Equal(got, []uint16{5, 0x8005}) {
		t.Errorf("events %x", got)
	}
}

func BenchmarkTransmitAndCount(b *testing.B) {
	r := newRig(b)
	n := r.bareNIC(0)
	m := *n.methods.Load()
	m.Transmit = func(m *mbuf.Mbuf) error {
		n.IncCounter(CounterOPackets, 1)
		n.IncCounter(CounterOBytes, uint64(m.Pkt.Len))
		return nil
	}
	n.SetMethods(m)
	EtherAttach(n.Ifnet, ownMAC)
	p := r.packet(nil, make([]byte, 60))
	b.ReportAllocs()
	for b.Loop() {
		_ = n.Transmit(p)
	}
	r.c.FreeChain(p)
}

func BenchmarkEtherInput(b *testing.B) {
	r := newRig(b)
	n := r.running()
	RegisterProtocol(r.k, EtherTypeIP, dropProtocol)
	data := frame(ownMAC, []uint16{EtherTypeIP}, string(make([]byte, 46)))
	b.ReportAllocs()
	for b.Loop() {
		n.InputCache(r.c, r.packet(n, data))
	}
}

func TestPacketPathDoesNotAllocate(t *testing.T) {
	r := newRig(t)
	n := r.bareNIC(0)
	m := *n.methods.Load()
	m.Transmit = func(m *mbuf.Mbuf) error {
		n.IncCounter(CounterOPackets, 1)
		mbuf.FreeChain(m)
		return nil
	}
	n.SetMethods(m)
	EtherAttach(n.Ifnet, ownMAC)
	n.SetFlags(FlagUp, 0)
	n.SetDrvFlags(FlagRunning, 0)
	t.Cleanup(RegisterProtocol(r.k, EtherTypeIP, dropProtocol))
	r.resolve()
	data := frame(ownMAC, []uint16{EtherTypeVLAN, 0, EtherTypeIP}, string(make([]byte, 46)))
	get := func(rcv *Ifnet) *mbuf.Mbuf {
		m := r.c.GetCl(mbuf.FlagPktHdr)
		m.ShiftData(64)
		m.SetLen(copy(m.Room(), data))
		m.Pkt.Len = int32(m.Len())
		if rcv != nil {
			m.Pkt.RcvIf = rcv
		}
		return m
	}
	for name, fn := range map[string]func(){
		"input":  func() { n.InputCache(r.c, get(n.Ifnet)) },
		"output": func() { _ = n.Output(r.c, get(nil), neighbour, AFInet) },
	} {
		if a := testing.AllocsPerRun(100, fn); a != 0 {
			t.Errorf("%s allocates %v times a packet", name, a)
		}
	}
}
