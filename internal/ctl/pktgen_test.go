package ctl

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// gen sends frames; the machine must be able to.
func (s *Server) gen(t testing.TB, p PktgenParams) PktgenResult {
	t.Helper()
	r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &p})
	if r.Error != "" {
		t.Fatalf("pktgen %+v: %s", p, r.Error)
	}
	return *r.Pktgen
}

func (s *Server) number(t testing.TB, oid string) string {
	t.Helper()
	text, err := s.m.Kernel().Sysctl.Text(oid)
	must(t, err)
	return text
}

// eventually waits for what the receiver does in its own time.
func eventually(t testing.TB, what string, get func() uint64, want uint64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); get() != want; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s is %d, want %d", what, get(), want)
		}
	}
}

func TestPktgenSendsAlongThePathOfTheTunables(t *testing.T) {
	for _, c := range []struct{ loader, enqueues string }{
		{"net.iflib.prefer_mpring=\"1\"\n", "100"},
		{"net.iflib.prefer_mpring=\"0\"\n", "0"},
	} {
		s := serve(t, c.loader, wired)
		s.awaitLinks(t)
		r := s.gen(t, PktgenParams{Interface: "em0", Frames: 100, Size: 60})
		if r.Frames != 100 || r.Size != 60 || r.Elapsed <= 0 {
			t.Errorf("%sresult %+v", c.loader, r)
		}
		if st := s.m.Port("em0").Stats(); st.TxFrames != 100 || st.TxBytes != 100*60 {
			t.Errorf("%sthe hardware sent %d frames, %d bytes when the run had ended", c.loader, st.TxFrames, st.TxBytes)
		}
		if got := s.number(t, "dev.em.0.iflib.txq0.r_enqueues"); got != c.enqueues {
			t.Errorf("%sr_enqueues %s, want %s", c.loader, got, c.enqueues)
		}
		em1 := s.m.Ifnet("em1")
		eventually(t, "em1's ipackets", func() uint64 { return em1.GetCounter(ifnet.CounterIPackets) }, 100)
	}
}

func TestPktgenRetriesWhatIsRefusedUntilAllIsSent(t *testing.T) {
	s := serve(t, "net.iflib.prefer_mpring=\"1\"\n", alone)
	const frames = 30_000
	if r := s.gen(t, PktgenParams{Interface: "em0", Frames: frames, Size: 1514, Threads: 4}); r.Frames != frames {
		t.Errorf("%d frames", r.Frames)
	}
	l := s.m.Ctx("em0").Ledger()
	if l.Handed != frames || l.Queued != 0 || !l.Balanced() {
		t.Errorf("ledger %v", l)
	}
	if n := s.m.Port("em0").Stats().TxFrames; n != frames {
		t.Errorf("hardware sent %d", n)
	}
}

func TestPktgenKeepsTheRate(t *testing.T) {
	s := serve(t, "", alone)
	for _, threads := range []int{1, 3} {
		r := s.gen(t, PktgenParams{Interface: "em0", Frames: 300, Size: 60, Threads: threads, Rate: 3000})
		// The first frame of each thread goes at once; a slow host makes it longer only.
		if least := time.Duration(300-threads) * time.Second / 3000; r.Elapsed < least {
			t.Errorf("%d threads: 300 frames in %v, less than %v", threads, r.Elapsed, least)
		}
	}
}

// wire keeps the frames that an interface receives.
type wire struct {
	mu     sync.Mutex
	frames [][]byte
}

func (w *wire) tap(ifp mbuf.RcvIf, m *mbuf.Mbuf) {
	if m.Pkt.RcvIf != ifp {
		return
	}
	b := make([]byte, m.Pkt.Len)
	m.CopyData(0, b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, b)
}

func (w *wire) count() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return uint64(len(w.frames))
}

