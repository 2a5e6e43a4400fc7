package pktgen8

import (
	"context"
	"errors"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/sysctl"
)

// vlanHdrLen is what a tag adds to a frame.
const vlanHdrLen = 4

// longest is the length of the longest frame that the interface receives.
func (j *job) longest() int { return j.ifp.MTU() + ifnet.EtherHdrLen + vlanHdrLen }

// pong returns what is received (pong_body). What comes faster than it is returned, and what
// the interface refuses, is dropped.
func (j *job) pong(ctx context.Context) error {
	box := newInbox(j.k, j.longest())
	cache := j.ifp.Zones().NewCache()
	defer cache.Close()
	defer j.ifp.AttachTap(box.tap)()
	var l letter
	for {
		found := false
		for !j.stopped.Load() && box.take(&l) {
			found = true
			if err := j.giveBack(cache, &l); err != nil {
				return err
			}
			if j.p.Frames > 0 && j.count.frames.Load() == j.p.Frames {
				return nil
			}
		}
		if found {
			j.count.batches.Add(1)
		}
		j.count.dropped.Add(box.dropped())
		select {
		case <-box.ready:
		case <-j.gone:
			return errGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// giveBack sends a frame to where it came from. The error is an interface that is down.
func (j *job) giveBack(cache *mbuf.Cache, l *letter) error {
	l.turn(j.ifp.MAC())
	var err error = syscall.ENOBUFS
	if m := cache.Get3(len(l.frame), mbuf.FlagPktHdr); m != nil {
		m.SetLen(len(l.frame))
		copy(m.Bytes(), l.frame)
		m.Pkt.Len = int32(len(l.frame))
		if l.tagged {
			m.Pkt.EtherVtag = l.tag
			m.Flags |= mbuf.FlagVLANTag
		}
		err = j.ifp.Transmit(m)
	}
	switch {
	case err == nil:
		j.count.frames.Add(1)
		j.count.bytes.Add(uint64(len(l.frame)))
	case errors.Is(err, syscall.ENOBUFS):
		j.count.refused.Add(1)
		j.count.dropped.Add(1)
	default:
		return errors.New(sysctl.Strerror(err))
	}
	return nil
}
