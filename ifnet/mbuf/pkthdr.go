package mbuf

// MovePktHdr moves the packet header with its tags and send tag to another mbuf, which keeps its storage; without
// external storage it must be empty. from is left without a header (m_move_pkthdr).
func (to *Mbuf) MovePktHdr(from *Mbuf) {
	from.assertPktHdr("m_move_pkthdr")
	to.Flags = from.Flags&CopyFlags | to.Flags&(FlagExt|FlagExtPg)
	to.Pkt = from.Pkt
	to.QID, to.QIDHash = from.QID, from.QIDHash
	if to.Flags&FlagExt == 0 {
		to.toOwnArea()
	}
	from.endHdr()
}

// DupPktHdr copies a packet header, tags included, to an mbuf that is empty or has external storage; a send tag gets
// another reference. False in a famine: then to has an empty header (m_dup_pkthdr).
func (c *Cache) DupPktHdr(to, from *Mbuf) bool {
	from.assertPktHdr("m_dup_pkthdr")
	if to.Flags&FlagPktHdr != 0 {
		c.releaseHdr(to)
	}
	to.Flags = from.Flags&CopyFlags | to.Flags&(FlagExt|FlagExtPg)
	if to.Flags&FlagExt == 0 {
		to.toOwnArea()
	}
	tags, ok := c.copyTags(from.Pkt.Tags)
	if !ok {
		to.Pkt = PktHdr{}
		to.QID, to.QIDHash = 0, 0
		return false
	}
	to.Pkt = from.Pkt
	to.QID, to.QIDHash = from.QID, from.QIDHash
	to.Pkt.Tags = tags
	if t := to.Pkt.SndTag(); t != nil {
		t.Ref()
	}
	return true
}

// splitHdr begins the header of the second part of a packet: interface or send tag, and what is left of the length.
func (n *Mbuf) splitHdr(m *Mbuf, length int) {
	n.Pkt.RcvIf = m.Pkt.RcvIf
	n.QID, n.QIDHash = m.QID, m.QIDHash
	if t := m.Pkt.SndTag(); t != nil {
		n.Pkt.CsumFlags |= CsumSndTag
		t.Ref()
	}
	n.Pkt.Len = m.Pkt.Len - int32(length)
	m.Pkt.Len = int32(length)
}

// Demote frees what the packet header of a chain holds and takes the header away, of the first mbuf or of all
// (m_demote). Data and length stay.
func (c *Cache) Demote(m *Mbuf, all bool) {
	for ; m != nil; m = m.Next {
		if m.Flags&FlagPktHdr != 0 {
			c.releaseHdr(m)
			m.endHdr()
		}
		if !all {
			return
		}
	}
}
