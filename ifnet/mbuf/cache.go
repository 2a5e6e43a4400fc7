package mbuf

import "github.com/ifsim/ifsim/internal/kern"

// Cache is one owner's stock of mbufs, clusters and tags: magazines that move to and from the zones' depots. It has
// one owner at a time: a sender, a queue under its lock, a worker. An mbuf may be freed into any cache of its
// machine.
type Cache struct {
	z        *Zones
	check    bool
	mbufs    slot[Mbuf]
	packets  slot[Mbuf]
	clusters [numClusterKinds]slot[cluster]
	refs     slot[cluster]
	tags     slot[Tag]

	// copies of the zones'
	failGet, failCluster *kern.FailPoint
}

// NewCache is a new empty cache. Its owner must Close it.
func (z *Zones) NewCache() *Cache {
	c := &Cache{z: z, check: z.check, failGet: z.failGet, failCluster: z.failCluster}
	c.mbufs.init(&z.mbufs)
	c.packets.init(&z.packets)
	for i := range c.clusters {
		c.clusters[i].init(&z.clusters[i].depot)
	}
	c.refs.init(&z.refs)
	c.tags.init(&z.tags)
	z.mu.Lock()
	z.caches[c] = struct{}{}
	z.mu.Unlock()
	return c
}

// Close returns everything to the depots. The cache is of no use afterwards.
func (c *Cache) Close() {
	z := c.z
	z.mu.Lock()
	defer z.mu.Unlock()
	if _, open := z.caches[c]; !open {
		return
	}
	delete(z.caches, c)
	c.mbufs.close()
	c.packets.close()
	for i := range c.clusters {
		c.clusters[i].close()
	}
	c.refs.close()
	c.tags.close()
}

// Zones is the memory that the cache draws from.
func (c *Cache) Zones() *Zones { return c.z }

// Get is an empty mbuf of MLen bytes (m_get), nil in a famine.
func (c *Cache) Get() *Mbuf { return c.get(0) }

// GetHdr is an empty mbuf of MHLen bytes with a cleared packet header (m_gethdr), nil in a famine.
func (c *Cache) GetHdr() *Mbuf { return c.get(FlagPktHdr) }

// get is an empty mbuf, with FlagPktHdr one with a packet header; other flags are ignored.
func (c *Cache) get(flags Flags) *Mbuf {
	if _, hit := c.failGet.Eval(); hit {
		c.z.mbufs.fails.Add(1)
		return nil
	}
	m := c.mbufs.pop()
	if m == nil {
		if m = c.mbufs.get(); m == nil {
			return nil
		}
	}
	if c.check {
		c.checkOut(m)
	}
	m.Next, m.NextPkt = nil, nil
	m.Type = TypeData
	m.off, m.len = 0, 0
	m.QID, m.QIDHash = 0, 0
	if flags&FlagPktHdr == 0 {
		m.Flags = 0
		m.bus, m.size = m.own+headerSize, MLen
		return m
	}
	m.Flags = FlagPktHdr
	m.bus, m.size = m.own+headerSize+pktHdrSize, MHLen
	m.Pkt = PktHdr{}
	return m
}

// GetCl is an mbuf with a 2 KiB cluster from the packet zone (m_getcl), nil in a famine. With FlagPktHdr it has a
// cleared packet header; other flags are set as given.
func (c *Cache) GetCl(flags Flags) *Mbuf {
	_, hit := c.failGet.Eval()
	if !hit {
		_, hit = c.failCluster.Eval()
	}
	if hit {
		c.z.packets.fails.Add(1)
		return nil
	}
	m := c.packets.pop()
	if m == nil {
		if m = c.packets.get(); m == nil {
			return nil
		}
	}
	if c.check {
		c.checkOutPacket(m)
	}
	// storage, size and count are as the zone keeps them
	m.Next, m.NextPkt = nil, nil
	m.Flags = FlagExt | flags
	m.Type = TypeData
	m.off, m.len = 0, 0
	m.QID, m.QIDHash = 0, 0
	if flags&FlagPktHdr != 0 {
		m.Pkt = PktHdr{}
	}
	return m
}

// GetJcl is an mbuf with a cluster of exactly 2048, 4096, 9216 or 16384 bytes (m_getjcl); another size is a broken
// invariant. nil in a famine, with nothing kept.
func (c *Cache) GetJcl(flags Flags, size int) *Mbuf {
	if size == MClBytes {
		return c.GetCl(flags)
	}
	kind := kindOfSize("m_getjcl", size)
	m := c.get(flags)
	if m == nil {
		return nil
	}
	cl := c.cluster(kind)
	if cl == nil {
		c.putMbuf(m)
		return nil
	}
	cl.owner = m
	m.Flags |= flags
	m.attach(cl)
	return m
}

// Get2 is the smallest single buffer for size bytes up to 4096 (m_get2), nil in a famine or above.
func (c *Cache) Get2(size int, flags Flags) *Mbuf {
	if size > MJumPageSize {
		return nil
	}
	return c.Get3(size, flags)
}

// Get3 is Get2 up to 16384 bytes (m_get3).
func (c *Cache) Get3(size int, flags Flags) *Mbuf {
	switch {
	case size <= MHLen || size <= MLen && flags&FlagPktHdr == 0:
		return c.get(flags)
	case size <= MClBytes:
		return c.GetCl(flags)
	case size <= MJumPageSize:
		return c.GetJcl(flags, MJumPageSize)
	case size <= MJum9Bytes:
		return c.GetJcl(flags, MJum9Bytes)
	case size <= MJum16Bytes:
		return c.GetJcl(flags, MJum16Bytes)
	}
	return nil
}

// Free frees one mbuf, with the tags, send tag and external reference that it holds, and returns the next of the
// chain (m_free).
func (c *Cache) Free(m *Mbuf) *Mbuf {
	next := m.Next
	if c.check {
		c.checkFree(m)
	}
	if m.Flags&FlagPktHdr != 0 && (m.Pkt.Tags != nil || m.Pkt.CsumFlags&CsumSndTag != 0) {
		c.releaseHdr(m)
	}
	if m.Flags&FlagExt != 0 {
		if !c.freePacket(m) {
			c.freeExt(m)
		}
		return next
	}
	if c.check {
		c.checkIn(m)
	}
	if !c.mbufs.push(m) {
		c.mbufs.put(m)
	}
	return next
}

// FreeChain frees a whole chain, which may be nil (m_freem).
func (c *Cache) FreeChain(m *Mbuf) {
	for m != nil {
		m = c.Free(m)
	}
}

// putMbuf returns an mbuf to its zone, external storage and header already dealt with.
func (c *Cache) putMbuf(m *Mbuf) {
	if c.check {
		c.checkIn(m)
	}
	if !c.mbufs.push(m) {
		c.mbufs.put(m)
	}
}

// releaseHdr drops tags and send tag of a packet header.
func (c *Cache) releaseHdr(m *Mbuf) {
	c.freeTags(m.Pkt.Tags)
	m.Pkt.Tags = nil
	if t := m.Pkt.SndTag(); t != nil {
		t.Release()
	}
	m.Pkt.CsumFlags &^= CsumSndTag
}
