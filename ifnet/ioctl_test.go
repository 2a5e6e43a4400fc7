package ifnet

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestSetFlagsRules(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	events := r.events()
	n.SetDrvFlags(FlagRunning, 0)
	steps := []struct {
		name   string
		pre    func()
		set    Flags
		want   Flags
		log    string
		events []string
		flush  int
	}{
		{"up", nil, FlagUp, nicFlags | FlagUp, "", []string{"em0 up"}, 0},
		{"up again", nil, FlagUp, nicFlags | FlagUp, "", nil, 0},
		{"bits that cannot change", nil, FlagUp | FlagCantChange&^nicFlags, nicFlags | FlagUp, "", nil, 0},
		{"debug and link0", nil, FlagUp | FlagDebug | FlagLink0, nicFlags | FlagUp | FlagDebug | FlagLink0, "", nil, 0},
		{"ppromisc", nil, FlagUp | FlagPPromisc, nicFlags | FlagUp | FlagPPromisc | FlagPromisc,
			"em0: permanently promiscuous mode enabled\n", nil, 0},
		{"ppromisc off", nil, FlagUp, nicFlags | FlagUp, "em0: permanently promiscuous mode disabled\n", nil, 0},
		{"pallmulti", nil, FlagUp | FlagPAllMulti, nicFlags | FlagUp | FlagPAllMulti | FlagAllMulti,
			"em0: permanently allmulti mode enabled\n", nil, 0},
		{"pallmulti off with a reference", func() { wantErr(t, "allmulti", n.AllMulti(true), 0) }, FlagUp,
			nicFlags | FlagUp | FlagAllMulti, "em0: permanently allmulti mode disabled\n", nil, 0},
		{"down", nil, 0, nicFlags | FlagAllMulti, "", []string{"em0 down"}, 1},
		{"down again", nil, 0, nicFlags | FlagAllMulti, "", nil, 0},
	}
	for _, s := range steps {
		if s.pre != nil {
			s.pre()
		}
		*events, n.flags, n.flush = nil, nil, 0
		log := r.mark()
		n.answer = syscall.EIO // hidden from the caller
		wantErr(t, s.name, n.Ioctl(IoctlSetFlags, s.set), 0)
		n.answer = nil
		if n.Flags() != s.want || !slices.Equal(n.flags, []Flags{s.want}) || n.flush != s.flush {
			t.Errorf("%s: flags %#x want %#x, driver saw %#x, flushed %d want %d", s.name, n.Flags(), s.want, n.flags, n.flush, s.flush)
		}
		r.wantLog(log, s.log)
		wantList(t, s.name, *events, s.events...)
	}
	var got Flags
	wantErr(t, "get", n.Ioctl(IoctlGetFlags, &got), 0)
	if want := nicFlags | FlagAllMulti | FlagRunning; got != want {
		t.Errorf("reported %#x, want %#x", got, want)
	}
}

func TestDownFlushesBeforeTheDriverIsCalled(t *testing.T) {
	r := newRig(t)
	n := r.running()
	m := *n.methods.Load()
	m.QFlush = func() { n.asked = append(n.asked, "flush") }
	n.SetMethods(m)
	wantErr(t, "down", n.Ioctl(IoctlSetFlags, Flags(0)), 0)
	wantList(t, "order", n.asked, "flush", "SIOCSIFFLAGS")
}

