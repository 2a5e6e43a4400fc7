package iflib

import (
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// TestSimpleTxStrandsNothing has senders contend for one queue. As long as the
// drain quota covers the ring, every packet is with the hardware when the last
// sender has returned, without the queue's timer: a packet that gets in between
// the holder's last look and its unlock is seen by the holder's look after the
// unlock, or by the sender's second try.
func TestSimpleTxStrandsNothing(t *testing.T) { strandNothing(t, 4, 6, 0) }

// TestTaskStrandsNothing has the holder be the queue's task.
func TestTaskStrandsNothing(t *testing.T) { strandNothing(t, 2, 1, 10) }

// strandNothing has senders send while the task is scheduled as often as kicks says.
func strandNothing(t *testing.T, senders, each, kicks int) {
	var deferred uint64
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newMachine(t, machineConfig{seed: seed + 1, tunables: map[string]string{"net.iflib.prefer_mpring": "0"}})
			d := m.attach(dummyConfig{qsets: 1, link: true, noMSIX: true}, m.insert(0, 0), 0)
			m.k.RunUntilIdle()
			d.quiet = true
			d.up()
			for i := range senders {
				m.k.Spawn(fmt.Sprintf("sender %d", i), func() {
					c := mbuf.Of(m.k).NewCache()
					defer c.Close()
					for range each {
						if err := d.ctx.ifp.Transmit(chain(c)); err != nil {
							t.Errorf("seed %d: %v", seed, err)
						}
					}
				})
			}
			m.k.Spawn("kicks", func() {
				for range kicks {
					d.ctx.KickTx()
					m.k.SchedPoint()
				}
			})
			m.k.RunUntilIdle()
			l := d.ctx.Ledger()
			if l.In != uint64(senders*each) || l.Handed != l.In || l.Queued != 0 {
				t.Errorf("seed %d: %v", seed, l)
			}
			q := d.ctx.txqs[0]
			if got, want := q.pub.deferred, q.ledger.in.Load(); got != want {
				t.Errorf("seed %d: %d packets counted as deferred, %d came without the lock", seed, got, want)
			}
			deferred += q.pub.deferred
			if err := d.ctx.Detach(); err != nil {
				t.Error(err)
			}
		})
	}
	if deferred == 0 {
		t.Error("no sender ever left its packet to another")
	}
}
