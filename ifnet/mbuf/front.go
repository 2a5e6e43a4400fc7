package mbuf

import "fmt"

// The functions of this file change the front of a chain. All that may fail free the whole chain then and return
// nil (spec ifnet 10.2).

// Pullup makes the first n bytes of the chain contiguous and returns the chain (m_pullup). If the first mbuf is not
// external, has a successor and room behind its data, it is filled in place; else a new mbuf takes the packet header,
// and n is at most MHLen. Up to MaxProtoHdr bytes are gathered while at it. On failure, which includes a chain
// shorter than n, the whole chain is freed and the result is nil.
func (c *Cache) Pullup(m *Mbuf, n int) *Mbuf {
	if m.Flags&FlagExt == 0 && m.off+int32(n) < m.size && m.Next != nil {
		if int(m.len) >= n {
			return m
		}
		rest := m.Next
		return c.gather(m, rest, n-int(m.len))
	}
	if n > MHLen {
		c.FreeChain(m)
		return nil
	}
	head := c.newHead(m)
	if head == nil {
		return nil
	}
	return c.gather(head, m, n)
}

// CopyUp is Pullup that always takes a new mbuf and leaves off bytes of leading room in it; off + n is at most MHLen
// (m_copyup). On failure the whole chain is freed and the result is nil.
func (c *Cache) CopyUp(m *Mbuf, n, off int) *Mbuf {
	if n > MHLen-off {
		c.FreeChain(m)
		return nil
	}
	head := c.newHead(m)
	if head == nil {
		return nil
	}
	head.off += int32(off)
	return c.gather(head, m, n)
}

// newHead is an empty mbuf that has taken m's packet header; in a famine m is freed.
func (c *Cache) newHead(m *Mbuf) *Mbuf {
	head := c.Get()
	if head == nil {
		c.FreeChain(m)
		return nil
	}
	head.Type = m.Type
	if m.Flags&FlagPktHdr != 0 {
		head.MovePktHdr(m)
	}
	return head
}

// gather moves n bytes, or MaxProtoHdr if that is more and fits, from the front of rest to the end of head and chains
// what is left. If rest is too short, all is freed.
func (c *Cache) gather(head, rest *Mbuf, n int) *Mbuf {
	for n > 0 && rest != nil {
		count := min(max(n, MaxProtoHdr), int(head.size-head.off-head.len), int(rest.len))
		copy(head.Room(), rest.Bytes()[:count])
		n -= count
		head.len += int32(count)
		rest.off += int32(count)
		rest.len -= int32(count)
		if rest.len == 0 {
			rest = c.Free(rest)
		}
	}
	if n > 0 {
		c.Free(head)
		return nil
	}
	head.Next = rest
	return head
}

// Prepend makes room for n bytes, uninitialised, in front of the data: in the leading space if there is enough, else
// in a new mbuf that takes the packet header, data at its end (M_PREPEND, m_prepend). The packet length grows by n.
// On failure the chain is freed and the result is nil. More than a new mbuf holds is a broken invariant.
func (c *Cache) Prepend(m *Mbuf, n int) *Mbuf {
	if m.LeadingSpace() >= n {
		m.off -= int32(n)
		m.len += int32(n)
	} else {
		head := c.newHead(m)
		if head == nil {
			return nil
		}
		if n > int(head.size) {
			panic(fmt.Sprintf("m_prepend: len %d does not fit an mbuf", n))
		}
		if n < int(head.size) {
			head.Align(n)
		}
		head.len = int32(n)
		head.Next = m
		m = head
	}
	if m.Flags&FlagPktHdr != 0 {
		m.Pkt.Len += int32(n)
	}
	return m
}

// Adj trims n bytes from the front, or -n from the back if n is negative, and corrects the packet length (m_adj).
// In front mbufs stay, empty if need be; at the back surplus mbufs are freed unless the last one alone covers the
// cut. Trimming more than there is leaves nothing.
func (c *Cache) Adj(m *Mbuf, n int) {
	if n >= 0 {
		m.trimFront(n)
		return
	}
	c.trimBack(m, -n)
}

func (m *Mbuf) trimFront(n int) {
	head, left := m, n
	for ; m != nil && left > 0; m = m.Next {
		cut := min(left, int(m.len))
		if cut < int(m.len) {
			m.off += int32(cut)
		}
		m.len -= int32(cut)
		left -= cut
	}
	if head.Flags&FlagPktHdr != 0 {
		head.Pkt.Len -= int32(n - left)
	}
}

func (c *Cache) trimBack(m *Mbuf, n int) {
	last := m.Last()
	if int(last.len) >= n {
		last.len -= int32(n)
		if m.Flags&FlagPktHdr != 0 {
			m.Pkt.Len -= int32(n)
		}
		return
	}
	keep := max(0, m.Length()-n)
	if m.Flags&FlagPktHdr != 0 {
		m.Pkt.Len = int32(keep)
	}
	for ; m != nil; m = m.Next {
		if int(m.len) >= keep {
			m.len = int32(keep)
			c.FreeChain(m.Next)
			m.Next = nil
			return
		}
		keep -= int(m.len)
	}
}

// Split cuts the chain behind its first n bytes: m keeps them, the rest is returned (m_split). Clusters are shared,
// and so may have become read-only. If m has a packet header, both parts have one, with lengths, and with the
// interface or send tag of m. nil if the chain is shorter than n or in a famine, with m unchanged; a chain without
// header cut at its very end has a nil rest too.
func (c *Cache) Split(m *Mbuf, n int) *Mbuf {
	cut, at := m, n
	for cut != nil && at > int(cut.len) {
		at -= int(cut.len)
		cut = cut.Next
	}
	if cut == nil {
		return nil
	}
	if m.Flags&FlagPktHdr == 0 {
		return c.splitMbuf(cut, at)
	}
	head := c.GetHdr()
	if head == nil {
		return nil
	}
	head.Type = m.Type
	switch remain := int(cut.len) - at; {
	case remain == 0:
		head.Next = cut.Next
		cut.Next = nil
	case cut.Flags&FlagExt != 0 || remain <= MHLen:
		c.splitInto(head, cut, at)
	default: // too much for a header mbuf: it stays empty in front
		rest := c.splitMbuf(cut, at)
		if rest == nil {
			c.Free(head)
			return nil
		}
		head.Align(0)
		head.Next = rest
	}
	head.splitHdr(m, n)
	return head
}

// splitMbuf cuts a chain inside or at the end of its first mbuf; nil if there is no rest or in a famine.
func (c *Cache) splitMbuf(m *Mbuf, at int) *Mbuf {
	if at == int(m.len) {
		rest := m.Next
		m.Next = nil
		return rest
	}
	n := c.Get()
	if n == nil {
		return nil
	}
	n.Type = m.Type
	c.splitInto(n, m, at)
	return n
}

// splitInto moves the data of m from at on, and what follows m, to the empty mbuf n.
func (c *Cache) splitInto(n, m *Mbuf, at int) {
	remain := m.len - int32(at)
	if m.Flags&FlagExt != 0 {
		n.share(m, int32(at), remain)
	} else {
		n.Align(int(remain))
		n.len = remain
		copy(n.Bytes(), m.Bytes()[at:])
	}
	m.len = int32(at)
	n.Next = m.Next
	m.Next = nil
}
