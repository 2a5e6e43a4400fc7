package bpf

import (
	"encoding/binary"
	"time"
)

// Packet is one captured packet. Data is valid until the function it was given to
// returns.
type Packet struct {
	Time     time.Duration // uptime when it passed
	Len      int           // bytes on the wire, a re-inserted tag included
	Data     []byte        // the bytes kept
	Outgoing bool          // it was not received on the interface
}

// A record of a store: its header, then the data.
const (
	recTime    = 0 // 8 bytes
	recLen     = 8 // 4 bytes
	recCapLen  = 12
	recFlags   = 16
	recHdrLen  = 20
	recOutward = 1
)

// store is a bounded buffer of records (bd_sbuf, bd_hbuf).
type store struct{ buf []byte }

// add appends a packet; false if it does not fit.
func (s *store) add(p Packet) bool {
	at := len(s.buf)
	if cap(s.buf)-at < recHdrLen+len(p.Data) {
		return false
	}
	s.buf = s.buf[:at+recHdrLen+len(p.Data)]
	h := s.buf[at:]
	binary.LittleEndian.PutUint64(h[recTime:], uint64(p.Time))
	binary.LittleEndian.PutUint32(h[recLen:], uint32(p.Len))
	binary.LittleEndian.PutUint32(h[recCapLen:], uint32(len(p.Data)))
	var flags uint32
	if p.Outgoing {
		flags = recOutward
	}
	binary.LittleEndian.PutUint32(h[recFlags:], flags)
	copy(h[recHdrLen:], p.Data)
	return true
}

// take removes the first record of b.
func take(b []byte) (p Packet, rest []byte) {
	n := int(binary.LittleEndian.Uint32(b[recCapLen:]))
	end := recHdrLen + n
	return Packet{
		Time:     time.Duration(binary.LittleEndian.Uint64(b[recTime:])),
		Len:      int(binary.LittleEndian.Uint32(b[recLen:])),
		Data:     b[recHdrLen:end:end],
		Outgoing: binary.LittleEndian.Uint32(b[recFlags:]) == recOutward,
	}, b[end:]
}
