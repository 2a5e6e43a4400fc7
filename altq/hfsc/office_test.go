package hfsc

import (
	"fmt"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
)

// An office in three levels: departments share the link, a department's kinds of traffic share what it gets, and what
// people do shares the rest. Telephones have a guarantee; guests have a limit.
const (
	staff   altq.QID = iota + 2 // 8 Mb/s
	guests                      // 2 Mb/s, at most 3
	servers                     // 5 of staff's
	desks                       // 3 of staff's
	phones                      // 600 kb/s of the desks', guaranteed: 160 bytes within 2 ms
	web                         // 1.6
	bulk                        // 0.8
)

func office() []altq.QueueConfig {
	below := func(parent, qid altq.QID, kb uint64) altq.QueueConfig {
		return altq.QueueConfig{QID: qid, Parent: parent, LinkShare: altq.Curve{M2: kb * kbit}}
	}
	guest := below(root, guests, 2000)
	guest.UpperLimit.M2 = 3 * mbit
	phone := below(desks, phones, 600)
	phone.RealTime = altq.Curve{M1: 640 * kbit, D: 2, M2: 600 * kbit}
	other := below(desks, bulk, 800)
	other.Flags = altq.FlagDefault
	return []altq.QueueConfig{
		rootQueue, below(root, staff, 8000), guest, below(staff, servers, 5000), below(staff, desks, 3000),
		phone, below(desks, web, 1600), other,
	}
}

// What a class leaves goes to its siblings first, then to those of its parent, and so on.
func TestThreeLevelsShareWhatOthersLeave(t *testing.T) {
	call := altqtest.Flow{QID: phones, Size: 160, Rate: 576e3, Want: 576e3}
	for _, v := range []struct {
		name  string
		flows []altqtest.Flow
	}{
		{"all", []altqtest.Flow{
			{QID: servers, Rate: greedy, Want: 5e6}, call, {QID: web, Rate: greedy, Want: 2 * 2.424e6 / 3},
			{QID: bulk, Rate: greedy, Want: 2.424e6 / 3}, {QID: guests, Rate: greedy, Want: 2e6}}},
		{"no servers: the desks have their part", []altqtest.Flow{
			call, {QID: web, Rate: greedy, Want: 2 * 7.424e6 / 3},
			{QID: bulk, Rate: greedy, Want: 7.424e6 / 3}, {QID: guests, Rate: greedy, Want: 2e6}}},
		{"phones and guests: they reach their limit", []altqtest.Flow{call, {QID: guests, Rate: greedy, Want: 3e6}}},
		{"servers and web", []altqtest.Flow{
			{QID: servers, Rate: greedy, Want: 10e6 * 5 / 8}, {QID: web, Rate: greedy, Want: 10e6 * 3 / 8}}},
		{"one alone", []altqtest.Flow{{QID: bulk, Rate: greedy, Want: 10e6}}},
	} {
		t.Run(v.name, func(t *testing.T) {
			link := newLink(t, 0, office()...)
			flows := altqtest.StartFlows(link, v.flows)
			altqtest.Measure(link, warmUp, measured)
			for i, f := range flows {
				want := v.flows[i]
				altqtest.Near(t, fmt.Sprintf("queue %d", want.QID), f.Rate(), want.Want, loose)
				// A packet before it on the wire, one of its own, and a tick.
				const longest = 5 * time.Millisecond
				if want.QID == phones && (f.Dropped().Packets > 0 || f.DelayQuantile(1) > longest) {
					t.Errorf("a call loses %d packets and waits up to %v", f.Dropped().Packets, f.DelayQuantile(1))
				}
			}
		})
	}
}
