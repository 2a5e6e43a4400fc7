package mbuf

import "fmt"

// The functions of this file copy chains; the original stays as it is, except with Unshare and Defrag.

// CopyM is a read-only copy of n bytes from offset off, or to the end if n is CopyAll (m_copym): external storage is
// shared, internal data copied. With off 0 it has a copy of the packet header and its length is n, or the packet's.
// nil in a famine or if n is 0. The chain must hold the bytes.
func (c *Cache) CopyM(m *Mbuf, off, n int) *Mbuf {
	if off < 0 || n < 0 {
		panic(fmt.Sprintf("m_copym, negative off %d or len %d", off, n))
	}
	hdr := off == 0 && m.Flags&FlagPktHdr != 0
	for ; off > 0; m = m.Next {
		if m == nil {
			panic("m_copym, offset > size of mbuf chain")
		}
		if off < int(m.len) {
			break
		}
		off -= int(m.len)
	}
	var top *Mbuf
	for p := &top; n > 0; m = m.Next {
		if m == nil {
			if n != CopyAll {
				panic("m_copym, length > size of mbuf chain")
			}
			break
		}
		o := c.copyMbuf(m, off, min(n, int(m.len)-off), hdr)
		if o == nil {
			c.FreeChain(top)
			return nil
		}
		if hdr && n != CopyAll {
			o.Pkt.Len = int32(n)
		}
		if n != CopyAll {
			n -= int(o.len)
		}
		hdr, off = false, 0
		*p = o
		p = &o.Next
	}
	return top
}

// copyMbuf is a copy of part of one mbuf, sharing external storage, with its packet header if asked; nil in a famine.
func (c *Cache) copyMbuf(m *Mbuf, off, n int, hdr bool) *Mbuf {
	o := c.Get()
	if o == nil {
		return nil
	}
	o.Type = m.Type
	if hdr && !c.DupPktHdr(o, m) {
		c.Free(o)
		return nil
	}
	if m.Flags&FlagExt != 0 {
		o.share(m, int32(off), int32(n))
		return o
	}
	o.len = int32(n)
	copy(o.Bytes(), m.Bytes()[off:])
	return o
}

// CopyPacket is a read-only copy of a whole packet that keeps the leading room of its first mbuf (m_copypacket).
// nil in a famine.
func (c *Cache) CopyPacket(m *Mbuf) *Mbuf {
	m.assertPktHdr("m_copypacket")
	top := c.Get()
	if top == nil {
		return nil
	}
	top.Type = m.Type
	if !c.DupPktHdr(top, m) {
		c.Free(top)
		return nil
	}
	if m.Flags&FlagExt != 0 {
		top.share(m, 0, m.len)
	} else {
		top.off, top.len = m.off, m.len
		copy(top.Bytes(), m.Bytes())
	}
	for p := &top.Next; m.Next != nil; {
		m = m.Next
		o := c.copyMbuf(m, 0, int(m.len), false)
		if o == nil {
			c.FreeChain(top)
			return nil
		}
		*p = o
		p = &o.Next
	}
	return top
}

// Dup is a deep, writable copy of a packet (m_dup): clusters while at least MinClSize bytes remain, else plain
// mbufs. nil in a famine. The packet length must be that of the chain.
func (c *Cache) Dup(m *Mbuf) *Mbuf {
	m.assertPktHdr("m_dup")
	remain := int(m.Pkt.Len)
	if n := m.Length(); remain != n {
		panic(fmt.Sprintf("m_dup: packet length %d, chain %d", remain, n))
	}
	src := reader{m: m}
	var top *Mbuf
	for p := &top; remain > 0 || top == nil; {
		n := c.pieceFor(remain)
		if n == nil {
			c.FreeChain(top)
			return nil
		}
		n.Type = m.Type
		if top == nil {
			if !c.DupPktHdr(n, m) {
				c.Free(n)
				return nil
			}
			n.Flags &^= FlagRdonly
		}
		n.len = int32(min(remain, int(n.size)))
		src.read(n.Bytes())
		remain -= int(n.len)
		*p = n
		p = &n.Next
	}
	return top
}

