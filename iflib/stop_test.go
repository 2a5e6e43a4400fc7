package iflib

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// modes are the transmit paths.
var modes = []struct {
	name     string
	tunables map[string]string
}{
	{"mp_ring", map[string]string{}},
	{"abdicate", map[string]string{"dev.dm.0.iflib.tx_abdicate": "1"}},
	{"simple_tx", map[string]string{"dev.dm.0.iflib.simple_tx": "1"}},
	{"simple_tx, deferred frees", map[string]string{"dev.dm.0.iflib.simple_tx": "1", "dev.dm.0.iflib.tx_defer_mfree": "1"}},
}

func TestStopTakesPacketsBackAndResetsTheQueue(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			m := newMachine(t, machineConfig{check: true, tunables: mode.tunables})
			d := m.attach(dummyConfig{qsets: 1, adminCnt: 1, link: true, keep: true}, m.insert(5, 1), 0)
			base := m.holdings()
			d.up()
			const n = 7
			for range n {
				if err := d.ctx.ifp.Transmit(m.packet(60)); err != nil {
					t.Fatal(err)
				}
			}
			m.k.RunUntilIdle()
			q := d.ctx.txqs[0]
			if s := q.State(); s.Pidx != n || s.InUse != n || d.ctx.Ledger().Handed != n {
				t.Fatalf("before stop: %+v, ledger %v", s, d.ctx.Ledger())
			}
			q.stat.pullups.Store(9)
			q.mem.rings[0].Words64()[3] = 0xff
			d.ctx.ctxLock.Lock()
			d.ctx.stop()
			d.ctx.ctxLock.Unlock()
			if diff := cmp.Diff(TxqState{}, q.State()); diff != "" {
				t.Errorf("queue after stop: %s", diff)
			}
			if slices.ContainsFunc(q.mem.rings[0].Words64(), func(w uint64) bool { return w != 0 }) || q.stat.pullups.Load() != 0 {
				t.Error("ring or counters not zeroed")
			}
			now := m.holdings()
			base.Maps = now.Maps // those that slots used are kept for the next ones
			if diff := cmp.Diff(base, now); diff != "" {
				t.Errorf("left behind: %s", diff)
			}
			if l := d.ctx.Ledger(); l.In != n || l.Handed != n || !l.Balanced() {
				t.Errorf("ledger %v", l)
			}
			if got := d.ctx.ifp.GetCounter(ifnet.CounterOPackets); got != n {
				t.Errorf("opackets %d", got)
			}
			if err := d.ctx.ifp.Transmit(m.packet(60)); !errors.Is(err, syscall.ENETDOWN) {
				t.Errorf("transmit when stopped: %v", err)
			}
		})
	}
}

func TestPreserveTxIndices(t *testing.T) {
	m := newMachine(t, machineConfig{tunables: map[string]string{}})
	d := m.attach(dummyConfig{qsets: 1, adminCnt: 1, link: true, keep: true, flags: FlagPreserveTxIndices}, m.insert(5, 1), 0)
	d.up()
	for range 5 {
		if err := d.ctx.ifp.Transmit(m.packet(60)); err != nil {
			t.Fatal(err)
		}
	}
	d.ctx.ifp.InitIf()
	if diff := cmp.Diff(TxqState{Pidx: 5, Cidx: 5}, d.ctx.TxqState(0)); diff != "" {
		t.Error(diff)
	}
	d.tail[0] = 5
	if err := d.ctx.ifp.Transmit(m.packet(60)); err != nil || d.ctx.TxqState(0).Pidx != 6 {
		t.Errorf("%v, %+v", err, d.ctx.TxqState(0))
	}
}

func TestFailedInitLeavesTheInterfaceDown(t *testing.T) {
	m := newMachine(t, machineConfig{})
	d := m.attach(dummyConfig{link: true}, m.insert(5, 1), 0)
	d.onInit = d.ctx.InitFailed
	d.up()
	if d.ctx.IsRunning() || d.ctx.ifp.DrvFlags() != ifnet.FlagOActive {
		t.Errorf("running %v, driver flags %#x", d.ctx.IsRunning(), d.ctx.ifp.DrvFlags())
	}
	if calls := d.take(); calls[len(calls)-1] != "init C" {
		t.Errorf("calls after a failed init: %q", calls)
	}
	if d.ctx.txqs[0].timer.Pending() {
		t.Error("timer armed")
	}
	if err := d.ctx.ifp.Transmit(m.packet(60)); !errors.Is(err, syscall.ENETDOWN) {
		t.Errorf("transmit: %v", err)
	}
	d.onInit = nil
	d.up()
	if !d.ctx.IsRunning() {
		t.Error("down after a good init")
	}
}

