package ifnet

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

func TestEtherAttachSetsWhatAnEthernetHas(t *testing.T) {
	r := newRig(t)
	events := r.events()
	log := r.mark()
	n := r.nic(0)
	r.wantLog(log, "em0: Using defaults for TSO: 65518/35/2048\nem0: Ethernet address: 02:00:00:00:00:01\n")
	if n.Name() != "em0" || n.DName() != "em" || n.DUnit() != 0 || n.Index() != 1 || n.Type() != TypeEther {
		t.Errorf("identity: %s %s %d index %d type %d", n.Name(), n.DName(), n.DUnit(), n.Index(), n.Type())
	}
	if n.MTU() != 1500 || n.Hdrlen() != 14 || n.Baudrate() != 10_000_000 || n.PCP() != PCPNone {
		t.Errorf("mtu %d hdrlen %d baudrate %d pcp %d", n.MTU(), n.Hdrlen(), n.Baudrate(), n.PCP())
	}
	if n.MAC() != ownMAC || n.HWAddr() != ownMAC {
		t.Errorf("addresses %v %v", n.MAC(), n.HWAddr())
	}
	if n.TSO() != (TSOLimits{65518, 35, 2048}) {
		t.Errorf("TSO limits %v", n.TSO())
	}
	if n.Epoch() != n.LastChange() || n.Epoch() != r.k.Uptime() {
		t.Errorf("epoch %v lastchange %v uptime %v", n.Epoch(), n.LastChange(), r.k.Uptime())
	}
	wantList(t, "groups", n.Groups(), "all")
	wantList(t, "events", *events, "em0 arrival")
}

func TestEtherAttachKeepsLimitsAndPrintsNoZeroAddress(t *testing.T) {
	r := newRig(t)
	log := r.mark()
	n := r.bareNIC(0)
	n.SetTSOMax(9000, 8, 4096)
	n.SetBaudrate(1e9)
	EtherAttach(n.Ifnet, [EtherAddrLen]byte{})
	r.wantLog(log, "")
	if n.TSO() != (TSOLimits{9000, 8, 4096}) || n.Baudrate() != 1e9 {
		t.Errorf("limits %v baudrate %d", n.TSO(), n.Baudrate())
	}
}

func TestIndexesAreReusedAndTheListKeepsAttachOrder(t *testing.T) {
	r := newRig(t)
	a, b, c := r.nic(0), r.nic(1), r.nic(2)
	EtherDetach(b.Ifnet)
	Free(b.Ifnet)
	if b.Flags()&FlagDying == 0 {
		t.Error("a freed interface is not DYING")
	}
	d := r.nic(3)
	if d.Index() != 2 {
		t.Errorf("index %d, want the freed 2", d.Index())
	}
	if got := List(r.k); !slices.Equal(got, []*Ifnet{a.Ifnet, c.Ifnet, d.Ifnet}) {
		t.Errorf("list %v", got)
	}
	if ByName(r.k, "em2") != c.Ifnet || ByName(r.k, "em1") != nil || ByIndex(r.k, 2) != d.Ifnet {
		t.Error("lookups disagree with the list")
	}
	for _, n := range []*nic{c, d} {
		EtherDetach(n.Ifnet)
		Free(n.Ifnet)
	}
	if text, _ := r.k.Sysctl.Text("net.link.generic.system.ifcount"); text != "1" {
		t.Errorf("ifcount %s, want 1", text)
	}
}

func TestDetachedInterfaceHasDeadMethods(t *testing.T) {
	r := newRig(t)
	events := r.events()
	n := r.running()
	n.IncCounter(CounterIPackets, 7)
	shown := 0
	n.AttachTap(func(mbuf.RcvIf, *mbuf.Mbuf) { shown++ })
	*events = nil
	EtherDetach(n.Ifnet)
	EtherDetach(n.Ifnet)
	wantList(t, "events", *events, "em0 down", "em0 departure")
	if n.flush != 1 || n.Flags()&FlagUp != 0 || n.TapOn() {
		t.Errorf("flushed %d times, flags %#x, tapped %v", n.flush, n.Flags(), n.TapOn())
	}
	wantErr(t, "transmit", n.Transmit(r.packet(nil, frame(otherMAC, []uint16{0x800}, "x"))), syscall.ENXIO)
	n.InputCache(r.c, r.packet(n, frame(ownMAC, []uint16{0x800}, "x")))
	n.Input(r.packet(n, frame(ownMAC, []uint16{0x800}, "x")))
	n.InitIf()
	n.QFlush()
	wantErr(t, "ioctl", n.Ioctl(IoctlGetMedia, &MediaReq{}), syscall.ENXIO)
	wantErr(t, "get flags", n.Ioctl(IoctlGetFlags, new(Flags)), syscall.ENXIO)
	wantErr(t, "rename", n.Ioctl(IoctlSetName, "wan"), syscall.ENXIO)
	wantErr(t, "promisc", n.Promisc(true), syscall.ENXIO)
	wantErr(t, "group", n.AddMulti(groupMAC), syscall.ENXIO)
	wantErr(t, "group", n.DelMulti(groupMAC), syscall.ENXIO)
	if nonzero(n.Ifnet) != "" || n.inits != 0 || shown != 0 {
		t.Errorf("counters %q, inits %d, shown %d", nonzero(n.Ifnet), n.inits, shown)
	}
	r.noLeak()
}

