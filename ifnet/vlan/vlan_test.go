package vlan_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/ifnet/vlan"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

var (
	ownMAC   = [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 1}
	otherMAC = [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 0x99}
	groupMAC = [ifnet.EtherAddrLen]byte{0x01, 0x00, 0x5e, 0, 0, 1}
)

// rig is a machine with a NIC, em0, that keeps what it sends.
type rig struct {
	t     testing.TB
	k     *kern.Kernel
	em    *ifnet.Ifnet
	sent  []frame
	vids  []string // what drivers heard of VLANs
	error error    // of transmit
	got   []string // what the protocol of type 0x0800 received
}

type frame struct {
	data []byte
	tag  int // out of band, -1 for none
}

func newRig(t testing.TB) *rig {
	t.Helper()
	k, err := kern.New(kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true, Mem: physmem.Config{Size: 8 << 20}})
	must(t, err)
	z, err := mbuf.Init(k, mbuf.Config{})
	must(t, err)
	t.Cleanup(func() {
		must(t, k.Close())
		if u := z.Usage(); u.Any() {
			t.Errorf("mbufs in use after close: %+v", u)
		}
	})
	for range 2 { // a second call does nothing
		must(t, vlan.Init(k))
	}
	r := &rig{t: t, k: k}
	r.em = r.nic(ifnet.CapVLANMTU | ifnet.CapVLANHWTag | ifnet.CapVLANHWCsum | ifnet.CapHWCsum | ifnet.CapTSO4 | ifnet.CapVLANHWTSO)
	ifnet.RegisterProtocol(k, ifnet.EtherTypeIP, func(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf) {
		r.got = append(r.got, fmt.Sprintf("%s %s", ifp.Name(), m.Bytes()))
		c.FreeChain(m)
	})
	ifnet.OnVLANConfig(k, func(p *ifnet.Ifnet, vid uint16) { r.vids = append(r.vids, fmt.Sprintf("+%s.%d", p.Name(), vid)) })
	ifnet.OnVLANUnconfig(k, func(p *ifnet.Ifnet, vid uint16) { r.vids = append(r.vids, fmt.Sprintf("-%s.%d", p.Name(), vid)) })
	return r
}

func (r *rig) nic(caps ifnet.Caps) *ifnet.Ifnet {
	ifp := ifnet.Alloc(r.k, ifnet.TypeEther)
	ifp.InitName("em", len(ifnet.List(r.k)))
	ifp.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	ifp.SetCapabilities(caps, 0)
	ifp.SetCapenable(caps, 0)
	ifp.SetHWAssist(mbuf.CsumIPTCP | mbuf.CsumIPUDP | mbuf.CsumIPTSO)
	ifp.SetMethods(ifnet.Methods{
		Ioctl: func(cmd ifnet.Ioctl, data any) error {
			switch cmd {
			case ifnet.IoctlSetFlags, ifnet.IoctlAddMulti, ifnet.IoctlDelMulti:
				return nil
			case ifnet.IoctlSetCap:
				req := data.(*ifnet.CapReq)
				ifp.SetCapenable(req.Req, ^req.Req)
				return nil
			case ifnet.IoctlGetMedia:
				*data.(*ifnet.MediaReq) = ifnet.MediaReq{Current: ifnet.MediaEther, Count: 3, List: make([]ifnet.MediaWord, 3)}
				return nil
			}
			return ifnet.EtherIoctl(ifp, cmd, data)
		},
		Transmit: func(m *mbuf.Mbuf) error {
			f := frame{data: make([]byte, m.Length()), tag: -1}
			m.CopyData(0, f.data)
			if m.Flags&mbuf.FlagVLANTag != 0 {
				f.tag = int(m.Pkt.EtherVtag)
			}
			r.sent = append(r.sent, f)
			mbuf.FreeChain(m)
			return r.error
		},
		QFlush: func() {},
	})
	ifnet.EtherAttach(ifp, ownMAC)
	ifp.SetFlags(ifnet.FlagUp, 0)
	ifp.SetDrvFlags(ifnet.FlagRunning, 0)
	return ifp
}

// vlan makes vlan5 on em0, up.
func (r *rig) vlan() *ifnet.Ifnet {
	r.t.Helper()
	ifp, err := vlan.Create(r.k, "vlan5")
	must(r.t, err)
	must(r.t, ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{Parent: "em0", VID: 5}))
	must(r.t, ifp.Ioctl(ifnet.IoctlSetFlags, ifp.Flags()|ifnet.FlagUp))
	r.k.RunUntilIdle()
	return ifp
}

