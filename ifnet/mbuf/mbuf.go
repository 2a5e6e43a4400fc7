package mbuf

import (
	"fmt"

	"github.com/ifsim/ifsim/internal/physmem"
)

// RcvIf is what a packet remembers of the interface that it arrived on.
type RcvIf interface {
	// Index is the interface's if_index.
	Index() int
	// Name is its name, such as "igb0".
	Name() string
}

// PktHdr is the packet header (struct pkthdr), valid in the first mbuf of a packet. It belongs to whoever owns the
// packet. FreeBSD overlays some of these fields; where that bites (lro_nsegs on tso_segsz), they are apart here.
type PktHdr struct {
	// Len is the length of the packet in bytes.
	Len int32
	// FlowID is the hash or flow number that RSSType describes.
	FlowID uint32
	// RcvIf is the receiving interface or, with CsumSndTag, a *SndTag.
	RcvIf RcvIf
	// CsumFlags are offload requests on transmit and results on receive.
	CsumFlags CsumFlags
	// CsumData is the checksum's offset in its header on transmit, its value on receive.
	CsumData uint32
	// Tags is the list of tags (m_tag), most recent first.
	Tags *Tag
	// RcvTstmp is the arrival time in nanoseconds, valid with FlagTstmp or FlagTstmpLRO.
	RcvTstmp int64
	// LRO is scratch of the receive coalescer (PH_loc).
	LRO LROScratch
	// TSOSegSz is the segment payload in bytes that TSO is asked for.
	TSOSegSz uint16
	// EtherVtag is the VLAN TCI, host order, valid with FlagVLANTag.
	EtherVtag uint16
	// FIB is the routing table number.
	FIB uint16
	// RSSType says what FlowID is.
	RSSType HashType
}

// LROScratch is what LRO keeps in a packet between its steps (lro_tcp_d_len and neighbours, spec lro 1).
type LROScratch struct {
	// DataLen is the TCP payload length in bytes.
	DataLen uint16
	// DataCsum is the sum over the payload.
	DataCsum uint16
	// HdrOff is the offset of the TCP header.
	HdrOff uint16
	// NSegs is the number of segments merged (lro_nsegs).
	NSegs uint16
}

// Mbuf is one buffer of a chain (struct mbuf): two cache lines, the first with what every step touches. Whoever owns
// the chain owns all fields; there is no lock. It comes from a Cache and returns through one.
type Mbuf struct {
	// Next is the next buffer of the same packet (m_next).
	Next *Mbuf
	// NextPkt is the next packet of a queue (m_nextpkt).
	NextPkt *Mbuf

	z     *Zones
	cl    *cluster // with FlagExt: the external storage
	bus   uint32   // bus address of the buffer's first byte
	own   uint32   // bus address of the mbuf's own area
	size  int32    // of the buffer
	off   int32    // m_data relative to the buffer
	len   int32    // m_len
	state uint8    // kept with Invariants only: stateFree..

	// Type is what the buffer holds (TypeData..).
	Type uint8
	// QID is the send queue that the packet filter chose (pf_mtag.qid, spec altq 3), 0 for none. It belongs to the
	// packet header, though it stands where there is room.
	QID uint16
	// Flags are the M_* bits.
	Flags Flags
	// QIDHash is the packet's flow for the send queue, 0 for none (pf_mtag.qid_hash). It goes with QID.
	QIDHash uint32

	// Pkt is the packet header, valid with FlagPktHdr.
	Pkt PktHdr
}

// Len is the number of data bytes (m_len).
func (m *Mbuf) Len() int { return int(m.len) }

// SetLen sets the number of data bytes: 0 to what the buffer holds behind the data pointer.
func (m *Mbuf) SetLen(n int) {
	if uint(n) > uint(m.size-m.off) {
		m.badRange("SetLen", n)
	}
	m.len = int32(n)
}

// Bytes is the data, from m_data for m_len bytes. The slice is valid while the caller owns the mbuf.
func (m *Mbuf) Bytes() []byte {
	a := int(m.bus) + int(m.off)
	e := a + int(m.len)
	return m.z.win[a:e:e]
}