func TestInitChoosesBuffersAndOffloads(t *testing.T) {
	m := newMachine(t, machineConfig{})
	const caps = ifnet.CapTxCsum | ifnet.CapTSO6 | ifnet.CapVLANMTU
	d := m.attach(dummyConfig{caps: caps, csum: mbuf.CsumIP | mbuf.CsumIPTCP | mbuf.CsumIP6TCP}, m.insert(5, 1), 0)
	if got, want := d.ctx.ifp.Capenable(), caps|ifnet.CapHWStats|ifnet.CapMEXTPG; got != want {
		t.Errorf("capabilities %#x, want %#x", got, want)
	}
	if got, want := d.ctx.ifp.TSO(), (ifnet.TSOLimits{Max: 65535, SegCount: 29, SegSize: 16384}); got != want {
		t.Errorf("TSO limits %+v, want %+v", got, want)
	}
	if got := d.ctx.ifp.Hdrlen(); got != ifnet.EtherVLANHdrLen {
		t.Errorf("header of %d bytes", got)
	}
	d.up()
	if got, want := d.ctx.ifp.HWAssist(), mbuf.CsumIP|mbuf.CsumIPTCP|mbuf.CsumIP6TSO; got != want {
		t.Errorf("hwassist %#x, want %#x", got, want)
	}
	if d.ctx.rxMbufSize != mbuf.MClBytes {
		t.Errorf("receive buffers of %d bytes", d.ctx.rxMbufSize)
	}
	d.ctx.Softc().MaxFrameSize = 2049
	d.ctx.ifp.InitIf()
	if d.ctx.rxMbufSize != mbuf.MJumPageSize {
		t.Errorf("receive buffers of %d bytes", d.ctx.rxMbufSize)
	}
}

func TestDriverMayNotChangeDriverFlagsInInit(t *testing.T) {
	for _, lax := range []bool{false, true} {
		m := newMachine(t, machineConfig{lax: lax})
		d := m.attach(dummyConfig{}, m.insert(5, 1), 0)
		m.lines()
		d.onInit = func() { d.ctx.ifp.SetDrvFlags(ifnet.FlagRunning, 0) }
		msg := func() (msg any) {
			defer func() { msg = recover() }()
			d.ctx.ctxLock.Lock()
			defer d.ctx.ctxLock.Unlock()
			d.ctx.initLocked()
			return nil
		}()
		const rule = "ifdi_init: driver flags changed from 0x400 to 0x440"
		if !lax {
			if msg != "dm0: "+rule {
				t.Errorf("panic %v", msg)
			}
			continue
		}
		d.ctx.broken("ifdi_init: driver flags changed from %#x to %#x", 1, 2)
		if lines := m.lines(); msg != nil || !slices.Equal(lines, []string{"dm0: driver contract broken: " + rule}) {
			t.Errorf("panic %v, console %q", msg, lines)
		}
		if got := m.text("dev.dm.0.ifsim.broken_contracts"); got != "2" {
			t.Errorf("broken_contracts %s", got)
		}
		d.onInit = nil
		d.take()
		m.k.RunUntilIdle()
		if calls := d.take(); len(calls) == 0 || calls[len(calls)-1] != "intr_enable C" {
			t.Errorf("no reset: %q", calls)
		}
	}
}

func TestLinkStateGovernsTransmit(t *testing.T) {
	m := newMachine(t, machineConfig{})
	d := m.attach(dummyConfig{}, m.insert(5, 1), 0)
	d.up()
	if err := d.ctx.ifp.Transmit(m.packet(60)); !errors.Is(err, syscall.ENETDOWN) {
		t.Errorf("link not known: %v", err)
	}
	d.ctx.LinkStateChange(true, 10_000_000_000)
	if err := d.ctx.ifp.Transmit(m.packet(60)); err != nil {
		t.Errorf("link up: %v", err)
	}
	if d.ctx.flags.Load()&uint32(ctxPrefetch) == 0 || d.ctx.ifp.Baudrate() != 10_000_000_000 || d.ctx.ifp.LinkState() != ifnet.LinkStateUp {
		t.Error("speed or state not taken")
	}
	d.ctx.LinkStateChange(false, 0)
	if err := d.ctx.ifp.Transmit(m.packet(60)); !errors.Is(err, syscall.ENETDOWN) {
		t.Errorf("link down: %v", err)
	}
}

