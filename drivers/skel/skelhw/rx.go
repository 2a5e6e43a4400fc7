package skelhw

import (
	"fmt"
	"hash/crc32"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/iflib/busdma"
)

// rxBudget is how many frames one run takes before it lets others go first.
const rxBudget = 128

// maxPieces is how many of the smallest buffers the longest frame fills.
const maxPieces = (skelreg.MaxFrame + skelreg.MinBuf - 1) / skelreg.MinBuf

// rxUnit is reception (datasheet 4). It belongs to its engine run.
type rxUnit struct {
	n     *nic
	src   *hw.RxSource
	rings [skelreg.QueuePairs]rxRing

	// The frame at hand.
	headers hw.Headers
	data    hw.Gather
	dst     [maxPieces][]byte
	hash    uint32
	state   uint64 // of the last descriptor, less the length
}

// rxRing is one receive queue.
type rxRing struct {
	ring
	n     *nic
	id    int
	buf   uint32      // bytes of a buffer
	awake atomic.Bool // the bell was rung since the last frame that found no buffer
}

var _ startStopper = (*rxRing)(nil)

func (u *rxUnit) init(n *nic) {
	u.n, u.src = n, hw.NewRxSource(n.cfg.Port, 0)
	for q := range u.rings {
		u.rings[q].n, u.rings[q].id = n, q
	}
}

func (r *rxRing) start(entries uint32) error {
	r.awake.Store(false)
	r.buf = r.n.load(qreg(r.id, skelreg.RXBUF))
	if r.buf < skelreg.MinBuf || r.buf > skelreg.MaxBuf {
		return fmt.Errorf("buffers cannot have %d bytes", r.buf)
	}
	return r.begin(r.n.ringAddr(qreg(r.id, skelreg.RXBASELO)), entries)
}

func (r *rxRing) stop() { r.end() }

// run takes what has arrived, up to the budget.
func (u *rxUnit) run() {
	var events uint32
	left := rxBudget
	for f := u.src.Peek(); f != nil && left > 0; f = u.src.Peek() {
		if q, ok := u.receive(f.Data); ok {
			events |= 1 << q
		}
		u.src.Next()
		left--
	}
	u.src.Flush()
	if c := &u.src.Counters; c.Truncated|c.Malformed != 0 {
		u.count(skelreg.StatRxErrors, c.Truncated+c.Malformed)
		c.Truncated, c.Malformed = 0, 0
	}
	if events != 0 {
		u.n.events.happen(events)
	}
	if left == 0 {
		u.n.engine.Defer(rxWork)
	}
}

func (u *rxUnit) count(stat, v uint64) { u.n.stats.add(rxWork, stat, v) }

// receive is the way of a frame from the wire into memory; ok says that it got there, by
// queue q.
func (u *rxUnit) receive(frame []byte) (q int, ok bool) {
	limit := u.n.load(skelreg.MAXFRAME)
	if _, tagged := hw.Tag(frame, hw.TPID8021Q); tagged {
		limit += hw.VLANLen
	}
	stat := uint64(skelreg.StatRxFrames)
	switch {
	case !u.accepts(frame):
		stat = skelreg.StatRxFilter
	case len(frame) > int(min(limit, skelreg.MaxFrame)):
		stat = skelreg.StatRxErrors
	default:
		q = u.classify(frame)
		stat = u.deliver(&u.rings[q])
	}
	u.count(stat, 1)
	return q, stat == skelreg.StatRxFrames
}

// accepts is the address filter.
func (u *rxUnit) accepts(frame []byte) bool {
	n := u.n
	mode := n.load(skelreg.RXMODE)
	if n.load(skelreg.CTRL)&skelreg.CtrlRxOn == 0 || !n.link.Up() {
		return false
	}
	if mode&skelreg.RxPromisc != 0 {
		return true
	}
	switch hw.CastOf(frame) {
	case hw.Broadcast:
		return true
	case hw.Multicast:
		bit := frame[hw.EtherAddrLen-1] % skelreg.GroupBits
		return mode&skelreg.RxAllMulti != 0 || n.load64(skelreg.GROUPLO)>>bit&1 != 0
	}
	var dst uint64
	for i, b := range frame[:hw.EtherAddrLen] {
		dst |= uint64(b) << (8 * i)
	}
	return dst == n.load64(skelreg.MACLO)
}

