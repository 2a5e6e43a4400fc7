package hw

import (
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/probe"
)

const (
	// TxSlots is how many frames a batch holds that the port has not finished.
	TxSlots = 64
	// MaxTxSegs is how many pieces a packet may have; what has more is not sent.
	MaxTxSegs = 256

	txSlotSegs  = 8   // pieces that a slot has room for at first
	txHdrBuffer = 256 // bytes of header that a slot has room for at first
)

// States of a late completion.
const (
	lateNone uint32 = iota
	lateWaiting
	lateOver
)

// TxConfig says what a TxBatch is made of.
type TxConfig struct {
	Kernel *kern.Kernel
	Name   string // of the device
	Port   port.Port
	Queue  int // of the port
	Faults *Faults
	// Kick has the queue's work run, from a timer: Engine.Doorbell of the queue.
	Kick func()
}

// Completion is the end of a packet.
type Completion struct {
	Cookie uint64 // given to End or Drop
	Failed bool   // nothing was sent: dropped, or an offload that makes no sense
	Silent bool   // fault: the head moves, but nothing is written back or raised
	Again  bool   // fault: the packet has been reported before
}

// txSlot is a frame, beside its port.Frame.
type txSlot struct {
	segs   [][]byte // pieces from index 1 on; 0 is for a header of our own
	hdr    []byte   // that header's memory
	len    int
	cookie uint64
	last   bool // end of a packet: cookie counts
	empty  bool // nothing to send: the packet failed
}

// TxBatch takes the packets of one transmit queue from descriptors to the port: pieces
// are collected, offloads carried out on a copy of the headers, frames sent in batches,
// and packets reported in order when the port is done with all their frames. What the
// port has no room for stays, in order. One goroutine at a time: the queue's work
// function.
//
// Frames tail..sent are with the port, sent..head wait for it. Indices run freely and
// return to 0 when all is done, so that a port that copies sees the same few slots.
type TxBatch struct {
	cfg              TxConfig
	now              port.Immediate // Port, if it is one
	probes           *probe.Set
	head, sent, tail uint32
	empties          int // empty slots in sent..head
	done             int // frames that the port has completed beyond tail
	bad              int // frames that an Immediate port has refused
	cur              *txSlot
	over             bool // the packet has too many pieces
	blocked          bool // the last Send was short
	stuck            bool // the stuck_head fault holds the queue
	cutting          bool // seg has more
	repeat           bool // the repeated_completion fault: report last again
	last             Completion

	// Tally counts the frames that the port has taken.
	Tally Tally
	// Malformed counts packets that failed: too many pieces or a senseless offload.
	Malformed uint64

	slots  [TxSlots]txSlot
	frames [TxSlots]port.Frame

	seg       Segmenter
	src       [][]byte // the packet that seg cuts, index 0 unused
	segOff    Offload
	segCookie uint64

	late      atomic.Uint32
	lateTimer *timer
}

// NewTxBatch returns an empty batch. Close ends its timer.
func NewTxBatch(cfg TxConfig) *TxBatch {
	b := &TxBatch{cfg: cfg, probes: cfg.Kernel.Probes, src: make([][]byte, 1, txSlotSegs)}
	b.now, _ = cfg.Port.(port.Immediate)
	for i := range b.slots {
		b.slots[i].segs = make([][]byte, 1, txSlotSegs)
	}
	b.lateTimer = newTimer(cfg.Kernel, cfg.Name+" late completion", func() {
		b.late.Store(lateOver)
		cfg.Kick()
	})
	return b
}

// Begin makes room for a packet. False: full, so leave head and descriptors where they
// are until Ready. A packet begun and not ended is forgotten by the next Begin.
func (b *TxBatch) Begin() bool {
	if _, b.stuck = b.cfg.Faults.StuckHead.Eval(); b.stuck || b.cutting {
		return false
	}
	if b.head-b.tail >= TxSlots {
		return false
	}
	if b.head == b.tail {
		b.head, b.sent, b.tail, b.done = 0, 0, 0, 0
	}
	s := &b.slots[b.head%TxSlots]
	s.segs, s.len = s.segs[:1], 0
	b.cur, b.over = s, false
	return true
}

