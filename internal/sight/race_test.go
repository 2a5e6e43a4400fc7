package sight_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/sight"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// TestLooksBesideBusyOwners dumps a machine of threads, patiently and not, while senders,
// receive tasks, init and stop work on its queues, on each path. At the end, when all is
// quiet, every buffer has its holder and no packet was lost to the looking.
func TestLooksBesideBusyOwners(t *testing.T) {
	for _, simple := range []string{"0", "1"} {
		t.Run("simple_tx="+simple, func(t *testing.T) {
			env := map[string]string{}
			for _, nic := range []string{"em.0", "em.1"} {
				env["hint."+nic+".port"] = "pair:wire"
				env["dev."+nic+".iflib.simple_tx"] = simple
			}
			b := boot(t, machine.Config{Env: env})
			b.must(b.Up("em0"))
			b.must(b.Up("em1"))
			b.awaitLink("em0", "em1")
			packets := 4000
			if testing.Short() {
				packets = 1000
			}
			var senders, lookers sync.WaitGroup
			var over atomic.Bool
			var looked, busy atomic.Int64
			for _, patient := range []bool{true, false} {
				lookers.Go(func() {
					for !over.Load() {
						d := sight.Take(b.Kernel(), b.devices(), patient)
						for _, dev := range d.Devices {
							for _, q := range dev.Queues {
								if q.Busy {
									busy.Add(1)
								} else {
									looked.Add(1)
								}
							}
						}
					}
				})
			}
			for range 2 {
				senders.Go(func() {
					for looked.Load() == 0 { // there is something to be beside
						runtime.Gosched()
					}
					b.flood("em0", packets)
				})
			}
			lookers.Go(func() {
				for mtu := 1500; !over.Load(); mtu ^= 1500 ^ 1400 { // stop and init beside the looks
					if err := b.Ifnet("em1").Ioctl(ifnet.IoctlSetMTU, mtu); err != nil {
						t.Error(err)
						return
					}
				}
			})
			senders.Wait()
			over.Store(true)
			lookers.Wait()
			b.quiet()
			l := b.Ctx("em0").Ledger()
			if !l.Balanced() || l.In != uint64(2*packets) || l.Queued != 0 {
				t.Errorf("ledger %s", l)
			}
			b.account(b.dump())
			t.Logf("%d queues were looked at, %d were busy; %s", looked.Load(), busy.Load(), l)
		})
	}
}

// TestDetachWaitsForLooks detaches and attaches a device while it is dumped.
func TestDetachWaitsForLooks(t *testing.T) {
	b := boot(t, machine.Config{}, "igb0")
	var over atomic.Bool
	var lookers sync.WaitGroup
	for _, patient := range []bool{true, false} {
		lookers.Go(func() {
			for !over.Load() {
				_ = sight.Take(b.Kernel(), b.devices(), patient)
			}
		})
	}
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		b.must(b.Detach("igb0"))
		b.must(b.Attach("igb0"))
	}
	over.Store(true)
	lookers.Wait()
	b.quiet()
	b.account(b.dump())
}

// flood sends packets of 60 bytes as fast as it can.
func (b *bed) flood(name string, n int) {
	c := mbuf.Of(b.Kernel()).NewCache()
	defer c.Close()
	frame := rig.Ether(60)
	for range n {
		m := c.GetHdr()
		if m == nil || !c.Append(m, frame) {
			b.t.Error("no mbufs")
			return
		}
		m.FixHdr()
		_ = b.Ifnet(name).Transmit(m) // what a full ring drops is counted
	}
}

// patience bounds what a test waits for.
const patience = 20 * time.Second

// awaitLink waits until interfaces have a link.
func (b *bed) awaitLink(names ...string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; b.Kernel().RunUntilIdle() {
		up := 0
		for _, name := range names {
			nobody := mbuf.Visit{Chain: func(string, int, *mbuf.Mbuf) {}, Busy: func(string) {}}
			if b.Ctx(name).Look(nobody).LinkUp {
				up++
			}
		}
		if up == len(names) {
			return
		}
		if time.Now().After(end) {
			b.t.Fatal("no link")
		}
	}
}

// quiet waits until nothing is on its way: no packet waits, and each buffer has a holder.
func (b *bed) quiet() {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		b.Kernel().RunUntilIdle()
		d := b.dump()
		waiting := false
		for _, ctx := range b.devices() {
			waiting = waiting || ctx.Ledger().Queued != 0
		}
		if !waiting && !d.Mbufs.Leak().Any() && len(d.Mbufs.Busy) == 0 {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("not quiet: %s", d.Short())
		}
	}
}
