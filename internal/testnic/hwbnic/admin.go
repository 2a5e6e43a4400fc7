package hwbnic

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
)

// Sizes and patience of the admin queue.
const (
	adminEntries = 32
	adminTries   = 1000 // 250 ms in all, as I40E_ASQ_CMD_TIMEOUT
	adminWait    = 250 * time.Microsecond
)

// adminq is the admin queue (datasheet 6). Commands are synchronous: run waits for
// the response and handles the events that come before it.
type adminq struct {
	sc *softc

	mu     iflib.Sx // guards what follows; PromiscSet comes without the ctx lock
	cmd    iflib.DMAMem
	resp   iflib.DMAMem
	buf    iflib.DMAMem
	tail   uint32 // next command
	done   uint32 // responses consumed
	cookie uint32 // of the last command

	link     atomic.Uint64 // last link word heard
	timeouts atomic.Uint64
}

// response is one entry of the response ring.
type response struct {
	op, status, cookie uint32
	r1, r2             uint64
}

// start allocates the rings and enables them.
func (a *adminq) start(sc *softc) error {
	a.sc = sc
	a.mu.Init(sc.ctx.Kernel(), sc.ctx.Name()+":admin")
	for _, m := range []struct {
		mem  *iflib.DMAMem
		size uint64
	}{
		{&a.cmd, adminEntries * hwbreg.AdmEntrySize},
		{&a.resp, adminEntries * hwbreg.AdmEntrySize},
		{&a.buf, hwbreg.AdmBufferSize},
	} {
		mem, err := sc.ctx.DMAAlloc(m.size, hwbreg.RingAlign)
		if err != nil {
			a.stop()
			return fmt.Errorf("allocating the admin queue: %w", err)
		}
		*m.mem = mem
	}
	a.tail, a.done, a.cookie = 0, 0, 0
	r := sc.regs
	r.Write64(hwbreg.ACQLO, uint64(a.cmd.Addr()))
	r.Write32(hwbreg.ACQLEN, adminEntries)
	r.Write64(hwbreg.ARQLO, uint64(a.resp.Addr()))
	r.Write32(hwbreg.ARQLEN, adminEntries)
	r.Write32(hwbreg.ADMCTL, hwbreg.AdmEnable)
	return nil
}

// stop disables the rings and frees them.
func (a *adminq) stop() {
	a.sc.regs.Write32(hwbreg.ADMCTL, 0)
	for _, m := range []*iflib.DMAMem{&a.cmd, &a.resp, &a.buf} {
		m.Free()
	}
	a.mu.Destroy()
}

// run sends one command and waits for its response. EIO: refused by the part;
// ETIMEDOUT: no answer.
func (a *adminq) run(op uint32, p1, p2 uint64) (r1, r2 uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.locked(op, p1, p2)
}

// runBuffer is run with data in the command buffer: p1 is its address.
func (a *adminq) runBuffer(op uint32, data []byte, p2 uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	copy(a.buf.Bytes(), data)
	_, _, err := a.locked(op, uint64(a.buf.Addr()), p2)
	return err
}

func (a *adminq) locked(op uint32, p1, p2 uint64) (r1, r2 uint64, err error) {
	a.cookie++
	w := a.cmd.Words64()[a.tail*hwbreg.AdmEntryWords:]
	iflib.StoreRelaxed64(&w[0], uint64(op)|uint64(a.cookie)<<hwbreg.CookieShift)
	iflib.StoreRelaxed64(&w[1], p1)
	iflib.StoreRelaxed64(&w[2], p2)
	a.tail = (a.tail + 1) % adminEntries
	a.sc.regs.Write32(hwbreg.ACQTAIL, a.tail)
	for range adminTries {
		r, ok := a.drain(op)
		switch {
		case !ok:
			a.sc.ctx.Kernel().Delay(adminWait)
		case r.status != hwbreg.AdmOK:
			return 0, 0, fmt.Errorf("admin command %#x: status %d: %w", op, r.status, syscall.EIO)
		default:
			return r.r1, r.r2, nil
		}
	}
	a.timeouts.Add(1)
	return 0, 0, fmt.Errorf("admin command %#x: %w", op, syscall.ETIMEDOUT)
}

// drain consumes responses, at most one pass over the ring, up to the answer to
// the last command, which must be op; op 0 waits for none.
func (a *adminq) drain(op uint32) (answer response, ok bool) {
	start := a.done
	for a.done-start < adminEntries && !ok {
		r, valid := a.next()
		if !valid {
			break
		}
		switch {
		case r.op == hwbreg.EventLink:
			a.link.Store(r.r1)
		case r.op == hwbreg.EventHalted:
			a.sc.halted(r.r1)
		case op != 0 && r.op == op && r.cookie == a.cookie:
			answer, ok = r, true
		default:
			a.sc.badWriteback.Add(1) // nobody asked, or not any more
		}
	}
	if a.done != start {
		a.sc.regs.Write32(hwbreg.ARQCONS, a.done)
	}
	return answer, ok
}

// next takes one entry from the response ring; word 3, with the phase, is loaded
// first.
func (a *adminq) next() (r response, ok bool) {
	w := a.resp.Words64()[a.done%adminEntries*hwbreg.AdmEntryWords:]
	pass := uint64(a.done / adminEntries)
	if atomic.LoadUint64(&w[3])&hwbreg.AdmPhase != (pass+1)&hwbreg.AdmPhase {
		return response{}, false
	}
	a.done++
	w0 := atomic.LoadUint64(&w[0])
	return response{
		op:     uint32(w0 & hwbreg.OpMask),
		status: uint32(w0 >> hwbreg.StatusShift & hwbreg.StatusMask),
		cookie: uint32(w0 >> hwbreg.CookieShift),
		r1:     atomic.LoadUint64(&w[1]),
		r2:     atomic.LoadUint64(&w[2]),
	}, true
}

// AdminCompletionHandle takes events from the response ring; the admin task calls
// UpdateAdminStatus next.
func (sc *softc) AdminCompletionHandle() {
	sc.admin.mu.Lock()
	defer sc.admin.mu.Unlock()
	sc.admin.drain(0)
}
