package mbuf

// The functions of this file join mbufs and add to the end of a chain.

// Collapse reduces a chain to at most maxFrags mbufs (m_collapse): first each mbuf is merged into its predecessor
// while it is less than the room there; then neighbours, the first mbuf excepted, whose sum is below MClBytes go
// into a new cluster, and so on. nil if that is not enough or in a famine: the chain, perhaps modified, still belongs
// to the caller, who has its first mbuf.
func (c *Cache) Collapse(m0 *Mbuf, maxFrags int) *Mbuf {
	frags := m0.Count()
	m := m0
	for {
		for m.Next != nil {
			n := m.Next
			if int(n.len) >= m.TrailingSpace() {
				m = n
				continue
			}
			m.swallow(n)
			m.Next = c.Free(n)
			if frags--; frags <= maxFrags {
				return m0
			}
		}
		if m = c.mergePair(m0); m == nil {
			return nil
		}
		if frags--; frags <= maxFrags {
			return m0
		}
	}
}

// mergePair puts the first two neighbours behind m0 that fit a cluster into one and returns it; nil if there are
// none or in a famine.
func (c *Cache) mergePair(m0 *Mbuf) *Mbuf {
	for p := &m0.Next; *p != nil; p = &(*p).Next {
		n, n2 := *p, (*p).Next
		if n2 == nil {
			return nil
		}
		if int(n.len+n2.len) >= MClBytes {
			continue
		}
		m := c.GetCl(0)
		if m == nil {
			return nil
		}
		m.swallow(n)
		m.swallow(n2)
		m.Next = n2.Next
		*p = m
		c.Free(n)
		c.Free(n2)
		return m
	}
	return nil
}

// Cat appends chain n to chain m: copied while it fits the tail, else linked (m_cat). n belongs to m afterwards.
// Packet lengths are not touched.
func (c *Cache) Cat(m, n *Mbuf) { c.catTo(m.Last(), n) }

func (c *Cache) catTo(last, n *Mbuf) {
	for n != nil {
		if !last.Writable() || n.Flags&FlagExtPg != 0 || last.TrailingSpace() < int(n.len) {
			last.Next = n
			return
		}
		last.swallow(n)
		n = c.Free(n)
	}
}

// CatPkt appends packet n to packet m: the lengths add up, the header of n goes (m_catpkt).
func (c *Cache) CatPkt(m, n *Mbuf) {
	m.assertPktHdr("m_catpkt")
	n.assertPktHdr("m_catpkt")
	m.Pkt.Len += n.Pkt.Len
	c.Demote(n, true)
	c.Cat(m, n)
}

// Append adds bytes at the end: in the last mbuf's trailing space, then in new plain mbufs (m_append). It reports
// whether all were stored; the packet length grows by what was.
func (c *Cache) Append(m0 *Mbuf, p []byte) bool {
	m := m0.Last()
	stored := 0
	if n := min(m.TrailingSpace(), len(p)); n > 0 {
		copy(m.Room(), p[:n])
		m.len += int32(n)
		stored, p = n, p[n:]
	}
	for len(p) > 0 {
		n := c.Get()
		if n == nil {
			break
		}
		n.Type = m.Type
		n.len = int32(copy(n.Room(), p))
		stored, p = stored+int(n.len), p[n.len:]
		m.Next = n
		m = n
	}
	if m0.Flags&FlagPktHdr != 0 {
		m0.Pkt.Len += int32(stored)
	}
	return len(p) == 0
}

// CopyBack copies bytes into the chain from offset off, extending it as needed, a gap filled with zeros
// (m_copyback). The packet length grows with the chain. In a famine it stops, silently. Whether storage is shared is
// not asked: Unshare first.
func (c *Cache) CopyBack(m0 *Mbuf, off int, p []byte) {
	m, total := m0, 0
	for off > int(m.len) {
		off -= int(m.len)
		total += int(m.len)
		if m.Next == nil && !c.extend(m, len(p)+off) {
			m0.growTo(total)
			return
		}
		m = m.Next
	}
	if len(p) == 0 {
		total += off // the gap alone
	}
	for len(p) > 0 {
		if want := len(p) + off - int(m.len); m.Next == nil && want > 0 {
			m.len += int32(min(want, m.TrailingSpace()))
		}
		n := copy(m.Bytes()[off:], p)
		p = p[n:]
		total += off + n
		off = 0
		if len(p) == 0 || m.Next == nil && !c.extend(m, len(p)) {
			break
		}
		m = m.Next
	}
	m0.growTo(total)
}

// extend adds a zeroed mbuf of up to n bytes behind m, false in a famine.
func (c *Cache) extend(m *Mbuf, n int) bool {
	o := c.Get()
	if o == nil {
		return false
	}
	o.Type = m.Type
	o.len = int32(min(MLen, n))
	clear(o.Bytes())
	m.Next = o
	return true
}

// growTo raises the packet length to at least n.
func (m *Mbuf) growTo(n int) {
	if m.Flags&FlagPktHdr != 0 && int(m.Pkt.Len) < n {
		m.Pkt.Len = int32(n)
	}
}

// GetM2 is a chain with room for n bytes (m_getm2): page clusters while more than MClBytes remain and there are any,
// else a cluster for MinClSize and more, else a plain mbuf. With m it is appended to m, which is returned. All or
// nothing: nil in a famine, and m is as it was. flags: FlagPktHdr, FlagEOR.
func (c *Cache) GetM2(m *Mbuf, n int, flags Flags) *Mbuf {
	hdr := flags & FlagPktHdr
	if m != nil {
		hdr = 0
	}
	var top, last *Mbuf
	for n > 0 {
		var mb *Mbuf
		if n > MClBytes {
			mb = c.GetJcl(hdr, MJumPageSize)
		}
		if mb == nil {
			if n >= MinClSize {
				mb = c.GetCl(hdr)
			} else {
				mb = c.get(hdr)
			}
		}
		if mb == nil {
			c.FreeChain(top)
			return nil
		}
		n -= mb.Size()
		if last == nil {
			top = mb
		} else {
			last.Next = mb
		}
		last = mb
		hdr = 0
	}
	if last != nil {
		last.Flags |= flags & FlagEOR
	}
	if m == nil {
		return top
	}
	tail := m.Last()
	tail.Next = top
	if top != nil {
		tail.Flags &^= FlagEOR
	}
	return m
}

// DevGet copies a frame from a device's linear buffer into a packet received on ifp (m_devget). Small packets stand
// behind MaxLinkHdr bytes of leading room; off, up to MHLen, is skipped in the first mbuf. nil in a famine.
func (c *Cache) DevGet(p []byte, off int, ifp RcvIf) *Mbuf {
	if off < 0 || off > MHLen {
		return nil
	}
	var top, last *Mbuf
	for total := len(p); len(p) > 0; {
		flags := FlagPktHdr
		if top != nil {
			flags = 0
		}
		var m *Mbuf
		if len(p)+off >= MinClSize {
			m = c.GetCl(flags)
		} else {
			m = c.get(flags)
		}
		if m == nil {
			c.FreeChain(top)
			return nil
		}
		if top == nil {
			top = m
			m.Pkt.RcvIf, m.Pkt.Len = ifp, int32(total)
			if m.Flags&FlagExt == 0 && total+off+MaxLinkHdr <= MHLen {
				m.off += MaxLinkHdr
			}
		} else {
			last.Next = m
		}
		last = m
		m.off += int32(off)
		off = 0
		m.len = int32(copy(m.Room(), p))
		p = p[m.len:]
	}
	return top
}
