package hwbhw

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
)

// admin is section 6. The admin work owns the rings but for the atomics and what mu
// guards.
type admin struct {
	n    *nic
	regs [(hwbreg.ADMCTL - hwbreg.ACQLO + 4) / 4]atomic.Uint32

	on   atomic.Bool
	head atomic.Uint32 // next command; stored by the work
	tail atomic.Uint32
	size atomic.Uint32 // commands, 0 while off

	cmd []uint64
	rsp []uint64

	mu   sync.Mutex // guards the counts of responses since enable
	prod uint32
	cons uint32

	link  atomic.Bool   // a link event is due
	halts atomic.Uint32 // bit q: an event of halted queue q is due
}

func (a *admin) init(n *nic) { a.n = n }

func (a *admin) at(off uint64) *atomic.Uint32 { return &a.regs[(off-hwbreg.ACQLO)/4] }

// linkChanged makes a link event due.
func (a *admin) linkChanged() {
	a.link.Store(true)
	a.n.engine.Defer(adminWorkQueue)
}

// halted makes the event of a halted transmit queue due.
func (a *admin) halted(q int) {
	a.halts.Or(1 << q)
	a.n.engine.Defer(adminWorkQueue)
}

func (a *admin) read(off uint64) uint32 {
	switch off {
	case hwbreg.ACQHEAD:
		return a.head.Load()
	case hwbreg.ACQTAIL:
		return a.tail.Load()
	}
	return a.at(off).Load()
}

// write is a write to an admin register; false if it is refused.
func (a *admin) write(off uint64, v uint32) bool {
	switch off {
	case hwbreg.ACQTAIL:
		if v >= a.size.Load() {
			return false
		}
		a.tail.Store(v)
		a.n.engine.Kick(adminWorkQueue)
		return true
	case hwbreg.ARQCONS:
		if !a.consume(v) {
			return false
		}
		a.n.engine.Kick(adminWorkQueue)
		return true
	case hwbreg.ACQHEAD:
		return false
	}
	a.n.ctl.Lock()
	defer a.n.ctl.Unlock()
	if off == hwbreg.ADMCTL {
		return a.control(v & hwbreg.AdmEnable)
	}
	if a.on.Load() {
		return false
	}
	a.at(off).Store(v)
	return true
}

// control starts or stops the rings. Called with ctl held.
func (a *admin) control(v uint32) bool {
	if v == a.at(hwbreg.ADMCTL).Load() {
		return true
	}
	a.n.engine.Pause(adminWorkQueue)
	defer a.n.engine.Resume(adminWorkQueue)
	if v == 0 {
		a.halt()
		return true
	}
	if err := a.start(); err != nil {
		a.n.k.Printf("%s: admin queue: %v\n", a.n.name, err)
		return false
	}
	a.n.engine.Kick(adminWorkQueue)
	return true
}

func (a *admin) start() (err error) {
	if a.cmd, err = a.ring(hwbreg.ACQLO, hwbreg.ACQLEN); err != nil {
		return err
	}
	if a.rsp, err = a.ring(hwbreg.ARQLO, hwbreg.ARQLEN); err != nil {
		return err
	}
	a.head.Store(0)
	a.tail.Store(0)
	a.mu.Lock()
	a.prod, a.cons = 0, 0
	a.mu.Unlock()
	a.size.Store(uint32(len(a.cmd) / hwbreg.AdmEntryWords))
	a.on.Store(true)
	a.at(hwbreg.ADMCTL).Store(hwbreg.AdmEnable)
	return nil
}

func (a *admin) ring(lo, length uint64) ([]uint64, error) {
	addr, size := physmem.Addr(uint64(a.at(lo+4).Load())<<32|uint64(a.at(lo).Load())), a.at(length).Load()
	if size < hwbreg.MinAdmin || size > hwbreg.MaxAdmin || size&(size-1) != 0 {
		return nil, fmt.Errorf("ring of %d entries", size)
	}
	if addr%hwbreg.RingAlign != 0 {
		return nil, fmt.Errorf("ring at %#x", uint64(addr))
	}
	return a.n.dma.Ring(addr, int(size)*hwbreg.AdmEntryWords)
}

// halt disables the rings; the admin work is paused.
func (a *admin) halt() {
	a.on.Store(false)
	a.size.Store(0)
	a.at(hwbreg.ADMCTL).Store(0)
	a.head.Store(0)
	a.tail.Store(0)
}

// clear is what reset does beside stopping the rings.
func (a *admin) clear() {
	for i := range a.regs {
		a.regs[i].Store(0)
	}
	a.link.Store(false)
	a.halts.Store(0)
}

// consume moves the consumer of responses; false if that is not between where it was
// and what was produced.
func (a *admin) consume(count uint32) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.on.Load() || count-a.cons > a.prod-a.cons {
		return false
	}
	a.cons = count
	return true
}

// room reports whether a response can be written.
func (a *admin) room() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prod-a.cons < uint32(len(a.rsp)/hwbreg.AdmEntryWords)
}

// post writes a response for which there is room, and signals.
func (a *admin) post(w0, r1, r2 uint64) {
	a.mu.Lock()
	size := uint32(len(a.rsp) / hwbreg.AdmEntryWords)
	w := a.rsp[a.prod%size*hwbreg.AdmEntryWords:]
	phase := uint64(a.prod/size+1) & hwbreg.AdmPhase
	atomic.StoreUint64(&w[0], w0)
	atomic.StoreUint64(&w[1], r1)
	atomic.StoreUint64(&w[2], r2)
	atomic.StoreUint64(&w[3], phase)
	a.prod++
	a.mu.Unlock()
	a.n.event(0, hwbreg.CauseAdmin)
}

