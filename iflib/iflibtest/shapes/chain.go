package shapes

import "github.com/ifsim/ifsim/ifnet/mbuf"

// Piece is one mbuf of a chain.
type Piece struct {
	N       int
	Cluster bool // external storage, also where N would fit without
	Lead    int  // bytes in front of the data, as far as there is room
}

// Pieces makes pieces of lengths.
func Pieces(lens ...int) []Piece {
	ps := make([]Piece, len(lens))
	for i, n := range lens {
		ps[i].N = n
	}
	return ps
}

// buffer makes an mbuf for a piece; nil in a famine.
func (p Piece) buffer(c *mbuf.Cache, flags mbuf.Flags) *mbuf.Mbuf {
	var m *mbuf.Mbuf
	room := mbuf.MLen
	if flags&mbuf.FlagPktHdr != 0 {
		room = mbuf.MHLen
	}
	size := p.N + p.Lead
	switch {
	case size <= room && !p.Cluster && flags&mbuf.FlagPktHdr != 0:
		m = c.GetHdr()
	case size <= room && !p.Cluster:
		m = c.Get()
	case size <= mbuf.MClBytes:
		m = c.GetCl(flags)
	case size <= mbuf.MJumPageSize:
		m = c.GetJcl(flags, mbuf.MJumPageSize)
	case size <= mbuf.MJum9Bytes:
		m = c.GetJcl(flags, mbuf.MJum9Bytes)
	default:
		m = c.GetJcl(flags, mbuf.MJum16Bytes)
	}
	if m == nil {
		return nil
	}
	if p.Lead != 0 {
		m.SetLen(p.Lead)
		m.ShiftData(p.Lead)
	}
	m.SetLen(p.N)
	return m
}

// Chain makes a packet of b, cut into pieces; what they leave is cut as buffers hold. nil
// in a famine.
func Chain(c *mbuf.Cache, b []byte, cut []Piece) *mbuf.Mbuf {
	rest := len(b)
	for _, p := range cut {
		rest -= p.N
	}
	for ; rest > 0; rest -= mbuf.MJum9Bytes {
		cut = append(cut, Piece{N: min(rest, mbuf.MJum9Bytes)})
	}
	var head, last *mbuf.Mbuf
	at := 0
	for _, p := range cut {
		flags := mbuf.Flags(0)
		if head == nil {
			flags = mbuf.FlagPktHdr
		}
		m := p.buffer(c, flags)
		if m == nil {
			if head != nil {
				c.FreeChain(head)
			}
			return nil
		}
		at += copy(m.Bytes(), b[at:at+p.N])
		if head == nil {
			head = m
		} else {
			last.Next = m
		}
		last = m
	}
	head.Pkt.Len = int32(at)
	return head
}

// Mbuf makes a packet's chain, ready for Transmit; nil in a famine.
func (p *Packet) Mbuf(c *mbuf.Cache, cut []Piece) *mbuf.Mbuf {
	m := Chain(c, p.Data, cut)
	if m == nil {
		return nil
	}
	m.Pkt.CsumFlags, m.Pkt.TSOSegSz = p.Csum, p.MSS
	m.Pkt.FlowID, m.Pkt.RSSType = p.Flow, mbuf.HashOpaque
	if p.VTag >= 0 {
		m.Flags |= mbuf.FlagVLANTag
		m.Pkt.EtherVtag = uint16(p.VTag)
	}
	return m
}
