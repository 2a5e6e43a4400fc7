package iflib_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/testnic/cqnic"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbhw"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

const (
	faultEtherType = 0x88b6 // IEEE 802 local experimental 2
	faultMemory    = 8 << 20
	faultPeriod    = 500 * time.Millisecond // net.iflib.timer_default
	faultPeriods   = 4                      // net.iflib.tx_watchdog_periods
	faultRing      = 512                    // transmit descriptors
	faultSenders   = 8
	faultSeeds     = 100
	faultFewSeeds  = 20 // with -short
	faultRaceSeeds = 8  // with -short and the race detector, which boots a machine in 0.1 s
	faultMpRing    = 2046
)

// faultPart is a NIC that is to break.
type faultPart struct{ chip, drv string }

var faultParts = []faultPart{{"82574L", "em"}, {"82545EM", "em"}, {"CQ-1", "cqnic"}, {"HWB-1", "hwbnic"}}

// faultPaths are the transmit paths and what chooses them.
var faultPaths = []string{"mp_ring", "simple_tx"}

// faultDrivers are the drivers that a machine does not have by itself.
func faultDrivers() []machine.DriverEntry {
	entry := func(d *iflib.Driver, chip string, mk func(hw.Config) (hw.NIC, error)) machine.DriverEntry {
		return machine.DriverEntry{Driver: d, New: func(_ string, cfg hw.Config) (hw.NIC, error) { return mk(cfg) },
			Chips: func() []string { return []string{chip} }, DefaultChip: chip}
	}
	return []machine.DriverEntry{entry(&cqnic.Driver, "CQ-1", cqhw.New), entry(&hwbnic.Driver, "HWB-1", hwbhw.New)}
}

// faultEach runs a test on each part and path, on a machine of its own that is up. With
// -short each part has one path, half of them each.
func faultEach(t *testing.T, cfg faultConfig, f func(t *testing.T, r *faultRig)) {
	for i, part := range faultParts {
		for j, path := range faultPaths {
			if testing.Short() && (i+j+len(t.Name()))%len(faultPaths) != 0 {
				continue
			}
			t.Run(part.chip+"/"+path, func(t *testing.T) {
				c := cfg
				c.part, c.path = part, path
				r := newFaultRig(t, c)
				r.up()
				f(t, r)
				r.finish()
			})
		}
	}
}

// faultConfig says which machine is to break, and how it runs.
type faultConfig struct {
	part    faultPart
	path    string
	threads bool
	seed    uint64
	depth   int // of the wire, 0 for the default
	queues  int // 0 is one
	env     map[string]string
}

// faultRig is a machine with one NIC; the test has the other end of its wire.
type faultRig struct {
	*machine.Machine
	t       testing.TB
	cfg     faultConfig
	dev     string
	k       *kern.Kernel
	upTick  int64        // when the queue timers were started
	ifp     *ifnet.Ifnet // as a sender knows it, who goes on after a detach
	far     *pair.Port
	console rig.Console
	idle    faultHoldings // before the interface first came up
	seq     [faultSenders + 1]uint32
	seen    [faultSenders + 1]uint32 // frames that arrived, by sender: the number after the last
	arrived int
	// reorders: frames of a sender may overtake each other.
	reorders bool
}