func (r *rig) packet(data []byte) *mbuf.Mbuf {
	r.t.Helper()
	c := mbuf.Of(r.k).Borrow()
	defer mbuf.Of(r.k).Return(c)
	m := c.GetHdr()
	m.Align(len(data))
	m.SetLen(copy(m.Room(), data))
	m.Pkt.Len, m.Pkt.RcvIf = int32(len(data)), r.em
	return m
}

// plain is a frame without a tag, tagged one with.
func plain(dst [ifnet.EtherAddrLen]byte) []byte {
	return slices.Concat(dst[:], otherMAC[:], []byte{0x08, 0x00}, []byte("payload"))
}

func tagged(dst [ifnet.EtherAddrLen]byte, tci uint16) []byte {
	return slices.Concat(dst[:], otherMAC[:], []byte{0x81, 0x00, byte(tci >> 8), byte(tci), 0x08, 0x00}, []byte("payload"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func count(ifp *ifnet.Ifnet, list ...ifnet.Counter) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprint(ifp.GetCounter(c)))
	}
	return strings.Join(out, " ")
}

func TestPacketsLeaveWithTheirTag(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	must(t, ifp.Transmit(r.packet(plain(otherMAC))))
	must(t, ifp.Ioctl(ifnet.IoctlSetLANPCP, uint8(3)))
	must(t, ifp.Transmit(r.packet(plain(otherMAC))))
	m := r.packet(plain(otherMAC))
	m.Flags |= mbuf.FlagVLANTag | mbuf.FlagMcast
	m.Pkt.EtherVtag = ifnet.MakeTag(99, 7)
	must(t, ifp.Transmit(m))
	must(t, r.em.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{}))
	must(t, ifp.Transmit(r.packet(plain(otherMAC))))
	want := []frame{{plain(otherMAC), 5}, {plain(otherMAC), 0x6005}, {plain(otherMAC), 0xe005}, {tagged(otherMAC, 0x6005), -1}}
	if !slices.EqualFunc(r.sent, want, func(a, b frame) bool { return bytes.Equal(a.data, b.data) && a.tag == b.tag }) {
		t.Errorf("sent %x, want %x", r.sent, want)
	}
	r.error = syscall.ENOBUFS
	if err := ifp.Transmit(r.packet(plain(otherMAC))); !errors.Is(err, syscall.ENOBUFS) {
		t.Errorf("error %v", err)
	}
	r.em.SetDrvFlags(0, ifnet.FlagRunning)
	if err := ifp.Transmit(r.packet(plain(otherMAC))); !errors.Is(err, syscall.ENETDOWN) {
		t.Errorf("error %v", err)
	}
	if got := count(ifp, ifnet.CounterOPackets, ifnet.CounterOBytes, ifnet.CounterOMcasts, ifnet.CounterOErrors); got != "4 84 1 2" {
		t.Errorf("counters %s", got)
	}
}

func TestPacketsArriveOnTheInterfaceOfTheirTag(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	in := func(data []byte, tag int) {
		m := r.packet(data)
		if tag >= 0 {
			m.Flags |= mbuf.FlagVLANTag
			m.Pkt.EtherVtag = uint16(tag)
		}
		r.em.Input(m)
	}
	in(tagged(ownMAC, 0x6005), -1)
	in(plain(ownMAC), 5)
	in(tagged(ownMAC, 0), -1)
	in(tagged(otherMAC, 5), -1) // for somebody else
	in(tagged(ownMAC, 6), -1)   // no such VLAN
	if want := []string{"vlan5 payload", "vlan5 payload", "em0 payload"}; !slices.Equal(r.got, want) {
		t.Errorf("received %q, want %q", r.got, want)
	}
	must(t, ifp.Ioctl(ifnet.IoctlSetLLAddr, otherMAC[:]))
	in(tagged(otherMAC, 5), -1)
	must(t, ifp.Ioctl(ifnet.IoctlSetFlags, ifp.Flags()&^ifnet.FlagUp))
	in(tagged(otherMAC, 5), -1)
	if len(r.got) != 4 {
		t.Errorf("received %q", r.got)
	}
	if got := count(ifp, ifnet.CounterIPackets, ifnet.CounterIBytes) + " " + count(r.em, ifnet.CounterNoProto); got != "4 84 2" {
		t.Errorf("counters %s", got)
	}
}

