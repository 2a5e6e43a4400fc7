package iflib_test

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// window bounds the frames of a sender that are under way: the receiver has buffers for
// all.
const window = 24

// stream is a sender's packets and how many of them have arrived.
type stream struct {
	packets []*shapes.Packet
	arrived atomic.Int64
}

// frameID is what stands in a packet of a stream.
type frameID struct{ stream, seq int }

// newStream makes packets of all kinds that bear the stream's number.
func newStream(w *wire, id, count int, ids map[string]frameID) *stream {
	s := &stream{}
	for seq := range count {
		p := shapes.Spec{UDP: seq%3 == 0, V6: seq%5 == 0 && w.kind.tso6, IPOpts: seq % 2 * 4, Offload: shapes.OffloadL4, Flags: shapes.TCPAck,
			TCI: seq%4 - 1, Inline: seq%8 == 2, Payload: shapes.Random(uint64(id<<16|seq), 4+(seq*97)%1300)}
		binary.BigEndian.PutUint32(p.Payload, uint32(id<<16|seq))
		made := w.packet(p)
		made.Flow = uint32(id)
		s.packets = append(s.packets, made)
		ids[string(made.Want[0])] = frameID{id, seq}
	}
	return s
}

// send sends the stream from NIC 0, in order.
func (s *stream) send(w *wire) error {
	c := w.zones.NewCache()
	defer c.Close()
	for i, p := range s.packets {
		w.await("room in the window", func() bool { return int64(i)-s.arrived.Load() < window })
		m := c.GetHdr()
		if m == nil || !c.Append(m, p.Data) {
			return fmt.Errorf("no mbufs for packet %d", i)
		}
		m.Pkt.CsumFlags, m.Pkt.FlowID, m.Pkt.RSSType = p.Csum, p.Flow, mbuf.HashOpaque
		if p.VTag >= 0 {
			m.Flags |= mbuf.FlagVLANTag
			m.Pkt.EtherVtag = uint16(p.VTag)
		}
		if err := w.ifp[0].Transmit(m); err != nil {
			return fmt.Errorf("packet %d: %w", i, err)
		}
	}
	return nil
}

// TestThreadsDeliverEveryPacketOnce sends from several goroutines in the threaded
// executor, with the hardware in the senders' threads and in its own: every frame
// arrives once, unchanged.
func TestThreadsDeliverEveryPacketOnce(t *testing.T) {
	const senders = 3
	count := 600
	if testing.Short() {
		count = 150
	}
	for _, engine := range []string{"inline", "thread"} {
		for _, kind := range someKinds() {
			for _, path := range paths {
				t.Run(engine+"/"+kind.chip+"/"+path.name, func(t *testing.T) {
					t.Parallel() // links take their time to come up
					w := newWire(t, wireConfig{kind: kind, path: path, threads: true, engine: engine})
					w.up()
					w.unfilter()
					ids := map[string]frameID{}
					var streams [senders]*stream
					for id := range streams {
						streams[id] = newStream(w, id, count, ids)
					}
					var seen [senders][]bool
					for id := range seen {
						seen[id] = make([]bool, count)
					}
					var wg sync.WaitGroup
					for id, s := range streams {
						wg.Go(func() {
							if err := s.send(w); err != nil {
								t.Errorf("sender %d: %v", id, err)
							}
						})
					}
					total := 0
					w.await("all frames", func() bool {
						for _, a := range w.take(1) {
							f := a.frame()
							if a.flags&mbuf.FlagVLANTag != 0 && len(f) == shapes.MinFrame+shapes.TagLen {
								f = f[:unpadded(f, ids)]
							}
							id, ok := ids[string(f)]
							if !ok || seen[id.stream][id.seq] {
								t.Errorf("frame that nobody sent, or twice (%v): %x", id, f)
								continue
							}
							seen[id.stream][id.seq] = true
							streams[id.stream].arrived.Add(1)
							total++
						}
						return total == senders*count || t.Failed()
					})
					wg.Wait()
					w.await("the accounts", func() bool {
						l := w.ctx[0].Ledger()
						// A threaded engine counts a batch after the port has taken it.
						return l.Queued == 0 && l.Balanced() && w.counted()
					})
				})
			}
		}
	}
}

// unpadded is the length of a frame without the four bytes by which a part that pads
// before it adds the tag exceeds the least size.
func unpadded(f []byte, ids map[string]frameID) int {
	if _, ok := ids[string(f)]; ok {
		return len(f)
	}
	for n := len(f) - 1; n >= shapes.MinFrame; n-- {
		if _, ok := ids[string(f[:n])]; ok {
			return n
		}
	}
	return len(f)
}
