package pf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
)

const examples = "../../docs/altq/"

// exampleFlow is what some packets of a flow must get from an example.
type exampleFlow struct {
	via     string // interface that the packet comes in on first; "": it is this machine's
	out     string // interface
	d       pkt
	queue   string // that the rules choose; "": none, so the default
	size    int    // of frames, bytes
	offered float64
	gets    float64 // Mb/s
}

const (
	frameSize   = 1514
	settleTime  = 2 * time.Second
	measureTime = 5 * time.Second
)

var exampleFlows = map[string][]exampleFlow{
	"home-hfsc-voip": {
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 17, sport: 4000, dport: 12000}, queue: "voip", size: 214, offered: 0.5, gets: 0.5},
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 6, sport: 4000, dport: 443, flags: syn}, queue: "web", size: frameSize, offered: 20, gets: 4.75},
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 6, sport: 4000, dport: 22, flags: syn}, queue: "bulk", size: frameSize, offered: 20, gets: 4.75},
	},
	"office-cbq": {
		{out: "em0", d: pkt{src: "10.1.0.9", dst: "198.51.100.7", proto: 6, sport: 4000, dport: 25, flags: syn}, queue: "mail", size: frameSize, offered: 20, gets: 3},
		{out: "em0", d: pkt{src: "10.1.0.9", dst: "198.51.100.7", proto: 6, sport: 4000, dport: 80, flags: syn}, queue: "web", size: frameSize, offered: 20, gets: 3},
		{out: "em0", d: pkt{src: "10.2.0.9", dst: "198.51.100.7", proto: 17}, queue: "servers", size: frameSize, offered: 20, gets: 4},
	},
	"priq-ack": {
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 6, sport: 4000, dport: 80, flags: syn}, queue: "std", size: frameSize, offered: 5, gets: 1.7},
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 6, sport: 4000, dport: 80, flags: ack}, queue: "first", size: 54, offered: 0.3, gets: 0.3},
	},
	"guest-fairq": {
		{out: "em1", d: pkt{src: "198.51.100.7", dst: "192.168.1.5", proto: 17}, queue: "staff", size: frameSize, offered: 3, gets: 3},
		{out: "em1", d: pkt{src: "198.51.100.7", dst: "192.168.2.5", proto: 17}, queue: "guest", size: frameSize, offered: 20, gets: 5},
		{out: "em1", d: pkt{src: "198.51.100.8", dst: "192.168.2.6", proto: 17}, queue: "guest", size: frameSize, offered: 1, gets: 1},
		{out: "em1", d: pkt{src: "198.51.100.9", dst: "192.168.2.7", proto: 17}, queue: "guest", size: frameSize, offered: 1, gets: 1},
	},
	"codel-uplink": {
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 17}, size: frameSize, offered: 10.5, gets: 10},
	},
	"nested-hfsc": {
		{out: "em0", d: pkt{src: "10.10.1.2", dst: "198.51.100.7", proto: 17, tos: 0xb8}, queue: "phones", size: frameSize, offered: 20, gets: 1},
		{out: "em0", d: pkt{src: "10.10.1.2", dst: "198.51.100.7", proto: 17}, queue: "desks", size: frameSize, offered: 20, gets: 2},
		{out: "em0", d: pkt{src: "10.10.2.2", dst: "198.51.100.7", proto: 17}, queue: "lab", size: frameSize, offered: 20, gets: 3},
		{out: "em0", d: pkt{src: "10.20.2.2", dst: "198.51.100.7", proto: 17}, size: frameSize, offered: 20, gets: 4},
	},
	"percent": {
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 17}, queue: "most", size: frameSize, offered: 40, gets: 14},
		{out: "em0", d: pkt{src: "2001:db8::1", dst: "2001:db8::2", proto: 17}, size: frameSize, offered: 40, gets: 6},
	},
	"macros-lists": {
		{out: "em0", d: pkt{src: "10.0.0.1", dst: "198.51.100.7", proto: 17, dport: 53}, queue: "shell", size: 214, offered: 1, gets: 1},
		{out: "em0", d: pkt{src: "192.168.0.1", dst: "198.51.100.7", proto: 6, dport: 8001, flags: syn}, queue: "surf", size: frameSize, offered: 4, gets: 4},
		{out: "em0", d: pkt{src: "172.16.0.1", dst: "198.51.100.7", proto: 6, dport: 22, flags: syn}, size: frameSize, offered: 20, gets: 5},
	},
	"two-interfaces": {
		{via: "em1", out: "em0", d: pkt{src: "192.168.0.1", dst: "198.51.100.7", proto: 6, sport: 1, dport: 443, flags: syn}, queue: "hi", size: frameSize, offered: 20, gets: 7},
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 17}, size: frameSize, offered: 20, gets: 3},
		{out: "em1", d: pkt{src: "198.51.100.7", dst: "192.168.0.1", proto: 6, sport: 443, dport: 1, flags: syn | ack}, queue: "hi", size: frameSize, offered: 40, gets: 16},
		{out: "em1", d: pkt{src: "198.51.100.7", dst: "192.168.0.2", proto: 17}, size: frameSize, offered: 40, gets: 4},
	},
	"red-ecn": {
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 17, tos: 0xb8}, queue: "voice", size: 214, offered: 1, gets: 1},
		{out: "em0", d: pkt{src: "192.0.2.1", dst: "198.51.100.7", proto: 6, flags: syn}, size: frameSize, offered: 9.45, gets: 9},
	},
}

