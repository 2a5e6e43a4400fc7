package pf_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
)

// priqABC gives queues a, b and c numbers.
const priqABC = "altq on em0 priq bandwidth 10Mb queue { a b c }\nqueue a priq(default)\nqueue b priority 2\nqueue c priority 3\n"

func TestLastMatchDecidesUnlessQuick(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + `
block
pass proto udp no state queue a
pass quick proto udp to port 53 no state queue b
match proto udp tos 0xb8 queue c
pass proto udp to port { 53 54 } no state
`)
	id := b.qids()
	udp := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17, sport: 1000, dport: 100}
	for _, c := range []struct {
		d    func(p *pkt)
		want verdict
	}{
		{func(p *pkt) {}, verdict{pass: true, qid: id["a"]}},
		{func(p *pkt) { p.dport = 53; p.tos = 0xb8 }, verdict{pass: true, qid: id["b"]}},
		// The last pass rule has no queue: that of the match rule stays.
		{func(p *pkt) { p.dport = 54; p.tos = 0xb8 }, verdict{pass: true, qid: id["c"]}},
		{func(p *pkt) { p.dport = 54 }, verdict{pass: true}},
		// A rule that decides overrides match rules.
		{func(p *pkt) { p.tos = 0xb8 }, verdict{pass: true, qid: id["a"]}},
		{func(p *pkt) { p.proto = 47 }, verdict{}},
	} {
		d := udp
		c.d(&d)
		if got := b.run(em0, ifnet.PfilOut, d); got != c.want {
			t.Errorf("%+v: %+v, want %+v", d, got, c.want)
		}
	}
	rules := b.p.Rules()
	if r := rules[1]; r.Evaluations != 6 || r.Packets != 2 || r.Bytes != 56 {
		t.Errorf("second rule: %d evaluations, %d packets, %d bytes", r.Evaluations, r.Packets, r.Bytes)
	}
}

func TestSecondQueueIsForAcknowledgementsAndLowDelay(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "pass out proto { tcp udp } flags any no state queue (a, b)\npass out proto icmp no state queue c\n")
	id := b.qids()
	const syn, ack, fin = 2, 16, 1
	tcp := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 6, sport: 1000, dport: 80}
	for _, c := range []struct {
		name string
		d    func(p *pkt)
		want string
	}{
		{"pure ACK", func(p *pkt) { p.flags = ack }, "b"},
		{"SYN+ACK", func(p *pkt) { p.flags = syn | ack }, "b"},
		{"FIN+ACK", func(p *pkt) { p.flags = fin | ack }, "b"},
		{"SYN", func(p *pkt) { p.flags = syn }, "a"},
		{"ACK with payload", func(p *pkt) { p.flags, p.payload = ack, 1 }, "a"},
		{"ACK with payload, low delay", func(p *pkt) { p.flags, p.payload, p.tos = ack, 1, 0x10 }, "b"},
		{"UDP", func(p *pkt) { p.proto = 17 }, "a"},
		{"UDP, low delay", func(p *pkt) { p.proto, p.tos = 17, 0x10 }, "b"},
		{"ICMP, low delay", func(p *pkt) { p.proto, p.tos = 1, 0x10 }, "c"},
	} {
		for _, cut := range []int{0, 1, 21} {
			d := tcp
			c.d(&d)
			d.cut = cut
			if got := b.run(em0, ifnet.PfilOut, d); !got.pass || got.qid != id[c.want] {
				t.Errorf("%s in buffers of %d: %+v, want queue %d", c.name, cut, got, id[c.want])
			}
		}
	}
}

func TestQueueThatIsNotDefinedHasANumberOfItsOwn(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "pass no state queue unknown\n")
	udp := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17}
	if got := b.run(em0, ifnet.PfilOut, udp); got.qid != 4 {
		t.Errorf("queue %d, want 4", got.qid)
	}
	// Names keep their numbers over loads, whatever comes and goes.
	b.load("altq on em0 priq bandwidth 10Mb queue { z c }\nqueue z priq(default)\nqueue c priority 2\npass no state queue unknown\n")
	if got := b.run(em0, ifnet.PfilOut, udp); got.qid != 4 {
		t.Errorf("after another load: queue %d, want 4", got.qid)
	}
	if id := b.qids(); id["c"] != 3 || id["z"] != 5 {
		t.Errorf("numbers %v", id)
	}
}

func TestSkippedInterfacesAreNotFiltered(t *testing.T) {
	b := newBed(t)
	em0, em1 := b.iface("em", 0), b.iface("em", 1)
	b.load("set skip on em1\nblock\n")
	udp := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17}
	if b.run(em0, ifnet.PfilIn, udp).pass || !b.run(em1, ifnet.PfilIn, udp).pass {
		t.Error("em0 passes or em1 does not")
	}
}

