package ifnet

import (
	"encoding/binary"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/sysctl"
)

func TestInterfaceTableHoldsFreeBSDsStructures(t *testing.T) {
	r := newRig(t)
	r.nic(0)
	n := r.nic(1)
	r.k.Advance(2500 * time.Millisecond)
	n.SetHWAssist(mbuf.CsumIP)
	n.SetHWAssistBits(mbuf.CsumIPTCP, mbuf.CsumIP)
	wantErr(t, "promisc", n.Promisc(true), 0)
	wantErr(t, "metric", n.Ioctl(IoctlSetMetric, 7), 0)
	n.IncCounter(CounterIPackets, 11)
	n.IncCounter(CounterNoProto, 12)
	n.IncCounter(CounterOQDrops, 13)
	path := []int32{sysctl.NumNet, sysctl.NumNetLink, 0, 2, 2, 1}
	buf := make([]byte, 1024)
	got, err := r.k.Sysctl.Sysctl(path, buf, nil, sysctl.Cred{})
	if err != nil {
		t.Fatal(err)
	}
	const ifData = 16 + 5*4 + 16
	if got != ifData+152 {
		t.Fatalf("%d bytes, want %d", got, ifData+152)
	}
	word := func(off int) int { return int(binary.LittleEndian.Uint32(buf[off:])) }
	quad := func(off int) int { return int(binary.LittleEndian.Uint64(buf[ifData+off:])) }
	if string(buf[:4]) != "em1\x00" || word(16) != 1 || word(20) != int(n.Flags()) || word(28) != 50 || word(32) != 13 {
		t.Errorf("head % x", buf[:ifData])
	}
	if buf[ifData] != 6 || buf[ifData+2] != 6 || buf[ifData+3] != 14 || word(ifData+8) != 1500 || word(ifData+12) != 7 {
		t.Errorf("if_data % x", buf[ifData:ifData+24])
	}
	for off, want := range map[int]int{16: 10_000_000, 24: 11, 24 + 10*8: 13, 24 + 11*8: 12, 120: 4, 128: 10, 136: 12, 144: 500_000} {
		if quad(off) != want {
			t.Errorf("if_data at %d: %d, want %d", off, quad(off), want)
		}
	}
	path[5] = 3
	if got, err = r.k.Sysctl.Sysctl(path, buf, nil, sysctl.Cred{}); err != nil || string(buf[:got]) != "em1\x00" {
		t.Errorf("driver name %q, %v", buf[:got], err)
	}
	path[5] = 9
	_, err = r.k.Sysctl.Sysctl(path, buf, nil, sysctl.Cred{})
	wantErr(t, "row", err, syscall.ENOENT)
	path[4] = 9
	_, err = r.k.Sysctl.Sysctl(path, buf, nil, sysctl.Cred{})
	wantErr(t, "interface", err, syscall.ENOENT)
	_, err = r.k.Sysctl.Sysctl(path[:5], buf, nil, sysctl.Cred{})
	wantErr(t, "path", err, syscall.EINVAL)
}

func TestLoopedPacketLosesItsSendTag(t *testing.T) {
	r := newRig(t)
	r.resolve()
	s := r.sink(EtherTypeIP)
	n := r.running()
	released := 0
	m := r.packet(nil, []byte("x"))
	m.Pkt.RcvIf = r.z.NewSndTag(n.Ifnet, func() { released++ })
	m.Pkt.CsumFlags = mbuf.CsumSndTag
	n.AttachTap(func(mbuf.RcvIf, *mbuf.Mbuf) { t.Error("a packet without header was shown") })
	wantErr(t, "output", n.Output(r.c, m, myself, AFInet), 0)
	r.k.RunUntilIdle()
	if released != 1 || len(s.got) != 1 {
		t.Errorf("released %d, delivered %d", released, len(s.got))
	}
	r.noLeak()
}

func TestDemuxEntersBehindTheInputSteps(t *testing.T) {
	r := newRig(t)
	s := r.sink(EtherTypeIP)
	n := r.running()
	n.Demux(r.c, r.packet(n, frame(otherMAC, []uint16{EtherTypeIP}, "ip")))
	if len(s.got) != 1 || nonzero(n.Ifnet) != "" {
		t.Errorf("delivered %d, counters %q", len(s.got), nonzero(n.Ifnet))
	}
	r.noLeak()
}
