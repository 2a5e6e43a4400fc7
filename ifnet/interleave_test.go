package ifnet

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

const seeds = 60

func (r *rig) interleave(fns ...func()) {
	r.t.Helper()
	var threads []*kern.Thread
	for i, fn := range fns {
		threads = append(threads, r.k.Spawn(fmt.Sprintf("thread %d", i), fn))
	}
	r.k.RunUntilIdle()
	for _, th := range threads {
		th.Join()
	}
}

func stepped(t *testing.T, seed uint64) *rig {
	t.Helper()
	return newRigWith(t, kern.Config{NCPU: 2, Executor: kern.Stepped, Clock: kern.ManualClock, Seed: seed})
}

func TestEveryLinkChangeIsReportedOnceInAnyOrder(t *testing.T) {
	for seed := range uint64(seeds) {
		r := stepped(t, seed)
		n := r.nic(0)
		log := r.mark()
		changes := 0
		flap := func(states ...LinkState) func() {
			return func() {
				for _, s := range states {
					if n.LinkState() != s {
						changes++
					}
					n.LinkStateChange(s)
					r.k.SchedPoint()
				}
			}
		}
		r.interleave(flap(LinkStateUp, LinkStateDown, LinkStateUp), flap(LinkStateDown, LinkStateUp, LinkStateDown))
		reported, pending, last := 0, 1, ""
		for line := range strings.Lines(log()) {
			if _, err := fmt.Sscanf(line, "em0: %d link states coalesced", &pending); err == nil {
				continue
			}
			reported += pending
			pending, last = 1, line
		}
		want := fmt.Sprintf("em0: link state changed to %s\n", n.LinkState())
		if reported != changes || last != want {
			t.Fatalf("seed %d: %d of %d changes reported, last %q, want %q", seed, reported, changes, last, want)
		}
	}
}

func TestRequestsAndDetachInAnyOrder(t *testing.T) {
	for seed := range uint64(seeds) {
		r := stepped(t, seed)
		n := r.bareNIC(0)
		inside, after := 0, false
		m := *n.methods.Load()
		m.Ioctl = func(Ioctl, any) error {
			if inside != 0 || after {
				t.Errorf("seed %d: %d requests in the driver, detached %v", seed, inside, after)
			}
			if n.leaving && n.Flags()&FlagUp != 0 {
				t.Errorf("seed %d: up while it is detached", seed)
			}
			inside++
			r.k.SchedPoint()
			inside--
			return nil
		}
		n.SetMethods(m)
		EtherAttach(n.Ifnet, ownMAC)
		r.interleave(
			func() { _ = n.Promisc(true); _ = n.Promisc(false) },
			func() { _ = n.Ioctl(IoctlSetFlags, FlagUp); _ = n.Ioctl(IoctlSetFlags, Flags(0)) },
			func() { _ = n.AddMulti(groupMAC); _ = n.DelMulti(groupMAC) },
			func() { n.LinkStateChange(LinkStateUp); _ = n.Ioctl(IoctlSetName, "wan") },
			func() { EtherDetach(n.Ifnet); after = true },
		)
		if n.Flags()&(FlagUp|FlagRenaming) != 0 || len(List(r.k)) != 0 {
			t.Errorf("seed %d: flags %#x, %d attached", seed, n.Flags(), len(List(r.k)))
		}
	}
}

func TestLoopedPacketsAreDeliveredOrCounted(t *testing.T) {
	r := newRigOn(t, kern.Threads, kern.RealClock)
	r.resolve()
	n := r.running()
	delivered := kern.NewCounter()
	t.Cleanup(RegisterProtocol(r.k, EtherTypeIP, func(c *mbuf.Cache, _ *Ifnet, m *mbuf.Mbuf) {
		delivered.Add(1)
		c.FreeChain(m)
	}))
	const senders, each = 3, 500
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			c := r.z.NewCache()
			defer c.Close()
			for range each {
				_ = n.Output(c, c.GetHdr(), myself, AFInet)
			}
		})
	}
	wg.Wait()
	stackOf(r.k).tq.Drain()
	stackOf(r.k).tq.Drain() // a full run queues itself once more
	if got := delivered.Load() + n.GetCounter(CounterIQDrops); got != senders*each {
		t.Errorf("%d delivered, %d dropped, %d sent", delivered.Load(), n.GetCounter(CounterIQDrops), senders*each)
	}
	r.noLeak()
}