// classify finds out about the frame, takes its tag out and chooses its queue.
func (u *rxUnit) classify(frame []byte) (q int) {
	mode, h := u.n.load(skelreg.RXMODE), &u.headers
	u.state = skelreg.DescEnd
	h.Parse(frame, len(frame))
	u.data.Reset(frame)
	if mode&skelreg.RxTakeTag != 0 {
		if tci, ok := u.data.Strip(hw.TPID8021Q); ok {
			u.state |= skelreg.DescTag | uint64(tci)<<skelreg.DescTagShift
		}
	}
	if mode&skelreg.RxCheck != 0 {
		if h.CheckIP(frame) == hw.CsumGood {
			u.state |= skelreg.DescIPSum
		}
		if h.CheckL4(frame) == hw.CsumGood {
			u.state |= skelreg.DescL4Sum
		}
	}
	var ok bool
	if u.hash, ok = hashOf(frame, h); ok {
		u.state |= skelreg.DescHash
		if mode&skelreg.RxSpread != 0 {
			q = int(u.hash % skelreg.QueuePairs)
		}
	}
	return q
}

// Where the addresses stand in an IP header, and the size of ports.
const (
	ipv4Addrs, ipv4AddrsEnd = 12, 20
	ipv6Addrs, ipv6AddrsEnd = 8, 40
	portsLen                = 4
)

// hashOf is the hash of a frame (datasheet 4.1); ok is false if it is not IP.
func hashOf(frame []byte, h *hw.Headers) (hash uint32, ok bool) {
	switch {
	case h.Has(hw.BadIP):
		return 0, false
	case h.Has(hw.IPv4):
		hash = crc32.ChecksumIEEE(frame[h.L3+ipv4Addrs : h.L3+ipv4AddrsEnd])
	case h.Has(hw.IPv6):
		hash = crc32.ChecksumIEEE(frame[h.L3+ipv6Addrs : h.L3+ipv6AddrsEnd])
	default:
		return 0, false
	}
	if h.Has(hw.TCP) || h.Has(hw.UDP) {
		hash = crc32.Update(hash, crc32.IEEETable, frame[h.L4:h.L4+portsLen])
	}
	return hash, true
}

// deliver puts the frame into a queue's buffers and returns the counter of how that
// went.
func (u *rxUnit) deliver(r *rxRing) (stat uint64) {
	if !r.open(u.n.dma, r.id) || !r.awake.Load() {
		return skelreg.StatRxMissed
	}
	need := (uint32(u.data.Len()) + r.buf - 1) / r.buf
	if !r.owns(need) {
		// Software may have rung the bell between the look and this: look again.
		r.awake.Store(false)
		if !r.owns(need) {
			return skelreg.StatRxMissed
		}
		r.awake.Store(true)
	}
	for i := range need {
		dst, err := u.n.dma.Slice(r.buffer(r.at+i), uint64(r.buf), busdma.FromDevice)
		if err != nil {
			u.n.dma.Fault(r.id, r.wrap(r.at+i), err)
			return skelreg.StatRxErrors
		}
		u.dst[i] = dst
	}
	for i := range need {
		word0, state := uint64(0), uint64(u.data.Copy(u.dst[i]))
		if i == need-1 {
			word0, state = uint64(u.hash), state|u.state
		}
		r.giveBack(r.at+i, word0, u.n.faults.Writeback(state))
	}
	r.at = r.wrap(r.at + need)
	return skelreg.StatRxFrames
}

// owns reports whether the next count descriptors are the part's.
func (r *rxRing) owns(count uint32) bool {
	if count >= r.size {
		return false
	}
	for i := range count {
		if r.state(r.at+i)&skelreg.DescOwn == 0 {
			return false
		}
	}
	return true
}
