package iflibtest

import (
	"fmt"
	"slices"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// Names of locks, as their owners give them to kern.
const (
	ctxLock   = "iflib ctx lock"
	ifnetLock = "ifnet_sx"
)

var ioctlLock = fmt.Sprintf("if_ioctl type %d", ifnet.TypeEther)

// holds says which locks a method may find held.
type holds uint8

const (
	needCtx   holds = 1 << iota // the ctx lock must be held
	mayCtx                      // it may be
	mayIfnet                    // the IFNET lock may be
	mayIoctl                    // the interface's request lock may be
	needQueue                   // the transmit queue's mutex must be held
	mayQueue                    // it may be
	anyLocks                    // whatever the caller has

	attaching  = needCtx | mayIfnet
	configures = needCtx | mayIfnet | mayIoctl
)

// spy stands between iflib and a driver's Device. It forwards every call, notes the order,
// and compares the locks held with the contract. Stepped machines only: one call at a time
// makes progress.
type spy struct {
	n     *nic
	ctx   *iflib.Ctx
	inner iflib.Device
	path  *pathSpy

	calls []string // of attach and detach, in order
	inits int
	stops int
	fail  string // the method that returns an error instead of its result, once
}

var (
	_ iflib.Device                = (*spy)(nil)
	_ iflib.Wrapper[iflib.Device] = (*spy)(nil)
	_ iflib.QueueSetupper         = (*spy)(nil)
	_ iflib.Timer                 = (*spy)(nil)
)

func newSpy(n *nic, ctx *iflib.Ctx, inner iflib.Device) *spy {
	return &spy{n: n, ctx: ctx, inner: inner, path: &pathSpy{}}
}

// Unwrap is the driver's own Device.
func (s *spy) Unwrap() iflib.Device { return s.inner }

// call runs a method of the driver between two looks at the locks. qid is the transmit
// queue whose mutex is meant.
func (s *spy) call(method string, h holds, qid int, f func()) {
	if s.n.b.late.Load() {
		panic(stop{})
	}
	before := s.ctx.Kernel().LocksHeld()
	s.judge(method, h, qid, before)
	f()
	if after := s.ctx.Kernel().LocksHeld(); !slices.Equal(before, after) {
		s.n.b.breach(ruleLocks, "%s: %s was called with %q held and returned with %q", s.n.name, method, before, after)
	}
}

// judge compares the locks held with what a method may find.
func (s *spy) judge(method string, h holds, qid int, held []string) {
	if h&anyLocks != 0 {
		return
	}
	queue := fmt.Sprintf("%s:TX(%d):callout", s.n.name, qid)
	allowed := map[string]bool{
		ctxLock: h&(needCtx|mayCtx) != 0, ifnetLock: h&mayIfnet != 0, ioctlLock: h&mayIoctl != 0, queue: h&(needQueue|mayQueue) != 0,
	}
	for _, l := range held {
		if !allowed[l] {
			s.n.b.breach(ruleLocks, "%s: %s was called with lock %q held; all held: %q", s.n.name, method, l, held)
			return
		}
	}
	for lock, must := range map[string]bool{ctxLock: h&needCtx != 0, queue: h&needQueue != 0} {
		if must && !slices.Contains(held, lock) {
			s.n.b.breach(ruleLocks, "%s: %s was called without lock %q; held: %q", s.n.name, method, lock, held)
		}
	}
}

// step is call for a method of attach or detach, which is noted and may be made to fail.
func (s *spy) step(method string, h holds, f func() error) (err error) {
	s.calls = append(s.calls, method)
	if s.fail == method {
		s.fail = ""
		return errInjected
	}
	s.call(method, h, 0, func() { err = f() })
	return err
}

// AttachPre puts the other spy before the data path.
func (s *spy) AttachPre() error {
	err := s.step("AttachPre", attaching, s.inner.AttachPre)
	if sc := s.ctx.Softc(); err == nil && sc.TxRx != nil {
		s.path.inner, s.path.s = sc.TxRx, s
		sc.TxRx = s.path
	}
	return err
}

// AttachPost is forwarded.
func (s *spy) AttachPost() error { return s.step("AttachPost", attaching, s.inner.AttachPost) }

// Detach is forwarded. The rings are gone.
func (s *spy) Detach() error {
	s.path.forget()
	return s.step("Detach", needCtx, s.inner.Detach)
}

// TxQueuesAlloc notes where the rings are.
func (s *spy) TxQueuesAlloc(rings []iflib.QueueMem, nqs, nsets int) error {
	s.path.addTx(rings, nqs, nsets)
	return s.step("TxQueuesAlloc", attaching, func() error { return s.inner.TxQueuesAlloc(rings, nqs, nsets) })
}

// RxQueuesAlloc notes where the rings are.
func (s *spy) RxQueuesAlloc(rings []iflib.QueueMem, nqs, nsets int) error {
	s.path.addRx(rings, nqs, nsets)
	return s.step("RxQueuesAlloc", attaching, func() error { return s.inner.RxQueuesAlloc(rings, nqs, nsets) })
}

// QueuesFree is forwarded.
func (s *spy) QueuesFree() {
	_ = s.step("QueuesFree", attaching, func() error { s.inner.QueuesFree(); return nil })
}

// Init is forwarded; the rings begin anew.
func (s *spy) Init() {
	s.inits++
	s.path.restart()
	s.call("Init", configures, 0, s.inner.Init)
}

// Stop is forwarded.
func (s *spy) Stop() {
	s.stops++
	s.call("Stop", configures, 0, s.inner.Stop)
	s.path.restart() // iflib takes everything back
}

// MSIXIntrAssign is forwarded.
func (s *spy) MSIXIntrAssign(msix int) error {
	return s.step("MSIXIntrAssign", attaching, func() error { return s.inner.MSIXIntrAssign(msix) })
}

// IntrEnable is forwarded.
func (s *spy) IntrEnable() {
	s.call("IntrEnable", mayCtx|mayIfnet|mayIoctl, 0, s.inner.IntrEnable)
}

// IntrDisable is forwarded.
func (s *spy) IntrDisable() { s.call("IntrDisable", configures, 0, s.inner.IntrDisable) }

// MultiSet is forwarded.
func (s *spy) MultiSet() { s.call("MultiSet", needCtx|mayIoctl, 0, s.inner.MultiSet) }

// MTUSet is forwarded.
func (s *spy) MTUSet(mtu int) (err error) {
	s.call("MTUSet", needCtx|mayIoctl, 0, func() { err = s.inner.MTUSet(mtu) })
	return err
}

// MediaStatus is forwarded.
func (s *spy) MediaStatus(req *ifnet.MediaReq) {
	s.call("MediaStatus", needCtx|mayIoctl, 0, func() { s.inner.MediaStatus(req) })
}

// MediaChange is forwarded.
func (s *spy) MediaChange() (err error) {
	s.call("MediaChange", needCtx|mayIoctl, 0, func() { err = s.inner.MediaChange() })
	return err
}

// PromiscSet is forwarded.
func (s *spy) PromiscSet(flags ifnet.Flags) (err error) {
	s.call("PromiscSet", mayIoctl, 0, func() { err = s.inner.PromiscSet(flags) })
	return err
}

// UpdateAdminStatus is forwarded.
func (s *spy) UpdateAdminStatus() {
	s.call("UpdateAdminStatus", needCtx|mayIoctl, 0, s.inner.UpdateAdminStatus)
}

// GetCounter is forwarded.
func (s *spy) GetCounter(c ifnet.Counter) (n uint64) {
	s.call("GetCounter", anyLocks, 0, func() { n = s.inner.GetCounter(c) })
	return n
}
