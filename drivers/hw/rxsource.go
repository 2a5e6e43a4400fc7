package hw

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/drivers/port"
)

const (
	rxBatch = 32 // frames borrowed from the port at a time

	// rxScratch holds the largest super-frame and a tag.
	rxScratch = VLANLen + EtherHdrLen + VLANLen + maxIPLen + 1
)

// Types of super-frames (VIRTIO_NET_HDR_GSO_*).
const (
	gsoNone  = 0
	gsoTCPv4 = 1
	gsoTCPv6 = 4
	gsoUDPL4 = 5
	gsoECN   = 0x80
)

// RxCounters count what a source did to frames.
type RxCounters struct {
	TagsInserted  uint64 // tags put back
	CsumCompleted uint64 // partial checksums finished
	GSOCut        uint64 // super-frames cut
	Truncated     uint64 // dropped: the port did not have all of the frame
	Malformed     uint64 // dropped: too short for Ethernet, or a request of the port that makes no sense
}

// RxFrame is a frame as it stands on the wire, without FCS.
type RxFrame struct {
	Data      []byte // to be read until the next Next
	Tstamp    int64  // ns since the epoch, 0: none
	Hash      uint32 // by the port
	HashValid bool
}

// RxSource takes the frames of one receive queue of a port and makes them what a wire
// would deliver: the tag that the host's kernel took out goes back in (also a tag of 0,
// and with its own type; case 39), partial checksums are finished, super-frames are
// cut (spec ports 5.2, 5.3). A frame that needs nothing of that is passed as lent. One
// goroutine at a time: the queue's work function.
//
//	for f := src.Peek(); f != nil; f = src.Peek() {
//		if !n.receive(q, f) {
//			break                  // no descriptors: the frame stays
//		}
//		src.Next()
//	}
//	src.Flush()
type RxSource struct {
	port  port.Port
	q     int
	lent  [rxBatch]port.RxFrame
	n, i  int // frames borrowed, frames finished
	frame RxFrame
	valid bool // frame is the one to be taken next

	seg     Segmenter
	gather  [1][]byte
	segTag  bool
	pieces  [][]byte
	scratch []byte // made when first needed

	// Counters are the owner's.
	Counters RxCounters
}

// NewRxSource returns the source of receive queue q of a port.
func NewRxSource(p port.Port, q int) *RxSource {
	return &RxSource{port: p, q: q, pieces: make([][]byte, 0, 2)}
}

// Peek returns the next frame, nil if there is none. The same one comes back until
// Next.
func (r *RxSource) Peek() *RxFrame {
	for !r.valid {
		if r.seg.More() {
			r.nextSegment()
			break
		}
		if r.i == r.n && !r.borrow() {
			return nil
		}
		f := &r.lent[r.i]
		r.i++
		r.normalise(f)
	}
	return &r.frame
}

// Next takes the frame that Peek returned.
func (r *RxSource) Next() { r.valid = false }

// Flush gives back the frames that were taken: at the end of each run of the work
// function, so that the port has room again.
func (r *RxSource) Flush() {
	done := r.i
	if r.valid || r.seg.More() {
		done-- // its memory is in use
	}
	if done <= 0 {
		return
	}
	copy(r.lent[:], r.lent[done:r.n])
	r.n -= done
	r.i -= done
	r.port.Release(r.q, done)
}

// Reset drops what was borrowed: a reset of the device.
func (r *RxSource) Reset() {
	r.valid, r.seg = false, Segmenter{}
	r.i = r.n
	r.Flush()
}

// borrow asks the port for frames.
func (r *RxSource) borrow() bool {
	r.Flush()
	n := r.port.Recv(r.q, r.lent[:])
	r.n = max(0, min(n, rxBatch))
	r.i = 0
	return r.n > 0
}

