package mbuf

import (
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/physmem"
)

// cluster is external storage and its reference count. A free one has count 1, so that neither giving it out nor
// taking it back writes here. The count is changed atomically, and only when the storage is shared.
type cluster struct {
	z     *Zones
	refs  atomic.Int32
	bus   uint32
	size  int32
	typ   ExtType
	free  bool  // kept with Invariants only
	owner *Mbuf // the mbuf that holds the count (EXT_FLAG_EMBREF): stays allocated until the last reference is gone

	release func(arg any) // of foreign storage
	arg     any
}

func (cl *cluster) bytes() []byte {
	e := cl.bus + uint32(cl.size)
	return cl.z.win[cl.bus:e:e]
}

// Cluster is a cluster without an mbuf, as a receive free list holds it. The zero value is none.
type Cluster struct{ cl *cluster }

// Valid reports whether there is a cluster.
func (c Cluster) Valid() bool { return c.cl != nil }

// Addr is the bus address of the first byte.
func (c Cluster) Addr() physmem.Addr { return physmem.Addr(c.cl.bus) }

// Size is the size in bytes.
func (c Cluster) Size() int { return int(c.cl.size) }

// Bytes is the storage.
func (c Cluster) Bytes() []byte { return c.cl.bytes() }

// kindOfSize is the kind of cluster of exactly size bytes; another size is a broken invariant.
func kindOfSize(fn string, size int) int {
	switch size {
	case MClBytes:
		return kindCluster
	case MJumPageSize:
		return kindJumboP
	case MJum9Bytes:
		return kindJumbo9
	case MJum16Bytes:
		return kindJumbo16
	}
	panic(fn + ": invalid cluster size")
}

// kindOfType is the index of a zone's storage, -1 for foreign storage.
func kindOfType(t ExtType) int {
	switch t {
	case ExtCluster:
		return kindCluster
	case ExtJumboP:
		return kindJumboP
	case ExtJumbo9:
		return kindJumbo9
	case ExtJumbo16:
		return kindJumbo16
	}
	return -1
}

// attach makes an mbuf's data the start of a cluster, without counting a reference.
func (m *Mbuf) attach(cl *cluster) {
	m.cl = cl
	m.Flags |= FlagExt
	m.bus, m.size = cl.bus, cl.size
	m.off, m.len = 0, 0
}

// share gives n the storage and data of m, which is external (mb_dupcl).
func (n *Mbuf) share(m *Mbuf, off, length int32) {
	m.cl.refs.Add(1)
	n.cl = m.cl
	n.Flags |= FlagExt | m.Flags&(FlagRdonly|FlagExtPg)
	n.bus, n.size = m.bus, m.size
	n.off, n.len = m.off+off, length
}

// Refs is the number of references to the external storage, 0 without.
func (m *Mbuf) Refs() int {
	if m.Flags&FlagExt == 0 {
		return 0
	}
	return int(m.cl.refs.Load())
}

// ExtType is the kind of the external storage, 0 without.
func (m *Mbuf) ExtType() ExtType {
	if m.Flags&FlagExt == 0 {
		return 0
	}
	return m.cl.typ
}

// cluster takes a cluster of the kind from its zone, nil in a famine (counted).
func (c *Cache) cluster(kind int) *cluster {
	s := &c.clusters[kind]
	if _, hit := c.failCluster.Eval(); hit {
		s.d.fails.Add(1)
		return nil
	}
	cl := s.get()
	if c.check && cl != nil {
		c.checkOutCluster(cl)
	}
	return cl
}

// putCluster returns a cluster whose count is 1 to its zone.
func (c *Cache) putCluster(cl *cluster) {
	if c.check {
		c.checkInCluster(cl)
	}
	c.clusters[kindOfType(cl.typ)].put(cl)
}

// clusterOrDrain is cluster for an mbuf: a famine of 2 KiB clusters takes the free packets apart once and tries
// again, as m_clget does.
func (c *Cache) clusterOrDrain(kind int) *cluster {
	cl := c.cluster(kind)
	if cl == nil && kind == kindCluster {
		c.drainPackets()
		cl = c.cluster(kind)
	}
	return cl
}

// drainPackets takes apart what the depot and this cache hold of free packets (zone_drain of zone_pack).
func (c *Cache) drainPackets() {
	c.z.packets.absorb(c.packets.loaded)
	c.z.packets.absorb(c.packets.prev)
	c.z.packets.drain(c.z.split)
}

// ClGet attaches a 2 KiB cluster to an mbuf that has no external storage (m_clget). False in a famine, with the
// mbuf unchanged. Data that the mbuf had is no longer part of it.
func (c *Cache) ClGet(m *Mbuf) bool { return c.ClJGet(m, MClBytes) }

