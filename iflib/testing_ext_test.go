package iflib_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/testnic/cqnic"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbhw"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

const (
	stdMTU   = 1500
	jumboMTU = 9000

	wireMemory = 192 << 20 // for full free lists of page-size buffers

	linkTime  = 3 * time.Second      // until a link is up and statistics were collected
	quietTime = 3 * time.Millisecond // until moderated interrupts have come
)

// nicKind is a part that every test of the path runs on.
type nicKind struct {
	chip   string
	driver string
	tso6   bool
	pads   bool // short packets are padded before the hardware adds a tag
	// writes says that the headers of a TSO packet are prepared where they are, shared or not.
	writes bool
	// Counters of good frames in the hardware: sysctls of em, registers of the test NICs.
	sentStat, gotStat string
	sentReg, gotReg   uint64
}

var kinds = []nicKind{
	{chip: "82574L", driver: "em", tso6: true, sentStat: "mac_stats.good_pkts_txd", gotStat: "mac_stats.good_pkts_recvd"},
	{chip: "82545EM", driver: "em", sentStat: "mac_stats.good_pkts_txd", gotStat: "mac_stats.good_pkts_recvd"},
	{chip: "CQ-1", driver: "cqnic", tso6: true, pads: true, writes: true, sentReg: nicreg.StatTxFrames, gotReg: nicreg.StatRxFrames},
	{chip: "HWB-1", driver: "hwbnic", tso6: true, sentReg: nicreg.StatTxFrames, gotReg: nicreg.StatRxFrames},
	{chip: "I210", driver: "igb", tso6: true, sentStat: "mac_stats.good_pkts_txd", gotStat: "mac_stats.good_pkts_recvd"},
	{chip: "82576", driver: "igb", tso6: true, sentStat: "mac_stats.good_pkts_txd", gotStat: "mac_stats.good_pkts_recvd"},
	{chip: "I226-V", driver: "igc", tso6: true, sentStat: "mac_stats.good_pkts_txd", gotStat: "mac_stats.good_pkts_recvd"},
	{chip: "I219-LM", driver: "em", tso6: true, sentStat: "mac_stats.good_pkts_txd", gotStat: "mac_stats.good_pkts_recvd"},
}

// txPath is a way from Transmit to the hardware.
type txPath struct {
	name             string
	simple, abdicate bool
}

var paths = []txPath{{name: "mp_ring"}, {name: "mp_ring abdicating", abdicate: true}, {name: "simple_tx", simple: true}}

func testNICs() []machine.DriverEntry {
	entry := func(d *iflib.Driver, chip string, mk func(hw.Config) (hw.NIC, error)) machine.DriverEntry {
		return machine.DriverEntry{Driver: d, New: func(_ string, cfg hw.Config) (hw.NIC, error) { return mk(cfg) },
			Chips: func() []string { return []string{chip} }, DefaultChip: chip}
	}
	return []machine.DriverEntry{entry(&cqnic.Driver, "CQ-1", cqhw.New), entry(&hwbnic.Driver, "HWB-1", hwbhw.New)}
}

// wireConfig says what stands at the ends of a wire.
type wireConfig struct {
	kind    nicKind
	peer    nicKind // of the second NIC; the zero value is the same kind
	path    txPath
	threads bool              // goroutines and the real clock
	engine  string            // hint; "" for the default
	env     map[string]string // more of the kernel environment
	ncpu    int               // 0: 2
	seed    uint64
}

// end is the kind and the unit of one of the two NICs.
func (c *wireConfig) end(i int) (kind nicKind, unit int) {
	switch {
	case i == 0 || c.peer.chip == "":
		return c.kind, i
	case c.peer.driver == c.kind.driver:
		return c.peer, i
	}
	return c.peer, 0
}

// wire is a machine with two NICs that are wired together.
type wire struct {
	*machine.Machine
	t       rapid.TB // of the check that runs, or of the test
	cfg     wireConfig
	kind    nicKind // of NIC 0
	path    txPath
	threads bool
	k       *kern.Kernel
	zones   *mbuf.Zones
	cache   *mbuf.Cache // the test's own
	ifp     [2]*ifnet.Ifnet
	ctx     [2]*iflib.Ctx
	idle    mbuf.Usage   // in use before the interfaces came up
	loaded  int64        // DMA maps then
	before  [2][2]uint64 // frames that each hardware counted before its resets: sent, got
	console rig.Console

	way    int  // its number among all parts and paths
	unsent bool // the hardware of NIC 0 was left with frames that it did not send
	// filtered are the frames from NIC 0 that NIC 1's address filter drops.
	filtered uint64

	mu  sync.Mutex
	got [2][]arrival
}

