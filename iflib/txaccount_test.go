package iflib_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// plain sends a packet without any request and returns what Transmit said.
func (w *wire) plain(n int, cut ...shapes.Piece) error {
	w.t.Helper()
	dst, src := w.macs()
	return w.ifp[0].Transmit(w.mbuf(shapes.Raw(dst, src, make([]byte, n-shapes.EtherHdr), -1, false), cut))
}

// TestPacketsWithoutHashChooseTheQueueByPath is case 3: the first queue on the mp_ring
// path, the last with simple_tx.
func TestPacketsWithoutHashChooseTheQueueByPath(t *testing.T) {
	for _, kind := range someKinds() {
		for _, path := range paths {
			t.Run(kind.chip+"/"+path.name, func(t *testing.T) {
				w := newWire(t, wireConfig{kind: kind, path: path, ncpu: 4})
				w.up()
				n := w.ctx[0].NTxqs()
				if kind.driver != "em" && n != 4 {
					t.Fatalf("%d queues on 4 CPUs", n)
				}
				want := 0
				if path.simple {
					want = n - 1
				}
				dst, src := w.macs()
				p := shapes.Raw(dst, src, make([]byte, 100), -1, false)
				for range 5 {
					m := w.mbuf(p, nil)
					m.Pkt.RSSType, m.Pkt.FlowID = mbuf.HashNone, 1
					w.must(w.ifp[0].Transmit(m))
					w.settle()
				}
				for q := range n {
					if used := w.ctx[0].TxqState(q).Pidx; (used != 0) != (q == want) {
						t.Errorf("queue %d of %d used %d descriptors, want them all on %d", q, n, used, want)
					}
				}
				before := w.queueUse()
				m := w.mbuf(p, nil)
				m.Pkt.RSSType, m.Pkt.FlowID = mbuf.HashOpaque, uint32(n+1)
				w.must(w.ifp[0].Transmit(m))
				w.settle()
				for q, used := range w.queueUse() {
					if (used != before[q]) != (q == 1%n) {
						t.Errorf("flow %d of %d queues: queue %d went from %d to %d", n+1, n, q, before[q], used)
					}
				}
			})
		}
	}
}

func (w *wire) queueUse() []int {
	use := make([]int, w.ctx[0].NTxqs())
	for q := range use {
		use[q] = int(w.ctx[0].TxqState(q).Pidx)
	}
	return use
}

// TestPacketIsRefusedWhileDown is the first part of case 6: ENETDOWN, and the packet is
// freed, while the interface is down and while there is no link.
func TestPacketIsRefusedWhileDown(t *testing.T) {
	for _, kind := range someKinds() {
		for _, path := range paths {
			t.Run(kind.chip+"/"+path.name, func(t *testing.T) {
				w := newWire(t, wireConfig{kind: kind, path: path})
				refused := func(want uint64) {
					t.Helper()
					held := w.zones.Usage()
					if err := w.plain(100); !errors.Is(err, syscall.ENETDOWN) {
						t.Errorf("error %v, want ENETDOWN", err)
					}
					if got := w.zones.Usage(); got != held {
						t.Errorf("in use %+v, before %+v", got, held)
					}
					if l := w.ctx[0].Ledger(); l.Down != want || l.In != want || l.Handed != 0 {
						t.Errorf("ledger %s", l)
					}
				}
				refused(1)
				w.up()
				cable := w.Port(w.name(0)).(*pair.Port)
				cable.SetLink(false)
				w.advance(linkTime)
				refused(2)
				cable.SetLink(true)
				w.advance(linkTime)
				w.must(w.plain(100))
				w.settle()
				if got := len(w.take(1)); got != 1 {
					t.Errorf("%d frames arrive after the cable was plugged in again", got)
				}
			})
		}
	}
}