// ClJGet is ClGet with a cluster of exactly 2048, 4096, 9216 or 16384 bytes (m_cljget).
func (c *Cache) ClJGet(m *Mbuf, size int) bool {
	m.assertNoExt("m_cljget")
	cl := c.clusterOrDrain(kindOfSize("m_cljget", size))
	if cl == nil {
		return false
	}
	cl.owner = m
	m.attach(cl)
	return true
}

// AllocCluster takes a cluster of exactly 2048, 4096, 9216 or 16384 bytes without an mbuf; false in a famine.
func (c *Cache) AllocCluster(size int) (Cluster, bool) {
	cl := c.clusterOrDrain(kindOfSize("m_cljget", size))
	return Cluster{cl}, cl != nil
}

// FreeCluster returns a cluster that has no mbuf.
func (c *Cache) FreeCluster(cl Cluster) { c.putCluster(cl.cl) }

// AttachCluster makes a cluster the storage of an mbuf that has none, empty, data at its start. The mbuf owns it.
func (c *Cache) AttachCluster(m *Mbuf, cl Cluster) {
	m.assertNoExt("m_cljset")
	cl.cl.owner = m
	m.attach(cl.cl)
}

// TakeCluster takes the cluster away from an mbuf, which becomes empty on its own area; the caller owns it. False,
// and nothing happens, if the mbuf has none, shares it, or has foreign storage or one from the packet zone.
func (c *Cache) TakeCluster(m *Mbuf) (Cluster, bool) {
	if m.Flags&FlagExt == 0 || m.cl.refs.Load() != 1 || m.cl.owner != m || kindOfType(m.cl.typ) < 0 {
		return Cluster{}, false
	}
	cl := m.cl
	cl.owner = nil
	m.toOwnArea()
	return Cluster{cl}, true
}

// toOwnArea makes the mbuf empty on its own area, with or without packet header.
func (m *Mbuf) toOwnArea() {
	m.Flags &^= FlagExt
	m.cl = nil
	m.off, m.len = 0, 0
	m.bus, m.size = m.own+headerSize, MLen
	if m.Flags&FlagPktHdr != 0 {
		m.bus, m.size = m.bus+pktHdrSize, MHLen
	}
}

// ExtAdd makes foreign storage in the machine's memory the data of an mbuf that has no external storage
// (m_extadd, type EXT_NET_DRV). free, which may be nil, is called with arg by whoever drops the last reference,
// after which the mbuf is freed. False if no reference count can be had; then the mbuf is unchanged and free is
// not called. Storage outside the machine's memory is a broken invariant.
func (c *Cache) ExtAdd(m *Mbuf, addr physmem.Addr, size int, free func(arg any), arg any) bool {
	m.assertNoExt("m_extadd")
	if end := uint64(addr) + uint64(size); size < 0 || end > uint64(len(c.z.win)) {
		m.badRange("ExtAdd", size)
	}
	ref := c.refs.get()
	if ref == nil {
		return false
	}
	ref.typ, ref.bus, ref.size = ExtNetDrv, uint32(addr), int32(size)
	ref.owner, ref.release, ref.arg = m, free, arg
	m.attach(ref)
	return true
}

// freePacket is freeExt of what most packets are: an mbuf that shares its cluster of the
// packet zone with nobody. False: it is not, or the magazine is full.
func (c *Cache) freePacket(m *Mbuf) bool {
	cl := m.cl
	return cl.owner == m && cl.typ == ExtPacket && cl.refs.Load() == 1 && !c.check && c.packets.push(m)
}

// freeExt drops a reference. The last one returns the storage and the mbuf that held the count; any other mbuf is
// freed at once (mb_free_ext, spec ifnet 10.2 "external reference rule").
func (c *Cache) freeExt(m *Mbuf) {
	cl := m.cl
	owner := cl.owner
	if cl.refs.Load() != 1 {
		if cl.refs.Add(-1) != 0 {
			if m != owner {
				c.putMbuf(m)
			}
			return
		}
		cl.refs.Store(1)
	}
	if m != owner {
		c.putMbuf(m)
	}
	if cl.typ == ExtPacket {
		if c.check {
			c.checkInPacket(owner)
		}
		if !c.packets.push(owner) {
			c.packets.put(owner)
		}
		return
	}
	cl.owner = nil
	if kindOfType(cl.typ) >= 0 {
		c.putCluster(cl)
	} else {
		release, arg := cl.release, cl.arg
		cl.release, cl.arg = nil, nil
		c.refs.put(cl)
		if release != nil {
			release(arg)
		}
	}
	c.putMbuf(owner)
}