// arrival is a packet as an interface was given it.
type arrival struct {
	data  []byte
	flags mbuf.Flags
	vtag  uint16
	csum  mbuf.CsumFlags
}

// frame is the frame on the wire: with the tag that the receiver took out.
func (a *arrival) frame() []byte {
	if a.flags&mbuf.FlagVLANTag == 0 {
		return a.data
	}
	return shapes.Tagged(a.data, a.vtag)
}

// hints are the variables of the NICs on a wire.
func (c *wireConfig) hints() map[string]string {
	env := map[string]string{}
	if !c.threads {
		env["hw.busdma.check"] = "1"
	}
	for i := range 2 {
		kind, unit := c.end(i)
		hint := fmt.Sprintf("hint.%s.%d.", kind.driver, unit)
		env[hint+"port"] = "pair:wire"
		env[hint+"device"] = kind.chip
		if c.engine != "" {
			env[hint+"engine"] = c.engine
		}
		knob := fmt.Sprintf("dev.%s.%d.iflib.", kind.driver, unit)
		env[knob+"simple_tx"] = "0"
		if c.path.simple {
			env[knob+"simple_tx"] = "1"
		}
		if c.path.abdicate {
			env[knob+"tx_abdicate"] = "1"
		}
	}
	for name, v := range c.env {
		env[name] = v
	}
	return env
}

// newWire boots the machine. At the end of the test nothing may be in use, every
// account must close, and the accounts must agree with each other.
func newWire(t testing.TB, c wireConfig) *wire {
	t.Helper()
	w := &wire{t: t, cfg: c, kind: c.kind, path: c.path, threads: c.threads}
	cfg := machine.Config{NCPU: max(c.ncpu, 2), Env: c.hints(), Console: &w.console, MemSize: wireMemory, Seed: c.seed,
		Drivers: testNICs()}
	if !c.threads {
		cfg.Executor, cfg.Clock, cfg.Invariants = kern.Stepped, kern.ManualClock, true
	}
	m, err := machine.Boot(cfg)
	if err != nil {
		t.Fatalf("%v\n%s", err, w.console.String())
	}
	w.Machine, w.k = m, m.Kernel()
	w.zones = mbuf.Of(w.k)
	w.cache = w.zones.NewCache()
	for i := range w.ifp {
		w.ctx[i], w.ifp[i] = m.Ctx(w.name(i)), m.Ifnet(w.name(i))
		if w.ctx[i] == nil {
			t.Fatalf("no %s:\n%s", w.name(i), w.console.String())
		}
		w.ifp[i].AttachTap(func(_ mbuf.RcvIf, p *mbuf.Mbuf) { w.arrive(i, p) })
	}
	w.idle, w.loaded = w.zones.Usage(), busdma.ReadStats(w.k).Loaded
	t.Cleanup(func() { w.finish(t) })
	return w
}

// name is the interface of one of the NICs.
func (w *wire) name(i int) string {
	kind, unit := w.cfg.end(i)
	return fmt.Sprintf("%s%d", kind.driver, unit)
}

func (w *wire) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v\n%s", err, w.console.String())
	}
}

// arrive notes what an interface receives.
func (w *wire) arrive(i int, p *mbuf.Mbuf) {
	if p.Pkt.RcvIf == nil {
		return // on its way out
	}
	a := arrival{data: make([]byte, p.Length()), flags: p.Flags, vtag: p.Pkt.EtherVtag, csum: p.Pkt.CsumFlags}
	p.CopyData(0, a.data)
	if int(p.Pkt.Len) != len(a.data) {
		w.t.Errorf("packet of %d bytes says it has %d", len(a.data), p.Pkt.Len)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got[i] = append(w.got[i], a)
}

// take returns what interface i has received since the last call.
func (w *wire) take(i int) []arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got[i]
	w.got[i] = nil
	return got
}

// up brings both interfaces up and waits for the link.
func (w *wire) up() {
	w.t.Helper()
	for i := range w.ifp {
		w.must(w.Up(w.name(i)))
	}
	if w.threads {
		w.await("the link", func() bool {
			return w.ifp[0].LinkState() == ifnet.LinkStateUp && w.ifp[1].LinkState() == ifnet.LinkStateUp
		})
		return
	}
	w.advance(linkTime)
	for i := range w.ifp {
		if !w.ctx[i].IsRunning() || w.ifp[i].LinkState() != ifnet.LinkStateUp {
			w.t.Fatalf("%s is not up:\n%s", w.name(i), w.console.String())
		}
	}
}

