package iflibtest

import (
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

// The optional methods. iflib sees those that the driver has (iflib.Method), so each finds
// one behind it.

// of is an optional method of the driver.
func of[T any](s *spy) T {
	m, _ := iflib.Method[T](s.inner)
	return m
}

// TxqSetup is forwarded.
func (s *spy) TxqSetup(qid int) error {
	return s.step("TxqSetup", attaching, func() error { return of[iflib.QueueSetupper](s).TxqSetup(qid) })
}

// RxqSetup is forwarded.
func (s *spy) RxqSetup(qid int) error {
	return s.step("RxqSetup", attaching, func() error { return of[iflib.QueueSetupper](s).RxqSetup(qid) })
}

// RxQueueIntrEnable is forwarded.
func (s *spy) RxQueueIntrEnable(qid int) (err error) {
	s.call("RxQueueIntrEnable", anyLocks, 0, func() { err = of[iflib.RxQueueIntrEnabler](s).RxQueueIntrEnable(qid) })
	return err
}

// TxQueueIntrEnable is forwarded.
func (s *spy) TxQueueIntrEnable(qid int) (err error) {
	s.call("TxQueueIntrEnable", anyLocks, 0, func() { err = of[iflib.TxQueueIntrEnabler](s).TxQueueIntrEnable(qid) })
	return err
}

// LinkIntrEnable is forwarded.
func (s *spy) LinkIntrEnable() {
	s.call("LinkIntrEnable", needCtx, 0, of[iflib.LinkIntrEnabler](s).LinkIntrEnable)
}

// AdminCompletionHandle is forwarded.
func (s *spy) AdminCompletionHandle() {
	s.call("AdminCompletionHandle", needCtx, 0, of[iflib.AdminCompleter](s).AdminCompletionHandle)
}

// VFLRHandle is forwarded.
func (s *spy) VFLRHandle() { s.call("VFLRHandle", needCtx, 0, of[iflib.VFLRHandler](s).VFLRHandle) }

// Suspend is forwarded.
func (s *spy) Suspend() (err error) {
	s.call("Suspend", needCtx, 0, func() { err = of[iflib.PowerManager](s).Suspend() })
	return err
}

// Shutdown is forwarded.
func (s *spy) Shutdown() (err error) {
	s.call("Shutdown", needCtx, 0, func() { err = of[iflib.PowerManager](s).Shutdown() })
	return err
}

// Resume is forwarded.
func (s *spy) Resume() (err error) {
	s.call("Resume", needCtx, 0, func() { err = of[iflib.PowerManager](s).Resume() })
	return err
}

// MediaSet is forwarded.
func (s *spy) MediaSet() { s.call("MediaSet", needCtx|mayIoctl, 0, of[iflib.MediaSetter](s).MediaSet) }

// Timer is forwarded.
func (s *spy) Timer(qid int) {
	s.call("Timer", needQueue, qid, func() { of[iflib.Timer](s).Timer(qid) })
}

// WatchdogReset is forwarded.
func (s *spy) WatchdogReset() {
	s.call("WatchdogReset", needCtx, 0, of[iflib.WatchdogResetter](s).WatchdogReset)
}

// VLANRegister is forwarded.
func (s *spy) VLANRegister(vtag uint16) {
	s.call("VLANRegister", needCtx|mayIoctl, 0, func() { of[iflib.VLANRegisterer](s).VLANRegister(vtag) })
}

// VLANUnregister is forwarded.
func (s *spy) VLANUnregister(vtag uint16) {
	s.call("VLANUnregister", needCtx|mayIoctl, 0, func() { of[iflib.VLANRegisterer](s).VLANUnregister(vtag) })
}

// NeedsRestart is forwarded.
func (s *spy) NeedsRestart(ev iflib.RestartEvent) (yes bool) {
	s.call("NeedsRestart", needCtx|mayIoctl, 0, func() { yes = of[iflib.Restarter](s).NeedsRestart(ev) })
	return yes
}

// SysctlIntDelay is forwarded.
func (s *spy) SysctlIntDelay(info *iflib.IntDelayInfo) (err error) {
	s.call("SysctlIntDelay", needCtx, 0, func() { err = of[iflib.IntDelayer](s).SysctlIntDelay(info) })
	return err
}

// LEDFunc is forwarded.
func (s *spy) LEDFunc(on bool) {
	s.call("LEDFunc", needCtx, 0, func() { of[iflib.LEDer](s).LEDFunc(on) })
}

// LEDSupported is forwarded.
func (s *spy) LEDSupported() (yes bool) {
	s.call("LEDSupported", attaching, 0, func() { yes = of[iflib.LEDSupporter](s).LEDSupported() })
	return yes
}

// PrivIoctl is forwarded.
func (s *spy) PrivIoctl(cmd ifnet.Ioctl, data any) (err error) {
	s.call("PrivIoctl", needCtx|mayIoctl, 0, func() { err = of[iflib.PrivIoctler](s).PrivIoctl(cmd, data) })
	return err
}

// I2CReq is forwarded.
func (s *spy) I2CReq(req *ifnet.I2CReq) (err error) {
	s.call("I2CReq", mayIoctl, 0, func() { err = of[iflib.I2CRequester](s).I2CReq(req) })
	return err
}

// rss runs one of the RSS requests.
func (s *spy) rss(method string, f func(r iflib.RSSer) error) (err error) {
	s.call(method, needCtx|mayIoctl, 0, func() { err = f(of[iflib.RSSer](s)) })
	return err
}

// RSSKeyGet is forwarded.
func (s *spy) RSSKeyGet(k *ifnet.RSSKey) error {
	return s.rss("RSSKeyGet", func(r iflib.RSSer) error { return r.RSSKeyGet(k) })
}

// RSSKeySet is forwarded.
func (s *spy) RSSKeySet(k *ifnet.RSSKey) error {
	return s.rss("RSSKeySet", func(r iflib.RSSer) error { return r.RSSKeySet(k) })
}

// RSSHashGet is forwarded.
func (s *spy) RSSHashGet(h *ifnet.RSSHash) error {
	return s.rss("RSSHashGet", func(r iflib.RSSer) error { return r.RSSHashGet(h) })
}

// RSSTableGet is forwarded.
func (s *spy) RSSTableGet(t *ifnet.RSSTable) error {
	return s.rss("RSSTableGet", func(r iflib.RSSer) error { return r.RSSTableGet(t) })
}

// RSSTableSet is forwarded.
func (s *spy) RSSTableSet(t *ifnet.RSSTable) error {
	return s.rss("RSSTableSet", func(r iflib.RSSer) error { return r.RSSTableSet(t) })
}

// DownReason is forwarded.
func (s *spy) DownReason() (text string, err error) {
	s.call("DownReason", needCtx|mayIoctl, 0, func() { text, err = of[iflib.DownReasoner](s).DownReason() })
	return text, err
}