func TestGroupsStandForTheirInterfaces(t *testing.T) {
	b := newBed(t)
	em0, em1 := b.iface("em", 0), b.iface("em", 1)
	must(t, em0.Ioctl(ifnet.IoctlAddGroup, "wan"))
	udp := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17}
	for text, want := range map[string][2]bool{
		"block on wan":                       {false, true},
		"block on ! wan":                     {true, false},
		"set skip on wan\nblock":             {true, false},
		"block\npass on wan2 no state":       {false, false},
		"block\npass on { wan lo } no state": {true, false},
	} {
		b.load(text + "\n")
		if got := [2]bool{b.run(em0, ifnet.PfilOut, udp).pass, b.run(em1, ifnet.PfilOut, udp).pass}; got != want {
			t.Errorf("%q: passes on em0, em1: %v, want %v", text, got, want)
		}
		b.p.FlushStates()
	}
}

func TestPacketsThatAreCutOffAreDropped(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load("pass flags any no state\n")
	v4 := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 6, flags: 16}.bytes()
	v6 := pkt{src: "::1", dst: "::2", proto: 17}.bytes()
	n := uint64(0)
	for i := range v4 {
		n++
		if b.runBytes(em0, ifnet.PfilIn, ifnet.AFInet, v4[:i], 0).pass {
			t.Errorf("%d bytes of IPv4 pass", i)
		}
	}
	for i := range v6 {
		n++
		if b.runBytes(em0, ifnet.PfilIn, ifnet.AFInet6, v6[:i], 0).pass {
			t.Errorf("%d bytes of IPv6 pass", i)
		}
	}
	if got := b.p.Counters().Short; got != n {
		t.Errorf("counted %d, want %d", got, n)
	}
}

// Words that random rules and packets are made of.
var (
	someAddrs = []string{"10.0.0.1", "10.0.1.1", "192.0.2.7", "2001:db8::1", "2001:db8:1::9"}
	someNets  = []string{"", "10.0.0.0/8", "! 10.0.0.0/24", "192.0.2.7", "! 192.0.2.7", "2001:db8::/64", "! 2001:db8::/32", "0.0.0.0/0"}
	somePorts = []string{"", " port 5", " port != 5", " port 4:6", " port 4 <> 6", " port 4 >< 6", " port < 5", " port >= 6", " port > 5", " port <= 4"}
)

// randomRule is a rule of one combination, which loads.
func randomRule(t *rapid.T) string {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	action := pick("action", "pass", "pass", "block", "match")
	proto := pick("proto", "", " proto tcp", " proto udp", " proto icmp", " proto gre")
	r := action + pick("dir", "", " in", " out") + pick("quick", "", "", "", " quick") + pick("if", "", " on em0", " on ! em0") + proto
	port := func(name string) string {
		if proto != " proto tcp" && proto != " proto udp" {
			return ""
		}
		return pick(name, somePorts...)
	}
	net := func(word, name string) string {
		n, p := pick(name, someNets...), port(name+" port")
		if n == "" && p == "" {
			return ""
		}
		if n == "" {
			n = "any"
		}
		return " " + word + " " + n + p
	}
	r += net("from", "src") + net("to", "dst") + pick("tos", "", "", " tos 0x10")
	if proto == "" || proto == " proto tcp" {
		r += pick("flags", "", " flags any", " flags S/SA", " flags /F")
	}
	if action == "pass" {
		r += " no state"
	}
	return r + pick("queue", "", " queue a", " queue b", " queue (a, b)", " queue (c)")
}

// naive decides about a packet by the text of rules as they are written, one after the
// other.
func naive(rules []conf.Rule, ifname string, dir conf.Direction, d pkt, id map[string]uint16) verdict {
	block := false
	var q, pq string
	src, dst := netip.MustParseAddr(d.src), netip.MustParseAddr(d.dst)
	family := conf.Inet6
	if src.Is4() {
		family = conf.Inet
	}
	end := func(p conf.Peer, a netip.Addr, port uint16) bool {
		if p.Addr.IsValid() && p.Addr.Contains(a) == p.Not {
			return false
		}
		x, y := p.Port[0], p.Port[1]
		switch p.Op {
		case conf.NoPort:
			return true
		case conf.PortEq:
			return port == x
		case conf.PortNe:
			return port != x
		case conf.PortRange:
			return x <= port && port <= y
		case conf.PortBeyond:
			return port < x || port > y
		case conf.PortInside:
			return x < port && port < y
		case conf.PortLt:
			return port < x
		case conf.PortLe:
			return port <= x
		case conf.PortGt:
			return port > x
		}
		return port >= x
	}
	var last *conf.Rule
	set := func(r *conf.Rule) {
		if r.Qname != "" {
			q, pq = r.Qname, r.Qname
		}
		if r.PQname != "" {
			pq = r.PQname
		}
	}
	for i := range rules {
		r := &rules[i]
		fits := (r.Dir == conf.InOut || r.Dir == dir) && (r.Ifname == "" || (r.Ifname == ifname) != r.IfNot) &&
			(r.Family == conf.AnyFamily || r.Family == family) && (r.Proto == 0 || r.Proto == d.proto) &&
			end(r.Src, src, d.sport) && end(r.Dst, dst, d.dport) && (r.TOS == 0 || r.TOS == d.tos) &&
			(d.proto != 6 || d.flags&r.FlagSet == r.Flags)
		if !fits {
			continue
		}
		if r.Action == conf.Match {
			set(r)
		} else {
			last = r
		}
		if r.Quick {
			break
		}
	}
	if last != nil {
		block = last.Action == conf.Block
		set(last)
	}
	if block {
		return verdict{}
	}
	v := verdict{pass: true, qid: id[q]}
	if v.qid != 0 && (d.tos&0x10 != 0 || d.proto == 6 && d.flags&16 != 0 && d.payload == 0) {
		v.qid = id[pq]
	}
	return v
}

