package sight_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/sight"
	"github.com/ifsim/ifsim/internal/testnic/cqnic"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// cqEntry is the made-up NIC with completion queues.
var cqEntry = entry(&cqnic.Driver, cqhw.New)

// TestLooksBetweenTheStepsOfSenders has somebody look at any moment that the seed chooses,
// while packets are sent; none is lost or left behind by that.
func TestLooksBetweenTheStepsOfSenders(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		const senders, each = 2, 25
		cfg := still()
		cfg.Seed = seed + 1
		cfg.Env = map[string]string{"dev.em.0.iflib.simple_tx": string('0' + rune(seed%2)), "dev.em.0.iflib.tx_abdicate": string('0' + rune(seed/2%2))}
		b := boot(t, cfg, "em0")
		for range senders {
			b.Kernel().Spawn("sender", func() {
				c := b.Ifnet("em0").Zones().NewCache()
				defer c.Close()
				for range each {
					m := c.GetHdr()
					c.Append(m, rig.Ether(60))
					m.FixHdr()
					_ = b.Ifnet("em0").Transmit(m) // the ledger has it
					b.Kernel().SchedPoint()
				}
			})
		}
		b.Kernel().Spawn("looker", func() {
			for range 10 {
				_ = sight.Take(b.Kernel(), b.devices(), false)
				b.Kernel().SchedPoint()
			}
		})
		b.settle(2 * time.Second)
		if l := b.Ctx("em0").Ledger(); !l.Balanced() || l.In != senders*each || l.Handed != senders*each {
			t.Fatalf("seed %d: ledger %s", seed, l)
		}
		b.account(b.dump())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestCompletionQueuesAreShown dumps a NIC whose sets have rings of two kinds.
func TestCompletionQueuesAreShown(t *testing.T) {
	cfg := still()
	cfg.Drivers = []machine.DriverEntry{cqEntry}
	b := boot(t, cfg, "cqnic0")
	b.send("cqnic0", 3)
	b.Kernel().RunUntilIdle()
	d := b.dump()
	b.account(d)
	for _, q := range d.Devices[0].Queues {
		if len(q.Rings) < 2 || q.Busy {
			t.Errorf("%s: %d rings, busy %v", q.Name, len(q.Rings), q.Busy)
		}
		for _, desc := range q.Rings[0].Descs {
			if desc.Owner != "hardware" {
				t.Fatalf("%s: a completion is %s", q.Name, desc.Owner)
			}
		}
	}
	if d.Devices[0].Registers != nil {
		t.Error("a driver that describes nothing has registers")
	}
}