// TestFullRingRefusesAndCounts is the second part of case 6: while the hardware stands
// still packets are taken until the queue is full, then refused with ENOBUFS, freed and
// counted.
func TestFullRingRefusesAndCounts(t *testing.T) {
	const size = 128
	for _, kind := range someKinds() {
		for _, path := range paths {
			t.Run(kind.chip+"/"+path.name, func(t *testing.T) {
				knob := fmt.Sprintf("dev.%s.0.iflib.override_ntxds", kind.driver)
				w := newWire(t, wireConfig{kind: kind, path: path, env: map[string]string{knob: fmt.Sprintf("%d,%d", size, size)}})
				w.up()
				stuck := fmt.Sprintf("debug.fail_point.hw.%s.stuck_head", w.name(0))
				w.set(stuck, "return(1)")
				taken, refused := uint64(0), uint64(0)
				const most = 3000
				for range most {
					switch err := w.plain(60); {
					case err == nil:
						taken++
					case errors.Is(err, syscall.ENOBUFS):
						refused++
					default:
						t.Fatalf("error %v", err)
					}
					w.k.RunUntilIdle()
				}
				l := w.ctx[0].Ledger()
				drops := l.RingFull
				if path.simple {
					drops = l.NoDesc
				}
				if refused == 0 || drops != refused || l.In != taken+refused || !l.Balanced() || l.Handed >= size {
					t.Errorf("taken %d, refused %d: ledger %s", taken, refused, l)
				}
				if got := w.ifp[0].GetCounter(ifnet.CounterOQDrops); got != refused {
					t.Errorf("%d output queue drops, want %d", got, refused)
				}
				if got := w.ifp[0].GetCounter(ifnet.CounterOErrors); got != 0 {
					t.Errorf("%d output errors", got)
				}
				w.unsent = true // a reset forgets them
			})
		}
	}
}

// captureSeesEachSentPacketOnce is the third part of case 6.
func captureSeesEachSentPacketOnce(t *testing.T, w *wire) {
	l, err := bpf.Open(w.k, w.ifp[0], bpf.Config{Direction: bpf.Out, BufSize: 1 << 16})
	w.must(err)
	defer func() { w.must(l.Close()) }()
	var want [][]byte
	for i := range 40 {
		s := shapes.Spec{Payload: shapes.Random(uint64(i), 100+i), TCI: i, Inline: i%2 == 1, Offload: shapes.OffloadIP | shapes.OffloadL4}
		p := w.packet(s)
		w.cross(p, shapes.Pieces(shapes.EtherHdr, 30, 30))
		seen := p.Data
		if !s.Inline {
			seen = shapes.Tagged(seen, uint16(i))
		}
		want = append(want, seen)
	}
	var got [][]byte
	for l.Read(func(p bpf.Packet) bool { got = append(got, bytes.Clone(p.Data)); return true }) > 0 {
		continue
	}
	if len(got) != len(want) {
		t.Fatalf("%d packets captured, want %d", len(got), len(want))
	}
	for i := range got {
		// The sums of the headers may already be what the hardware wants.
		if len(got[i]) != len(want[i]) || !bytes.Equal(got[i][:shapes.VLANHdr], want[i][:shapes.VLANHdr]) {
			t.Errorf("packet %d: captured\n%x, sent\n%x", i, got[i], want[i])
		}
	}
}

// TestFinishedPacketsStayUntilThereAreMore is case 10: em keeps 40 descriptors back.
func TestFinishedPacketsStayUntilThereAreMore(t *testing.T) {
	const reserve = 40
	for _, kind := range someKinds() {
		if kind.driver != "em" {
			continue
		}
		for _, path := range paths {
			t.Run(kind.chip+"/"+path.name, func(t *testing.T) {
				w := newWire(t, wireConfig{kind: kind, path: path})
				w.up()
				send := func(n int) {
					for range n {
						w.must(w.plain(100))
						w.settle()
					}
					w.advance(linkTime)
				}
				send(5)
				w.wantText("iflib.txq0.txq_in_use", "5", "iflib.txq0.txq_cleaned", "0")
				send(55)
				s := w.ctx[0].TxqState(0)
				if s.Cleaned != s.Processed-reserve || s.Cleaned == 0 || uint64(s.InUse) != 60-s.Cleaned {
					t.Errorf("after 60 packets: %+v", s)
				}
				if l := w.ctx[0].Ledger(); l.Handed != 60 {
					t.Errorf("ledger %s", l)
				}
			})
		}
	}
}

