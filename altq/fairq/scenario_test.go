package fairq

import (
	"fmt"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
)

// run starts flows, of queue low unless they say otherwise, and measures.
func run(link *altqsim.Link, flows []altqtest.Flow) []*altqsim.Flow {
	for i := range flows {
		if flows[i].QID == 0 {
			flows[i].QID = low
		}
	}
	started := altqtest.StartFlows(link, flows)
	altqtest.Measure(link, 5*time.Second, 25*time.Second)
	return started
}

// tight is the spec's tolerance.
const tight = 0.005

// Spec altq 6.2, F1 to F4 and F6.
func TestFlowsAndClassesShare(t *testing.T) {
	one := []altq.QueueConfig{{Bandwidth: linkRate}}
	for _, v := range []struct {
		name   string
		queues []altq.QueueConfig
		flows  []altqtest.Flow
	}{
		{"F1 five flows", one, []altqtest.Flow{{Hash: 1, Rate: 4e6, Want: 2e6}, {Hash: 2, Rate: 4e6, Want: 2e6},
			{Hash: 3, Rate: 4e6, Want: 2e6}, {Hash: 4, Rate: 4e6, Want: 2e6}, {Hash: 5, Rate: 4e6, Want: 2e6}}},
		{"F2 one large, four small", one, []altqtest.Flow{{Hash: 1, Rate: greedy, Want: 6e6}, {Hash: 2, Rate: 1e6, Want: 1e6},
			{Hash: 3, Rate: 1e6, Want: 1e6}, {Hash: 4, Rate: 1e6, Want: 1e6}, {Hash: 5, Rate: 1e6, Want: 1e6}}},
		{"F3 by packet, not byte", one, []altqtest.Flow{{Hash: 1, Rate: greedy, Want: 1e7 * frame / (frame + 514)},
			{Hash: 2, Size: 514, Rate: greedy, Want: 1e7 * 514 / (frame + 514)}}},
		{"F6 class below its bandwidth", []altq.QueueConfig{{Bandwidth: mbit}, {Bandwidth: 4 * mbit}},
			[]altqtest.Flow{{QID: high, Hash: 1, Rate: 3e6, Want: 3e6}, {Hash: 2, Rate: greedy, Want: 7e6}}},
	} {
		t.Run(v.name, func(t *testing.T) {
			for i, f := range run(newLink(t, v.queues...), v.flows) {
				altqtest.Near(t, fmt.Sprintf("flow %d", i), f.Rate(), v.flows[i].Want, tight)
				if v.flows[i].Rate == v.flows[i].Want && f.Dropped().Packets != 0 {
					t.Errorf("flow %d: %d drops, want none", i, f.Dropped().Packets)
				}
			}
		})
	}
}

// F2: small flows wait for one packet of each other flow, not for the large one's queue.
func TestSmallFlowsDoNotWaitForALargeOne(t *testing.T) {
	flows := []altqtest.Flow{{Hash: 1, Rate: greedy}}
	for hash := uint32(2); hash <= 5; hash++ {
		flows = append(flows, altqtest.Flow{Hash: hash, Rate: 1e6})
	}
	for i, f := range run(newLink(t, altq.QueueConfig{Bandwidth: linkRate}), flows) {
		const longest = 8 * time.Millisecond
		if d := f.DelayQuantile(1); i > 0 && d >= longest {
			t.Errorf("small flow %d waits up to %v, want less than %v", i, d, longest)
		}
	}
}

// F4: flows of one bucket share its turn.
func TestFlowsOfABucketShareItsTurn(t *testing.T) {
	f := run(newLink(t, altq.QueueConfig{Bandwidth: linkRate, Buckets: 256}),
		[]altqtest.Flow{{Hash: 1, Rate: greedy}, {Hash: 257, Rate: greedy}, {Hash: 2, Rate: greedy}})
	altqtest.Near(t, "both flows of bucket 1", f[0].Rate()+f[1].Rate(), 5e6, tight)
	altqtest.Near(t, "the flow of bucket 2", f[2].Rate(), 5e6, tight)
}

// F5: with hogs, a small flow keeps its turn and waits half as long.
func TestHogsFavourSmallFlows(t *testing.T) {
	flows := []altqtest.Flow{{Hash: 1, Rate: greedy, Want: 9e6}, {Hash: 2, Size: 214, Rate: 5e5, Want: 5e5},
		{Hash: 3, Size: 214, Rate: 5e5, Want: 5e5}}
	for _, v := range []struct {
		hogs        uint64
		least, most time.Duration
	}{
		{mbit, 0, time.Millisecond},
		{0, 1300 * time.Microsecond, 1700 * time.Microsecond},
	} {
		for i, f := range run(newLink(t, altq.QueueConfig{Bandwidth: linkRate, Hogs: v.hogs}), flows) {
			altqtest.Near(t, fmt.Sprintf("hogs %d, flow %d", v.hogs, i), f.Rate(), flows[i].Want, tight)
			if d := f.MeanDelay(); i > 0 && (d < v.least || d > v.most) {
				t.Errorf("hogs %d: small flow %d waits %v, want %v to %v", v.hogs, i, d, v.least, v.most)
			}
		}
	}
}

// F7: with both classes above their bandwidth, nothing is left unused and what is over favours the higher.
func TestExcessFavoursTheHigherClass(t *testing.T) {
	f := run(newLink(t, altq.QueueConfig{Bandwidth: 6 * mbit}, altq.QueueConfig{Bandwidth: 4 * mbit}),
		[]altqtest.Flow{{QID: high, Hash: 1, Rate: greedy}, {Hash: 2, Rate: greedy}})
	altqtest.Near(t, "both", f[0].Rate()+f[1].Rate(), 10e6, tight)
	if r := f[0].Rate(); r < 4e6 || r > 4.8e6 {
		t.Errorf("the higher class gets %.0f b/s, want 4 to 4.8 Mb/s", r)
	}
}

// A guest network: staff has priority and 7 of 10 Mb/s; guests share the rest among each other, so that one who
// downloads by four flows does not take a browsing guest's turn, and may have it all while no staff is there.
func TestGuestNetwork(t *testing.T) {
	guests := altq.QueueConfig{Bandwidth: 3 * mbit, Buckets: 1024, Hogs: 100 * kbit}
	staff := altq.QueueConfig{Bandwidth: 7 * mbit}
	browsing := altqtest.Flow{Hash: 50, Size: 600, Rate: 80e3, Want: 80e3}
	downloads := []altqtest.Flow{browsing}
	for hash := uint32(1); hash <= 4; hash++ {
		downloads = append(downloads, altqtest.Flow{Hash: hash, Rate: greedy, Want: (1e7 - 80e3) / 4})
	}
	for i, f := range run(newLink(t, guests, staff), downloads) {
		altqtest.Near(t, fmt.Sprintf("guest %d alone", i), f.Rate(), downloads[i].Want, tight)
	}
	for i := range downloads[1:] {
		downloads[i+1].Want = (1e7 - 5e6 - 80e3) / 4
	}
	all := append(downloads, altqtest.Flow{QID: high, Hash: 99, Rate: 5e6, Want: 5e6})
	for i, f := range run(newLink(t, guests, staff), all) {
		altqtest.Near(t, fmt.Sprintf("flow %d with staff", i), f.Rate(), all[i].Want, 0.01)
		if i == 0 && f.Dropped().Packets > 0 {
			t.Errorf("the browsing guest loses %d packets", f.Dropped().Packets)
		}
	}
}