// Case 37: whatever the length, lengths and checksums are right.
func TestGeneratedFramesOfEveryLengthAreRight(t *testing.T) {
	s := serve(t, "", wired)
	s.awaitLinks(t)
	em1 := s.m.Ifnet("em1")
	var w wire
	defer em1.AttachTap(w.tap)()
	dst := [ifnet.EtherAddrLen]byte(em1.MAC())
	sizes := []int{60, 61, 1513, 1514}
	for size := 62; size < 1513; size += 7 {
		sizes = append(sizes, size)
	}
	for i, size := range sizes {
		s.gen(t, PktgenParams{Interface: "em0", Frames: 2, Size: size, Threads: 2, Dst: macText(dst)})
		eventually(t, "frames received", w.count, uint64(2*i+2))
	}
	ports := map[layers.UDPPort]int{}
	for i, b := range w.frames {
		if len(b) != sizes[i/2] {
			t.Fatalf("frame %d has %d bytes, want %d", i, len(b), sizes[i/2])
		}
		ports[checkFrame(t, b, dst, s.m.Ifnet("em0").MAC())]++
	}
	if ports[2000] != len(sizes) || ports[2001] != len(sizes) || len(ports) != 2 {
		t.Errorf("source ports %v", ports)
	}
	if n := em1.GetCounter(ifnet.CounterIErrors); n != 0 {
		t.Errorf("%d receive errors", n)
	}
}

// checkFrame compares a frame with what gopacket makes of its fields, and returns its
// source port.
func checkFrame(t *testing.T, b []byte, dst, src [ifnet.EtherAddrLen]byte) layers.UDPPort {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	eth, _ := p.LinkLayer().(*layers.Ethernet)
	ip, _ := p.NetworkLayer().(*layers.IPv4)
	udp, _ := p.TransportLayer().(*layers.UDP)
	if eth == nil || ip == nil || udp == nil || p.ErrorLayer() != nil {
		t.Fatalf("frame of %d bytes is %v", len(b), p)
	}
	if !slices.Equal(eth.DstMAC, dst[:]) || !slices.Equal(eth.SrcMAC, src[:]) {
		t.Errorf("frame from %v to %v", eth.SrcMAC, eth.DstMAC)
	}
	if int(ip.Length) != len(b)-14 || int(udp.Length) != len(b)-34 || udp.Checksum == 0 {
		t.Errorf("frame of %d bytes: IP length %d, UDP length %d, UDP checksum %#x", len(b), ip.Length, udp.Length, udp.Checksum)
	}
	must(t, udp.SetNetworkLayerForChecksum(ip))
	out := gopacket.NewSerializeBuffer()
	must(t, gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		eth, ip, udp, gopacket.Payload(udp.Payload)))
	if !slices.Equal(out.Bytes(), b) {
		t.Errorf("frame\n%x, should be\n%x", b, out.Bytes())
	}
	return udp.SrcPort
}

func macText(mac [ifnet.EtherAddrLen]byte) string {
	var b strings.Builder
	for i, x := range mac {
		if i > 0 {
			b.WriteByte(':')
		}
		const digits = "0123456789abcdef"
		b.WriteByte(digits[x>>4])
		b.WriteByte(digits[x&0xf])
	}
	return b.String()
}

func TestAUDPChecksumOfZeroIsSentAsOnes(t *testing.T) {
	var all, zero int
	for flow := range 1 << 16 {
		f := newFrame(MinFrame, flow-firstPort, ifnet.EtherBroadcast, [6]byte{2})
		all++
		if binary.BigEndian.Uint16(f[udpAt+6:]) == 0 {
			zero++
		}
	}
	if all != 1<<16 || zero != 0 {
		t.Errorf("%d of %d frames say that they have no checksum", zero, all)
	}
}

