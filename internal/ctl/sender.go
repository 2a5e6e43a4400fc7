package ctl

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/sysctl"
)

// sender is one thread of a run.
type sender struct {
	g     *generator
	cache *mbuf.Cache
	frame []byte
	n     uint64        // frames to send
	gap   time.Duration // between frames, 0 for none

	sent, refused uint64
	err           error
}

func (g *generator) newSender(i int) *sender {
	threads := uint64(g.p.Threads)
	s := &sender{g: g, frame: newFrame(g.p.Size, i, g.dst, g.ifp.MAC()), n: g.p.Frames / threads}
	if uint64(i) < g.p.Frames%threads {
		s.n++
	}
	if g.p.Rate > 0 {
		s.gap = time.Duration(min(float64(time.Hour), float64(threads)*float64(time.Second)/g.p.Rate))
	}
	return s
}

// run sends the sender's share. When one sender fails all end.
func (s *sender) run() {
	s.cache = s.g.ifp.Zones().NewCache()
	defer s.cache.Close()
	start := time.Now()
	for s.sent < s.n && !s.g.stopped.Load() {
		if s.gap > 0 {
			s.await(start.Add(time.Duration(s.sent) * s.gap))
		}
		if s.err = s.send(); s.err != nil {
			s.g.stopped.Store(true)
			return
		}
	}
}

// await sleeps until the time has come, looking for the end of the run now and then.
func (s *sender) await(t time.Time) {
	const nap = 10 * time.Millisecond
	for d := time.Until(t); d > 0 && !s.g.stopped.Load(); d = time.Until(t) {
		time.Sleep(min(d, nap))
	}
}

// spins is how often a refused frame is tried again at once, before each try is
// preceded by a pause.
const spins = 1000

// send sends a frame until the interface takes it; Transmit frees what it refuses, so
// each try is a new packet. It gives up when nothing was taken for stallTime.
func (s *sender) send() error {
	var since time.Time
	for try := 0; !s.g.stopped.Load(); try++ {
		var err error = syscall.ENOBUFS
		if m := s.packet(); m != nil {
			err = s.g.ifp.Transmit(m)
		}
		if err == nil {
			s.sent++
			return nil
		}
		s.refused++
		switch {
		case !errors.Is(err, syscall.ENOBUFS):
			return errors.New(sysctl.Strerror(err))
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

// packet makes a packet in one buffer, nil if there is no memory.
func (s *sender) packet() *mbuf.Mbuf {
	m := s.cache.Get3(len(s.frame), mbuf.FlagPktHdr)
	if m == nil {
		return nil
	}
	m.SetLen(len(s.frame))
	copy(m.Bytes(), s.frame)
	m.Pkt.Len = int32(len(s.frame))
	return m
}
