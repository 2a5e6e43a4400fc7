package skel

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// cacheLine keeps what two queues write apart.
const cacheLine = 64

// ring is a descriptor ring in memory that the part reads and writes too: every word is
// loaded and stored atomically.
type ring struct {
	mem   iflib.QueueMem
	words []uint64
	size  uint32 // entries, a power of two
}

func newRing(mem iflib.QueueMem) ring {
	words := mem.Words64()
	return ring{mem: mem, words: words, size: uint32(len(words) / skelreg.DescWords)}
}

// next is the index behind i.
func (r *ring) next(i uint32) uint32 { return (i + 1) & (r.size - 1) }

// state loads word 1 of descriptor i.
func (r *ring) state(i uint32) uint64 {
	return atomic.LoadUint64(&r.words[i*skelreg.DescWords+1])
}

// put writes descriptor i; whoever looks may see it at any time from now on, and not
// necessarily word 0 first.
func (r *ring) put(i uint32, addr iflib.Addr, state uint64) {
	w := r.words[i*skelreg.DescWords:]
	iflib.StoreRelaxed64(&w[0], uint64(addr))
	iflib.StoreRelaxed64(&w[1], state)
}

// hand is put for the descriptor that gives others away: whoever sees it sees what was
// written before.
func (r *ring) hand(i uint32, addr iflib.Addr, state uint64) {
	w := r.words[i*skelreg.DescWords:]
	iflib.StoreRelaxed64(&w[0], uint64(addr))
	atomic.StoreUint64(&w[1], state)
}

// txq is a transmit queue. One goroutine at a time owns it; others only peek, and read
// no more than the atomics and descriptors.
type txq struct {
	ring
	given atomic.Uint32 // behind the last descriptor that the doorbell was rung for
	done  atomic.Uint32 // behind the last descriptor that was credited
	_     [cacheLine]byte
}

// TxdEncap writes a packet into the ring (datasheet 3.1). iflib has made sure that there
// is room. EFBIG has it put the packet together and come again.
func (sc *softc) TxdEncap(pi *iflib.PktInfo) error {
	switch n := len(pi.Segs); {
	case n == 0:
		return syscall.EINVAL
	case n > skelreg.MaxChain:
		return syscall.EFBIG
	}
	q := &sc.txqs[pi.QSIdx]
	first := uint32(pi.Pidx)
	i := q.next(first)
	last := len(pi.Segs) - 1
	for k := 1; k <= last; k++ {
		q.put(i, pi.Segs[k].Addr, pi.Segs[k].Len|ending(pi, k == last)|skelreg.DescOwn)
		i = q.next(i)
	}
	// The part may be looking: the first descriptor gives away all of them.
	q.hand(first, pi.Segs[0].Addr, pi.Segs[0].Len|offloads(pi)|ending(pi, last == 0)|skelreg.DescOwn)
	pi.NewPidx = iflib.QIdx(i)
	return nil
}

// ending are the bits of a packet's last descriptor. The event is asked for only where
// iflib wants one: it costs more than the packet.
func ending(pi *iflib.PktInfo, last bool) uint64 {
	switch {
	case !last:
		return 0
	case pi.Flags&iflib.PktTxIntr != 0:
		return skelreg.DescEnd | skelreg.DescNotify
	}
	return skelreg.DescEnd
}

// offloads are the bits of a packet's first descriptor.
func offloads(pi *iflib.PktInfo) (bits uint64) {
	if pi.MFlags&mbuf.FlagVLANTag != 0 {
		bits |= skelreg.DescTag | uint64(pi.VTag)<<skelreg.DescTagShift
	}
	if pi.CsumFlags&mbuf.CsumIP != 0 {
		bits |= skelreg.DescIPSum
	}
	if pi.CsumFlags&(mbuf.CsumIPTCP|mbuf.CsumIPUDP|mbuf.CsumIP6TCP|mbuf.CsumIP6UDP) != 0 {
		bits |= skelreg.DescL4Sum
	}
	return bits
}

// TxdFlush rings the bell. We set no PktInfo.NDescs, so pidx is the producer index.
func (sc *softc) TxdFlush(qid int, pidx uint32) {
	sc.txqs[qid].given.Store(pidx)
	sc.regs.Write32(qreg(qid, skelreg.TXBELL), 1)
}

// errWriteback says that a descriptor came back with something in it.
var errWriteback = errors.New("descriptor came back changed")