// tolerances of shares: CBQ's are as near as its estimator is.
func tolerance(t altq.Type) float64 {
	if t == altq.TypeCBQ {
		return 0.02
	}
	return 0.01
}

func TestExamplesLoadAndShape(t *testing.T) {
	files, err := filepath.Glob(examples + "*.conf")
	must(t, err)
	if len(files) != len(exampleFlows) {
		t.Errorf("%d files, %d examples", len(files), len(exampleFlows))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".conf")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			must(t, err)
			testExample(t, string(text), exampleFlows[name])
		})
	}
}

// testExample puts packets of the flows through the rules of a text, and then flows with
// the numbers that they get through the disciplines on simulated links.
func testExample(t *testing.T, text string, flows []exampleFlow) {
	b := newBed(t)
	ifs := map[string]*ifnet.Ifnet{"em0": b.iface("em", 0), "em1": b.iface("em", 1)}
	cfg, msgs, ok := b.p.Parse("pf.conf", text, conf.Options{})
	if !ok || len(msgs) != 0 {
		t.Fatalf("loads %v: %v", ok, msgs)
	}
	must(t, b.p.Load(cfg))
	must(t, b.p.Enable())
	built, err := pf.Build(cfg)
	must(t, err)
	for _, i := range built {
		link := altqtest.Link(t, i.Discipline, altqsim.Config{Rate: i.Interface.IfBandwidth, Depth: uint64(i.Interface.TBRSize)})
		var running []*altqsim.Flow
		var of []exampleFlow
		for n, f := range flows {
			if f.out != i.Interface.Ifname {
				continue
			}
			qid, hash := b.classify(ifs[f.via], ifs[f.out], f.d)
			if qid != i.QIDs[f.queue] {
				t.Errorf("flow %d: queue %d, want %d (%s)", n, qid, i.QIDs[f.queue], f.queue)
			}
			running = append(running, link.Add(altqsim.Source{QID: qid, Hash: hash, Size: f.size, Rate: f.offered * 1e6, Start: time.Duration(n) * 300 * time.Microsecond}))
			of = append(of, f)
		}
		link.Run(settleTime)
		link.Mark()
		link.Run(measureTime)
		for n, f := range running {
			altqtest.Near(t, i.Interface.Ifname+" "+of[n].queue, f.Rate()/1e6, of[n].gets, tolerance(i.Interface.Scheduler))
		}
	}
}

// classify is the queue and the flow that the rules give a packet.
func (b *bed) classify(in, out *ifnet.Ifnet, d pkt) (altq.QID, uint32) {
	b.t.Helper()
	m := b.chain(d.bytes(), 0)
	if in != nil && b.p.Hook(b.c, in, ifnet.PfilIn, afOf(d), &m) != ifnet.PfilPass ||
		b.p.Hook(b.c, out, ifnet.PfilOut, afOf(d), &m) != ifnet.PfilPass {
		b.t.Fatalf("%+v is dropped", d)
	}
	defer b.c.FreeChain(m)
	return m.QID, m.QIDHash
}