func TestIoctlErrnos(t *testing.T) {
	long := strings.Repeat("d", 1024)
	for _, tt := range []struct {
		name  string
		cmd   Ioctl
		data  any
		want  syscall.Errno
		asked bool
	}{
		{"capability that is not there", IoctlSetCap, &CapReq{Req: CapLRO}, syscall.EINVAL, false},
		{"capability", IoctlSetCap, &CapReq{Req: CapTxCsum}, 0, true},
		{"no capability request", IoctlSetCap, (*CapReq)(nil), syscall.EINVAL, false},
		{"NV capabilities without NV", IoctlSetCapNV, &CapReq{}, syscall.EINVAL, false},
		{"get NV capabilities without NV", IoctlGetCapNV, &CapReq{}, syscall.EINVAL, false},
		{"mtu 71", IoctlSetMTU, 71, syscall.EINVAL, false},
		{"mtu 72", IoctlSetMTU, 72, 0, true},
		{"mtu 1500", IoctlSetMTU, 1500, 0, true},
		{"mtu 1501 is up to the driver", IoctlSetMTU, 1501, syscall.EINVAL, true},
		{"mtu 65536", IoctlSetMTU, 65536, syscall.EINVAL, false},
		{"mtu of another type", IoctlSetMTU, "1500", syscall.EINVAL, false},
		{"group of another family", IoctlAddMulti, MultiReq{AFInet, groupMAC}, syscall.EINVAL, false},
		{"unicast group", IoctlAddMulti, MultiReq{AFLink, ownMAC}, syscall.EADDRNOTAVAIL, false},
		{"group", IoctlAddMulti, MultiReq{AFLink, groupMAC}, 0, true},
		{"missing group", IoctlDelMulti, MultiReq{AFLink, groupMAC}, syscall.ENOENT, false},
		{"short address", IoctlSetLLAddr, []byte{2, 3}, syscall.EINVAL, false},
		{"no address", IoctlSetLLAddr, []byte(nil), syscall.EINVAL, false},
		{"description too long", IoctlSetDescr, long, syscall.ENAMETOOLONG, false},
		{"description that fits", IoctlSetDescr, long[:1023], 0, false},
		{"metric", IoctlSetMetric, 3, 0, false},
		{"fib 1", IoctlSetFIB, 1, syscall.EINVAL, false},
		{"fib -1", IoctlSetFIB, -1, syscall.EINVAL, false},
		{"fib 0", IoctlSetFIB, 0, 0, false},
		{"group name ending in a digit", IoctlAddGroup, "wan0", syscall.EINVAL, false},
		{"group name empty", IoctlAddGroup, "", syscall.EINVAL, false},
		{"group name there", IoctlAddGroup, "all", syscall.EEXIST, false},
		{"group name", IoctlAddGroup, "wan", 0, false},
		{"group not there", IoctlDelGroup, "wan", syscall.ENOENT, false},
		{"pcp 8", IoctlSetLANPCP, uint8(8), syscall.EINVAL, true},
		{"pcp 7", IoctlSetLANPCP, uint8(7), 0, true},
		{"pcp none", IoctlSetLANPCP, uint8(0xff), 0, true},
		{"media goes to the driver", IoctlSetMedia, MediaEther | Media1000T, 0, true},
		{"reply without a place", IoctlGetMTU, (*int)(nil), syscall.EINVAL, false},
	} {
		r := newRig(t)
		n := r.nic(0)
		wantErr(t, tt.name, n.Ioctl(tt.cmd, tt.data), tt.want)
		if (len(n.asked) > 0) != tt.asked {
			t.Errorf("%s: driver was asked %q", tt.name, n.asked)
		}
	}
}

func TestInterfaceWithoutIoctlRefuses(t *testing.T) {
	r := newRig(t)
	ifp := Alloc(r.k, TypeEther)
	ifp.InitName("x", 0)
	wantErr(t, "transmit", ifp.Transmit(r.packet(nil, []byte("x"))), syscall.EOPNOTSUPP)
	EtherAttach(ifp, ownMAC)
	for cmd, data := range map[Ioctl]any{
		IoctlSetCap: &CapReq{}, IoctlSetMTU: 1500, IoctlSetMedia: MediaEther, IoctlGetMedia: &MediaReq{},
		IoctlGetRSSKey: &RSSKey{}, IoctlGetDownReason: &DownReason{}, IoctlGetStatus: new(string),
		IoctlAddMulti: MultiReq{AFLink, groupMAC},
	} {
		wantErr(t, cmd.String(), ifp.Ioctl(cmd, data), syscall.EOPNOTSUPP)
	}
	wantErr(t, "flags", ifp.Ioctl(IoctlSetFlags, FlagUp), 0)
	wantErr(t, "address of a loop", Alloc(r.k, TypeLoop).Ioctl(IoctlSetLLAddr, ownMAC[:]), syscall.EINVAL)
}

func TestGetRequestsReadBack(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	n.SetCapabilities(CapNV, 0)
	n.SetCapabilities2(Cap2IPsec|Cap2RxTLS4, 0)
	n.SetCapenable(CapTxCsum, 0)
	n.SetCapenable2(Cap2IPsec, 0)
	for _, tt := range []struct {
		cmd  Ioctl
		data any
	}{{IoctlSetMetric, 4}, {IoctlSetDescr, "uplink"}, {IoctlAddGroup, "wan"}, {IoctlSetMTU, 900}, {IoctlSetLANPCP, uint8(3)}} {
		wantErr(t, tt.cmd.String(), n.Ioctl(tt.cmd, tt.data), 0)
	}
	var metric, mtu, fib, index int
	var descr string
	var groups []string
	var cap, nv CapReq
	var pcp uint8
	for cmd, p := range map[Ioctl]any{IoctlGetMetric: &metric, IoctlGetMTU: &mtu, IoctlGetFIB: &fib, IoctlGetIndex: &index,
		IoctlGetDescr: &descr, IoctlGetGroups: &groups, IoctlGetCap: &cap, IoctlGetCapNV: &nv, IoctlGetLANPCP: &pcp} {
		wantErr(t, cmd.String(), n.Ioctl(cmd, p), 0)
	}
	if metric != 4 || mtu != 900 || fib != 0 || index != 1 || descr != "uplink" || pcp != 3 {
		t.Errorf("metric %d mtu %d fib %d index %d descr %q pcp %d", metric, mtu, fib, index, descr, pcp)
	}
	wantList(t, "groups", groups, "all", "wan")
	if cap != (CapReq{Req: nicCaps | CapNV, Cur: CapTxCsum}) || nv != (CapReq{nicCaps | CapNV, CapTxCsum, Cap2IPsec | Cap2RxTLS4, Cap2IPsec}) {
		t.Errorf("capabilities %+v, NV %+v", cap, nv)
	}
	wantErr(t, "clear", n.Ioctl(IoctlSetDescr, ""), 0)
	if n.Description() != "" {
		t.Errorf("description %q after it was cleared", n.Description())
	}
	if !n.InGroup("wan") {
		t.Error("not in the group wan")
	}
	wantErr(t, "leave", n.Ioctl(IoctlDelGroup, "wan"), 0)
	wantList(t, "groups", n.Groups(), "all")
	if n.InGroup("wan") || !n.InGroup("all") {
		t.Error("in the group wan, or not in all")
	}
	wantErr(t, "second word", n.Ioctl(IoctlSetCapNV, &CapReq{Req2: Cap2RxTLS6}), syscall.EINVAL)
	wantErr(t, "second word", n.Ioctl(IoctlSetCapNV, &CapReq{Req2: Cap2RxTLS4}), 0)
}

