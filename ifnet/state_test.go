package ifnet

import (
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"pgregory.net/rapid"
)

func TestPromiscuousModeFollowsItsReferences(t *testing.T) {
	r := newRig(t)
	n := r.running()
	log := r.mark()
	wantErr(t, "first", n.Promisc(true), 0)
	wantErr(t, "second", n.Promisc(true), 0)
	wantErr(t, "first off", n.Promisc(false), 0)
	if n.Flags()&FlagPromisc == 0 || len(n.flags) != 1 {
		t.Errorf("flags %#x, driver saw %#x", n.Flags(), n.flags)
	}
	wantErr(t, "second off", n.Promisc(false), 0)
	wantErr(t, "one too many", n.Promisc(false), syscall.EINVAL)
	r.wantLog(log, "em0: promiscuous mode enabled\nem0: promiscuous mode disabled\n")
	if want := []Flags{nicFlags | FlagUp | FlagPromisc, nicFlags | FlagUp}; !slices.Equal(n.flags, want) {
		t.Errorf("driver saw %#x, want %#x", n.flags, want)
	}
}

func TestDriverErrorRestoresCountAndFlag(t *testing.T) {
	r := newRig(t)
	n := r.running()
	log := r.mark()
	n.answer = syscall.EIO
	wantErr(t, "on", n.Promisc(true), syscall.EIO)
	if n.Flags()&FlagPromisc != 0 || n.pcount != 0 {
		t.Errorf("flags %#x count %d after a failure to set", n.Flags(), n.pcount)
	}
	n.answer = nil
	wantErr(t, "on", n.AllMulti(true), 0)
	n.answer = syscall.EIO
	wantErr(t, "off", n.AllMulti(false), syscall.EIO)
	if n.Flags()&FlagAllMulti == 0 || n.amcount != 1 {
		t.Errorf("flags %#x count %d after a failure to clear", n.Flags(), n.amcount)
	}
	r.wantLog(log, "")
}

func TestPermanentModeMovesOnlyTheCount(t *testing.T) {
	r := newRig(t)
	n := r.running()
	wantErr(t, "permanent", n.Ioctl(IoctlSetFlags, FlagUp|FlagPPromisc), 0)
	n.flags = nil
	log := r.mark()
	wantErr(t, "on", n.Promisc(true), 0)
	if len(n.flags) != 0 || n.pcount != 1 {
		t.Errorf("driver saw %#x, count %d", n.flags, n.pcount)
	}
	wantErr(t, "permanent off", n.Ioctl(IoctlSetFlags, FlagUp), 0)
	if n.Flags()&FlagPromisc == 0 {
		t.Error("the reference does not keep PROMISC")
	}
	wantErr(t, "off", n.Promisc(false), 0)
	r.wantLog(log, "em0: permanently promiscuous mode disabled\nem0: promiscuous mode disabled\n")
}

func TestPromiscuousLogCanBeSwitchedOff(t *testing.T) {
	r := newRig(t)
	n := r.running()
	n.stack.logPromisc.Store(0)
	log := r.mark()
	wantErr(t, "on", n.Promisc(true), 0)
	r.wantLog(log, "")
}

func TestMulticastListIsNewestFirstAndCounted(t *testing.T) {
	r := newRig(t)
	n := r.running()
	second := [EtherAddrLen]byte{0x33, 0x33, 0, 0, 0, 1}
	wantErr(t, "first", n.AddMulti(groupMAC), 0)
	wantErr(t, "second", n.AddMulti(second), 0)
	wantErr(t, "first again", n.AddMulti(groupMAC), 0)
	if got := slices.Collect(n.Multiaddrs); !slices.Equal(got, [][EtherAddrLen]byte{second, groupMAC}) || n.MultiCount() != 2 {
		t.Errorf("groups %v", got)
	}
	wantErr(t, "in use", n.Ioctl(IoctlAddMulti, MultiReq{AFLink, second}), syscall.EADDRINUSE)
	wantErr(t, "one reference", n.DelMulti(groupMAC), 0)
	wantErr(t, "last reference", n.DelMulti(groupMAC), 0)
	wantErr(t, "gone", n.DelMulti(groupMAC), syscall.ENOENT)
	wantErr(t, "unicast", n.AddMulti(ownMAC), syscall.EADDRNOTAVAIL)
	wantErr(t, "request", n.Ioctl(IoctlDelMulti, MultiReq{AFLink, second}), 0)
	wantList(t, "driver", n.asked, "SIOCADDMULTI", "SIOCADDMULTI", "SIOCDELMULTI", "SIOCDELMULTI")
	n.SetFlags(0, FlagMulticast)
	wantErr(t, "no multicast", n.Ioctl(IoctlAddMulti, MultiReq{AFLink, second}), syscall.EOPNOTSUPP)
}