// TestRareEventsAreCountedOnce is case 12.
func TestRareEventsAreCountedOnce(t *testing.T) {
	for _, path := range paths {
		t.Run(path.name, func(t *testing.T) {
			w := newWire(t, wireConfig{kind: kinds[0], path: path})
			w.up()
			s := shapes.Spec{Payload: shapes.Random(1, 500), TCI: -1, Offload: shapes.OffloadL4, Flags: shapes.TCPAck}
			p := w.packet(s)
			p.Flow = 0
			w.cross(p, shapes.Pieces(14, 40)) // 18 bytes are wanted, the whole of the next buffer is pulled up
			w.wantText("iflib.txq0.m_pullups", "1", "iflib.txq0.mbuf_defrag", "0")
			w.cross(p, shapes.Pieces(14, 6, 34)) // 18, then 34
			w.wantText("iflib.txq0.m_pullups", "3")
			w.cross(p, shapes.Pieces(54))

			// 60 shared buffers can only be merged in pairs, into new clusters; the first
			// is refused, and then the whole packet is copied.
			send := func(fault string) error {
				cut := make([]shapes.Piece, 60)
				for i := range cut {
					cut[i] = shapes.Piece{N: 20, Cluster: true}
				}
				dst, src := w.macs()
				m := w.mbuf(shapes.Raw(dst, src, shapes.Random(2, 1200-shapes.EtherHdr), -1, false), cut)
				n := w.cache.CopyPacket(m)
				n.Pkt.FlowID = 0
				defer w.cache.FreeChain(m)
				w.set("debug.fail_point.mbuf.cluster", fault)
				err := w.ifp[0].Transmit(n)
				w.settle()
				w.set("debug.fail_point.mbuf.cluster", "off")
				return err
			}
			w.must(send("1*return(1)"))
			w.wantText("iflib.txq0.mbuf_defrag", "1", "iflib.txq0.mbuf_defrag_failed", "0", "iflib.txq0.tx_map_failed", "0")
			if got := w.take(1); len(got) != 1 || !bytes.Equal(got[0].data[shapes.EtherHdr:], shapes.Random(2, 1200-shapes.EtherHdr)) {
				t.Errorf("the packet has not arrived: %d frames", len(got))
			}
			err := send("return(1)")
			if path.simple != errors.Is(err, syscall.ENOMEM) {
				t.Errorf("the packet that fails: %v", err)
			}
			w.wantText("iflib.txq0.mbuf_defrag", "2", "iflib.txq0.mbuf_defrag_failed", "1", "iflib.txq0.tx_map_failed", "1",
				"iflib.txq0.m_pullups", "3", "iflib.txq0.no_tx_dma_setup", "0", "iflib.txq0.txd_encap_efbig", "0")
			if l := w.ctx[0].Ledger(); l.Encap != 1 {
				t.Errorf("ledger %s", l)
			}
			oerrors := uint64(0)
			if path.simple {
				oerrors = 1
			}
			if got := w.ifp[0].GetCounter(ifnet.CounterOErrors); got != oerrors {
				t.Errorf("%d output errors, want %d", got, oerrors)
			}
		})
	}
}

// TestSenderDrainsUnlessItAbdicates is case 7 as a sender sees it: without tx_abdicate
// the packet is with the hardware when Transmit returns, with it the task's run brings
// it there; simple_tx does not use the ring.
func TestSenderDrainsUnlessItAbdicates(t *testing.T) {
	for _, kind := range someKinds() {
		for _, path := range paths {
			t.Run(kind.chip+"/"+path.name, func(t *testing.T) {
				w := newWire(t, wireConfig{kind: kind, path: path})
				w.up()
				w.k.RunUntilIdle()
				dst, src := w.macs()
				m := w.mbuf(shapes.Raw(dst, src, make([]byte, 100), -1, false), nil)
				m.Pkt.FlowID = 0
				w.must(w.ifp[0].Transmit(m))
				handed, state, abdications := uint64(1), "IDLE", "0"
				if path.abdicate {
					handed, state = 0, "ABDICATED"
				}
				if l := w.ctx[0].Ledger(); l.Handed != handed || l.Queued != 1-handed {
					t.Errorf("after Transmit: ledger %s", l)
				}
				if got := w.text(0, "iflib.txq0.ring_state"); !strings.HasSuffix(got, state) {
					t.Errorf("ring %s, want %s", got, state)
				}
				w.settle()
				if l := w.ctx[0].Ledger(); l.Handed != 1 || l.Queued != 0 {
					t.Errorf("after the task: ledger %s", l)
				}
				enqueues := "1"
				if path.simple {
					enqueues = "0"
				}
				w.wantText("iflib.txq0.r_abdications", abdications, "iflib.txq0.r_drops", "0", "iflib.txq0.r_stalls", "0")
				if got := w.text(0, "iflib.txq0.r_enqueues"); got != enqueues && !(path.abdicate && got > enqueues) {
					t.Errorf("r_enqueues %s, want %s", got, enqueues)
				}
			})
		}
	}
}