func TestMTUChangeIsAnnouncedOnlyWhenItChanged(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	events := r.events()
	wantErr(t, "1400", n.Ioctl(IoctlSetMTU, 1400), 0)
	wantErr(t, "1400 again", n.Ioctl(IoctlSetMTU, 1400), 0)
	wantErr(t, "9000", n.Ioctl(IoctlSetMTU, 9000), syscall.EINVAL)
	wantList(t, "events", *events, "em0 mtu")
	if n.MTU() != 1400 {
		t.Errorf("mtu %d", n.MTU())
	}
}

func TestSetLLAddrReprogramsARunningDriver(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	events := r.events()
	wantErr(t, "down", n.Ioctl(IoctlSetLLAddr, otherMAC[:]), 0)
	if len(n.flags) != 0 || n.MAC() != otherMAC || n.HWAddr() != ownMAC {
		t.Errorf("driver saw %#x, address %v, burnt in %v", n.flags, n.MAC(), n.HWAddr())
	}
	n.SetFlags(FlagUp, 0)
	wantErr(t, "up", n.Ioctl(IoctlSetLLAddr, ownMAC[:]), 0)
	if !slices.Equal(n.flags, []Flags{nicFlags, nicFlags | FlagUp}) {
		t.Errorf("driver saw %#x", n.flags)
	}
	wantList(t, "events", *events, "em0 lladdr", "em0 lladdr")
}

func TestEtherIoctlSetAddrBringsUpAndInitializes(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	wantErr(t, "address", n.Ioctl(IoctlSetAddr, AddrReq{Family: AFInet}), 0)
	if n.Flags()&FlagUp == 0 || n.inits != 1 {
		t.Errorf("flags %#x, inits %d", n.Flags(), n.inits)
	}
	wantErr(t, "unknown", EtherIoctl(n.Ifnet, IoctlGetI2C, &I2CReq{}), syscall.EINVAL)
}

func TestReportedFlagsAddLowerUp(t *testing.T) {
	r := newRig(t)
	n := r.running()
	if n.ReportedFlags()&FlagLowerUp != 0 {
		t.Error("LOWER_UP without a media status")
	}
	md := NewMedia(0, nil, func(req *MediaReq) { req.Status = MediaAValid | MediaActive })
	m := *n.methods.Load()
	m.Ioctl = md.Ioctl
	n.SetMethods(m)
	if want := nicFlags | FlagUp | FlagRunning | FlagLowerUp; n.ReportedFlags() != want {
		t.Errorf("reported %#x, want %#x", n.ReportedFlags(), want)
	}
	n.SetFlags(FlagMonitor, 0)
	if n.ReportedFlags()&FlagLowerUp != 0 {
		t.Error("LOWER_UP in MONITOR mode")
	}
	lo := Alloc(r.k, TypeLoop)
	lo.SetFlags(FlagUp, 0)
	if lo.ReportedFlags() != FlagUp|FlagLowerUp {
		t.Errorf("loop reports %#x", lo.ReportedFlags())
	}
}

func TestRequestNames(t *testing.T) {
	for cmd := IoctlGetFlags; cmd < numIoctls; cmd++ {
		if !strings.HasPrefix(cmd.String(), "SIOC") {
			t.Errorf("request %d is called %q", cmd, cmd)
		}
	}
	if got := Ioctl(999).String(); got != "ioctl 999" {
		t.Errorf("unknown request is called %q", got)
	}
}