// normalise makes f the current frame, or begins to cut it, or drops it.
func (r *RxSource) normalise(f *port.RxFrame) {
	if f.Truncated || f.Len > len(f.Data) {
		r.Counters.Truncated++
		return
	}
	if f.Len < EtherHdrLen {
		r.Counters.Malformed++
		return
	}
	f.Data = f.Data[:f.Len]
	r.frame = RxFrame{Tstamp: f.Tstamp, Hash: f.Hash, HashValid: f.HashValid}
	switch {
	case f.GSOType&^gsoECN != gsoNone:
		r.beginCut(f)
	case f.VLANValid || f.NeedCsum:
		r.rewrite(f)
	default:
		r.frame.Data = f.Data
		r.valid = true
	}
}

// rewrite copies f and makes its changes to the copy.
func (r *RxSource) rewrite(f *port.RxFrame) {
	buf := r.buffer(VLANLen + len(f.Data))
	data := buf[VLANLen:]
	copy(data, f.Data)
	if f.NeedCsum {
		if !finishCsum(data, int(f.CsumStart), int(f.CsumOff)) {
			r.Counters.Malformed++
			return
		}
		r.Counters.CsumCompleted++
	}
	if f.VLANValid {
		pushTag(buf, tpidOf(f), f.TCI)
		r.Counters.TagsInserted++
		data = buf
	}
	r.frame.Data = data
	r.valid = true
}

// buffer returns n bytes of scratch memory.
func (r *RxSource) buffer(n int) []byte {
	if cap(r.scratch) < n {
		r.scratch = make([]byte, max(n, rxScratch))
	}
	return r.scratch[:n]
}

// finishCsum completes a checksum of which the field holds the pseudo header's sum.
func finishCsum(data []byte, start, off int) bool {
	field := start + off
	if start > len(data) || field+2 > len(data) {
		return false
	}
	sum := ^Sum(data[start:])
	if sum == 0 && off == udpCsum {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(data[field:], sum)
	return true
}

// tpidOf is the type of the tag that was taken out.
func tpidOf(f *port.RxFrame) uint16 {
	if f.TPIDValid {
		return f.TPID
	}
	return TPID8021Q
}

// beginCut starts to cut a super-frame; one that is not what its type says is dropped.
func (r *RxSource) beginCut(f *port.RxFrame) {
	var h Headers
	h.Parse(f.Data, len(f.Data))
	t := TSO{HdrLen: h.Payload, L3: h.L3, L4: h.L4, MSS: int(f.GSOSize), IPv6: h.Has(IPv6), UDP: h.Has(UDP),
		IPCsum: h.Has(IPv4), L4Csum: true,
		FirstFlags: DefaultFirstFlags, MiddleFlags: DefaultMiddleFlags, LastFlags: DefaultLastFlags}
	if !gsoFits(f.GSOType&^gsoECN, &h) {
		r.Counters.Malformed++
		return
	}
	r.gather[0] = f.Data[:h.L3End]
	if err := r.seg.Begin(&t, r.gather[:]); err != nil {
		r.Counters.Malformed++
		return
	}
	r.Counters.GSOCut++
	r.segTag = f.VLANValid
	if r.segTag {
		r.Counters.TagsInserted++
	}
}

func gsoFits(gso uint8, h *Headers) bool {
	switch gso {
	case gsoTCPv4:
		return h.Has(IPv4 | TCP)
	case gsoTCPv6:
		return h.Has(IPv6 | TCP)
	case gsoUDPL4:
		return h.Has(UDP)
	}
	return false
}

// nextSegment makes the next segment of a super-frame the current frame.
func (r *RxSource) nextSegment() {
	f := &r.lent[r.i-1]
	hdrLen := r.seg.HdrLen()
	buf := r.buffer(VLANLen + hdrLen + int(f.GSOSize))
	n := VLANLen + hdrLen
	r.pieces = r.seg.Next(buf[VLANLen:], r.pieces[:0])
	for _, p := range r.pieces {
		n += copy(buf[n:], p)
	}
	buf = buf[:n]
	if r.segTag {
		pushTag(buf, tpidOf(f), f.TCI)
	} else {
		buf = buf[VLANLen:]
	}
	r.frame.Data = buf
	r.valid = true
}
