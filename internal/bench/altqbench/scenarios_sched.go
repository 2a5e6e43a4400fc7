package altqbench

import (
	"fmt"
	"strings"
	"time"
)

// Four phases of the drawn scenarios, each with half a second to settle.
const (
	step    = 5 * time.Second
	settles = step / 10
)

// during is the n-th step.
func during(n int, name string, wants ...want) phase {
	from := time.Duration(n) * step
	return phase{name, from + settles, from + step, wants}
}

// PRIQ, and the regulator below it: T1, P1 to P3 of spec altq 6.2.
func priqScenarios() []scenario {
	const two = "altq on IF priq bandwidth 10Mb queue { hi, lo }\nqueue hi priority 7\nqueue lo priority 1 priq(default)\n"
	flows := func(hi float64) []flow { return []flow{{name: "hi", mbps: hi}, {name: "lo", mbps: greedy}} }
	return []scenario{
		{name: "one class", config: "altq on IF priq bandwidth 10Mb queue one\nqueue one priq(default)\n",
			flows: []flow{{name: "one", mbps: greedy}}, phases: steady(gets("one", 10, 0.002))},
		{name: "4 above 6", config: two, flows: flows(4), phases: steady(
			gets("hi", 4, tight), loses("hi", 0, 0), waitsAtMost("hi", 2.3), gets("lo", 6, tight), want{"lo", MeanWait, near(101, 0.03)})},
		{name: "9 above 1", config: two, flows: flows(9), phases: steady(gets("hi", 9, tight), gets("lo", 1, tight))},
		{name: "starvation", config: two, flows: flows(12), phases: steady(
			gets("hi", 10, tight), loses("hi", 100.0/6, 0.3), gets("lo", 0, 0))},
		{name: "three priorities", drawn: true,
			config: "altq on IF priq bandwidth 10Mb queue { call, web, bulk }\nqueue call priority 7\nqueue web priority 4\nqueue bulk priority 1 priq(default)\n",
			flows: []flow{{name: "bulk", mbps: greedy}, {name: "web", mbps: 4, start: step, stop: 3 * step},
				{name: "call", mbps: 5, start: 2 * step, stop: 3 * step}},
			phases: []phase{
				during(0, "bulk", gets("bulk", 10, tight)),
				during(1, "+ web", gets("web", 4, tight), gets("bulk", 6, tight)),
				during(2, "+ call", gets("call", 5, tight), gets("web", 4, tight), gets("bulk", 1, loose)),
				during(3, "bulk again", gets("bulk", 10, tight)),
			}},
	}
}

// CBQ: C1 to C9.
func cbqScenarios() []scenario {
	two := func(a, b int, borrow string) string {
		return fmt.Sprintf("altq on IF cbq bandwidth 10Mb queue { A, B }\nqueue A bandwidth %d%% cbq(default %s)\nqueue B bandwidth %d%% cbq(%[2]s)\n", a, borrow, b)
	}
	shares, limits := two(60, 40, "borrow"), strings.ReplaceAll(two(60, 40, ""), " cbq()", "")
	a, b := flow{name: "A", mbps: greedy}, flow{name: "B", mbps: greedy}
	return []scenario{
		{name: "60/40, borrow", config: shares, flows: []flow{a, b}, phases: steady(getsBy("A", 6, cbqBy), getsBy("B", 4, cbqBy))},
		{name: "60/40, limits", config: limits, flows: []flow{a, b}, phases: steady(getsBy("A", 6, cbqBy), getsBy("B", 4, cbqBy))},
		{name: "60%, limit, alone", config: limits, flows: []flow{a}, phases: steady(gets("A", 6, 0.03))},
		{name: "40%, limit, alone", config: limits, flows: []flow{b}, phases: steady(gets("B", 4, 0.03))},
		{name: "40%, borrow, alone", config: shares, flows: []flow{b}, phases: steady(gets("B", 10, loose))},
		{name: "what is left", config: shares, flows: []flow{a, {name: "B", mbps: 1}}, phases: steady(
			gets("A", 9, loose), gets("B", 1, loose), loses("B", 0, 0))},
		{name: "30/30, borrow", config: two(30, 30, "borrow"), flows: []flow{a, b}, phases: steady(gets("A", 5, 0.02), gets("B", 5, 0.02))},
		{name: "60{50/50}/40, borrow", drawn: true,
			config: "altq on IF cbq bandwidth 10Mb queue { X, Y }\nqueue X bandwidth 60% cbq(borrow) { x1, x2 }\n" +
				"queue x1 bandwidth 50% cbq(borrow)\nqueue x2 bandwidth 50% cbq(borrow)\nqueue Y bandwidth 40% cbq(default borrow)\n",
			flows: []flow{{name: "x1", mbps: greedy, stop: 3 * step}, {name: "Y", mbps: greedy, start: step}, {name: "x2", mbps: greedy, start: 2 * step}},
			phases: []phase{
				during(0, "x1", getsBy("x1", 10, cbqBy)),
				during(1, "+ Y", getsBy("x1", 6, cbqBy), getsBy("Y", 4, cbqBy)),
				during(2, "+ x2", getsBy("x1", 3, cbqBy), getsBy("x2", 3, cbqBy), getsBy("Y", 4, cbqBy)),
				during(3, "- x1", getsBy("x2", 6, cbqBy), getsBy("Y", 4, cbqBy)),
			}},
	}
}