// Append adds the next piece of the packet, a view of DMA memory that stays valid until
// the packet is done.
func (b *TxBatch) Append(p []byte) {
	s := b.cur
	if len(s.segs) > MaxTxSegs {
		b.over = true
		return
	}
	if len(p) != 0 {
		s.segs = append(s.segs, p)
		s.len += len(p)
	}
}

// Len returns the bytes appended since Begin.
func (b *TxBatch) Len() int { return b.cur.len }

// Pieces returns the packet as appended so far: for models whose descriptors give no
// offsets and that have to parse. Valid until End.
func (b *TxBatch) Pieces() [][]byte { return b.cur.segs[1:] }

// End makes frames of the packet. o may be nil for none; it is not kept. cookie comes
// back from Done. The error is ErrOffload or ErrSegment: then the packet is not sent and
// is done, failed, in its turn.
func (b *TxBatch) End(o *Offload, cookie uint64) error {
	s := b.cur
	if b.over || s.len == 0 {
		b.fail(cookie)
		return ErrOffload
	}
	if o == nil || o.Flags == 0 {
		b.frames[b.head%TxSlots].Segs = s.segs[1:]
		b.put(s, cookie, true)
		return nil
	}
	if o.Flags&TxTSO != 0 {
		return b.cut(o, cookie)
	}
	from := 1
	if o.Flags&^TxPad != 0 {
		var err error
		if from, err = s.patch(o); err != nil {
			b.fail(cookie)
			return err
		}
	}
	if o.Flags&TxPad != 0 {
		s.pad()
	}
	b.frames[b.head%TxSlots].Segs = s.segs[from:]
	b.put(s, cookie, true)
	return nil
}

// Drop ends the packet without sending it: a DMA fault. It is done, failed, in its turn.
func (b *TxBatch) Drop(cookie uint64) {
	b.put(b.cur, cookie, true)
	b.slots[(b.head-1)%TxSlots].empty = true
	b.empties++
}

func (b *TxBatch) fail(cookie uint64) {
	b.Malformed++
	b.Drop(cookie)
}

// put closes the slot at head.
func (b *TxBatch) put(s *txSlot, cookie uint64, last bool) {
	s.cookie, s.last, s.empty = cookie, last, false
	b.head++
}

// header returns n bytes of the slot's own memory.
func (s *txSlot) header(n int) []byte {
	if cap(s.hdr) < n {
		s.hdr = make([]byte, max(n, txHdrBuffer))
	}
	return s.hdr[:n]
}

func (s *txSlot) pad() {
	if p := Pad(s.len); p != nil {
		s.segs = append(s.segs, p)
		s.len += len(p)
	}
}

// patch carries out o on a copy of the beginning of the packet. The frame is segs from
// the index returned on.
func (s *txSlot) patch(o *Offload) (from int, err error) {
	head, err := o.headLen(s.len)
	if err != nil {
		return 0, err
	}
	buf := s.header(VLANLen + head)
	hdr := buf[VLANLen:]
	from = s.lift(hdr)
	s.segs[from] = hdr
	for i := range o.Csum {
		if o.Flags&(TxCsum0<<i) != 0 {
			o.Csum[i].insert(s.segs[from:], hdr, s.len)
		}
	}
	if o.Flags&TxVLAN != 0 {
		pushTag(buf, o.TPID, o.TCI)
		s.segs[from] = buf
		s.len += VLANLen
	}
	return from, nil
}

// lift copies the beginning of the packet to hdr and takes it out of segs. It returns
// the index of the piece before what is left.
func (s *txSlot) lift(hdr []byte) int {
	i := 1
	for len(hdr) > 0 {
		n := copy(hdr, s.segs[i])
		hdr = hdr[n:]
		if n < len(s.segs[i]) {
			s.segs[i] = s.segs[i][n:]
			break
		}
		i++
	}
	return i - 1
}

