package iflib_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/priq"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/machine"
)

// bare is an em on a null port, as benchmarks and allocation counts need it: threads,
// the real clock, no checks, the inline engine.
type bare struct {
	*machine.Machine
	ifp   *ifnet.Ifnet
	ctx   *iflib.Ctx
	port  *null.Port
	cache *mbuf.Cache
	hdr   []byte
}

func newBare(t testing.TB, path txPath) *bare {
	t.Helper()
	env := map[string]string{"hint.em.0.port": "null", "hint.em.0.engine": "inline", "dev.em.0.iflib.simple_tx": "0",
		// Interrupts at once: it is the path that is measured, not its moderation.
		"hw.em.enable_aim": "0", "hw.em.max_interrupt_rate": "1000000", "hw.em.rx_int_delay": "0", "hw.em.rx_abs_int_delay": "0"}
	if path.simple {
		env["dev.em.0.iflib.simple_tx"] = "1"
	}
	if path.abdicate {
		env["dev.em.0.iflib.tx_abdicate"] = "1"
	}
	m, err := machine.Boot(machine.Config{NCPU: 2, Env: env, MemSize: wireMemory})
	if err != nil {
		t.Fatal(err)
	}
	b := &bare{Machine: m, ifp: m.Ifnet("em0"), ctx: m.Ctx("em0"), port: m.Port("em0").(*null.Port)}
	b.cache = mbuf.Of(m.Kernel()).NewCache()
	if err := m.Up("em0"); err != nil {
		t.Fatal(err)
	}
	(&wire{t: t}).await("the link", func() bool { return b.ifp.LinkState() == ifnet.LinkStateUp })
	s := shapes.Spec{UDP: true, Payload: make([]byte, 1300), TCI: -1}
	b.hdr = s.Packet([6]byte{2, 0, 0, 0, 0, 9}, b.ifp.MAC()).Data[:shapes.EtherHdr+shapes.MinIPv4+shapes.MinUDP]
	t.Cleanup(func() {
		// Behind ALTQ packets are on their way for a while.
		(&wire{t: t}).await("the account to balance", func() bool { return b.ctx.Ledger().Balanced() })
		b.cache.Close()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// packet is headers in an mbuf and 1300 bytes in a cluster; nil in a famine.
func (b *bare) packet() *mbuf.Mbuf {
	m := b.cache.GetHdr()
	if m == nil {
		return nil
	}
	p := b.cache.GetCl(0)
	if p == nil {
		b.cache.Free(m)
		return nil
	}
	m.SetLen(len(b.hdr))
	copy(m.Bytes(), b.hdr)
	p.SetLen(1300)
	m.Next = p
	m.Pkt.Len = int32(len(b.hdr) + 1300)
	return m
}

// send sends one packet, whatever becomes of it.
func (b *bare) send() {
	for {
		if m := b.packet(); m != nil {
			_ = b.ifp.Transmit(m)
			return
		}
		runtime.Gosched()
	}
}

// mallocs is how many objects this process has allocated.
func mallocs() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestPacketPathDoesNotAllocate sends a million packets on each path and receives as
// many.
func TestPacketPathDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	count := 1_000_000
	if testing.Short() {
		count /= 10
	}
	const limit = 10
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector's own objects do not count
	measure := func(t *testing.T, f func()) {
		t.Helper()
		const warmup = 200_000
		for range warmup { // buffers for what is under way are made once
			f()
		}
		// The Go runtime allocates what waits for a lock or a channel, some
		// objects each time more goroutines wait at once than ever before; on a
		// busy host that happens at any moment. What the packet path allocates,
		// it allocates in every attempt.
		const attempts = 3
		var n uint64
		for range attempts {
			before := mallocs()
			for range count {
				f()
			}
			if n = mallocs() - before; n < limit {
				return
			}
		}
		t.Errorf("%d allocations in %d packets", n, count)
	}
	for _, path := range paths {
		t.Run(path.name, func(t *testing.T) {
			b := newBare(t, path)
			measure(t, b.send)
		})
	}
	t.Run("ALTQ", func(t *testing.T) {
		b := newBare(t, paths[0])
		d := priq.New(altq.Config{Bandwidth: altqRate})
		if err := d.AddQueue(altq.QueueConfig{QID: 1, Flags: altq.FlagDefault}); err != nil {
			t.Fatal(err)
		}
		q, err := altq.Of(b.ifp)
		if err != nil || q.Attach(d) != nil || q.Enable() != nil {
			t.Fatal("no discipline", err)
		}
		measure(t, b.send)
	})
	for _, size := range []int{64, 1342} {
		t.Run(fmt.Sprintf("receive %d", size), func(t *testing.T) {
			r := newReceiver(t, size)
			measure(t, func() {
				if r.n++; r.n%receiveBatch == 0 {
					r.inject()
				}
			})
		})
	}
}

// receiveBatch is how many frames arrive together.
const receiveBatch = 16

// receiver is an em that is sent frames of one size.
type receiver struct {
	*bare
	frames []port.RxFrame
	n      int
	sent   uint64
}

func newReceiver(t testing.TB, size int) *receiver {
	r := &receiver{bare: newBare(t, paths[0])}
	f := shapes.Ether(r.ifp.MAC(), [6]byte{2, 0, 0, 0, 0, 9}, shapes.EtherTest, make([]byte, size-shapes.EtherHdr))
	for range receiveBatch {
		r.frames = append(r.frames, port.RxFrame{Data: f})
	}
	cancel := ifnet.RegisterProtocol(r.Kernel(), shapes.EtherTest, func(c *mbuf.Cache, _ *ifnet.Ifnet, m *mbuf.Mbuf) { c.FreeChain(m) })
	t.Cleanup(func() {
		if l := r.ctx.RxLedger(); l.Taken != l.Handed {
			t.Errorf("ledger %s", l)
		}
		cancel()
	})
	return r
}

// inject lets a batch arrive and waits until the interface has taken it.
func (r *receiver) inject() {
	r.sent += uint64(r.port.Inject(r.frames...))
	for r.ctx.RxLedger().Taken < r.sent {
		runtime.Gosched()
	}
}