func TestNamesOfInterfaces(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		name, want string
		err        error
	}{
		{"vlan", "vlan0", nil}, {"vlan1", "vlan1", nil}, {"vlan", "vlan2", nil}, {"vlan1", "", syscall.EEXIST}, {"em0.100", "em0.100", nil},
		{"em0.101", "em0.101", nil}, {"em0.100", "", syscall.EEXIST}, {"em0.4095", "", syscall.EINVAL}, {"em0.x", "", syscall.EINVAL}, {"em7.1", "", syscall.EINVAL},
		{"vlan01", "", syscall.EINVAL}, {"vlan32768", "", syscall.ENXIO}, {"bridge0", "", syscall.EINVAL}, {".5", "", syscall.EINVAL}, {"em0.70000", "", syscall.EINVAL},
	} {
		ifp, err := vlan.Create(r.k, c.name)
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if err == nil && (ifp.Name() != c.want || !slices.Equal(ifp.Groups(), []string{"all", "vlan"})) {
			t.Errorf("%s: name %s in %q, want %s", c.name, ifp.Name(), ifp.Groups(), c.want)
		}
	}
	if n := len(ifnet.List(r.k)); n != 6 {
		t.Errorf("%d interfaces", n)
	}
	if err := vlan.Destroy(r.em); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("destroying em0: %v", err)
	}
	vlan.DestroyAll(r.k)
	if n := len(ifnet.List(r.k)); n != 1 || r.em.Trunk() != nil {
		t.Errorf("%d interfaces, trunk %v", n, r.em.Trunk())
	}
	if want := []string{"+em0.100", "+em0.101", "-em0.101", "-em0.100"}; !slices.Equal(r.vids, want) {
		t.Errorf("drivers heard %q, want %q", r.vids, want)
	}
}

func TestWhereAVLANCanBe(t *testing.T) {
	r := newRig(t)
	em := r.nic(0) // em1, without room for a tag
	em.SetMTU(9000)
	lo := r.nic(0)
	lo.SetFlags(0, ifnet.FlagBroadcast)
	ifp, err := vlan.Create(r.k, "vlan7")
	must(t, err)
	must(t, ifp.Ioctl(ifnet.IoctlSetFlags, ifp.Flags()|ifnet.FlagUp))
	if err := ifp.Transmit(r.packet(plain(otherMAC))); !errors.Is(err, syscall.ENETDOWN) {
		t.Errorf("sending without a parent: %v", err)
	}
	for _, c := range []struct {
		req  ifnet.VLANReq
		want error
	}{
		{ifnet.VLANReq{Parent: "em9", VID: 5}, syscall.ENOENT}, {ifnet.VLANReq{Parent: "em0", VID: 0}, syscall.EINVAL},
		{ifnet.VLANReq{Parent: "em0", VID: 0xfff}, syscall.EINVAL}, {ifnet.VLANReq{Parent: "em0", VID: 0x1001}, syscall.EINVAL},
		{ifnet.VLANReq{Parent: "em0", VID: 1, Proto: 0x1234}, syscall.EINVAL}, {ifnet.VLANReq{Parent: "em2", VID: 5}, syscall.EPROTONOSUPPORT},
		{ifnet.VLANReq{Parent: "vlan7", VID: 5}, syscall.EPROTONOSUPPORT}, {ifnet.VLANReq{}, nil},
		{ifnet.VLANReq{Parent: "em1", VID: 5, Proto: ifnet.EtherTypeQinQ}, nil}, {ifnet.VLANReq{Parent: "em1", VID: 5, Proto: ifnet.EtherTypeQinQ}, nil},
		{ifnet.VLANReq{Parent: "em0", VID: 5}, syscall.EBUSY},
	} {
		if err := ifp.Ioctl(ifnet.IoctlSetVLAN, &c.req); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %v, want %v", c.req, err, c.want)
		}
	}
	var req ifnet.VLANReq
	must(t, ifp.Ioctl(ifnet.IoctlGetVLAN, &req))
	if want := (ifnet.VLANReq{Parent: "em1", VID: 5, Proto: ifnet.EtherTypeQinQ}); req != want || ifp.MTU() != 8996 || ifp.MAC() != ownMAC {
		t.Errorf("%+v, mtu %d, address %x", req, ifp.MTU(), ifp.MAC())
	}
	must(t, ifp.Transmit(r.packet(plain(otherMAC))))
	if want := bytes.Replace(tagged(otherMAC, 5), []byte{0x81, 0}, []byte{0x88, 0xa8}, 1); !bytes.Equal(r.sent[0].data, want) {
		t.Errorf("sent %x, want %x", r.sent[0].data, want)
	}
	for mtu, want := range map[int]error{8996: nil, 8997: syscall.EINVAL, 1500: nil} {
		if err := ifp.Ioctl(ifnet.IoctlSetMTU, mtu); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("mtu %d: %v", mtu, err)
		}
	}
	twin, err := vlan.Create(r.k, "vlan")
	must(t, err)
	if err := twin.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{Parent: "em1", VID: 5}); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("second VLAN of that tag: %v", err)
	}
	must(t, ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{}))
	must(t, ifp.Ioctl(ifnet.IoctlGetVLAN, &req))
	if req != (ifnet.VLANReq{}) || em.Trunk() != nil || ifp.DrvFlags()&ifnet.FlagRunning != 0 || ifp.MTU() != 1500 {
		t.Errorf("after it left: %+v, trunk %v, mtu %d", req, em.Trunk(), ifp.MTU())
	}
	if err := ifp.Ioctl(ifnet.IoctlSetMTU, 1400); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("mtu without a parent: %v", err)
	}
	vlan.DestroyAll(r.k)
}

