package red

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
)

// Vector V5 of spec altq 6.1.
func TestDefaults(t *testing.T) {
	const fast = 1 // microsecond a packet: weight 512
	r := New(Params{PktTime: fast})
	if r.timing.weight != 512 || r.avg.minTh != 10485760 || r.avg.maxTh != 31457280 || r.avg.probD != 819200 {
		t.Errorf("weight %d, thresholds %d and %d, probability %d", r.timing.weight, r.avg.minTh, r.avg.maxTh, r.avg.probD)
	}
	if want := []uint64{4088, 4080, 4064, 4032, 3969, 3845, 3609, 3179, 2467, 1485, 538, 70, 1, 0}; !slices.Equal(r.decay.pow, want) {
		t.Errorf("decay %d, want %d", r.decay.pow, want)
	}
	for n, want := range map[uint64]uint64{0: 4096, 10: 4016, 100: 3360, 500: 1521, 1000: 564, 4000: 1, 8192: 0, 1 << 40: 0} {
		if got := r.decay.of(n); got != want {
			t.Errorf("decay over %d: %d, want %d", n, got, want)
		}
	}
}

// Vector V6: the weight follows from the time of a packet.
func TestWeightFollowsFromThePacketTime(t *testing.T) {
	for us, want := range map[int64]uint64{20033: 64, 19966: 128, 3333: 512, 3332: 512, 3334: 128, 800: 512, 0: 512, 1_000_000_000: 64} {
		if got := newTiming(us).weight; got != want {
			t.Errorf("%d us: weight %d, want %d", us, got, want)
		}
	}
}

// Scenario R1 of spec altq 6.2: with the average at L packets a share of (L-5)/100 is
// dropped.
func TestDropShareFollowsTheAverage(t *testing.T) {
	const warmup = 20_000
	arrivals := 1_000_000
	if testing.Short() {
		arrivals /= 20
	}
	for _, row := range []struct {
		held int
		want float64
	}{{4, 0}, {5, 0}, {6, 0.01}, {8, 0.03}, {10, 0.05}, {12, 0.07}, {14, 0.09}, {15, 1}, {20, 1}} {
		t.Run(fmt.Sprint(row.held), func(t *testing.T) {
			b := newBed(t, New(Params{Seed: 1}))
			dropped := 0
			for i := range warmup + arrivals {
				b.hold(row.held)
				if !b.p.Add(&b.ClassQueue, b.frame(), b.now, b.drops) && i >= warmup {
					dropped++
				}
			}
			altqtest.Within(t, "share dropped", float64(dropped)/float64(arrivals), row.want, 0.003)
		})
	}
}

// ipv4 is a header with a valid checksum.
func ipv4(tos byte) []byte {
	h := []byte{0x45, tos, 0, 100, 1, 2, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 192, 168, 3, 4}
	binary.BigEndian.PutUint16(h[10:], ^sum(h))
	return h
}

func sum(b []byte) uint16 {
	var s uint32
	for i := 0; i < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	return uint16(s&0xffff + s>>16)
}

// ipv6 is a header of a traffic class.
func ipv6(class byte) []byte {
	h := make([]byte, 40)
	h[0], h[1] = 0x60|class>>4, class<<4
	return h
}

// Scenario R5: ECN marks who can be marked, as often as the others are dropped.
func TestECNMarksInsteadOfDropping(t *testing.T) {
	arrivals := 1_000_000
	if testing.Short() {
		arrivals /= 20
	}
	for _, row := range []struct {
		name            string
		header          []byte
		marked, dropped float64
	}{
		{"ECT(0)", ipv4(2), 0.05, 0}, {"ECT(1) over IPv6", ipv6(1), 0.05, 0}, {"not ECT", ipv4(0), 0, 0.05}, {"not IP", nil, 0, 0.05},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := New(Params{ECN: true, Seed: 2})
			b := newBed(t, r)
			const warmup = 20_000
			dropped := 0
			for i := range warmup + arrivals {
				if i == warmup {
					r.stats = altq.REDStats{}
					dropped = 0
				}
				b.hold(10)
				if !r.Add(&b.ClassQueue, b.frame(row.header...), b.now, b.drops) {
					dropped++
				}
			}
			altqtest.Within(t, "share marked", float64(r.stats.Marked)/float64(arrivals), row.marked, 0.003)
			altqtest.Within(t, "share dropped", float64(dropped)/float64(arrivals), row.dropped, 0.003)
		})
	}
}

