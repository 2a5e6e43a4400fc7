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
	for _, v := range []struct {
		name  string
		flows []flow
	}{
		{"all", []flow{{servers, 0, greedy, 5}, {phones, 160, 576e3, .576}, {web, 0, greedy, 2 * 2.424 / 3},
			{bulk, 0, greedy, 2.424 / 3}, {guests, 0, greedy, 2}}},
		{"no servers: the desks have them", []flow{{phones, 160, 576e3, .576}, {web, 0, greedy, 2 * 7.424 / 3},
			{bulk, 0, greedy, 7.424 / 3}, {guests, 0, greedy, 2}}},
		{"phones and guests: they reach their limit", []flow{{phones, 160, 576e3, .576}, {guests, 0, greedy, 3}}},
		{"servers and web", []flow{{servers, 0, greedy, 10 * 5. / 8}, {web, 0, greedy, 10 * 3. / 8}}},
		{"one alone", []flow{{bulk, 0, greedy, 10}}},
	} {
		t.Run(v.name, func(t *testing.T) {
			link := newLink(t, 0, office()...)
			flows := newFlows(link, v.flows)
			altqtest.Measure(link, warmUp, measured())
			for i, f := range flows {
				want := v.flows[i]
				altqtest.Near(t, fmt.Sprintf("queue %d", want.qid), f.Rate()/mbit, want.want, loose)
				// A packet before it on the wire, one of its own, and a tick.
				const longest = 5 * time.Millisecond
				if want.qid == phones && (f.Dropped().Packets > 0 || f.DelayQuantile(1) > longest) {
					t.Errorf("a call loses %d packets and waits up to %v", f.Dropped().Packets, f.DelayQuantile(1))
				}
			}
		})
	}
}