// pieceFor is a cluster mbuf for MinClSize bytes and more, else a plain one; nil in a famine.
func (c *Cache) pieceFor(n int) *Mbuf {
	if n >= MinClSize {
		return c.GetCl(0)
	}
	return c.Get()
}

// reader reads a chain from its start, without walking it again for each piece.
type reader struct {
	m   *Mbuf
	off int
}

// read fills p; the chain must hold the bytes.
func (r *reader) read(p []byte) {
	for len(p) > 0 {
		if r.m == nil {
			panic("m_copydata, length > size of mbuf chain")
		}
		n := copy(p, r.m.Bytes()[r.off:])
		p = p[n:]
		if r.off += n; r.off == int(r.m.len) {
			r.m, r.off = r.m.Next, 0
		}
	}
}

// Unshare replaces external mbufs that may not be written by copies and returns the chain (m_unshare). What fits is
// put behind a preceding writable cluster instead. On failure the whole chain is freed and the result is nil.
func (c *Cache) Unshare(m0 *Mbuf) *Mbuf {
	var prev *Mbuf
	for m := m0; m != nil; {
		next := m.Next
		ext := m.Flags&FlagExt != 0
		switch {
		case ext && m.Writable():
			prev = m
		case prev != nil && prev.Flags&FlagExt != 0 && int(m.len) <= prev.TrailingSpace():
			prev.swallow(m)
			prev.Next = c.Free(m)
		case !ext:
			prev = m
		default:
			first, last := c.privateCopy(m)
			if first == nil {
				c.FreeChain(m0)
				return nil
			}
			last.Next = c.Free(m)
			if prev == nil {
				m0 = first
			} else {
				prev.Next = first
			}
			prev = last
		}
		m = next
	}
	return m0
}

// swallow copies the data of n behind that of m, which has the room.
func (m *Mbuf) swallow(n *Mbuf) {
	copy(m.Room(), n.Bytes())
	m.len += n.len
}

// privateCopy is a copy of one mbuf in clusters that takes its packet header; nil in a famine, and m is as it was.
func (c *Cache) privateCopy(m *Mbuf) (first, last *Mbuf) {
	data := m.Bytes()
	for {
		n := c.GetCl(0)
		if n == nil {
			c.FreeChain(first)
			return nil, nil
		}
		n.Type = m.Type
		n.len = int32(copy(n.Room(), data))
		data = data[n.len:]
		if first == nil {
			first = n
		} else {
			last.Next = n
		}
		last = n
		if len(data) == 0 {
			break
		}
	}
	if m.Flags&FlagPktHdr != 0 {
		first.MovePktHdr(m)
		first.Flags &^= FlagRdonly
	}
	return first, last
}

// Defrag is the packet in as few buffers as 2 KiB clusters allow: a cluster if longer than MHLen, else a plain header
// mbuf (m_defrag). Success frees the old chain. nil on failure, and the old chain is the caller's and untouched. A
// chain without packet header is returned as it is.
func (c *Cache) Defrag(m *Mbuf) *Mbuf {
	if m.Flags&FlagPktHdr == 0 {
		return m
	}
	left := m.FixHdr()
	var top *Mbuf
	if left > MHLen {
		top = c.GetCl(FlagPktHdr)
	} else {
		top = c.GetHdr()
	}
	if top == nil {
		return nil
	}
	if !c.DupPktHdr(top, m) {
		c.Free(top)
		return nil
	}
	src := reader{m: m}
	for n, last := top, top; ; {
		n.len = int32(min(left, int(n.size), MClBytes))
		src.read(n.Bytes())
		if left -= int(n.len); n != top {
			c.catTo(last, n)
			last = last.Last()
		}
		if left == 0 {
			break
		}
		if left > MLen {
			n = c.GetCl(0)
		} else {
			n = c.Get()
		}
		if n == nil {
			c.FreeChain(top)
			return nil
		}
	}
	c.FreeChain(m)
	return top
}
