package mbuf

import (
	"fmt"
	"sync/atomic"
)

// Tag is what software hangs on a packet (struct m_tag), named by the cookie of a module and an id of its own.
// It belongs to the packet's owner.
type Tag struct {
	// Next is the next tag of the packet.
	Next *Tag
	// Cookie names the module that defined ID.
	Cookie uint32
	// ID is the module's number for this kind of tag.
	ID uint16
	// Val is the module's data, copied with the packet.
	Val [2]uint64
}

// tagBytes is what a tag counts as in the memory statistics: FreeBSD's struct m_tag and the data.
const tagBytes = 24 + 16

// TagAlloc is a new tag on no packet (m_tag_alloc), nil in a famine.
func (c *Cache) TagAlloc(cookie uint32, id uint16) *Tag {
	if _, hit := c.z.failTag.Eval(); hit {
		c.z.tags.fails.Add(1)
		return nil
	}
	t := c.tags.get()
	if t != nil {
		*t = Tag{Cookie: cookie, ID: id}
	}
	return t
}

// TagFree frees a tag that is on no packet (m_tag_free).
func (c *Cache) TagFree(t *Tag) { c.tags.put(t) }

// TagPrepend puts a tag on a packet (m_tag_prepend).
func (m *Mbuf) TagPrepend(t *Tag) {
	m.assertPktHdr("m_tag_prepend")
	t.Next = m.Pkt.Tags
	m.Pkt.Tags = t
}

// TagFind is the most recent tag of that name on a packet, nil if there is none (m_tag_locate).
func (m *Mbuf) TagFind(cookie uint32, id uint16) *Tag {
	for t := m.Pkt.Tags; t != nil; t = t.Next {
		if t.Cookie == cookie && t.ID == id {
			return t
		}
	}
	return nil
}

// TagDelete takes a tag off a packet and frees it (m_tag_delete).
func (c *Cache) TagDelete(m *Mbuf, t *Tag) {
	for p := &m.Pkt.Tags; *p != nil; p = &(*p).Next {
		if *p == t {
			*p = t.Next
			c.TagFree(t)
			return
		}
	}
	panic("m_tag_delete: tag not on the packet")
}

func (c *Cache) freeTags(t *Tag) {
	for t != nil {
		next := t.Next
		c.TagFree(t)
		t = next
	}
}

// copyTags copies a list in order; false in a famine, with nothing kept (m_tag_copy_chain).
func (c *Cache) copyTags(from *Tag) (*Tag, bool) {
	var head *Tag
	for p := &head; from != nil; from = from.Next {
		t := c.TagAlloc(from.Cookie, from.ID)
		if t == nil {
			c.freeTags(head)
			return nil, false
		}
		t.Val = from.Val
		*p = t
		p = &t.Next
	}
	return head, true
}

// SndTag binds packets to a transmit resource of an interface (struct m_snd_tag). It travels in PktHdr.RcvIf, marked
// by CsumSndTag, and is counted by kern.ipc.num_snd_tags.
type SndTag struct {
	ifp  RcvIf
	z    *Zones
	refs atomic.Int32
	free func()
}

// NewSndTag is a send tag of an interface with one reference; free, which may be nil, runs when the last is gone.
func (z *Zones) NewSndTag(ifp RcvIf, free func()) *SndTag {
	t := &SndTag{ifp: ifp, z: z, free: free}
	t.refs.Store(1)
	z.sndTags.Add(1)
	return t
}

// Index is that of the tag's interface.
func (t *SndTag) Index() int { return t.ifp.Index() }

// Name is that of the tag's interface.
func (t *SndTag) Name() string { return t.ifp.Name() }

// Interface is the interface that the tag was made for.
func (t *SndTag) Interface() RcvIf { return t.ifp }

// Ref adds a reference (m_snd_tag_ref).
func (t *SndTag) Ref() *SndTag {
	t.refs.Add(1)
	return t
}

// Release drops a reference (m_snd_tag_rele).
func (t *SndTag) Release() {
	switch n := t.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic(fmt.Sprintf("m_snd_tag_rele: refcount of %p is %d", t, n))
	}
	t.z.sndTags.Add(-1)
	if t.free != nil {
		t.free()
	}
}

// SndTag is the packet's send tag, nil if it has none.
func (h *PktHdr) SndTag() *SndTag {
	if h.CsumFlags&CsumSndTag == 0 {
		return nil
	}
	t, _ := h.RcvIf.(*SndTag)
	return t
}