// cut starts segmentation: the slot's pieces become the source, slots are filled by
// pump.
func (b *TxBatch) cut(o *Offload, cookie uint64) error {
	s := b.cur
	b.src, s.segs = s.segs, b.src
	if err := b.seg.Begin(&o.TSO, b.src[1:]); err != nil {
		b.fail(cookie)
		return err
	}
	b.segOff.Flags, b.segOff.TPID, b.segOff.TCI = o.Flags, o.TPID, o.TCI
	b.segCookie, b.cutting = cookie, true
	b.Tally.TSOPackets++
	b.pump()
	return nil
}

// pump makes segments while there are slots.
func (b *TxBatch) pump() {
	for b.cutting && b.head-b.tail < TxSlots {
		i := b.head % TxSlots
		s := &b.slots[i]
		buf := s.header(VLANLen + b.seg.HdrLen())
		s.segs = b.seg.Next(buf[VLANLen:], s.segs[:1])
		s.segs[0] = buf[VLANLen:]
		if b.segOff.Flags&TxVLAN != 0 {
			pushTag(buf, b.segOff.TPID, b.segOff.TCI)
			s.segs[0] = buf
		}
		s.len = GatherLen(s.segs)
		if b.segOff.Flags&TxPad != 0 {
			s.pad()
		}
		b.frames[i].Segs = s.segs
		b.cutting = b.seg.More()
		b.put(s, b.segCookie, !b.cutting)
	}
}

// Send hands the port what waits, until it is full.
func (b *TxBatch) Send() {
	b.blocked = false
	for {
		if !b.sendQueued() {
			b.blocked = true
			return
		}
		if !b.cutting {
			return
		}
		b.reap()
		head := b.head
		if b.pump(); b.head == head {
			return // slots are free again when Done has reported what they hold
		}
	}
}

// sendQueued sends sent..head; false when the port is full.
func (b *TxBatch) sendQueued() bool {
	for b.sent != b.head {
		i := b.sent % TxSlots
		if b.slots[i].empty {
			b.sent++
			b.empties--
			continue
		}
		j := b.runEnd(i)
		n := max(0, min(b.sendFrames(b.frames[i:j]), int(j-i)))
		for k := i; k < i+uint32(n); k++ {
			b.Tally.Count(b.frames[k].Segs, b.slots[k].len)
		}
		if b.probes.On() {
			b.traceSend(b.probes, i, i+uint32(n))
		}
		b.sent += uint32(n)
		if n < int(j-i) {
			return false
		}
	}
	return true
}

// sendFrames gives the port frames and returns how many it has taken.
func (b *TxBatch) sendFrames(frames []port.Frame) int {
	if b.now == nil {
		return b.cfg.Port.Send(b.cfg.Queue, frames)
	}
	n, bad := b.now.SendNow(b.cfg.Queue, frames)
	b.done += n
	b.bad += bad
	return n
}

// runEnd returns where the frames end that begin at slot i and can be sent at once.
func (b *TxBatch) runEnd(i uint32) uint32 {
	end := min(i+b.head-b.sent, TxSlots)
	if b.empties == 0 {
		return end
	}
	j := i + 1
	for j < end && !b.slots[j].empty {
		j++
	}
	return j
}

// completed reports whether the port is done with the frame at tail, which was sent.
func (b *TxBatch) completed() bool {
	if b.done <= 0 && b.now == nil {
		b.done = b.cfg.Port.Completed(b.cfg.Queue)
	}
	return b.done > 0
}

// reap frees the slots at tail that end no packet.
func (b *TxBatch) reap() {
	for b.tail != b.sent {
		s := &b.slots[b.tail%TxSlots]
		if s.last || !s.empty && !b.completed() {
			return
		}
		if !s.empty {
			b.done--
		}
		b.tail++
	}
}

// Done returns the next packet that is finished, in the order of End and Drop; ok is
// false when there is none.
func (b *TxBatch) Done() (c Completion, ok bool) {
	if b.repeat {
		b.repeat = false
		return b.last, true
	}
	for b.tail != b.sent {
		s := &b.slots[b.tail%TxSlots]
		if !s.empty && !b.completed() {
			break
		}
		if s.last && b.isLate() {
			break
		}
		if !s.empty {
			b.done--
		}
		b.tail++
		if !s.last {
			continue
		}
		c = Completion{Cookie: s.cookie, Failed: s.empty}
		_, c.Silent = b.cfg.Faults.MissingCompletion.Eval()
		if _, b.repeat = b.cfg.Faults.RepeatedCompletion.Eval(); b.repeat {
			b.last = c
			b.last.Again = true
		}
		return c, true
	}
	return Completion{}, false
}