// Room is the buffer behind the data, to be filled before SetLen. It does not ask whether the buffer is shared.
func (m *Mbuf) Room() []byte {
	a := int(m.bus) + int(m.off) + int(m.len)
	e := int(m.bus) + int(m.size)
	return m.z.win[a:e:e]
}

// BusAddr is the bus address of the first data byte.
func (m *Mbuf) BusAddr() physmem.Addr { return physmem.Addr(m.bus) + physmem.Addr(m.off) }

// Size is the size of the buffer in bytes (M_SIZE).
func (m *Mbuf) Size() int { return int(m.size) }

// Writable reports whether the data may be changed: not read-only and not shared (M_WRITABLE).
func (m *Mbuf) Writable() bool {
	return m.Flags&(FlagRdonly|FlagExtPg) == 0 && (m.Flags&FlagExt == 0 || m.cl.refs.Load() == 1)
}

// LeadingSpace is the room in front of the data, 0 if not writable (M_LEADINGSPACE).
func (m *Mbuf) LeadingSpace() int {
	if !m.Writable() {
		return 0
	}
	return int(m.off)
}

// TrailingSpace is the room behind the data, 0 if not writable (M_TRAILINGSPACE).
func (m *Mbuf) TrailingSpace() int {
	if !m.Writable() {
		return 0
	}
	return int(m.size - m.off - m.len)
}

// alignMask is the alignment that Align gives, less one: that of a long.
const alignMask = 7

// Align places the data pointer of an empty, fresh mbuf so that n bytes end near the end of the buffer (M_ALIGN).
func (m *Mbuf) Align(n int) {
	if uint(n) > uint(m.size) || m.off != 0 {
		m.badRange("Align", n)
	}
	m.off = (m.size - int32(n)) &^ alignMask
}

// ShiftData moves the data pointer by n bytes, either way, and leaves the length alone (m_data += n).
func (m *Mbuf) ShiftData(n int) {
	off := int(m.off) + n
	if off < 0 || off+int(m.len) > int(m.size) {
		m.badRange("ShiftData", n)
	}
	m.off = int32(off)
}

// Length is the number of data bytes in the whole chain (m_length); nil has none.
func (m *Mbuf) Length() int {
	n := 0
	for ; m != nil; m = m.Next {
		n += int(m.len)
	}
	return n
}

// Last is the last mbuf of the chain.
func (m *Mbuf) Last() *Mbuf {
	for m.Next != nil {
		m = m.Next
	}
	return m
}

// Count is the number of mbufs in the chain.
func (m *Mbuf) Count() int {
	n := 0
	for ; m != nil; m = m.Next {
		n++
	}
	return n
}

// FixHdr stores the chain's length in the packet header and returns it (m_fixhdr).
func (m *Mbuf) FixHdr() int {
	n := m.Length()
	m.Pkt.Len = int32(n)
	return n
}

// CopyData copies bytes from offset off of the chain into p (m_copydata). The chain must hold them all.
func (m *Mbuf) CopyData(off int, p []byte) {
	if off < 0 {
		panic(fmt.Sprintf("m_copydata, negative off %d", off))
	}
	for ; off > 0; m = m.Next {
		if m == nil {
			panic("m_copydata, offset > size of mbuf chain")
		}
		if off < int(m.len) {
			break
		}
		off -= int(m.len)
	}
	for len(p) > 0 {
		if m == nil {
			panic("m_copydata, length > size of mbuf chain")
		}
		n := copy(p, m.Bytes()[off:])
		p = p[n:]
		off = 0
		m = m.Next
	}
}

// badRange is the broken invariant of a length or pointer outside its buffer.
func (m *Mbuf) badRange(fn string, n int) {
	panic(fmt.Sprintf("mbuf: %s(%d) outside the buffer of mbuf %p: size %d off %d len %d", fn, n, m, m.size, m.off, m.len))
}

// endHdr takes the packet header away; the room it had in the area becomes leading space.
func (m *Mbuf) endHdr() {
	m.Flags &^= FlagPktHdr
	m.Pkt = PktHdr{}
	m.QID, m.QIDHash = 0, 0
	if m.Flags&FlagExt == 0 {
		m.bus = m.own + headerSize
		m.size = MLen
		m.off += pktHdrSize
	}
}