// newFaultRig boots the machine and plugs the cable in. The interface is down.
func newFaultRig(t testing.TB, cfg faultConfig) *faultRig {
	t.Helper()
	r := &faultRig{t: t, cfg: cfg, dev: cfg.part.drv + "0"}
	wire := "pair:wire0"
	if cfg.depth != 0 {
		wire += ",depth=" + strconv.Itoa(cfg.depth)
	}
	queues := strconv.Itoa(max(cfg.queues, 1))
	hint, dev := "hint."+cfg.part.drv+".0.", "dev."+cfg.part.drv+".0.iflib."
	env := map[string]string{
		hint + "device": cfg.part.chip, hint + "port": wire, hint + "autoneg_ms": "0",
		dev + "override_ntxqs": queues, dev + "override_nrxqs": queues,
		dev + "override_ntxds": fmt.Sprintf("%d,%d", faultRing, faultRing), dev + "override_nrxds": "256,128,128",
		"hw.busdma.check": "1",
	}
	if cfg.path == "simple_tx" {
		env[dev+"simple_tx"] = "1"
	}
	for name, v := range cfg.env {
		env[name] = v
	}
	mc := machine.Config{NCPU: 2, Clock: kern.ManualClock, Seed: cfg.seed, MemSize: faultMemory, Console: &r.console,
		Executor: kern.Stepped, Invariants: true, Env: env, Fabric: port.NewFabric(pair.Kind()), Drivers: faultDrivers()}
	if cfg.threads {
		mc.Executor = kern.Threads
	}
	m, err := machine.Boot(mc)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.console.String())
	}
	r.Machine, r.k = m, m.Kernel()
	r.ifp = m.Ifnet(r.dev)
	end, err := m.Fabric().Open(wire)
	r.must(err)
	r.far = end.(*pair.Port)
	r.must(r.far.Bind(rig.FarEnd{}))
	r.settle()
	r.idle = r.holdings()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d %s %s:\n%s", cfg.seed, cfg.part.chip, cfg.path, r.console.String())
		}
		r.must(r.Close())
		r.must(r.far.Close())
	})
	return r
}

func (r *faultRig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *faultRig) ctx() *iflib.Ctx { return r.Ctx(r.dev) }

// settle runs the machine until moderated interrupts have come.
func (r *faultRig) settle() {
	for range 2 {
		r.k.RunUntilIdle()
		r.k.Advance(2 * time.Millisecond)
	}
	r.k.RunUntilIdle()
}

// up brings the interface up and waits for its link.
func (r *faultRig) up() {
	r.t.Helper()
	r.must(r.Up(r.dev))
	r.upTick = r.k.Ticks()
	for range 100 {
		r.settle()
		if r.ctx().IsRunning() && r.ctx().Ifp().LinkState() == ifnet.LinkStateUp {
			return
		}
	}
	r.t.Fatalf("%s is not up", r.dev)
}

// down marks the interface down.
func (r *faultRig) down() {
	r.t.Helper()
	ifp := r.ctx().Ifp()
	r.must(ifp.Ioctl(ifnet.IoctlSetFlags, ifp.Flags()&^ifnet.FlagUp))
	r.settle()
}

// fault sets fail points as a user does: "hw.NAME.x" with NAME for the device.
func (r *faultRig) fault(settings ...string) {
	r.t.Helper()
	for _, s := range settings {
		name, prog, _ := strings.Cut(s, "=")
		r.must(r.k.Sysctl.SetText("debug.fail_point."+strings.ReplaceAll(name, "NAME", r.dev), prog))
	}
}

// cure turns fail points off.
func (r *faultRig) cure(settings ...string) {
	r.t.Helper()
	for _, s := range settings {
		name, _, _ := strings.Cut(s, "=")
		r.fault(name + "=off")
	}
}

// number reads a numeric leaf below dev.X.0.
func (r *faultRig) number(leaf string) int {
	r.t.Helper()
	n, err := strconv.Atoi(r.text(leaf))
	r.must(err)
	return n
}

func (r *faultRig) text(leaf string) string {
	r.t.Helper()
	s, err := r.k.Sysctl.Text("dev." + r.cfg.part.drv + ".0." + leaf)
	r.must(err)
	return s
}

// expect checks leaves below dev.X.0: pairs of name and number.
func (r *faultRig) expect(want map[string]int) {
	r.t.Helper()
	for leaf, n := range want {
		if got := r.number(leaf); got != n {
			r.t.Errorf("%s is %d, want %d", leaf, got, n)
		}
	}
}

// printed checks how many lines of the console hold a text.
func (r *faultRig) printed(text string, want int) {
	r.t.Helper()
	if got := strings.Count(r.console.String(), text); got != want {
		r.t.Errorf("%q is on the console %d times, want %d", text, got, want)
	}
}

// faultFrameLen is how long the frames of the senders are.
const faultFrameLen = 64