func TestMarkingKeepsTheHeaderValid(t *testing.T) {
	b := newBed(t, nil)
	for tos := range 256 {
		for _, h := range [][]byte{ipv4(byte(tos)), ipv6(byte(tos))} {
			m := b.frame(h...)
			ok := markECN(m)
			got := m.Bytes()[14:]
			class := got[1]
			if got[0]>>4 == 6 {
				class = got[0]<<4 | got[1]>>4
			} else if s := sum(got[:20]); s != 0xffff {
				t.Errorf("tos %#x: checksum off, sum %#x", tos, s)
			}
			want, wantOK := byte(tos)|3, true
			if tos&3 == 0 {
				want, wantOK = byte(tos), false
			}
			if class != want || ok != wantOK {
				t.Errorf("traffic class %#x became %#x (%v), want %#x (%v)", tos, class, ok, want, wantOK)
			}
			b.cache.FreeChain(m)
		}
	}
}

func TestMarkingLeavesAlone(t *testing.T) {
	b := newBed(t, nil)
	m := b.frame(ipv4(2)...)
	m.QID = 0
	if markECN(m) {
		t.Error("a packet that pf has not seen was marked")
	}
	b.cache.FreeChain(m)
	for n := range 20 {
		m := b.frame(ipv4(2)[:n]...)
		if markECN(m) {
			t.Errorf("%d bytes of a header were marked", n)
		}
		b.cache.FreeChain(m)
	}
	m = b.cache.GetCl(2) // a packet with a cluster
	m.QID = 1
	b.cache.Append(m, append([]byte{12: 8, 13: 0}, ipv4(2)...))
	m.FixHdr()
	other := b.cache.CopyPacket(m)
	if markECN(m) || m.Bytes()[15] != 2 {
		t.Error("a header shared with another packet was marked")
	}
	b.cache.FreeChain(other)
	if !markECN(m) {
		t.Error("a header that is not shared any more was not marked")
	}
	b.cache.FreeChain(m)
}

// An idle queue forgets, by 511/512 for each packet that could have gone.
func TestIdleQueueForgets(t *testing.T) {
	for _, row := range []struct {
		idle altq.Time
		want uint64
	}{
		{0, 100 << 12}, {800, 100 << 12}, {2 * 800, 100 * 4088}, {11 * 800, 100 * 4016}, {1001 * 800, 100 * 564}, {61_000_000, 0},
	} {
		r := New(Params{})
		b := newBed(t, r)
		r.avg.idle, r.avg.avg = false, 100<<12
		if r.Get(&b.ClassQueue, b.now, b.drops) != nil {
			t.Fatal("a packet from nowhere")
		}
		r.avg.arrive(b.now+row.idle<<altq.MachClkShift, 0, r.timing, r.decay, 1)
		if got, want := r.avg.avg, row.want-row.want>>r.timing.shift; got != want {
			t.Errorf("after %d us: %d, want %d", row.idle, got, want)
		}
	}
}

// RIO drops as RED with thresholds of 35 and 45 (quirk Q1), by the packets that came
// through it.
func TestRIOJudgesByTheLowestPrecedence(t *testing.T) {
	const arrivals = 30_000
	for _, row := range []struct {
		held int
		want float64
	}{{34, 0}, {35, 0}, {40, 0.05}, {44, 0.09}, {45, 1}} {
		t.Run(fmt.Sprint(row.held), func(t *testing.T) {
			r := NewRIO(0, 1)
			b := newBed(t, r)
			dropped := 0
			for range 2 * arrivals {
				for b.Len() > row.held {
					b.cache.FreeChain(r.Get(&b.ClassQueue, b.now, b.drops))
				}
				if !r.Add(&b.ClassQueue, b.frame(), b.now, b.drops) {
					dropped++
				}
			}
			var s altq.ClassStats
			r.Stats(&s)
			if len(s.RED) != 3 || s.RED[0].Drop.Packets != uint64(dropped) || s.RED[1].QAvg != s.RED[0].QAvg {
				t.Errorf("%d dropped, %+v", dropped, s.RED)
			}
			if row.want == 1 { // the average stays where nothing is dropped by force
				if s.RED[0].DropForced == 0 {
					t.Error("no forced drops")
				}
				return
			}
			altqtest.Within(t, "share dropped", float64(dropped)/(2*arrivals), row.want, 0.005)
			altq.Purge(r, &b.ClassQueue, nil, b.drops)
			if r.prec[0].qlen != 0 {
				t.Errorf("%d packets after a purge", r.prec[0].qlen)
			}
		})
	}
}