// HFSC: H1 to H9.
func hfscScenarios() []scenario {
	two := func(a, b string) string {
		return "altq on IF hfsc bandwidth 10Mb queue { A, B }\nqueue A " + a + "\nqueue B " + b + "\n"
	}
	both := []flow{{name: "A", mbps: greedy}, {name: "B", mbps: greedy}}
	return []scenario{
		{name: "7/3", config: two("bandwidth 7Mb", "bandwidth 3Mb hfsc(default)"), flows: both, phases: steady(gets("A", 7, tight), gets("B", 3, tight))},
		{name: "7/3 by bytes", config: two("bandwidth 7Mb", "bandwidth 3Mb hfsc(default)"),
			flows: []flow{both[0], {name: "B", mbps: greedy, size: 214}}, phases: steady(gets("A", 7, tight), gets("B", 3, tight))},
		{name: "realtime 4 above share 1", config: two("bandwidth 1Mb hfsc(realtime 4Mb)", "bandwidth 9Mb hfsc(default)"),
			flows: both, phases: steady(gets("A", 4, tight), gets("B", 6, tight))},
		{name: "realtime 2 below share 5", config: two("bandwidth 5Mb hfsc(realtime 2Mb)", "bandwidth 5Mb hfsc(default)"),
			flows: both, phases: steady(gets("A", 5, tight), gets("B", 5, tight))},
		{name: "upperlimit 2", config: two("bandwidth 5Mb hfsc(upperlimit 2Mb)", "bandwidth 5Mb hfsc(default)"),
			flows: both, phases: steady(gets("A", 2, loose), gets("B", 8, loose))},
		{name: "upperlimit 2, alone", config: two("bandwidth 5Mb hfsc(upperlimit 2Mb)", "bandwidth 5Mb hfsc(default)"),
			flows: both[:1], phases: steady(gets("A", 2, loose))},
		voice("voice, sharing", "", waits("voice", 10, 100)),
		voice("voice, realtime", " hfsc(realtime 64Kb)", waits("voice", 0, 1), waitsAtMost("voice", 5)),
		{name: "6{4/2}/4", drawn: true,
			config: "altq on IF hfsc bandwidth 10Mb queue { X, Y }\nqueue X bandwidth 6Mb { x1, x2 }\nqueue x1 bandwidth 4Mb\nqueue x2 bandwidth 2Mb\n" +
				"queue Y bandwidth 4Mb hfsc(default)\n",
			flows: []flow{{name: "x1", mbps: greedy, stop: 3 * step}, {name: "x2", mbps: greedy, start: step}, {name: "Y", mbps: greedy, start: 2 * step}},
			phases: []phase{
				during(0, "x1", gets("x1", 10, tight)),
				during(1, "+ x2", gets("x1", 20./3, tight), gets("x2", 10./3, tight)),
				during(2, "+ Y", gets("x1", 4, tight), gets("x2", 2, tight), gets("Y", 4, tight)),
				during(3, "- x1", gets("x2", 6, tight), gets("Y", 4, tight)),
			}},
	}
}

// voice is a call among sixteen queues that are always busy (H9).
func voice(name, guarantee string, wants ...want) scenario {
	const busy = 16
	s := scenario{name: name, flows: []flow{{name: "voice", mbps: 0.064, size: 160}}, phases: steady(append(wants, gets("voice", 0.064, 0.02))...)}
	var names, queues strings.Builder
	for i := range busy {
		q := fmt.Sprintf("q%d", i)
		fmt.Fprintf(&names, "%s ", q)
		fmt.Fprintf(&queues, "queue %s bandwidth 600Kb hfsc(realtime 380Kb)\n", q)
		s.flows = append(s.flows, flow{name: q, mbps: 2})
	}
	s.config = fmt.Sprintf("altq on IF hfsc bandwidth 10Mb queue { %svoice default }\n%squeue voice bandwidth 64Kb%s\nqueue default bandwidth 64Kb hfsc(default)\n",
		names.String(), queues.String(), guarantee)
	return s
}