func TestResolveMulti(t *testing.T) {
	for _, tt := range []struct {
		group string
		want  [EtherAddrLen]byte
	}{
		{"224.0.0.1", [EtherAddrLen]byte{1, 0, 0x5e, 0, 0, 1}},
		{"239.255.255.250", [EtherAddrLen]byte{1, 0, 0x5e, 0x7f, 0xff, 0xfa}},
		{"ff02::1:ff00:1234", [EtherAddrLen]byte{0x33, 0x33, 0xff, 0, 0x12, 0x34}},
	} {
		if got, err := ResolveMulti(netip.MustParseAddr(tt.group)); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", tt.group, got, err)
		}
	}
	_, err := ResolveMulti(netip.MustParseAddr("192.0.2.1"))
	wantErr(t, "unicast", err, syscall.EADDRNOTAVAIL)
	_, err = ResolveMulti(netip.Addr{})
	wantErr(t, "nothing", err, syscall.EAFNOSUPPORT)
}

func TestLinkStateChangesAreCoalesced(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changes []LinkState
		want    string
		events  int
	}{
		{"up", []LinkState{LinkStateUp}, "em0: link state changed to UP\n", 1},
		{"unknown again", []LinkState{LinkStateUnknown}, "", 0},
		{"same twice", []LinkState{LinkStateUp, LinkStateUp}, "em0: link state changed to UP\n", 1},
		{"flap", []LinkState{LinkStateUp, LinkStateDown, LinkStateUp},
			"em0: 3 link states coalesced\nem0: link state changed to UP\n", 1},
		{"back to unknown", []LinkState{LinkStateUp, LinkStateUnknown},
			"em0: 2 link states coalesced\nem0: link state changed to DOWN\n", 1},
	} {
		r := newRig(t)
		n := r.nic(0)
		events := r.events()
		log := r.mark()
		for _, s := range tt.changes {
			n.LinkStateChange(s)
			if n.LinkState() != s {
				t.Errorf("%s: state %v is not stored at once", tt.name, s)
			}
		}
		r.wantLog(log, "")
		r.k.RunUntilIdle()
		r.wantLog(log, tt.want)
		if len(*events) != tt.events {
			t.Errorf("%s: events %q", tt.name, *events)
		}
	}
}

func TestLinkStateLogCanBeSwitchedOffAtRunTime(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	if err := r.k.Sysctl.SetText("net.link.log_link_state_change", "0"); err != nil {
		t.Fatal(err)
	}
	log := r.mark()
	n.LinkStateChange(LinkStateUp)
	r.k.RunUntilIdle()
	r.wantLog(log, "")
	wantErr(t, "boot-time knob", r.k.Sysctl.SetText("net.link.log_promisc_mode_change", "0"), syscall.EPERM)
}

func TestSysctlDefaults(t *testing.T) {
	r := newRig(t)
	for name, want := range map[string]string{
		"net.link.ifqmaxlen": "50", "net.link.log_link_state_change": "1", "net.link.log_promisc_mode_change": "1",
		"net.ifdescr_maxlen": "1024", "net.link.generic.system.ifcount": "0",
	} {
		if got, err := r.k.Sysctl.Text(name); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestCountersAddSourcesAndYieldToTheDriver(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	n.IncCounter(CounterIPackets, 2)
	n.AddCounterSource(func(c Counter) uint64 { return 10 * uint64(c+1) })
	n.AddCounterSource(func(c Counter) uint64 { return 100 })
	if got := n.GetCounter(CounterIPackets); got != 112 {
		t.Errorf("IPACKETS %d, want 112", got)
	}
	m := *n.methods.Load()
	m.GetCounter = func(c Counter) uint64 {
		if c == CounterIErrors {
			return 9
		}
		return n.GetCounterDefault(c)
	}
	n.SetMethods(m)
	if e, p := n.GetCounter(CounterIErrors), n.GetCounter(CounterOPackets); e != 9 || p != 130 {
		t.Errorf("IERRORS %d want 9, OPACKETS %d want 130", e, p)
	}
}

func TestDefaultTransmitQueuesAndStarts(t *testing.T) {
	r := newRig(t)
	ifp := Alloc(r.k, TypeEther)
	ifp.InitName("x", 0)
	starts := 0
	ifp.SetMethods(Methods{Start: func() { starts++ }})
	EtherAttach(ifp, ownMAC)
	m := r.packet(nil, make([]byte, 60))
	m.Flags |= mbuf.FlagMcast
	wantErr(t, "first", ifp.Transmit(m), 0)
	ifp.SetDrvFlags(FlagOActive, 0)
	for range 49 {
		wantErr(t, "more", ifp.Transmit(r.packet(nil, make([]byte, 60))), 0)
	}
	wantErr(t, "too many", ifp.Transmit(r.packet(nil, make([]byte, 60))), syscall.ENOBUFS)
	if got, want := nonzero(ifp), "obytes=3000 omcasts=1 oqdrops=1"; got != want || starts != 1 {
		t.Errorf("counters %q want %q, started %d", got, want, starts)
	}
	if ifp.Snd().Poll() != m || ifp.Snd().Len() != 50 || ifp.Snd().Enabled() || ifp.SndEnabled() {
		t.Error("the send queue is not a FIFO of 50")
	}
	ifp.QFlush()
	if ifp.Snd().Len() != 0 {
		t.Errorf("%d packets after a flush", ifp.Snd().Len())
	}
	r.noLeak()
}

// shaper is an enabled send queue.
type shaper struct{ SendQueue }

func (shaper) Enabled() bool { return true }

func TestSendQueueCanBeReplaced(t *testing.T) {
	r := newRig(t)
	n := r.nic(0)
	n.SetSendQueue(shaper{NewFIFO(1)})
	if !n.SndEnabled() || !n.Snd().Enabled() {
		t.Error("an enabled queue is not seen")
	}
	n.SetSndEnabled(false)
	if n.SndEnabled() {
		t.Error("SetSndEnabled(false) is not seen")
	}
	n.SetSendQueue(nil)
	if f, ok := n.Snd().(*FIFO); !ok || f.MaxLen() != 50 || n.SndEnabled() {
		t.Errorf("queue %T", n.Snd())
	}
}

func TestFIFOBehavesAsASlice(t *testing.T) {
	r := newRig(t)
	rapid.Check(t, func(rt *rapid.T) {
		max := rapid.IntRange(0, 4).Draw(rt, "max")
		f := NewFIFO(max)
		var model []*mbuf.Mbuf
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "op") {
			case 0:
				m := r.packet(nil, []byte("x"))
				if err := f.Enqueue(m); (err != nil) != (len(model) >= max) {
					rt.Fatalf("enqueue with %d of %d: %v", len(model), max, err)
				} else if err == nil {
					model = append(model, m)
				}
			case 1:
				m := f.Dequeue()
				if len(model) == 0 != (m == nil) {
					rt.Fatal("dequeue of an empty queue")
				} else if m != nil {
					if m != model[0] {
						rt.Fatal("out of order")
					}
					model = model[1:]
					r.c.FreeChain(m)
				}
			case 2:
				m := r.packet(nil, []byte("y"))
				f.Prepend(m)
				model = slices.Insert(model, 0, m)
			case 3:
				f.Purge(r.c)
				model = nil
			}
			if f.Len() != len(model) {
				rt.Fatalf("len %d, want %d", f.Len(), len(model))
			}
		}
		f.Purge(r.c)
	})
	r.noLeak()
}