// packet is the next frame of a sender.
func (r *faultRig) packet(sender, size int) *mbuf.Mbuf {
	z := mbuf.Of(r.k)
	c := z.Borrow()
	defer z.Return(c)
	m := c.Get2(size, mbuf.FlagPktHdr)
	if m == nil {
		return nil
	}
	b := make([]byte, size)
	copy(b, []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, faultEtherType >> 8, faultEtherType & 0xff, byte(sender)})
	binary.BigEndian.PutUint32(b[15:], r.seq[sender])
	if !c.Append(m, b) {
		c.FreeChain(m)
		return nil
	}
	r.seq[sender]++
	m.Pkt.FlowID, m.Pkt.RSSType = uint32(sender), mbuf.HashOpaque
	return m
}

// send transmits n short frames of one sender and returns how many were refused.
func (r *faultRig) send(sender, n int) (refused int) {
	for range n {
		m := r.packet(sender, faultFrameLen)
		if m == nil {
			continue // a famine: nothing to send
		}
		if r.ifp.Transmit(m) != nil {
			refused++
		}
		r.k.SchedPoint()
	}
	return refused
}

// take receives what has arrived at the far end and returns how many frames: of each
// sender in order, none twice.
func (r *faultRig) take() int {
	r.t.Helper()
	var lent [32]port.RxFrame
	n := 0
	for got := r.far.Recv(0, lent[:]); got > 0; got = r.far.Recv(0, lent[:]) {
		for _, f := range lent[:got] {
			if binary.BigEndian.Uint16(f.Data[12:]) != faultEtherType {
				continue
			}
			n++
			r.arrival(f.Data)
		}
		r.far.Release(0, got)
	}
	r.arrived += n
	return n
}

func (r *faultRig) arrival(b []byte) {
	r.t.Helper()
	sender, seq := int(b[14]), binary.BigEndian.Uint32(b[15:])
	if sender > faultSenders || seq >= r.seq[sender] {
		r.t.Errorf("frame %d of sender %d was never sent", seq, sender)
		return
	}
	if seq < r.seen[sender] && !r.reorders {
		r.t.Errorf("frame %d of sender %d after frame %d", seq, sender, r.seen[sender]-1)
	}
	r.seen[sender] = max(r.seen[sender], seq+1)
}

// discard receives what has arrived and does not look at it: senders are at work.
func (r *faultRig) discard() {
	var lent [32]port.RxFrame
	for n := r.far.Recv(0, lent[:]); n > 0; n = r.far.Recv(0, lent[:]) {
		r.far.Release(0, n)
	}
}

// drain settles and receives until nothing more comes.
func (r *faultRig) drain() int {
	r.t.Helper()
	total := 0
	for r.settle(); ; r.settle() {
		n := r.take()
		if total += n; n == 0 {
			return total
		}
	}
}

// resumes checks that traffic flows: frames arrive, each one, in order.
func (r *faultRig) resumes() {
	r.t.Helper()
	r.drain()
	const frames = 20
	if n := r.send(faultSenders, frames); n != 0 {
		r.t.Errorf("%d of %d frames refused after the fault", n, frames)
	}
	got := 0
	for range 50 {
		if got += r.drain(); got >= frames {
			break
		}
	}
	if got != frames {
		r.t.Errorf("%d of %d frames arrived after the fault", got, frames)
	}
}

// balanced checks the account of the interface.
func (r *faultRig) balanced() iflib.Ledger {
	r.t.Helper()
	l, rx := r.ctx().Ledger(), r.ctx().RxLedger()
	if !l.Balanced() || !rx.Balanced() {
		r.t.Errorf("ledger %v; %v", l, rx)
	}
	if r.text("ifsim.ledger") != l.String() {
		r.t.Errorf("ledger is %q, shown as %q", l, r.text("ifsim.ledger"))
	}
	return l
}

// finish takes the interface down: nothing is left, everything is accounted for.
func (r *faultRig) finish() {
	r.t.Helper()
	r.down()
	r.drain()
	if l := r.balanced(); l.Queued != 0 {
		r.t.Errorf("ledger after down: %v", l)
	}
	r.compare(r.idle, "after down")
	if w := r.k.WitnessReports(); len(w) != 0 {
		r.t.Errorf("lock order: %s", strings.Join(w, "\n"))
	}
	if n := r.number("ifsim.broken_contracts"); n != 0 {
		r.t.Errorf("%d broken contracts", n)
	}
}

// faultHoldings is what an interface that is down must not hold.
type faultHoldings struct {
	Mbufs  mbuf.Usage
	Loaded int64
	Bounce int
}

