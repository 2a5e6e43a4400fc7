package tcpdump8_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

const (
	quiet     = "tcpdump: verbose output suppressed, use -v[v]... for full protocol decode\n"
	listening = "listening on em0, link-type EN10MB (Ethernet), snapshot length 262144 bytes\n"
)

// counts are the last three lines.
func counts(captured, received, dropped string) string {
	return captured + " captured\n" + received + " received by filter\n" + dropped + " dropped by kernel\n"
}

func TestPacketsAreShownUntilTheCountIsReached(t *testing.T) {
	b := newBench(t)
	stdout, stderr, exit := b.run("-i em0 -nt -c 2 udp port 7", b.in(udp(t, 7, 9, 18), udp(t, 8, 9, 18), udp(t, 9, 7, 1), udp(t, 7, 7, 1)))
	want := "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\nIP 10.0.0.2.9 > 10.0.0.1.7: UDP, length 1\n"
	if stdout != want || stderr != quiet+listening+counts("2 packets", "4 packets", "0 packets") || exit != 0 {
		t.Errorf("%q %q %d", stdout, stderr, exit)
	}
	if b.nic.TapOn() || b.nic.Flags()&ifnet.FlagPromisc != 0 {
		t.Error("the interface is still listened on")
	}
}

func TestInterruptedCaptureHasItsCounts(t *testing.T) {
	b := newBench(t)
	stdout, stderr, exit := b.run("-i em0 -t", b.in(udp(t, 7, 9, 18)))
	if stdout != "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\n\n" || stderr != quiet+listening+counts("1 packet", "1 packet", "0 packets") || exit != 0 {
		t.Errorf("%q %q %d", stdout, stderr, exit)
	}
	stdout, stderr, exit = b.run("-vi em0 -t")
	if stdout != "\n" || stderr != "tcpdump: "+listening+counts("0 packets", "0 packets", "0 packets") || exit != 0 {
		t.Errorf("%q %q %d", stdout, stderr, exit)
	}
}

func TestPromiscuousModeLastsAsLongAsTheCapture(t *testing.T) {
	b := newBench(t)
	for line, want := range map[string]bool{"-i em0": true, "-p -i em0": false} {
		during := false
		b.run(line, func() { during = b.nic.Flags()&ifnet.FlagPromisc != 0 })
		if during != want || b.nic.Flags()&ifnet.FlagPromisc != 0 || b.nic.TapOn() {
			t.Errorf("%s: promiscuous %v; afterwards flags %#x", line, during, b.nic.Flags())
		}
	}
}

func TestDirectionTagsAndSnapLength(t *testing.T) {
	b := newBench(t)
	in, out := udp(t, 7, 9, 18), udp(t, 9, 7, 18)
	for _, tt := range []struct{ line, want string }{
		{"-t -Q in -i em0", "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\n\n"},
		{"-t -Q out -i em0", "IP 10.0.0.2.9 > 10.0.0.1.7: UDP, length 18\n\n"},
		{"-t -Q inout -i em0 dst port 9", "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\n\n"},
		{"-te -i em0 vlan 5", "02:00:00:00:00:09 > 02:00:00:00:00:01, ethertype 802.1Q (0x8100), length 64: vlan 5, p 1, ethertype IPv4 (0x0800), 10.0.0.2.9 > 10.0.0.1.7: UDP, length 18\n\n"},
		{"-t -s 20 -i em0 -Q in", "IP  [|ip]\n\n"},
	} {
		tag := -1
		if strings.Contains(tt.line, "vlan") {
			tag = 1<<13 | 5
		}
		if stdout, stderr, _ := b.run(tt.line, func() { b.in(in)(); b.out(out, tag)() }); stdout != tt.want {
			t.Errorf("%s: %q, want %q (%q)", tt.line, stdout, tt.want, stderr)
		}
	}
}

func TestInterfaceThatDisappearsEndsTheCapture(t *testing.T) {
	b := newBench(t)
	for i, flags := range []string{"-ti", "-pti"} {
		name := fmt.Sprintf("em%d", i+1)
		nic := b.NIC("em", i+1, fmt.Sprintf("10.0.%d.1/24", i+1))
		stdout, stderr, exit := b.run(flags+" "+name, func() {
			nic.Input(udp(t, 7, 9, 18))
			ifnet.EtherDetach(nic.Ifnet)
		})
		want := quiet + strings.Replace(listening, "em0", name, 1) + "tcpdump: pcap_loop: The interface disappeared\n" + counts("1 packet", "1 packet", "0 packets")
		if stdout != "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\n" || stderr != want || exit != 1 {
			t.Errorf("%q %q %d", stdout, stderr, exit)
		}
	}
}

func TestRenamedInterfaceIsStillListenedOn(t *testing.T) {
	b := newBench(t)
	stdout, _, exit := b.run("-i em0 -t", func() {
		if err := b.nic.Ioctl(ifnet.IoctlSetName, "wan0"); err != nil {
			t.Fatal(err)
		}
		b.in(udp(t, 7, 9, 18))()
	})
	if stdout != "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\n\n" || exit != 0 {
		t.Errorf("%q %d", stdout, exit)
	}
}

// A client that does not take its output is a Flush that takes long.
func TestSlowClientLosesPacketsCountedAndStallsNobody(t *testing.T) {
	b := newBench(t)
	frame := udp(t, 7, 9, 958) // 1000 bytes, and 20 of a record's header
	many := func(n int) func() {
		return func() {
			for range n {
				b.nic.Input(frame)
			}
		}
	}
	stdout, stderr, exit := b.run("-i em0 -t -B 10", many(25), many(12))
	if n := strings.Count(stdout, "UDP"); n != 20 {
		t.Errorf("%d packets shown", n)
	}
	if want := quiet + listening + counts("20 packets", "37 packets", "17 packets"); stderr != want || exit != 0 {
		t.Errorf("%q %d, want %q", stderr, exit, want)
	}
}