// reinit changes something of both ends that initialises the hardware anew, which may
// clear its counters.
func (w *wire) reinit(change func(ifp *ifnet.Ifnet) error) {
	w.t.Helper()
	w.advance(linkTime) // a reset forgets what was counted since the last collection
	for i, ifp := range w.ifp {
		sent, got := w.frames(i)
		w.must(change(ifp))
		w.before[i] = [2]uint64{}
		after, afterGot := w.frames(i)
		w.before[i] = [2]uint64{sent - after, got - afterGot}
	}
	w.advance(linkTime)
}

// caps sets and clears capabilities at both ends.
func (w *wire) caps(set, clear ifnet.Caps) {
	w.t.Helper()
	w.reinit(func(ifp *ifnet.Ifnet) error {
		return ifp.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: ifp.Capabilities() & (ifp.Capenable() | set) &^ clear})
	})
}

// unfilter is caps without VLAN filters in the threaded executor.
func (w *wire) unfilter() {
	w.t.Helper()
	for _, ifp := range w.ifp {
		w.must(ifp.Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: ifp.Capenable() &^ ifnet.CapVLANHWFilter}))
	}
	w.await("the link", func() bool {
		return w.ifp[0].LinkState() == ifnet.LinkStateUp && w.ifp[1].LinkState() == ifnet.LinkStateUp &&
			w.ctx[0].IsRunning() && w.ctx[1].IsRunning()
	})
}

// mtu sets the MTU at both ends.
func (w *wire) mtu(mtu int) {
	w.t.Helper()
	w.reinit(func(ifp *ifnet.Ifnet) error { return ifp.Ioctl(ifnet.IoctlSetMTU, mtu) })
}

// rapid checks a property on the wire.
func (w *wire) rapid(t *testing.T, f func(t *rapid.T)) {
	rapid.Check(t, func(rt *rapid.T) {
		w.t = rt
		w.take(1)
		f(rt)
	})
	w.t = t
}

// advance lets time pass on the manual clock.
func (w *wire) advance(d time.Duration) {
	w.k.RunUntilIdle()
	w.k.Advance(d)
	w.k.RunUntilIdle()
}

// settle lets what was sent arrive.
func (w *wire) settle() { w.advance(quietTime) }

// await waits for cond in the threaded executor.
func (w *wire) await(what string, cond func() bool) {
	w.t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(100*time.Microsecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("%s: not within the time\n%s", what, w.console.String())
		}
	}
}

func (w *wire) text(i int, oid string) string {
	w.t.Helper()
	kind, unit := w.cfg.end(i)
	s, err := w.k.Sysctl.Text(fmt.Sprintf("dev.%s.%d.%s", kind.driver, unit, oid))
	w.must(err)
	return s
}

func (w *wire) set(name, value string) {
	w.t.Helper()
	w.must(w.k.Sysctl.SetText(name, value))
}

// wantText fails unless sysctls of NIC 0, given as pairs, have these values.
func (w *wire) wantText(pairs ...string) {
	w.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := w.text(0, pairs[i]); got != pairs[i+1] {
			w.t.Errorf("%s is %s, want %s", pairs[i], got, pairs[i+1])
		}
	}
}

// frames are the good frames that the hardware of a NIC counted.
func (w *wire) frames(i int) (sent, got uint64) {
	w.t.Helper()
	kind, _ := w.cfg.end(i)
	if kind.sentReg != 0 {
		bar := w.Hardware(w.name(i)).BARs()[0].BAR
		return w.before[i][0] + bar.Read64(kind.sentReg), w.before[i][1] + bar.Read64(kind.gotReg)
	}
	read := func(oid string) (n uint64) {
		if _, err := fmt.Sscan(w.text(i, oid), &n); err != nil {
			w.t.Fatal(err)
		}
		return n
	}
	return w.before[i][0] + read(kind.sentStat), w.before[i][1] + read(kind.gotStat)
}

// counted reports whether the hardware of NIC 0 has counted what its interface sent;
// true where its statistics come once a second.
func (w *wire) counted() bool {
	if w.kind.sentStat != "" {
		return true
	}
	sent, _ := w.frames(0)
	return sent == w.ifp[0].GetCounter(ifnet.CounterOPackets)
}

