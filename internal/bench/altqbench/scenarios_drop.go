package altqbench

// FAIRQ: F1 to F6.
func fairqScenarios() []scenario {
	const one = "altq on IF fairq bandwidth 10Mb queue guests\nqueue guests bandwidth 10Mb fairq(default)\n"
	guest := func(name string, hash uint32, mbps float64) flow {
		return flow{name: name, queue: "guests", hash: hash, mbps: mbps}
	}
	small := guest("b", 2, greedy)
	small.size = 514
	second := guest("b", 2, greedy)
	second.start = step
	modest := guest("c", 3, 1)
	modest.start = 2 * step
	first := guest("a", 1, greedy)
	first.stop = 3 * step
	return []scenario{
		{name: "five flows of 4", config: one,
			flows:  []flow{guest("a", 1, 4), guest("b", 2, 4), guest("c", 3, 4), guest("d", 4, 4), guest("e", 5, 4)},
			phases: steady(gets("a", 2, tight), gets("b", 2, tight), gets("c", 2, tight), gets("d", 2, tight), gets("e", 2, tight))},
		{name: "one large, four small", config: one,
			flows:  []flow{guest("a", 1, greedy), guest("b", 2, 1), guest("c", 3, 1), guest("d", 4, 1), guest("e", 5, 1)},
			phases: steady(gets("a", 6, tight), gets("b", 1, tight), loses("b", 0, 0), waitsAtMost("b", 8), gets("e", 1, tight), waitsAtMost("e", 8))},
		{name: "by packets", config: one, flows: []flow{guest("a", 1, greedy), small},
			phases: steady(gets("a", 10.*frameSize/(frameSize+514), tight), gets("b", 10.*514/(frameSize+514), tight))},
		{name: "class below its bandwidth",
			config: "altq on IF fairq bandwidth 10Mb queue { staff, guests }\nqueue guests bandwidth 1Mb priority 1 fairq(default)\nqueue staff bandwidth 4Mb priority 2\n",
			flows:  []flow{{name: "staff", hash: 9, mbps: 3}, guest("guests", 1, greedy)},
			phases: steady(gets("staff", 3, tight), loses("staff", 0, 0), gets("guests", 7, tight))},
		{name: "flows take turns", drawn: true, config: one, flows: []flow{first, second, modest},
			phases: []phase{
				during(0, "a", gets("a", 10, tight)),
				during(1, "+ b", gets("a", 5, loose), gets("b", 5, loose)),
				during(2, "+ c of 1", gets("a", 4.5, loose), gets("b", 4.5, loose), gets("c", 1, tight)),
				during(3, "- a", gets("b", 9, loose), gets("c", 1, tight)),
			}},
	}
}

const (
	codelConfig = "altq on IF codel bandwidth 10Mb qlimit 2000 queue\n"
	redConfig   = "altq on IF priq bandwidth 10Mb queue web\nqueue web priq(default red)\n"
	rioConfig   = "altq on IF priq bandwidth 10Mb queue web\nqueue web qlimit 200 priq(default rio)\n"
)

// excess is what has to be dropped of so many Mb/s, in percent.
func excess(mbps float64) float64 { return (1 - linkMbps/mbps) * 100 }

// CoDel: D1 to D3 and D5.
func codelScenarios() []scenario {
	one := func(mbps float64) []flow { return []flow{{name: "line", mbps: mbps}} }
	four := []flow{{name: "a", queue: "line", aimd: true}, {name: "b", queue: "line", aimd: true},
		{name: "c", queue: "line", aimd: true}, {name: "d", queue: "line", aimd: true}}
	return []scenario{
		{name: "5% too little", config: codelConfig, flows: one(9.5), phases: steady(gets("line", 9.5, tight), loses("line", 0, 0), waits("line", 0, 5))},
		{name: "5% too much", config: codelConfig, flows: one(10.5), phases: late(
			gets("line", 10, tight), loses("line", excess(10.5), 0.3), waits("line", 5, 10))},
		{name: "2% too much", config: codelConfig, flows: one(10.2), phases: late(
			gets("line", 10, tight), loses("line", excess(10.2), 0.3), waits("line", 5, 7.5))},
		{name: "senders that listen", config: codelConfig, flows: four, phases: late(
			want{all, Rate, between(9.9, 10.02)}, waits(all, 0, 12)), drawn: true},
		{name: "the same, drop-tail", discipline: "priq", config: "altq on IF priq bandwidth 10Mb queue line\nqueue line priq(default)\n",
			flows: four, phases: late(want{all, Rate, between(9.9, 10.02)}, waits(all, 35, 1000)), drawn: true},
	}
}

// late is for what takes long to settle.
func late(wants ...want) []phase { return []phase{{from: 4 * settle, wants: wants}} }

// RED and RIO: R2 to R4. The queue settles where as many are dropped as have to be.
func redScenarios() []scenario {
	const redFrom, rioFrom = 5, 35                              // packets from which they drop, one of a hundred more each
	const frameTime = frameSize * bitsPerByte * 1000 / linkRate // ms
	one := func(mbps float64) []flow { return []flow{{name: "web", mbps: mbps}} }
	settled := func(from, mbps float64) []phase {
		return late(gets("web", 10, tight), loses("web", excess(mbps), 0.3), want{"web", RedAverage, near(from+excess(mbps), 0.03)})
	}
	return []scenario{
		{name: "5% too much", config: redConfig, flows: one(10.5), phases: settled(redFrom, 10.5)},
		{name: "8% too much", config: redConfig, flows: one(10.8), phases: settled(redFrom, 10.8)},
		{name: "20% too much", config: redConfig, flows: one(12), phases: late(
			gets("web", 10, tight), loses("web", excess(12), 0.3), want{"web", RedAverage, between(14.5, 15)})},
		{name: "5% too much", discipline: "rio", config: rioConfig, flows: one(10.5), phases: settled(rioFrom, 10.5)},
		{name: "senders that listen", drawn: true, config: redConfig,
			flows:  []flow{{name: "a", queue: "web", aimd: true}, {name: "b", queue: "web", aimd: true}},
			phases: late(waits(all, 0, 15*frameTime))},
	}
}

// simulated are all scenarios of simulated links, in the order of the table.
func simulated() (list []scenario) {
	for _, d := range []struct {
		name  string
		table []scenario
	}{
		{"priq", priqScenarios()}, {"cbq", cbqScenarios()}, {"hfsc", hfscScenarios()}, {"fairq", fairqScenarios()},
		{"codel", codelScenarios()}, {"red", redScenarios()},
	} {
		for _, s := range d.table {
			if s.discipline == "" {
				s.discipline = d.name
			}
			list = append(list, s)
		}
	}
	return list
}
