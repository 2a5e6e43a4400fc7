package altqbench

import (
	"fmt"
	"slices"
	"strings"
)

// wireScenario is a configuration on a wire.
type wireScenario struct {
	scenario
	// weights are shares, by flow, of what those leave who get what they offer. They have
	// no weight.
	weights map[string]float64
	// short: the queue may run empty while a sender stalls, as what keeps queues short
	// has it. Tokens that nobody wanted then are no fault.
	short bool
	// once: one NIC on one path will do.
	once bool
}

// wires are the scenarios on wires. Their queues are longer than a sender's naps on a
// busy host.
func wires() []wireScenario {
	guest := func(name string, mbps float64) flow { return flow{name: name, queue: "guests", mbps: mbps} }
	tooMuch := func(discipline, config, class string) wireScenario {
		return wireScenario{
			scenario: scenario{discipline: discipline, name: "20% too much", config: config, flows: []flow{{name: class, mbps: 1.2 * linkMbps}}},
			weights:  map[string]float64{class: 1}, short: true, once: true,
		}
	}
	return []wireScenario{
		{
			scenario: scenario{
				discipline: "priq", name: "4 above the rest",
				config: "altq on IF priq bandwidth 10Mb queue { hi, lo }\n" +
					"queue hi priority 7 qlimit 300\nqueue lo priority 1 qlimit 300 priq(default)\n",
				flows: []flow{{name: "hi", mbps: 4}, {name: "lo", mbps: greedy}},
			},
			weights: map[string]float64{"lo": 1},
		},
		{
			scenario: scenario{
				discipline: "cbq", name: "60/40, borrow",
				config: "altq on IF cbq bandwidth 10Mb queue { A, B }\n" +
					"queue A bandwidth 60% qlimit 300 cbq(default borrow)\nqueue B bandwidth 40% qlimit 300 cbq(borrow)\n",
				flows: []flow{{name: "A", mbps: greedy}, {name: "B", mbps: greedy}},
			},
			weights: map[string]float64{"A": 6, "B": 4},
		},
		{
			scenario: scenario{
				discipline: "hfsc", name: "6{4/2}/4",
				config: "altq on IF hfsc bandwidth 10Mb queue { X, Y }\nqueue X bandwidth 6Mb { x1, x2 }\n" +
					"queue x1 bandwidth 4Mb qlimit 300\nqueue x2 bandwidth 2Mb qlimit 300\n" +
					"queue Y bandwidth 4Mb qlimit 300 hfsc(default)\n",
				flows: []flow{{name: "x1", mbps: greedy}, {name: "x2", mbps: greedy}, {name: "Y", mbps: greedy}},
			},
			weights: map[string]float64{"x1": 4, "x2": 2, "Y": 4},
		},
		{
			scenario: scenario{
				discipline: "fairq", name: "two large, one of 1",
				config: "altq on IF fairq bandwidth 10Mb queue guests\nqueue guests bandwidth 10Mb qlimit 300 fairq(default)\n",
				flows:  []flow{guest("a", greedy), guest("b", greedy), guest("c", 1)},
			},
			weights: map[string]float64{"a": 1, "b": 1}, once: true,
		},
		tooMuch("codel", codelConfig, "line"), tooMuch("red", redConfig, "web"), tooMuch("rio", rioConfig, "web"),
	}
}

// Disciplines are the names of all, as pf.conf writes them.
func Disciplines() (names []string) {
	for _, s := range wires() {
		names = append(names, s.discipline)
	}
	return names
}

// firstPort is the UDP port that the first flow of a scenario sends to.
const firstPort = 1000

// rules is the text of pf.conf for an interface: the queues, and a rule for each flow. A
// discipline without queues needs none.
func (s *scenario) rules(ifname string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(s.config, "on "+ifName+" ", "on "+ifname+" "))
	if strings.Contains(s.config, "\nqueue ") {
		for i := range s.flows {
			fmt.Fprintf(&b, "pass out on %s inet proto udp to any port %d queue %s\n", ifname, firstPort+i, s.flows[i].queueName())
		}
	}
	return b.String()
}

// wireRun is one scenario with one NIC on one path.
type wireRun struct {
	s            *wireScenario
	driver       string
	preferMPRing int
	drawn        bool // in the picture, as is one run of each scenario
}

// where is the NIC and the path.
func (r *wireRun) where() string {
	return fmt.Sprintf("%s0 prefer_mpring=%d", r.driver, r.preferMPRing)
}

// wireRuns are all runs, by NIC and path.
func (o *Options) wireRuns() (runs []wireRun) {
	table := wires()
	for n, driver := range o.NICs {
		for _, prefer := range []int{1, 0} {
			first := n == 0 && prefer == 1
			for i := range table {
				s := &table[i]
				if slices.Contains(o.Disciplines, s.discipline) && (first || !s.once) {
					runs = append(runs, wireRun{s, driver, prefer, first})
				}
			}
		}
	}
	return runs
}