func TestBusEventsHoldTheCtxLock(t *testing.T) {
	m := newMachine(t, machineConfig{})
	d := m.attach(dummyConfig{}, m.insert(5, 1), 0)
	d.up()
	d.take()
	for _, ev := range []func() error{d.ctx.Suspend, d.ctx.Shutdown, d.ctx.Resume} {
		if err := ev(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"suspend C", "shutdown C", "resume C", "intr_disable C", "stop C", "intr_disable C", "init C", "intr_enable C"}
	if diff := cmp.Diff(want, d.take()); diff != "" {
		t.Error(diff)
	}
}

func TestQFlushEmptiesTheRings(t *testing.T) {
	m := newMachine(t, machineConfig{tunables: map[string]string{"dev.dm.0.iflib.tx_abdicate": "1"}})
	d := m.attach(dummyConfig{qsets: 1, adminCnt: 1, link: true}, m.insert(5, 1), 0)
	d.up()
	for range 3 {
		if err := d.ctx.ifp.Transmit(m.packet(60)); err != nil {
			t.Fatal(err)
		}
	}
	d.ctx.ifp.QFlush()
	if l := d.ctx.Ledger(); l.Flushed != 3 || l.Queued != 0 || !l.Balanced() {
		t.Errorf("ledger %v", l)
	}
}

// A sender that looked before the interface went down may come to the ring when
// the device is gone.
func TestSenderThatComesAfterDetachLeavesNothing(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			m := newMachine(t, machineConfig{tunables: mode.tunables})
			fn := m.insert(5, 1)
			base := m.holdings()
			d := m.attach(dummyConfig{qsets: 1, adminCnt: 1, link: true}, fn, 0)
			d.up()
			// The queue is chosen after the look at the interface's state.
			d.ctx.txqSelect = func(*mbuf.Mbuf, *PktInfo) int {
				if err := d.ctx.Detach(); err != nil {
					t.Error(err)
				}
				return 0
			}
			if err := d.ctx.ifp.Transmit(m.packet(60)); d.ctx.simple != errors.Is(err, syscall.ENETDOWN) {
				t.Errorf("transmit: %v", err)
			}
			if l := d.ctx.Ledger(); !l.Balanced() || l.Dropped() != 1 {
				t.Errorf("ledger %v", l)
			}
			if d.misuse != 0 {
				t.Errorf("%d calls of a driver that is gone", d.misuse)
			}
			m.compare(base)
		})
	}
}

func TestPacketLeftToTheHolderIsFreedByStop(t *testing.T) {
	m := newMachine(t, machineConfig{tunables: map[string]string{"dev.dm.0.iflib.simple_tx": "1"}})
	d := m.attach(dummyConfig{qsets: 1, adminCnt: 1, link: true}, m.insert(5, 1), 0)
	base := m.holdings()
	d.up()
	q := d.ctx.txqs[0]
	q.ledger.in.Add(1)
	if !q.sbr.Enqueue(m.packet(60)) {
		t.Fatal("ring full")
	}
	d.ctx.ctxLock.Lock()
	d.ctx.stop()
	d.ctx.ctxLock.Unlock()
	if l := d.ctx.Ledger(); l.Stopped != 1 || !l.Balanced() {
		t.Errorf("ledger %v", l)
	}
	if diff := cmp.Diff(base, m.holdings()); diff != "" {
		t.Error(diff)
	}
}

// Whatever the order in which senders, a restart and a detach run, nothing is
// lost, freed twice or sent to a device that is gone.
func TestDetachUnderTrafficLosesNothing(t *testing.T) {
	const seeds, senders, packets = 12, 3, 40
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			for seed := uint64(1); seed <= seeds; seed++ {
				detachUnderTraffic(t, seed, senders, packets, mode.tunables, seed%3 != 0)
			}
		})
	}
}

func detachUnderTraffic(t *testing.T, seed uint64, senders, packets int, tunables map[string]string, restart bool) {
	t.Helper()
	m := newMachine(t, machineConfig{ncpu: 2, seed: seed, tunables: tunables})
	fn := m.insert(5, 1)
	base := m.holdings()
	d := m.attach(dummyConfig{qsets: 1, adminCnt: 1, link: true}, fn, 0)
	d.up()
	d.quiet = true
	var sent int
	for i := range senders {
		m.k.Spawn(fmt.Sprintf("sender %d", i), func() {
			for range packets {
				p := m.packet(60)
				sent++
				if err := d.ctx.ifp.Transmit(p); errors.Is(err, syscall.ENXIO) {
					sent--
				}
				m.k.SchedPoint()
			}
		})
	}
	m.k.Spawn("control", func() {
		if restart {
			d.ctx.ifp.InitIf()
		}
		if err := d.ctx.Detach(); err != nil {
			t.Error(err)
		}
	})
	m.k.RunUntilIdle()
	m.k.Advance(time.Second)
	if l := d.ctx.Ledger(); l.In != uint64(sent) || !l.Balanced() {
		t.Fatalf("seed %d: %d sent, ledger %v", seed, sent, l)
	}
	m.compare(base)
	if d.misuse != 0 {
		t.Errorf("%d calls of a driver that is gone", d.misuse)
	}
	if t.Failed() {
		t.Fatalf("seed %d", seed)
	}
}
