package mbuf

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// junk is what Invariants writes into free storage (uma_junk).
const junk = 0xdeadc0de

const junkLen = 4

// junkPage is the longest storage, free.
var junkPage = func() (p [MJum16Bytes]byte) {
	for i := 0; i < len(p); i += junkLen {
		binary.LittleEndian.PutUint32(p[i:], junk)
	}
	return p
}()

// States of an mbuf, kept with Invariants.
const (
	stateFree  uint8 = iota
	stateLive        // somebody's
	stateFreed       // freed, while others still refer to the storage whose count it holds
)

// trash fills free storage (trash_dtor).
func trash(p []byte) { copy(p, junkPage[:]) }

// checkTrash panics if free storage was written to (trash_ctor).
func checkTrash(p []byte, bus uint32) {
	if bytes.Equal(p, junkPage[:len(p)]) {
		return
	}
	for i := 0; i < len(p); i += junkLen {
		if v := binary.LittleEndian.Uint32(p[i:]); v != junk {
			panic(fmt.Sprintf("Memory modified after free %#x(%d) val=%x @ %#x", bus, len(p), v, bus+uint32(i)))
		}
	}
}

// area is the mbuf's own storage.
func (z *Zones) area(m *Mbuf) []byte { return z.win[m.own : m.own+MSize] }

// checkFree is the first step of freeing: the mbuf must be somebody's, and of this machine.
func (c *Cache) checkFree(m *Mbuf) {
	if m.z != c.z {
		panic(fmt.Sprintf("m_free: mbuf %p of another machine", m))
	}
	if m.state != stateLive {
		panic(fmt.Sprintf("Duplicate free of %p from zone %p(%s)", m, &c.z.mbufs, c.z.mbufs.name))
	}
	m.state = stateFreed
}

// checkIn is the last step: nobody refers to the area.
func (c *Cache) checkIn(m *Mbuf) {
	m.state = stateFree
	m.cl, m.Next, m.NextPkt = nil, nil, nil
	m.Flags, m.Pkt = 0, PktHdr{}
	m.off, m.len, m.size = 0, 0, 0
	trash(c.z.area(m))
}

func (c *Cache) checkOut(m *Mbuf) {
	if m.state != stateFree || m.Next != nil || m.len != 0 {
		panic(fmt.Sprintf("Mbuf %p modified after free", m))
	}
	checkTrash(c.z.area(m), m.own)
	m.state = stateLive
}

func (c *Cache) checkInPacket(m *Mbuf) {
	m.state = stateFree
	m.Next, m.NextPkt = nil, nil
	m.Pkt = PktHdr{}
	m.off, m.len, m.size = 0, 0, 0
	c.checkInCluster(m.cl)
	trash(c.z.area(m))
}

func (c *Cache) checkOutPacket(m *Mbuf) {
	c.checkOut(m)
	c.checkOutCluster(m.cl)
	m.size = m.cl.size
}

func (c *Cache) checkInCluster(cl *cluster) {
	if cl.free {
		panic(fmt.Sprintf("Duplicate free of %#x from zone %p(%s)", cl.bus, c.z, "mbuf_cluster"))
	}
	if n := cl.refs.Load(); n != 1 {
		panic(fmt.Sprintf("mb_dtor_clust: refcnt %d", n))
	}
	cl.free = true
	trash(cl.bytes())
}

func (c *Cache) checkOutCluster(cl *cluster) {
	if !cl.free {
		panic(fmt.Sprintf("mb_ctor_clust: cluster %#x in use", cl.bus))
	}
	checkTrash(cl.bytes(), cl.bus)
	cl.free = false
}

func (m *Mbuf) assertNoExt(fn string) {
	if m.Flags&FlagExt != 0 {
		panic(fmt.Sprintf("%s: mbuf %p has M_EXT", fn, m))
	}
}

func (m *Mbuf) assertPktHdr(fn string) {
	if m.Flags&FlagPktHdr == 0 {
		panic(fmt.Sprintf("%s: no packet header in mbuf %p", fn, m))
	}
}