// TxdCreditsUpdate counts the descriptors that came back. Without clear it is a peek:
// somebody asks while the owner works, so it changes nothing, and one will do.
func (sc *softc) TxdCreditsUpdate(qid int, clear bool) int {
	q := &sc.txqs[qid]
	end := q.given.Load()
	n, i := 0, q.done.Load()
	for ; i != end; i = q.next(i) {
		state := q.state(i)
		if state&skelreg.DescOwn != 0 {
			break
		}
		if !clear {
			return 1
		}
		if state != 0 {
			sc.badWriteback.Add(1)
			sc.ctx.TxGarbage(qid, errWriteback)
			break
		}
		n++
	}
	if clear {
		q.done.Store(i)
	}
	return n
}

// rxq is a receive queue. Its task owns it, init and stop while that cannot run; others
// only peek.
type rxq struct {
	ring
	bufSize uint32
	slots   []iflib.QIdx  // iflib's name for the buffer in each descriptor
	given   atomic.Uint32 // behind the last descriptor with a buffer
	_       [cacheLine]byte
}

// RxdRefill puts buffers into descriptors (datasheet 4.1). The names in Idxs come in any
// order: RxdPktGet has to return the one that belongs to the descriptor.
func (sc *softc) RxdRefill(iru *iflib.RxdUpdate) {
	q := &sc.rxqs[iru.QSIdx]
	i := uint32(iru.Pidx)
	for k, addr := range iru.PAddrs {
		q.slots[i] = iru.Idxs[k]
		q.hand(i, addr, skelreg.DescOwn)
		i = q.next(i)
	}
}

// RxdFlush rings the bell, in case the part has run out of buffers and sleeps.
func (sc *softc) RxdFlush(qid, _ int, pidx iflib.QIdx) {
	sc.rxqs[qid].given.Store(uint32(pidx))
	sc.regs.Write32(qreg(qid, skelreg.RXBELL), 1)
}

// RxdAvailable counts the packets that are whole, up to budget. It is a peek. Behind
// given lie descriptors that were taken long ago, and they look like new ones. Too many
// buffers without an end count as a packet, for RxdPktGet to refuse.
func (sc *softc) RxdAvailable(qid int, cidx iflib.QIdx, budget int) int {
	q := &sc.rxqs[qid]
	end := q.given.Load()
	packets, frags := 0, 0
	for i := uint32(cidx); i != end && packets < budget; i = q.next(i) {
		state := q.state(i)
		if state&skelreg.DescOwn != 0 {
			return packets
		}
		if frags++; state&skelreg.DescEnd != 0 || frags > iflib.MaxRxSegs {
			packets++
			frags = 0
		}
	}
	if frags > 0 && packets < budget {
		packets++
	}
	return packets
}

// RxdPktGet takes the packet at ri.Cidx. What the part has written is its word, not the
// truth: each length is checked against the buffer. An error resets the interface.
func (sc *softc) RxdPktGet(ri *iflib.RxdInfo) error {
	q := &sc.rxqs[ri.QSIdx]
	end := q.given.Load()
	for i := uint32(ri.Cidx); i != end && ri.NFrags < iflib.MaxRxSegs; i = q.next(i) {
		state := q.state(i)
		n := uint32(state & skelreg.DescLenMask)
		if state&skelreg.DescOwn != 0 || n == 0 || n > q.bufSize {
			break
		}
		ri.Frags[ri.NFrags] = iflib.RxdFrag{Idx: q.slots[i], Len: uint16(n)}
		ri.NFrags++
		ri.Len += int(n)
		if state&skelreg.DescEnd != 0 {
			received(ri, atomic.LoadUint64(&q.words[i*skelreg.DescWords]), state)
			return nil
		}
	}
	sc.badWriteback.Add(1)
	return fmt.Errorf("receive queue %d: no packet at descriptor %d: %w", ri.QSIdx, ri.Cidx, syscall.EIO)
}

// received says what the last descriptor tells of the packet. A checksum that is wrong
// is not said to be so: the stack then looks itself.
func received(ri *iflib.RxdInfo, word0, state uint64) {
	if state&skelreg.DescTag != 0 {
		ri.VTag = uint16(state >> skelreg.DescTagShift)
		ri.Flags |= mbuf.FlagVLANTag
	}
	if state&skelreg.DescIPSum != 0 {
		ri.CsumFlags |= mbuf.CsumL3Calc | mbuf.CsumL3Valid
	}
	if state&skelreg.DescL4Sum != 0 {
		ri.CsumFlags |= mbuf.CsumL4Calc | mbuf.CsumL4Valid
		ri.CsumData = mbuf.CsumDataGood
	}
	if state&skelreg.DescHash != 0 {
		ri.FlowID = uint32(word0)
		ri.RSSType = mbuf.HashOpaqueHash
	}
}