func TestDepartureHandlersGiveBackWhatTheyTook(t *testing.T) {
	r := newRig(t)
	n := r.running()
	wantErr(t, "promisc", n.Promisc(true), 0)
	wantErr(t, "group", n.AddMulti(groupMAC), 0)
	n.asked = nil
	t.Cleanup(OnEvent(r.k, func(ifp *Ifnet, e EventKind) {
		if e == EventDeparture {
			wantErr(t, "promisc off", ifp.Promisc(false), 0)
			wantErr(t, "group off", ifp.DelMulti(groupMAC), 0)
			wantErr(t, "promisc on", ifp.Promisc(true), syscall.ENXIO)
			wantErr(t, "group on", ifp.AddMulti(groupMAC), syscall.ENXIO)
			wantErr(t, "up", ifp.Ioctl(IoctlSetFlags, FlagUp), syscall.ENXIO)
		}
	}))
	EtherDetach(n.Ifnet)
	wantList(t, "driver", n.asked, "SIOCSIFFLAGS", "SIOCDELMULTI")
}

func TestLinkTaskOfADetachedInterfaceDoesNotRun(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	n.LinkStateChange(LinkStateUp)
	log := r.mark()
	EtherDetach(n.Ifnet)
	n.LinkStateChange(LinkStateDown)
	r.k.RunUntilIdle()
	if text := log(); strings.Contains(text, "link state") {
		t.Errorf("console %q", text)
	}
}

func TestLinkEventHandlerMayMakeRequestsDuringDetach(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	t.Cleanup(OnEvent(r.k, func(ifp *Ifnet, e EventKind) {
		if e == EventLink {
			var f Flags
			_ = ifp.Ioctl(IoctlGetFlags, &f)
		}
	}))
	n.LinkStateChange(LinkStateUp)
	done := r.k.Spawn("detach", func() { EtherDetach(n.Ifnet) })
	r.k.RunUntilIdle()
	done.Join()
	if len(List(r.k)) != 0 {
		t.Error("still attached")
	}
}

func TestRename(t *testing.T) {
	for _, tt := range []struct {
		name string
		want syscall.Errno
	}{
		{"", syscall.EINVAL}, {"em0", 0}, {"em1", syscall.EEXIST}, {strings.Repeat("x", 16), syscall.ENAMETOOLONG},
	} {
		r := newRig(t)
		n := r.nic(0)
		r.nic(1)
		log := r.mark()
		wantErr(t, "rename to "+tt.name, n.Ioctl(IoctlSetName, tt.name), tt.want)
		r.wantLog(log, "")
	}
	r := newRig(t)
	n := r.nic(0)
	var during []string
	t.Cleanup(OnEvent(r.k, func(ifp *Ifnet, e EventKind) {
		if ifp.Flags()&FlagRenaming == 0 {
			t.Errorf("%s without RENAMING", e)
		}
		during = append(during, ifp.Name()+" "+e.String())
	}))
	log := r.mark()
	wantErr(t, "rename", n.Ioctl(IoctlSetName, "wan0"), 0)
	r.wantLog(log, "em0: changing name to 'wan0'\n")
	wantList(t, "events", during, "em0 departure", "wan0 rename", "wan0 arrival")
	if n.Flags()&FlagRenaming != 0 || ByName(r.k, "wan0") != n.Ifnet || n.DName() != "em" {
		t.Errorf("after the rename: flags %#x", n.Flags())
	}
	wantErr(t, "rename with a number", n.Ioctl(IoctlSetName, 5), syscall.EINVAL)
}

func TestBrokenInvariantsPanicWithTheKernelsMessage(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	for _, tt := range []struct {
		want string
		fn   func()
	}{
		{"transmit and qflush must both either be set or both be NULL",
			func() { Alloc(r.k, TypeEther).SetMethods(Methods{QFlush: func() {}}) }},
		{"if_attach: em0 is attached already", func() { Attach(n.Ifnet) }},
		{"ifmedia_set: no match for 0x23/0xffffffff", func() { NewMedia(0, nil, nil).Set(MediaEther | Media10T) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("panic %v, want %q", got, tt.want)
				}
			}()
			tt.fn()
		}()
	}
}

func TestInitNeedsZones(t *testing.T) {
	k, err := kern.New(kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	wantErr(t, "Init without mbuf.Init", Init(k), syscall.ENXIO)
}