func TestRulesMatchAsANaiveReaderWould(t *testing.T) {
	b := newBed(t)
	ifs := []*ifnet.Ifnet{b.iface("em", 0), b.iface("em", 1)}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		text.WriteString(priqABC)
		for range rapid.IntRange(0, 8).Draw(t, "rules") {
			// Some have ends of two families, or a protocol of the other one.
			if r := randomRule(t); loads(r) {
				fmt.Fprintln(&text, r)
			}
		}
		cfg := parse(t, text.String())
		if err := b.p.Load(cfg); err != nil {
			t.Fatal(err)
		}
		id := b.qids()
		for range 10 {
			d := pkt{
				src: rapid.SampledFrom(someAddrs).Draw(t, "from"), dst: rapid.SampledFrom(someAddrs).Draw(t, "to"),
				proto: rapid.SampledFrom([]uint8{6, 17, 47}).Draw(t, "protocol"), tos: rapid.SampledFrom([]uint8{0, 0x10}).Draw(t, "TOS"),
				flags:   rapid.SampledFrom([]uint8{2, 16, 18, 17}).Draw(t, "TCP flags"),
				payload: rapid.IntRange(0, 1).Draw(t, "payload"), cut: rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "cut"),
			}
			if d.proto != 47 {
				d.sport, d.dport = uint16(rapid.IntRange(3, 7).Draw(t, "sport")), uint16(rapid.IntRange(3, 7).Draw(t, "dport"))
			}
			if netip.MustParseAddr(d.src).Is4() != netip.MustParseAddr(d.dst).Is4() {
				d.dst = d.src
			}
			i := rapid.IntRange(0, 1).Draw(t, "interface")
			dir := rapid.SampledFrom([]ifnet.PfilDir{ifnet.PfilIn, ifnet.PfilOut}).Draw(t, "direction")
			confDir := map[ifnet.PfilDir]conf.Direction{ifnet.PfilIn: conf.In, ifnet.PfilOut: conf.Out}[dir]
			want := naive(cfg.Rules, ifs[i].Name(), confDir, d, id)
			if got := b.run(ifs[i], dir, d); got != want {
				t.Fatalf("%s\n%+v on %s, direction %d: %+v, want %+v", text.String(), d, ifs[i].Name(), dir, got, want)
			}
		}
	})
}

func TestFragmentsHaveNoPorts(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "match queue a\npass proto udp to port != 9 no state queue b\npass proto tcp flags S/SA no state queue c\n")
	id := b.qids()
	for _, d := range []pkt{
		{src: "10.0.0.1", dst: "10.0.0.2", proto: 17, offset: 10},
		{src: "10.0.0.1", dst: "10.0.0.2", proto: 6, offset: 10},
		{src: "::1", dst: "::2", proto: 17, offset: 10},
	} {
		if got := b.run(em0, ifnet.PfilOut, d); got.qid != id["a"] {
			t.Errorf("%+v: queue %d, want %d", d, got.qid, id["a"])
		}
		d.offset, d.flags = 0, 2
		want := id["b"]
		if d.proto == 6 {
			want = id["c"]
		}
		if got := b.run(em0, ifnet.PfilOut, d); got.qid != want {
			t.Errorf("%+v: queue %d, want %d", d, got.qid, want)
		}
	}
}

func FuzzHook(f *testing.F) {
	f.Add(pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 6, flags: 2}.bytes(), byte(0))
	f.Add(pkt{src: "::1", dst: "::2", proto: 17, offset: 3}.bytes(), byte(5))
	f.Add(pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 1, dport: 3, payload: 40}.bytes(), byte(21))
	b := newBed(f)
	em0 := b.iface("em", 0)
	b.load(priqABC + "pass flags any queue (a, b)\npass proto udp from any port 1:5 to ! ::1 queue c\n")
	defer func() { b.t = f }()
	f.Fuzz(func(t *testing.T, data []byte, cut byte) {
		if len(data) > 2000 {
			return
		}
		b.t = t
		for _, af := range []ifnet.AF{ifnet.AFInet, ifnet.AFInet6} {
			for _, dir := range []ifnet.PfilDir{ifnet.PfilIn, ifnet.PfilOut} {
				b.runBytes(em0, dir, af, data, int(cut))
			}
		}
	})
}