func TestTagAndProtocolChangeOnTheSameParent(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	must(t, ifp.Ioctl(ifnet.IoctlSetMTU, 1400))
	twin, err := vlan.Create(r.k, "em0.6")
	must(t, err)
	r.vids = nil
	for _, c := range []struct {
		req  ifnet.VLANReq
		want error
	}{
		{ifnet.VLANReq{Parent: "em0", VID: 6}, syscall.EEXIST},
		{ifnet.VLANReq{Parent: "em0", VID: 7}, nil},
		{ifnet.VLANReq{Parent: "em0", VID: 7, Proto: ifnet.EtherTypeQinQ}, nil},
	} {
		if err := ifp.Ioctl(ifnet.IoctlSetVLAN, &c.req); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %v, want %v", c.req, err, c.want)
		}
	}
	var req ifnet.VLANReq
	must(t, ifp.Ioctl(ifnet.IoctlGetVLAN, &req))
	if want := (ifnet.VLANReq{Parent: "em0", VID: 7, Proto: ifnet.EtherTypeQinQ}); req != want || ifp.MTU() != 1400 {
		t.Errorf("%+v, mtu %d", req, ifp.MTU())
	}
	r.em.Input(r.packet(tagged(ownMAC, 5)))
	r.em.Input(r.packet(tagged(ownMAC, 7)))
	if want := []string{"vlan5 payload"}; !slices.Equal(r.got, want) || r.em.GetCounter(ifnet.CounterNoProto) != 1 {
		t.Errorf("received %q, want %q", r.got, want)
	}
	must(t, vlan.Destroy(ifp))
	must(t, vlan.Destroy(twin))
	if want := []string{"-em0.5", "+em0.7", "-em0.7", "-em0.6"}; !slices.Equal(r.vids, want) || r.em.Trunk() != nil {
		t.Errorf("drivers heard %q, want %q; trunk %v", r.vids, want, r.em.Trunk())
	}
}

func TestParentsFollowAndAreGivenBackWhatWasAsked(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	must(t, ifp.AddMulti(groupMAC))
	must(t, ifp.Promisc(true))
	must(t, ifp.AllMulti(true))
	const modes = ifnet.FlagPromisc | ifnet.FlagAllMulti
	if r.em.MultiCount() != 1 || r.em.Flags()&modes != modes {
		t.Errorf("%d groups, flags %#x", r.em.MultiCount(), r.em.Flags())
	}
	must(t, ifp.Promisc(false))
	if r.em.Flags()&modes != ifnet.FlagAllMulti {
		t.Errorf("flags %#x", r.em.Flags())
	}
	must(t, ifp.DelMulti(groupMAC))
	if r.em.MultiCount() != 0 {
		t.Errorf("%d groups", r.em.MultiCount())
	}
	must(t, ifp.AddMulti(groupMAC))
	must(t, vlan.Destroy(ifp))
	if r.em.MultiCount() != 0 || r.em.Flags()&modes != 0 {
		t.Errorf("after it is gone: %d groups, flags %#x", r.em.MultiCount(), r.em.Flags())
	}
}

