package bpf_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	netbpf "golang.org/x/net/bpf"
)

func TestDirectionComparesTheReceivingInterface(t *testing.T) {
	for dir, want := range map[bpf.Direction]string{bpf.InOut: "io", bpf.In: "i", bpf.Out: "o"} {
		r := steppedRig(t)
		l := r.open(bpf.Config{Direction: dir})
		r.show(true, -1, addrs+"\x08\x00i")
		r.show(false, -1, addrs+"\x08\x00o")
		got := ""
		for _, p := range read(l) {
			if p.Outgoing != (p.Data[14] == 'o') {
				t.Errorf("direction of %q is wrong", p.Data[14:])
			}
			got += string(p.Data[14:])
		}
		if got != want {
			t.Errorf("direction %d: saw %q, want %q", dir, got, want)
		}
	}
}

func TestFilterAndSnapLengthDecideWhatIsKept(t *testing.T) {
	for _, tt := range []struct {
		name    string
		filter  bpf.Program
		snap    int
		want    []string
		matched uint64
	}{
		{"no filter", nil, 0, []string{ipFrame, arp}, 2},
		{"snap length", nil, 14, []string{ipFrame[:14], arp[:14]}, 2},
		{"by type", etherType(t, 0x806, 100), 0, []string{arp}, 1},
		{"filter's length", etherType(t, 0x800, 16), 0, []string{ipFrame[:16]}, 1},
		{"reject all", assemble(t, netbpf.RetConstant{Val: 0}), 0, nil, 0},
		{"reads past the packet", assemble(t, netbpf.LoadAbsolute{Off: 4000, Size: 4}, netbpf.RetConstant{Val: 1}), 0, nil, 0},
		{"length of the packet", assemble(t, netbpf.LoadExtension{Num: netbpf.ExtLen}, netbpf.RetA{}), 0, []string{ipFrame, arp}, 2},
	} {
		r := steppedRig(t)
		l := r.open(bpf.Config{Filter: tt.filter, SnapLen: tt.snap})
		r.show(true, -1, ipFrame)
		r.show(true, -1, arp[:5], arp[5:13], arp[13:])
		var got []string
		for i, p := range read(l) {
			got = append(got, string(p.Data))
			if full := len(ipFrame); i == 0 && tt.matched == 2 && p.Len != full {
				t.Errorf("%s: length on the wire %d, want %d", tt.name, p.Len, full)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: kept %q, want %q", tt.name, got, tt.want)
		}
		if s := l.Stats(); s != (bpf.Stats{Received: 2, Matched: tt.matched}) {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
}

func TestStrippedTagIsPutBackForListeners(t *testing.T) {
	for _, tci := range []int{0, 0x64, 0xe000} {
		for _, parts := range [][]string{{ipFrame}, {ipFrame[:14], ipFrame[14:]}} {
			r := steppedRig(t)
			l := r.open(bpf.Config{Filter: etherType(t, 0x8100, 1000)})
			r.show(true, tci, parts...)
			want := addrs + "\x81\x00" + string([]byte{byte(tci >> 8), byte(tci)}) + "\x08\x00payload"
			got := read(l)
			if len(got) != 1 || string(got[0].Data) != want || got[0].Len != len(want) {
				t.Errorf("tag %#x: %+v", tci, got)
			}
		}
	}
}

func TestStoreIsBoundedAndCountsWhatItDrops(t *testing.T) {
	r := steppedRig(t)
	const record = 20 + len(ipFrame)
	l := r.open(bpf.Config{BufSize: 3*record + 1})
	for range 5 {
		r.show(true, -1, ipFrame)
	}
	if s := l.Stats(); s != (bpf.Stats{Received: 5, Matched: 5, Dropped: 2}) {
		t.Errorf("%+v", s)
	}
	if got := len(read(l)); got != 3 {
		t.Errorf("read %d", got)
	}
	r.show(true, -1, ipFrame)
	if got := len(read(l)); got != 1 || l.Stats().Dropped != 2 {
		t.Errorf("after reading: %d, %+v", got, l.Stats())
	}
}

func TestBufferSizeFollowsTheSysctls(t *testing.T) {
	r := steppedRig(t)
	for _, set := range [][2]string{{"net.bpf.bufsize", "100"}, {"net.bpf.maxbufsize", "60"}} {
		bpf.Init(r.k)
		if err := r.k.Sysctl.SetText(set[0], set[1]); err != nil {
			t.Fatal(err)
		}
		l := r.open(bpf.Config{})
		for range 4 {
			r.show(true, -1, ipFrame)
		}
		size := map[string]int{"100": 100, "60": 60}[set[1]]
		if got, want := len(read(l)), size/(20+len(ipFrame)); got != want {
			t.Errorf("%s=%s: kept %d, want %d", set[0], set[1], got, want)
		}
	}
}

func TestProgramsThatTheKernelWouldRefuse(t *testing.T) {
	r := steppedRig(t)
	long := make(bpf.Program, 513)
	for i := range long {
		long[i] = netbpf.RawInstruction{Op: 0x06}
	}
	for name, p := range map[string]bpf.Program{
		"too long":            long,
		"unknown instruction": {{Op: 0xffff}, {Op: 0x06}},
		"jump out":            {{Op: 0x05, K: 7}, {Op: 0x06}},
		"no return":           {{Op: 0x00, K: 1}},
		"division by zero":    {{Op: 0x34, K: 0}, {Op: 0x06}},
	} {
		if _, err := bpf.Open(r.k, r.ifp, bpf.Config{Filter: p}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.ifp.TapOn() {
		t.Error("a refused listener listens")
	}
	l := r.open(bpf.Config{})
	if err := l.SetFilter(long); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("SetFilter: %v", err)
	}
}

func TestSetFilterStartsAgain(t *testing.T) {
	r := steppedRig(t)
	l := r.open(bpf.Config{})
	r.show(true, -1, ipFrame)
	if err := l.SetFilter(etherType(t, 0x806, 100)); err != nil {
		t.Fatal(err)
	}
	r.show(true, -1, ipFrame)
	r.show(true, -1, arp)
	if got := read(l); len(got) != 1 || string(got[0].Data) != arp || l.Stats() != (bpf.Stats{Received: 2, Matched: 1}) {
		t.Errorf("kept %d, %+v", len(got), l.Stats())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.SetFilter(nil); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("SetFilter of a closed listener: %v", err)
	}
}

func TestOptimizedWritersSeeNothingUntilTheySetAFilter(t *testing.T) {
	r := steppedRig(t)
	bpf.Init(r.k)
	if err := r.k.Sysctl.SetText("net.bpf.optimize_writers", "1"); err != nil {
		t.Fatal(err)
	}
	l := r.open(bpf.Config{})
	if r.ifp.TapOn() {
		t.Error("a writer is shown packets")
	}
	if err := l.SetFilter(nil); err != nil || !r.ifp.TapOn() {
		t.Errorf("SetFilter: %v, tapped %v", err, r.ifp.TapOn())
	}
}

func TestCloseGivesBackPromiscuousMode(t *testing.T) {
	r := steppedRig(t)
	l := r.open(bpf.Config{Promisc: true})
	if r.ifp.Flags()&ifnet.FlagPromisc == 0 || !r.ifp.TapOn() {
		t.Error("not promiscuous")
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if r.ifp.Flags()&ifnet.FlagPromisc != 0 || r.ifp.TapOn() {
		t.Error("still promiscuous or tapped")
	}
	if _, open := <-l.Ready(); open {
		t.Error("Ready is open")
	}
	gone := r.open(bpf.Config{Promisc: true})
	ifnet.EtherDetach(r.ifp)
	if err := gone.Close(); err != nil {
		t.Errorf("close after detach: %v", err)
	}
	if _, err := bpf.Open(r.k, r.ifp, bpf.Config{Promisc: true}); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("open after detach: %v", err)
	}
}

func TestReadyTellsOnceUntilRead(t *testing.T) {
	r := steppedRig(t)
	l := r.open(bpf.Config{})
	for range 3 {
		r.show(true, -1, ipFrame)
	}
	<-l.Ready()
	select {
	case <-l.Ready():
		t.Error("told twice")
	default:
	}
	n := l.Read(func(bpf.Packet) bool { return false })
	if n != 1 || len(read(l)) != 0 {
		t.Errorf("read %d", n)
	}
}

func TestCaptureFileHoldsTimesAndLengths(t *testing.T) {
	r := steppedRig(t)
	l := r.open(bpf.Config{SnapLen: 16})
	r.show(true, -1, ipFrame)
	r.k.Advance(1500 * time.Millisecond)
	r.show(false, -1, arp)
	var file bytes.Buffer
	boot := time.Unix(1_000_000, 0)
	w, err := bpf.NewPcapWriter(&file, 16, boot)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Drain(l); n != 2 || err != nil {
		t.Fatalf("drained %d, %v", n, err)
	}
	rd, err := pcapgo.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	if rd.LinkType() != layers.LinkTypeEthernet || rd.Snaplen() != 16 {
		t.Errorf("link type %v snaplen %d", rd.LinkType(), rd.Snaplen())
	}
	for _, want := range []struct {
		data string
		wire int
		at   time.Duration
	}{{ipFrame[:16], len(ipFrame), 10 * time.Second}, {arp[:16], len(arp), 11500 * time.Millisecond}} {
		data, ci, err := rd.ReadPacketData()
		if err != nil || string(data) != want.data || ci.Length != want.wire || !ci.Timestamp.Equal(boot.Add(want.at)) {
			t.Errorf("%q %+v %v, want %+v", data, ci, err, want)
		}
	}
	if _, _, err := rd.ReadPacketData(); err != io.EOF {
		t.Errorf("end: %v", err)
	}
}

// full is a file on a full disk.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(b), nil
}

func TestCaptureReportsWriteErrors(t *testing.T) {
	if _, err := bpf.NewPcapWriter(&full{}, 16, time.Time{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("header: %v", err)
	}
	r := steppedRig(t)
	l := r.open(bpf.Config{})
	r.show(true, -1, ipFrame)
	w, err := bpf.NewPcapWriter(&full{room: 24}, bpf.DefaultSnapLen, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Drain(l); n != 0 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("drained %d, %v", n, err)
	}
}

func TestManyTappersOneReader(t *testing.T) {
	r := newRig(t, kern.Threads, kern.RealClock)
	l := r.open(bpf.Config{BufSize: 1 << 16})
	const tappers, each = 3, 300
	var wg sync.WaitGroup
	for range tappers {
		wg.Go(func() {
			w := &rig{t: t, k: r.k, z: r.z, c: r.z.NewCache(), ifp: r.ifp}
			defer w.c.Close()
			for i := range each {
				w.show(i%2 == 0, i%3-1, ipFrame[:20], ipFrame[20:])
			}
		})
	}
	done := make(chan int)
	go func() {
		n := 0
		for range l.Ready() {
			n += l.Read(func(p bpf.Packet) bool { return true })
		}
		done <- n + l.Read(func(p bpf.Packet) bool { return true })
	}()
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	got := <-done
	if s := l.Stats(); s.Received != tappers*each || s.Matched != s.Received || uint64(got)+s.Dropped != s.Matched {
		t.Errorf("read %d, %+v", got, s)
	}
}

func TestTapDoesNotAllocate(t *testing.T) {
	r := steppedRig(t)
	l := r.open(bpf.Config{Filter: etherType(t, 0x800, 1000), BufSize: 1 << 10})
	m := r.c.GetCl(mbuf.FlagPktHdr)
	m.SetLen(copy(m.Room(), ipFrame))
	m.FixHdr()
	if n := testing.AllocsPerRun(100, func() { r.ifp.Tap(m) }); n != 0 {
		t.Errorf("a tap allocates %v times", n)
	}
	r.c.FreeChain(m)
	if l.Stats().Dropped == 0 {
		t.Error("the store did not fill")
	}
}

func FuzzBPFFilter(f *testing.F) {
	raw := func(p bpf.Program) (b []byte) {
		for _, i := range p {
			b = append(b, byte(i.Op>>8), byte(i.Op), i.Jt, i.Jf, byte(i.K>>24), byte(i.K>>16), byte(i.K>>8), byte(i.K))
		}
		return b
	}
	f.Add(raw(etherType(f, 0x800, 64)), []byte(ipFrame), uint16(0), false)
	f.Add(raw(assemble(f, netbpf.LoadMemShift{Off: 14}, netbpf.LoadIndirect{Off: 14, Size: 4}, netbpf.RetA{})), []byte(arp), uint16(5), true)
	f.Add(raw(assemble(f, netbpf.LoadScratch{Dst: netbpf.RegA, N: 3}, netbpf.ALUOpX{Op: netbpf.ALUOpDiv}, netbpf.RetA{})), []byte(ipFrame), uint16(9), true)
	r := steppedRig(f)
	f.Fuzz(func(t *testing.T, prog, packet []byte, tci uint16, tagged bool) {
		r.t = t
		defer func() { r.t = f }()
		var p bpf.Program
		for ; len(prog) >= 8; prog = prog[8:] {
			p = append(p, netbpf.RawInstruction{Op: uint16(prog[0])<<8 | uint16(prog[1]), Jt: prog[2], Jf: prog[3],
				K: uint32(prog[4])<<24 | uint32(prog[5])<<16 | uint32(prog[6])<<8 | uint32(prog[7])})
		}
		l, err := bpf.Open(r.k, r.ifp, bpf.Config{Filter: p})
		if err != nil {
			if !errors.Is(err, syscall.EINVAL) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		defer l.Close()
		packet = packet[:min(len(packet), 1024)]
		vtag := -1
		wire := len(packet)
		if tagged {
			vtag = int(tci)
			if wire >= 14 {
				wire += 4
			}
		}
		r.show(true, vtag, string(packet[:len(packet)/2]), string(packet[len(packet)/2:]))
		got := read(l)
		s := l.Stats()
		if s.Received != 1 || uint64(len(got)) != s.Matched-s.Dropped || s.Dropped != 0 {
			t.Fatalf("%d kept, %+v", len(got), s)
		}
		if len(got) == 1 && (got[0].Len != wire || len(got[0].Data) > wire) {
			t.Fatalf("kept %d of %d bytes on the wire, want %d", len(got[0].Data), got[0].Len, wire)
		}
	})
}