// finish checks the accounts, takes everything down and looks for what was forgotten.
func (w *wire) finish(t testing.TB) {
	w.t = t
	if !w.threads {
		w.advance(linkTime) // the statistics too
	}
	w.checkAccounts()
	for i := range w.ifp {
		w.must(w.ifp[i].Ioctl(ifnet.IoctlSetFlags, ifnet.Flags(0)))
	}
	if !w.threads {
		w.k.RunUntilIdle()
		if got := busdma.ReadStats(w.k).Loaded; got != w.loaded {
			w.t.Errorf("%d DMA maps are loaded with the interfaces down, %d were before", got, w.loaded)
		}
	}
	if got := w.zones.Usage(); got != w.idle {
		w.t.Errorf("in use with the interfaces down: %+v, before: %+v", got, w.idle)
	}
	if got := busdma.ReadStats(w.k).Faults; got != 0 {
		w.t.Errorf("%d accesses outside of what was mapped", got)
	}
	for i := range w.ifp {
		if n := w.text(i, "ifsim.broken_contracts"); n != "0" {
			w.t.Errorf("%s: %s breaches of the driver contract", w.name(i), n)
		}
		w.must(w.Detach(w.name(i)))
	}
	if got := w.zones.Usage(); got.Any() {
		w.t.Errorf("in use without devices: %+v", got)
	}
	w.cache.Close()
	w.must(w.Close())
	if w.t.Failed() {
		w.t.Log(w.console.String())
	}
}

// checkAccounts compares what one end sent, by the framework's and the hardware's
// account, with what the other end received by both.
func (w *wire) checkAccounts() {
	for from := range w.ifp {
		to := 1 - from
		tx, rx := w.ctx[from].Ledger(), w.ctx[to].RxLedger()
		if !tx.Balanced() || tx.Queued != 0 {
			w.t.Errorf("%s: ledger %s", w.name(from), tx)
		}
		if rx.Taken != rx.Handed {
			w.t.Errorf("%s: receive ledger %s", w.name(to), rx)
		}
		if w.unsent || w.threads && w.kind.sentStat != "" {
			continue // the statistics come once a second
		}
		sent, _ := w.frames(from)
		_, got := w.frames(to)
		out, in := w.ifp[from].GetCounter(ifnet.CounterOPackets), w.ifp[to].GetCounter(ifnet.CounterIPackets)
		want := out
		if from == 0 {
			want -= w.filtered
		}
		if sent != out || got != want || in != want || rx.Taken != want {
			w.t.Errorf("%s counted %d frames, its hardware %d; the other hardware %d, its interface %d, its ledger %s",
				w.name(from), out, sent, got, in, rx)
		}
	}
}

// mbuf makes a packet's chain, ready for Transmit.
func (w *wire) mbuf(p *shapes.Packet, cut []shapes.Piece) *mbuf.Mbuf {
	m := p.Mbuf(w.cache, cut)
	if m == nil {
		w.t.Fatal("no mbufs")
	}
	return m
}

// packet makes a packet from NIC 0 to NIC 1 that leaves to the hardware what the
// interface offers.
func (w *wire) packet(s shapes.Spec) *shapes.Packet {
	if w.ifp[0].HWAssist()&mbuf.CsumIP == 0 {
		s.Offload &^= shapes.OffloadIP
	}
	dst, src := w.macs()
	return s.Packet(dst, src)
}

// cross sends a packet from NIC 0 and checks the frames that arrive at NIC 1.
func (w *wire) cross(p *shapes.Packet, cut []shapes.Piece) {
	w.t.Helper()
	w.must(w.ifp[0].Transmit(w.mbuf(p, cut)))
	w.settle()
	w.check(p)
}

// check compares what NIC 1 has received with what the packet shall become.
func (w *wire) check(p *shapes.Packet) {
	w.t.Helper()
	got := w.take(1)
	if len(got) != len(p.Want) {
		w.t.Fatalf("%d frames, want %d\n%s", len(got), len(p.Want), w.console.String())
	}
	for i := range got {
		b := got[i].frame()
		if short := shapes.MinFrame - len(p.Data); p.VTag >= 0 && w.kind.pads && short > 0 {
			p.Want[i] = append(p.Want[i], make([]byte, min(short, shapes.TagLen))...)
		}
		if !bytes.Equal(b, p.Want[i]) {
			w.t.Fatalf("frame %d of %d:\ngot  %d bytes %x\nwant %d bytes %x", i, len(got), len(b), b, len(p.Want[i]), p.Want[i])
		}
		if p.IP {
			w.must(shapes.Reserialize(b))
		}
	}
}

// macs are the addresses of a frame from NIC 0 to NIC 1.
func (w *wire) macs() (dst, src [6]byte) { return w.ifp[1].MAC(), w.ifp[0].MAC() }