func TestOutputIsSentInBoundedParts(t *testing.T) {
	b := newBench(t)
	frame := udp(t, 7, 9, 1400)
	var sizes []int
	o := &parts{sizes: &sizes}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := false
	exit := tcpdump8.Run(ctx, b.K, strings.Fields("-i em0 -t -XX -c 120"), tool.IO{Stdout: o, Stderr: io.Discard, Flush: func() {
		o.flush()
		if !started {
			started = true
			for range 120 {
				b.nic.Input(frame)
			}
		}
	}})
	o.flush()
	total := 0
	for _, n := range sizes {
		total += n
		if n > 300<<10 {
			t.Errorf("%d bytes at once", n)
		}
	}
	if exit != 0 || total < 120*4*len(frame) || len(sizes) < 4 {
		t.Errorf("%d parts of %d bytes, exit status %d", len(sizes), total, exit)
	}
}

// parts counts what is written between two flushes.
type parts struct {
	n     int
	sizes *[]int
}

func (p *parts) Write(b []byte) (int, error) {
	p.n += len(b)
	return len(b), nil
}

func (p *parts) flush() {
	*p.sizes = append(*p.sizes, p.n)
	p.n = 0
}

func TestInterfaceThatCannotBePromiscuousIsCapturedAnyway(t *testing.T) {
	b := newBench(t)
	plain := b.NIC("em", 3, "10.0.3.1/24")
	plain.SetMethods(ifnet.Methods{Ioctl: func(ifnet.Ioctl, any) error { return syscall.EINVAL }})
	stdout, stderr, exit := b.run("-i em3 -t -c 1", func() { plain.Input(udp(t, 7, 9, 18)) })
	want := "tcpdump: WARNING: em3: That device doesn't support promiscuous mode\n(BIOCPROMISC: Invalid argument)\n" +
		quiet + strings.Replace(listening, "em0", "em3", 1) + counts("1 packet", "1 packet", "0 packets")
	if stdout != "IP 10.0.0.2.7 > 10.0.0.1.9: UDP, length 18\n" || stderr != want || exit != 0 {
		t.Errorf("%q %q %d", stdout, stderr, exit)
	}
}

func TestCaptureFileIsPcapng(t *testing.T) {
	b := newBench(t)
	frames := [][]byte{udp(t, 7, 9, 18), udp(t, 7, 9, 100)}
	before := time.Now()
	stdout, stderr, exit := b.run("-i em0 -w - -s 90 -c 2 udp", func() {
		b.in(frames[0])()
		b.K.Advance(1_000_000_001)
		b.in(frames[1])()
	})
	if want := "tcpdump: " + strings.Replace(listening, "262144", "90", 1) + counts("2 packets", "2 packets", "0 packets"); stderr != want || exit != 0 {
		t.Errorf("%q %d", stderr, exit)
	}
	var stats pcapgo.NgInterfaceStatistics
	r, err := pcapgo.NewNgReader(strings.NewReader(stdout), pcapgo.NgReaderOptions{StatisticsCallback: func(_ int, s pcapgo.NgInterfaceStatistics) { stats = s }})
	if err != nil {
		t.Fatal(err)
	}
	ifc, err := r.Interface(0)
	if err != nil || ifc.Name != "em0" || ifc.SnapLength != 90 || ifc.LinkType != layers.LinkTypeEthernet || !strings.HasSuffix(ifc.Filter, "udp") || ifc.TimestampResolution != 9 {
		t.Errorf("interface %+v, %v", ifc, err)
	}
	var times []time.Time
	for _, f := range frames {
		data, ci, err := r.ReadPacketData()
		if err != nil || !bytes.Equal(data, f[:min(90, len(f))]) || ci.Length != len(f) {
			t.Errorf("%x %+v %v", data, ci, err)
		}
		times = append(times, ci.Timestamp)
		if p := gopacket.NewPacket(data, r.LinkType(), gopacket.Default); p.Layer(layers.LayerTypeUDP) == nil {
			t.Errorf("not UDP: %v", p)
		}
	}
	if _, _, err := r.ReadPacketData(); err != io.EOF {
		t.Errorf("end: %v", err)
	}
	if d := times[1].Sub(times[0]); d != 1_000_000_001 {
		t.Errorf("%v between the packets", d)
	}
	if d := times[0].Sub(before); d < -time.Second || d > time.Minute {
		t.Errorf("the first packet is %v after the start", d)
	}
	if stats.PacketsReceived != 2 || stats.PacketsDropped != 0 {
		t.Errorf("counts %+v", stats)
	}
}

func TestFilesOfACommandLine(t *testing.T) {
	for _, tt := range []struct{ line, read, write, remote string }{
		{"-i em0 udp", "", "", "-i em0 udp"},
		{"-r f", "f", "", "-r f"},
		{"-i em0 -w f udp port 7", "", "f", "-i em0 -w f -w - udp port 7"},
		{"-i em0 -nwf -- -w", "", "f", "-i em0 -nwf -w - -- -w"},
		{"-w -", "", "-", "-w -"},
		{"-w f -D", "", "f", "-w f -D"},
		{"-r a -w b", "a", "b", "-r a -w b -w -"},
	} {
		f, err := tcpdump8.FilesOf(strings.Fields(tt.line))
		if err != nil || f.Read != tt.read || f.Write != tt.write || strings.Join(f.Remote, " ") != tt.remote {
			t.Errorf("%s: %+v, %v", tt.line, f, err)
		}
	}
	if _, err := tcpdump8.FilesOf([]string{"-Z"}); err == nil {
		t.Error("no error")
	}
}
