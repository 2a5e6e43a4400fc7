package iflibtest

import (
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// pathSpy stands between iflib and a driver's data path.
type pathSpy struct {
	s     *spy
	inner iflib.TxRx
	tx    []*txWatch
	rx    [][]*flWatch // by queue, then free list

	// Frames that the hardware was given, and those that it had sent before, since init.
	frames, before uint64
	lossy          bool // it had no link in the meantime
}

var (
	_ iflib.TxRx                = (*pathSpy)(nil)
	_ iflib.Wrapper[iflib.TxRx] = (*pathSpy)(nil)
	_ iflib.LegacyIntr          = (*pathSpy)(nil)
	_ iflib.TxqSelector         = (*pathSpy)(nil)
	_ iflib.TxqSelectorV2       = (*pathSpy)(nil)
)

// Unwrap is the driver's own data path.
func (p *pathSpy) Unwrap() iflib.TxRx { return p.inner }

// breach notes that a rule was broken at a descriptor of a ring.
func (p *pathSpy) breach(rule string, r *ringWatch, at int, format string, a ...any) {
	p.s.n.b.breach(rule, "%s, %v, descriptor %d: "+format+"%s",
		append(append([]any{p.s.n.name, r, at}, a...), r.dump(at))...)
}

// owns is what the owner of a transmit queue holds: the queue's mutex with simple_tx. The
// owner of an mp_ring is who set it BUSY, and holds no lock.
func (p *pathSpy) owns() holds {
	if p.s.n.b.way.path.simple {
		return needQueue | mayIoctl
	}
	return mayIoctl // who flushes the queues as the interface goes down
}

// owner runs a method that only the owner of transmit queue qid may call.
func (p *pathSpy) owner(method string, qid int, f func()) {
	q := p.tx[qid]
	if q.inside != "" {
		p.breach(ruleLocks, &q.ringWatch, q.next, "%s runs while %s does", method, q.inside)
	}
	q.inside = method
	p.s.call(method, p.owns(), qid, f)
	q.inside = ""
}

// TxdEncap compares what the driver wrote with what it says.
func (p *pathSpy) TxdEncap(pi *iflib.PktInfo) (err error) {
	q := p.tx[pi.QSIdx]
	q.keep()
	at, asked := int(pi.Pidx), pi.Flags&iflib.PktTxIntr != 0
	p.owner("TxdEncap", pi.QSIdx, func() { err = p.inner.TxdEncap(pi) })
	if q.next >= 0 && at != q.next {
		p.breach(ruleIndices, &q.ringWatch, at, "the packet before ended at %d", q.next)
	}
	for i := range q.changed() {
		if back := q.distance(i, at); back != 0 && back <= q.out {
			p.breach(ruleReuse, &q.ringWatch, i, "written by TxdEncap at index %d with %d descriptors not completed", at, q.out)
			break
		}
	}
	if err != nil {
		return err
	}
	n := q.distance(at, int(pi.NewPidx))
	switch {
	case int(pi.NewPidx) >= q.size || n == 0:
		p.breach(ruleIndices, &q.ringWatch, at, "TxdEncap of %d segments moved the index to %d, of %d", len(pi.Segs), pi.NewPidx, q.size)
		return nil
	case n > q.size-1-q.out:
		p.breach(ruleReuse, &q.ringWatch, at, "TxdEncap took %d descriptors, %d were free", n, q.size-1-q.out)
		return nil
	}
	q.next = int(pi.NewPidx)
	q.add(n, asked)
	p.frames += framesOf(pi)
	return nil
}

// framesOf is how many frames a packet becomes.
func framesOf(pi *iflib.PktInfo) uint64 {
	payload := pi.Len - int(pi.EHdrLen) - int(pi.IPHLen) - int(pi.TCPHLen)
	if pi.CsumFlags&mbuf.CsumTSO == 0 || pi.TSOSegSz == 0 || payload <= 0 {
		return 1
	}
	return uint64((payload + int(pi.TSOSegSz) - 1) / int(pi.TSOSegSz))
}

// TxdFlush is forwarded.
func (p *pathSpy) TxdFlush(qid int, value uint32) {
	p.tx[qid].rung = true
	p.owner("TxdFlush", qid, func() { p.inner.TxdFlush(qid, value) })
}

// TxdCreditsUpdate compares the peek with the answer, and the answer with what was written.
func (p *pathSpy) TxdCreditsUpdate(qid int, clear bool) (n int) {
	q := p.tx[qid]
	if !clear {
		p.s.call("TxdCreditsUpdate(clear=false)", mayQueue, qid, func() {
			n = p.inner.TxdCreditsUpdate(qid, false)
			if again := p.inner.TxdCreditsUpdate(qid, false); (n == 0) != (again == 0) {
				p.breach(rulePeek, &q.ringWatch, q.next, "TxdCreditsUpdate(clear=false) returned %d, and then %d", n, again)
			}
		})
		return n
	}
	p.owner("TxdCreditsUpdate(clear=true)", qid, func() {
		peek := p.inner.TxdCreditsUpdate(qid, false)
		n = p.inner.TxdCreditsUpdate(qid, true)
		if peek == 0 && n > 0 {
			p.breach(rulePeek, &q.ringWatch, q.next, "a peek saw nothing completed, TxdCreditsUpdate(clear=true) %d descriptors", n)
		}
	})
	if n < 0 || n > q.out {
		p.breach(ruleCredits, &q.ringWatch, q.next, "%d credits for %d descriptors that are not completed", n, q.out)
		return min(max(n, 0), q.out)
	}
	if q.due -= n; q.due < 0 && p.s.n.gate.isShut() {
		p.breach(ruleEarly, &q.ringWatch, q.next, "%d credits, %d of them for packets that the hardware cannot have sent", n, -q.due)
	}
	q.credit(n)
	return n
}

// RxdAvailable is asked twice: it changes nothing.
func (p *pathSpy) RxdAvailable(qid int, cidx iflib.QIdx, budget int) (n int) {
	p.s.call("RxdAvailable", mayQueue|mayCtx|mayIoctl, 0, func() {
		n = p.inner.RxdAvailable(qid, cidx, budget)
		if again := p.inner.RxdAvailable(qid, cidx, budget); (n > 0) != (again > 0) {
			p.breach(rulePeek, &p.rx[qid][0].ringWatch, int(cidx), "RxdAvailable returned %d, and then %d", n, again)
		}
	})
	return n
}

// RxdPktGet compares the buffers that the packet is said to be in with those posted.
func (p *pathSpy) RxdPktGet(ri *iflib.RxdInfo) (err error) {
	cidx := int(ri.Cidx)
	p.s.call("RxdPktGet", 0, 0, func() { err = p.inner.RxdPktGet(ri) })
	lists := p.rx[ri.QSIdx]
	if err != nil {
		p.breach(ruleReceived, &lists[0].ringWatch, cidx, "RxdPktGet: %v", err)
		return err
	}
	sum := ri.Pad
	for i := range min(max(ri.NFrags, 0), iflib.MaxRxSegs) {
		f := &ri.Frags[i]
		sum += int(f.Len)
		if int(f.FLID) >= len(lists) || !lists[f.FLID].take(int(f.Idx)) {
			p.breach(ruleReceived, &lists[0].ringWatch, cidx, "fragment %d of %d is in buffer %d of free list %d, which is not posted",
				i, ri.NFrags, f.Idx, f.FLID)
			return nil
		}
	}
	if ri.NFrags > 0 && sum != ri.Len {
		p.breach(ruleReceived, &lists[0].ringWatch, cidx, "a packet of %d bytes in fragments of %d in all", ri.Len, sum)
	}
	return nil
}

// RxdRefill compares what the driver wrote with what it was given.
func (p *pathSpy) RxdRefill(iru *iflib.RxdUpdate) {
	fl := p.rx[iru.QSIdx][iru.FLIdx]
	fl.keep()
	n, at := len(iru.PAddrs), int(iru.Pidx)
	p.s.call("RxdRefill", mayCtx|mayIfnet|mayIoctl, 0, func() { p.inner.RxdRefill(iru) })
	for i := range fl.changed() {
		if fl.distance(at, i) >= n {
			p.breach(ruleFreeList, &fl.ringWatch, i, "written by RxdRefill of %d buffers from index %d on", n, at)
			break
		}
	}
	for _, idx := range iru.Idxs {
		if !fl.post(int(idx)) {
			p.breach(ruleFreeList, &fl.ringWatch, at, "buffer %d was posted twice, with %d of %d posted", idx, fl.count, fl.size)
			return
		}
	}
}

// RxdFlush is forwarded.
func (p *pathSpy) RxdFlush(qid, flid int, pidx iflib.QIdx) {
	p.s.call("RxdFlush", mayCtx|mayIfnet|mayIoctl, 0, func() { p.inner.RxdFlush(qid, flid, pidx) })
}

// LegacyIntr is forwarded.
func (p *pathSpy) LegacyIntr() (res iflib.FilterResult) {
	m, _ := iflib.Method[iflib.LegacyIntr](p.inner)
	p.s.call("LegacyIntr", 0, 0, func() { res = m.LegacyIntr() })
	return res
}

// TxqSelect is forwarded.
func (p *pathSpy) TxqSelect(m *mbuf.Mbuf) int {
	sel, _ := iflib.Method[iflib.TxqSelector](p.inner)
	return sel.TxqSelect(m)
}

// TxqSelectV2 is forwarded.
func (p *pathSpy) TxqSelectV2(m *mbuf.Mbuf, pi *iflib.PktInfo) int {
	sel, _ := iflib.Method[iflib.TxqSelectorV2](p.inner)
	return sel.TxqSelectV2(m, pi)
}