// run is the admin work: events that are due, then commands, while there is room for
// the responses.
func (a *admin) run() {
	if !a.on.Load() {
		return
	}
	for a.room() {
		switch {
		case a.link.Swap(false):
			a.post(hwbreg.EventLink, a.n.linkWord(), 0)
		case a.halts.Load() != 0:
			a.postHalt()
		case a.head.Load() != a.tail.Load():
			a.command()
		default:
			return
		}
	}
}

func (a *admin) postHalt() {
	for q := range hwbreg.MaxQueues {
		if a.halts.Load()&(1<<q) != 0 {
			a.halts.And(^uint32(1 << q))
			a.post(hwbreg.EventHalted, uint64(q), 0)
			return
		}
	}
}

// command takes one command and answers it.
func (a *admin) command() {
	head := a.head.Load()
	w := a.cmd[head*hwbreg.AdmEntryWords:]
	w0, p1, p2 := atomic.LoadUint64(&w[0]), atomic.LoadUint64(&w[1]), atomic.LoadUint64(&w[2])
	op := w0 & hwbreg.OpMask
	r1, r2, status := a.execute(op, p1, p2)
	if status != hwbreg.AdmOK {
		a.n.stats.Refuse("admin command %#x with %#x, %#x", op, p1, p2)
	}
	a.head.Store((head + 1) & (a.size.Load() - 1))
	a.post(op|status<<hwbreg.StatusShift|w0>>hwbreg.CookieShift<<hwbreg.CookieShift, r1, r2)
}

// execute does a command (datasheet 6).
func (a *admin) execute(op, p1, p2 uint64) (r1, r2, status uint64) {
	n := a.n
	switch op {
	case hwbreg.OpVersion:
		return hwbreg.Firmware, hwbreg.MaxQueues, hwbreg.AdmOK
	case hwbreg.OpGetMAC:
		n.setMu.Lock()
		defer n.setMu.Unlock()
		return macWord(n.set.mac), 0, hwbreg.AdmOK
	case hwbreg.OpSetMAC:
		n.change(func(s *settings) { s.mac = wordMAC(p1) })
	case hwbreg.OpRxMode:
		if p1&^hwbreg.RxModeAll != 0 {
			return 0, 0, hwbreg.AdmBadParam
		}
		n.change(func(s *settings) { s.mode = p1 })
	case hwbreg.OpMcast:
		return 0, 0, a.setGroups(p1, p2)
	case hwbreg.OpRSS:
		return 0, 0, a.setRSS(p1, p2)
	case hwbreg.OpGetLink:
		return n.linkWord(), 0, hwbreg.AdmOK
	case hwbreg.OpMaxFrame:
		if p1 < minFrameLimit || p1 > maxFrameLimit {
			return 0, 0, hwbreg.AdmBadParam
		}
		n.change(func(s *settings) { s.maxFrame = int(p1) })
	default:
		return 0, 0, hwbreg.AdmBadOp
	}
	return 0, 0, hwbreg.AdmOK
}

// setGroups takes the multicast list.
func (a *admin) setGroups(addr, count uint64) (status uint64) {
	if count > hwbreg.MaxMcast {
		return hwbreg.AdmBadParam
	}
	b, status := a.fetch(addr, count*hwbreg.McastEntry)
	if status != hwbreg.AdmOK {
		return status
	}
	groups := make([][hw.EtherAddrLen]byte, count)
	for i := range groups {
		groups[i] = [hw.EtherAddrLen]byte(b[i*hwbreg.McastEntry:])
	}
	a.n.change(func(s *settings) { s.groups = groups })
	return hwbreg.AdmOK
}

// setRSS takes key and table, or switches RSS off.
func (a *admin) setRSS(addr, size uint64) (status uint64) {
	if size == 0 {
		a.n.change(func(s *settings) { s.rss = nil })
		return hwbreg.AdmOK
	}
	if size != hwbreg.RSSBytes {
		return hwbreg.AdmBadParam
	}
	b, status := a.fetch(addr, size)
	if status != hwbreg.AdmOK {
		return status
	}
	t := hw.NewToeplitz(b[:nicreg.RSSKeyBytes])
	a.n.change(func(s *settings) {
		s.rss = t
		copy(s.table[:], b[nicreg.RSSKeyBytes:])
	})
	return hwbreg.AdmOK
}

// fetch reads a command's buffer.
func (a *admin) fetch(addr, size uint64) (b []byte, status uint64) {
	b, err := a.n.dma.Slice(physmem.Addr(addr), size, busdma.ToDevice)
	if err != nil {
		a.n.dma.Fault(-1, a.head.Load(), err)
		return nil, hwbreg.AdmDMAError
	}
	return b, hwbreg.AdmOK
}

// linkWord is the link as commands and events report it.
func (n *nic) linkWord() uint64 {
	n.link.Poll()
	l := n.link.State()
	w := uint64(l.Speed) << hwbreg.LinkSpeedShift
	if l.Up {
		w |= hwbreg.LinkUp
	}
	if l.FullDuplex {
		w |= hwbreg.LinkFullDuplex
	}
	return w
}

func macWord(mac [hw.EtherAddrLen]byte) uint64 {
	var b [8]byte
	copy(b[:], mac[:])
	return binary.LittleEndian.Uint64(b[:])
}

func wordMAC(w uint64) [hw.EtherAddrLen]byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], w)
	return [hw.EtherAddrLen]byte(b[:])
}
