package pktgen8

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/sysctl"
)

// send sends from all threads until their shares are sent (sender_body).
func (j *job) send() error {
	senders := make([]*sender, j.p.Threads)
	var wg sync.WaitGroup
	for i := range senders {
		senders[i] = j.newSender(i)
		wg.Go(senders[i].run)
	}
	wg.Wait()
	for _, s := range senders {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// sender is one thread that sends.
type sender struct {
	j     *job
	cache *mbuf.Cache
	frame *frame
	share uint64        // frames to send
	gap   float64       // ns between frames, 0 for none
	start time.Duration // uptime when the pace began

	frames, bytes, refused, dropped uint64 // since they were last published
	err                             error
}

func (j *job) newSender(i int) *sender {
	threads := uint64(j.p.Threads)
	s := &sender{j: j, frame: newFrame(&j.p, j.wheels, j.src, j.dst, i), start: j.start, share: math.MaxUint64}
	if j.p.Frames > 0 {
		s.share = j.p.Frames / threads
		if uint64(i) < j.p.Frames%threads {
			s.share++
		}
	}
	if j.p.Rate > 0 {
		s.gap = min(float64(time.Hour), float64(threads)*float64(time.Second)/j.p.Rate)
	}
	return s
}

// run sends the sender's share in bursts, each when the time of its frames is over. When one
// sender fails all end.
func (s *sender) run() {
	s.cache = s.j.ifp.Zones().NewCache()
	defer s.cache.Close()
	for due := uint64(0); due < s.share && !s.j.stopped.Load(); {
		n := min(uint64(s.j.p.Burst), s.share-due)
		due += n
		s.await(due)
		if s.err = s.burst(n); s.err != nil {
			s.j.end()
			return
		}
	}
}

// await waits until n frames are due, looking for the end of the run now and then.
func (s *sender) await(n uint64) {
	if s.gap == 0 {
		return
	}
	const nap = 10 * time.Millisecond
	due := s.start + time.Duration(min(float64(n)*s.gap, math.MaxInt64/2))
	for d := due - s.j.k.Uptime(); d > 0 && !s.j.stopped.Load(); d = due - s.j.k.Uptime() {
		s.j.k.Delay(min(d, nap))
	}
}

// burst sends n frames, and publishes the counts.
func (s *sender) burst(n uint64) (err error) {
	for range n {
		if err = s.send(); err != nil || s.j.stopped.Load() {
			break
		}
	}
	s.publish()
	return err
}

// publish adds what was sent since the last time to the run's counts.
func (s *sender) publish() {
	c := &s.j.count
	c.frames.Add(s.frames)
	c.bytes.Add(s.bytes)
	c.refused.Add(s.refused)
	c.dropped.Add(s.dropped)
	if s.frames > 0 {
		c.batches.Add(1)
	}
	s.frames, s.bytes, s.refused, s.dropped = 0, 0, 0, 0
}

// spins is how often a refused frame is tried again at once, before each try is
// preceded by a pause.
const spins = 1000

// send sends a frame until the interface takes it; Transmit frees what it refuses, so
// each try is a new packet. It gives up when nothing was taken for stallTime.
func (s *sender) send() error {
	var since time.Time
	for try := 0; !s.j.stopped.Load(); try++ {
		var err error = syscall.ENOBUFS
		if m := s.packet(); m != nil {
			err = s.j.ifp.Transmit(m)
		}
		if err == nil {
			s.frames++
			s.bytes += uint64(s.frame.size)
			s.frame.next()
			return nil
		}
		s.refused++
		switch {
		case !errors.Is(err, syscall.ENOBUFS):
			return errors.New(sysctl.Strerror(err))
		case s.j.p.OnDrop == client.PktgenDropCount:
			s.dropped++
			s.frame.next()
			return nil
		case try < spins:
			runtime.Gosched()
			continue
		case try == spins:
			since = time.Now()
		case time.Since(since) > stallTime:
			return fmt.Errorf("nothing was taken for %v: %s", stallTime, sysctl.Strerror(err))
		}
		time.Sleep(lookStep)
	}
	return nil
}

// packet makes a packet of the present frame, nil if there is no memory.
func (s *sender) packet() *mbuf.Mbuf {
	b := s.frame.bytes[:s.frame.size]
	headers := len(b)
	if s.j.p.Fragments > 1 {
		headers = s.frame.dataAt
	}
	m := s.piece(b[:headers], mbuf.FlagPktHdr)
	if m == nil {
		return nil
	}
	m.Pkt.Len = int32(len(b))
	if s.j.p.Hash {
		m.Pkt.FlowID, m.Pkt.RSSType = s.frame.flow, mbuf.HashOpaqueHash
	}
	if rest := b[headers:]; len(rest) > 0 && !s.chain(m, rest) {
		s.cache.FreeChain(m)
		return nil
	}
	return m
}

// chain appends the payload in equal pieces behind the headers, as many as there are to be
// and bytes for.
func (s *sender) chain(m *mbuf.Mbuf, rest []byte) bool {
	for pieces := min(s.j.p.Fragments-1, len(rest)); pieces > 0; pieces-- {
		n := len(rest) / pieces
		if m.Next = s.piece(rest[:n], 0); m.Next == nil {
			return false
		}
		m, rest = m.Next, rest[n:]
	}
	return true
}

// piece is one mbuf with a copy of bytes, nil if there is no memory.
func (s *sender) piece(b []byte, flags mbuf.Flags) *mbuf.Mbuf {
	m := s.cache.Get3(len(b), flags)
	if m == nil {
		return nil
	}
	m.SetLen(len(b))
	copy(m.Bytes(), b)
	return m
}