// isLate passes the late_completion fail point for the packet at tail.
func (b *TxBatch) isLate() bool {
	switch b.late.Load() {
	case lateWaiting:
		return true
	case lateOver:
		b.late.Store(lateNone)
		return false
	}
	ms, hit := b.cfg.Faults.LateCompletion.Eval()
	if hit {
		b.late.Store(lateWaiting)
		b.lateTimer.start(time.Duration(max(ms, 1)) * time.Millisecond)
	}
	return hit
}

// Ready reports whether Begin may succeed after it has failed.
func (b *TxBatch) Ready() bool {
	return !b.blocked && !b.stuck && b.head-b.tail < TxSlots
}

// Blocked reports whether the port had no room: it calls Client.TxReady later.
func (b *TxBatch) Blocked() bool { return b.blocked }

// InFlight returns how many frames were made and not yet reported or dropped.
func (b *TxBatch) InFlight() int { return int(b.head - b.tail) }

// TakeErrors returns how many frames the port has refused for good since the last call.
func (b *TxBatch) TakeErrors() int {
	if b.now == nil {
		return b.cfg.Port.TakeErrors(b.cfg.Queue)
	}
	bad := b.bad
	b.bad = 0
	return bad
}

// Reset forgets every packet: unsent frames are dropped and nothing is reported any
// more. Frames that are with the port keep their slots until it is done. Pause the queue
// first.
func (b *TxBatch) Reset() {
	b.head, b.empties = b.sent, 0
	b.cutting, b.repeat, b.blocked, b.stuck = false, false, false, false
	for i := b.tail; i != b.sent; i++ {
		b.slots[i%TxSlots].last = false
	}
	b.lateTimer.stop()
	b.late.Store(lateNone)
}

// Close ends the batch's timer.
func (b *TxBatch) Close() { b.lateTimer.close() }

// TxSource is a model's transmit queue as Run drives it.
type TxSource interface {
	// FetchTx takes the descriptors of one packet and calls Append, and End or Drop; it
	// does not call them when there is no whole packet. It reports whether there may be
	// another.
	FetchTx(b *TxBatch) bool
	// CompleteTx moves the head behind a packet and writes back what was asked for.
	CompleteTx(c Completion)
}

// Run sends what the source has, until it has no more or the port is full: the body of
// a transmit queue's work function. The source must not be fed by Run's own calls
// without end.
func (b *TxBatch) Run(src TxSource) {
	for {
		more := true
		for more && b.Begin() {
			more = src.FetchTx(b)
		}
		b.Send()
		if b.repeat || b.late.Load() != lateNone || b.cfg.Faults.completions() {
			for c, ok := b.Done(); ok; c, ok = b.Done() {
				src.CompleteTx(c)
			}
		} else {
			b.report(src)
		}
		if !more && !b.cutting || !b.Ready() {
			return
		}
	}
}

// report is what Done and CompleteTx do while no fail point is set.
func (b *TxBatch) report(src TxSource) {
	for b.tail != b.sent {
		s := &b.slots[b.tail%TxSlots]
		if !s.empty {
			if !b.completed() {
				return
			}
			b.done--
		}
		b.tail++
		if s.last {
			src.CompleteTx(Completion{Cookie: s.cookie, Failed: s.empty})
		}
	}
}

// Direct returns the port if frames may be given to it past the batch: it is done with
// them at once, nothing is under way that they would overtake, and no fail point of
// packets is set. Else nil. Ask before each run. Tally, TakeErrors and Blocked do not
// know of such frames.
func (b *TxBatch) Direct() port.Immediate {
	if b.head != b.tail || b.cutting || b.repeat ||
		b.late.Load() != lateNone || b.cfg.Faults.StuckHead.Armed() || b.cfg.Faults.completions() {
		return nil
	}
	return b.now
}
