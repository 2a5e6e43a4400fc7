package pktgen8

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/ifsim/ifsim/drivers/hw"
)

// The stamp at the beginning of a ping's payload: pkt-gen's sequence number and time, in the
// byte order of its hosts, and what tells the frames of this run from others.
const (
	stampSeqAt  = 0
	stampSecAt  = 4
	stampNsecAt = 8
	stampRunAt  = 12
	stampLen    = 16
)

// answerTime is how long an answer is waited for.
const answerTime = 3 * time.Second

// pinger is the state of a run of ping.
type pinger struct {
	j      *job
	sender *sender
	box    *inbox
	run    uint32 // of all frames of the run
	sent   uint64
	first  uint64 // sequence number of the burst's first
	open   []bool // of the burst's frames: not answered
	opened int
}

// ping sends bursts and waits for the answers of each (ping_body).
func (j *job) ping(ctx context.Context) error {
	p := &pinger{j: j, sender: j.newSender(0), box: newInbox(j.k, j.longest()), run: rand.Uint32(), open: make([]bool, j.p.Burst)}
	p.sender.cache = j.ifp.Zones().NewCache()
	defer p.sender.cache.Close()
	defer j.ifp.AttachTap(p.box.tap)()
	timeout := newAlarm(j.k)
	defer timeout.callout.Drain()
	for p.sent < p.sender.share && !j.stopped.Load() {
		n := min(uint64(j.p.Burst), p.sender.share-p.sent)
		p.sender.await(p.sent + n)
		if err := p.burst(n); err != nil {
			return err
		}
		timeout.set(answerTime)
		if err := p.answers(ctx, timeout); err != nil {
			return err
		}
	}
	return nil
}

// burst sends n frames, each with a stamp.
func (p *pinger) burst(n uint64) error {
	s := p.sender
	defer s.publish()
	p.first, p.opened = p.sent, 0
	for i := range n {
		p.stamp(p.sent)
		before := s.frames
		if err := s.send(); err != nil {
			return err
		}
		if p.open[i] = s.frames > before; p.open[i] { // not refused
			p.opened++
		}
		p.sent++
	}
	return nil
}

// stamp writes the stamp of the frame that is sent next.
func (p *pinger) stamp(seq uint64) {
	f := p.sender.frame
	now := p.j.k.Uptime()
	data := f.data()
	binary.LittleEndian.PutUint32(data[stampSeqAt:], uint32(seq))
	binary.LittleEndian.PutUint32(data[stampSecAt:], uint32(now/time.Second))
	binary.LittleEndian.PutUint32(data[stampNsecAt:], uint32(now%time.Second))
	binary.LittleEndian.PutUint32(data[stampRunAt:], p.run)
	f.dataSum = hw.Sum(data[:stampLen])
	f.sum()
}

// answers takes what comes until every frame of the burst is answered, or the time is over.
func (p *pinger) answers(ctx context.Context, timeout *alarm) error {
	var l letter
	for {
		for p.box.take(&l) {
			p.answer(&l)
		}
		if p.opened == 0 {
			return nil
		}
		select {
		case <-p.box.ready:
		case <-timeout.c:
			return nil
		case <-p.j.stop:
			return nil
		case <-p.j.gone:
			return errGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// answer counts a frame if it is the first answer to one of the burst.
func (p *pinger) answer(l *letter) {
	at := p.sender.frame.dataAt
	if len(l.frame) < at+stampLen {
		return
	}
	data := l.frame[at:]
	i := binary.LittleEndian.Uint32(data[stampSeqAt:]) - uint32(p.first)
	if binary.LittleEndian.Uint32(data[stampRunAt:]) != p.run || uint64(i) >= p.sent-p.first || !p.open[i] {
		return
	}
	p.open[i] = false
	p.opened--
	sent := time.Duration(binary.LittleEndian.Uint32(data[stampSecAt:]))*time.Second +
		time.Duration(binary.LittleEndian.Uint32(data[stampNsecAt:]))
	p.j.mu.Lock()
	defer p.j.mu.Unlock()
	p.j.rtt.add(l.at - sent)
	p.j.sinceRT.add(l.at - sent)
}