func TestFlagsLinkAndCountersFromManyGoroutines(t *testing.T) {
	r := newRigOn(t, kern.Threads, kern.RealClock)
	n := r.nic(0)
	var wg sync.WaitGroup
	const rounds = 200
	work := []func(){
		func() { n.SetDrvFlags(FlagRunning, 0) },
		func() { n.SetDrvFlags(FlagOActive, FlagOActive) },
		func() { _ = n.Ioctl(IoctlSetFlags, FlagUp|FlagDebug) },
		func() { _ = n.Promisc(true); _ = n.Promisc(false) },
		func() { _ = n.AddMulti(groupMAC); _ = n.DelMulti(groupMAC) },
		func() { n.LinkStateChange(LinkStateUp); n.LinkStateChange(LinkStateDown) },
		func() { n.IncCounter(CounterIPackets, 1) },
		func() { n.IncCounter(CounterIPackets, 1); n.GetCounter(CounterIPackets) },
		func() { n.AttachTap(func(mbuf.RcvIf, *mbuf.Mbuf) {})() },
		func() { n.ToggleCapenable(CapTSO4) },
		func() { n.SetTransmit(func(m *mbuf.Mbuf) error { mbuf.FreeChain(m); return nil }) },
	}
	for _, fn := range work {
		wg.Go(func() {
			for range rounds {
				fn()
			}
		})
	}
	wg.Wait()
	if got := n.GetCounter(CounterIPackets); got != 2*rounds {
		t.Errorf("IPACKETS %d, want %d", got, 2*rounds)
	}
	if f := n.Flags(); f != nicFlags|FlagUp|FlagDebug || n.DrvFlags() != FlagRunning || n.TapOn() || n.MultiCount() != 0 {
		t.Errorf("flags %#x %#x, tapped %v, groups %d", f, n.DrvFlags(), n.TapOn(), n.MultiCount())
	}
	if n.Capenable()&CapTSO4 != 0 {
		t.Error("an even number of toggles left the bit set")
	}
	EtherDetach(n.Ifnet)
}

func TestTransmitRacesWithDetach(t *testing.T) {
	r := newRigOn(t, kern.Threads, kern.RealClock)
	n := r.bareNIC(0)
	m := *n.methods.Load()
	m.Transmit = func(m *mbuf.Mbuf) error { mbuf.FreeChain(m); return nil }
	n.SetMethods(m)
	EtherAttach(n.Ifnet, ownMAC)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			c := r.z.NewCache()
			defer c.Close()
			for range 500 {
				m := c.GetHdr()
				_ = n.Transmit(m)
				in := c.GetHdr()
				in.Pkt.RcvIf = n.Ifnet
				n.InputCache(c, in)
			}
		})
	}
	EtherDetach(n.Ifnet)
	wg.Wait()
	r.noLeak()
}