func TestVLANsFollowTheirParent(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	r.em.LinkStateChange(ifnet.LinkStateUp)
	r.k.RunUntilIdle()
	if ifp.LinkState() != ifnet.LinkStateUp {
		t.Errorf("link %v", ifp.LinkState())
	}
	must(t, r.em.Ioctl(ifnet.IoctlSetLLAddr, otherMAC[:]))
	if ifp.MAC() != otherMAC {
		t.Errorf("address %x", ifp.MAC())
	}
	media := ifnet.MediaReq{Count: 3}
	must(t, ifp.Ioctl(ifnet.IoctlGetMedia, &media))
	if media.Count != 1 || !slices.Equal(media.List, []ifnet.MediaWord{ifnet.MediaEther}) {
		t.Errorf("media %+v", media)
	}
	if err := ifp.Ioctl(ifnet.IoctlSetMedia, ifnet.MediaEther); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("setting media: %v", err)
	}
	must(t, r.em.Ioctl(ifnet.IoctlSetName, "wan"))
	var req ifnet.VLANReq
	must(t, ifp.Ioctl(ifnet.IoctlGetVLAN, &req))
	if req.Parent != "wan" {
		t.Errorf("on %s", req.Parent)
	}
	ifnet.EtherDetach(r.em)
	must(t, ifp.Ioctl(ifnet.IoctlGetVLAN, &req))
	if req != (ifnet.VLANReq{}) || ifp.LinkState() != ifnet.LinkStateUnknown {
		t.Errorf("without its parent it is on %+v, link %v", req, ifp.LinkState())
	}
	r.k.RunUntilIdle()
	vlan.DestroyAll(r.k)
}

func TestCapabilitiesAreThoseThatWorkWithATag(t *testing.T) {
	r := newRig(t)
	ifp := r.vlan()
	const csum = ifnet.CapRxCsum | ifnet.CapTxCsum
	check := func(what string, have, on ifnet.Caps, assist mbuf.CsumFlags) {
		t.Helper()
		if ifp.Capabilities() != have || ifp.Capenable() != on || ifp.HWAssist() != assist {
			t.Errorf("%s: %#x, enabled %#x, assist %#x; want %#x, %#x, %#x", what, ifp.Capabilities(), ifp.Capenable(), ifp.HWAssist(), have, on, assist)
		}
	}
	all := csum | ifnet.CapTSO4
	check("all", all, all, mbuf.CsumIPTCP|mbuf.CsumIPUDP|mbuf.CsumIPTSO)
	must(t, r.em.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: r.em.Capenable() &^ ifnet.CapVLANHWTSO}))
	check("no TSO with tags", all, csum, mbuf.CsumIPTCP|mbuf.CsumIPUDP)
	must(t, ifp.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: ifnet.CapRxCsum}))
	check("not wanted", all, ifnet.CapRxCsum, 0)
	must(t, r.em.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: r.em.Capenable() &^ ifnet.CapVLANHWTag}))
	check("no tags", all, 0, 0)
	must(t, ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{}))
	check("no parent", 0, 0, 0)
	em := r.nic(ifnet.CapMEXTPG | ifnet.CapTOE4 | ifnet.CapNetcons)
	em.SetCapenable(0, ifnet.CapTOE4)
	must(t, ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{Parent: em.Name(), VID: 5}))
	must(t, ifp.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: ^ifnet.Caps(0) & ifp.Capabilities()}))
	check("as on the parent", ifnet.CapMEXTPG|ifnet.CapTOE4, ifnet.CapMEXTPG, 0)
	vlan.DestroyAll(r.k)
}

func TestSendingAllocatesNothing(t *testing.T) {
	r := newRig(t)
	quiet := func(m *mbuf.Mbuf) error { mbuf.FreeChain(m); return nil }
	r.em.SetTransmit(quiet)
	ifp := r.vlan()
	data := plain(otherMAC)
	for _, caps := range []ifnet.Caps{ifnet.CapVLANHWTag, 0} {
		r.em.SetCapenable(caps, ^caps)
		if got := testing.AllocsPerRun(500, func() { must(t, ifp.Transmit(r.packet(data))) }); got > 0 {
			t.Errorf("capabilities %#x: %v allocations a packet", caps, got)
		}
	}
	vlan.DestroyAll(r.k)
}