func TestPktgenRefusesWhatItCannotSend(t *testing.T) {
	s := serve(t, "", alone)
	for _, c := range []struct {
		p    PktgenParams
		want string
	}{
		{PktgenParams{Interface: "em9", Frames: 1, Size: 60}, "em9: no such interface"},
		{PktgenParams{Interface: "em0", Frames: 0, Size: 60}, "em0: 0 frames: 1 to 1099511627776"},
		{PktgenParams{Interface: "em0", Frames: math.MaxUint64, Size: 60}, "em0: 18446744073709551615 frames: 1 to 1099511627776"},
		{PktgenParams{Interface: "em0", Frames: 1, Size: 59}, "em0: frames of 59 bytes: 60 to 1514 with an MTU of 1500"},
		{PktgenParams{Interface: "em0", Frames: 1, Size: 1515}, "em0: frames of 1515 bytes: 60 to 1514 with an MTU of 1500"},
		{PktgenParams{Interface: "em0", Frames: 1, Size: 60, Threads: 65}, "em0: 65 threads: 1 to 64"},
		{PktgenParams{Interface: "em0", Frames: 1, Size: 60, Threads: -1}, "em0: -1 threads: 1 to 64"},
		{PktgenParams{Interface: "em0", Frames: 1, Size: 60, Rate: -1}, "em0: rate -1: not a number of frames a second"},
		{PktgenParams{Interface: "em0", Frames: 1, Size: 60, Dst: "1:2"}, `em0: destination "1:2": not an Ethernet address`},
	} {
		if r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &c.p}); r.Error != c.want || r.Exit != 1 {
			t.Errorf("%+v: %q, want %q", c.p, r.Error, c.want)
		}
	}
	s.ask(t, Request{Command: CommandIfconfig, Args: []string{"em0", "down"}})
	r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: 3, Size: 60}})
	if want := "em0: the interface is down (0 of 3 frames sent)"; r.Error != want {
		t.Errorf("%q, want %q", r.Error, want)
	}
}

func TestAnInterfaceThatGoesDownEndsTheRun(t *testing.T) {
	s := serve(t, "", alone)
	ended := make(chan Reply)
	go func() {
		r, err := Do(context.Background(), s.path(), Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: MaxFrames, Size: 60, Threads: 2}})
		if err != nil {
			r.Error = err.Error()
		}
		ended <- r
	}()
	awaitFrames(t, s, 100)
	if r := s.ask(t, Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: 1, Size: 60}}); r.Error != "em0: another pktgen sends: Device busy" {
		t.Errorf("a second pktgen: %q", r.Error)
	}
	s.ask(t, Request{Command: CommandIfconfig, Args: []string{"em0", "down"}})
	if r := <-ended; !strings.HasPrefix(r.Error, "em0: Network is down (") {
		t.Errorf("error %q", r.Error)
	}
}

func TestAClientThatLeavesEndsItsRun(t *testing.T) {
	s := serve(t, "", alone)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := Do(ctx, s.path(), Request{Command: CommandPktgen, Pktgen: &PktgenParams{Interface: "em0", Frames: MaxFrames, Size: 60}})
		ended <- err
	}()
	awaitFrames(t, s, 1)
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("the client sees %v", err)
	}
	// The NIC is free again when the run has ended.
	eventually(t, "runs", func() uint64 {
		s.sending.mu.Lock()
		defer s.sending.mu.Unlock()
		return uint64(len(s.sending.nics))
	}, 0)
}

func TestSendingAllocatesNothing(t *testing.T) {
	s := serve(t, "", alone)
	s.awaitLinks(t)
	g, err := s.newGenerator(PktgenParams{Interface: "em0", Frames: 1, Size: 1514})
	must(t, err)
	snd := g.newSender(0)
	snd.cache = g.ifp.Zones().NewCache()
	defer snd.cache.Close()
	warm := func(n int) {
		for range n {
			if err := snd.send(); err != nil {
				t.Fatal(err)
			}
		}
	}
	warm(5000)
	// The rest of the process may allocate now and then: once without counts.
	const attempts = 5
	for range attempts {
		if testing.AllocsPerRun(20, func() { warm(100) }) == 0 {
			return
		}
	}
	t.Errorf("allocations in each of %d times 2000 packets", attempts)
}