func (r *faultRig) holdings() faultHoldings {
	s := busdma.ReadStats(r.k)
	return faultHoldings{Mbufs: mbuf.Of(r.k).Usage(), Loaded: s.Loaded, Bounce: s.ActivePages}
}

func (r *faultRig) compare(base faultHoldings, when string) {
	r.t.Helper()
	if diff := cmp.Diff(base, r.holdings()); diff != "" {
		r.t.Errorf("left %s: %s", when, diff)
	}
}

// period lets one timer period pass.
func (r *faultRig) period() { r.k.Advance(faultPeriod) }

// faultTick is one tick of the clock.
const faultTick = time.Millisecond

// faultPieceLen is so long that two pieces do not fit an mbuf.
const faultPieceLen = mbuf.MLen/2 + 8

// fragmented is a packet of n pieces behind its header, which nothing but new storage
// can make fewer.
func (r *faultRig) fragmented(sender, n int) *mbuf.Mbuf {
	r.t.Helper()
	m := r.packet(sender, faultFrameLen)
	z := mbuf.Of(r.k)
	c := z.Borrow()
	defer z.Return(c)
	tail := m
	for range n {
		p := c.Get()
		if p == nil {
			r.t.Fatal("no mbufs")
		}
		p.SetLen(faultPieceLen)
		tail.Next, tail = p, p
		m.Pkt.Len += faultPieceLen
	}
	return m
}

// recover gives a device that was in trouble time to be noticed by the watchdog: some
// work in each period, until it is well.
func (r *faultRig) recover() {
	r.t.Helper()
	for range 2*faultPeriods + 1 {
		r.send(faultSenders, 1)
		r.period()
		r.drain()
	}
}

// listen counts what the interface hands up.
func (r *faultRig) listen() *int {
	n := new(int)
	r.t.Cleanup(ifnet.RegisterProtocol(r.k, faultEtherType, func(c *mbuf.Cache, _ *ifnet.Ifnet, m *mbuf.Mbuf) {
		*n++
		c.FreeChain(m)
	}))
	return n
}

// inject sends n frames of size bytes to the interface from the far end.
func (r *faultRig) inject(n, size int) {
	r.t.Helper()
	b := make([]byte, size)
	mac := r.ifp.MAC()
	copy(b, mac[:])
	copy(b[6:], []byte{2, 0, 0, 0, 0, 9, faultEtherType >> 8, faultEtherType & 0xff})
	for i := range n {
		if r.far.Send(0, []port.Frame{{Segs: [][]byte{b}}}) != 1 {
			r.t.Fatal("the wire is full")
		}
		if r.far.Completed(0); i%8 == 7 {
			r.settle()
		}
	}
	r.settle()
}

// missed is how many frames the device had no buffer for.
func (r *faultRig) missed() int {
	r.k.Advance(2 * faultPeriod) // em collects its statistics then
	return int(r.ifp.GetCounter(ifnet.CounterIQDrops) + r.ifp.GetCounter(ifnet.CounterIErrors))
}

// faultSeeded runs a test with many seeds on each path; the parts take turns. With
// -short the paths do so too, and the parts that take long to boot come less often.
func faultSeeded(t *testing.T, f func(t *testing.T, seed uint64, part faultPart, path string)) {
	run := func(seed int, part faultPart, path string) {
		if !t.Failed() {
			t.Run(fmt.Sprintf("%s/%s/%d", part.chip, path, seed), func(t *testing.T) { f(t, uint64(seed), part, path) })
		}
	}
	if testing.Short() {
		order := []int{0, 2, 3, 1, 2, 3, 2, 3}
		seeds := faultFewSeeds
		if raceEnabled {
			seeds = faultRaceSeeds
		}
		for seed := 1; seed <= seeds; seed++ {
			run(seed, faultParts[order[(seed+len(t.Name()))%len(order)]], faultPaths[seed/3%len(faultPaths)])
		}
		return
	}
	for _, path := range faultPaths {
		for seed := 1; seed <= faultSeeds; seed++ {
			run(seed, faultParts[seed%len(faultParts)], path)
		}
	}
}

// faultMaps is how many DMA maps there are.
func faultMaps(r *faultRig) int64 { return busdma.ReadStats(r.k).Maps }
