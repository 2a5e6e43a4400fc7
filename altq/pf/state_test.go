package pf_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

const (
	fin = 1
	syn = 2
	rst = 4
	ack = 16
)

// back is the answer to a packet.
func back(d pkt) pkt {
	d.src, d.dst = d.dst, d.src
	if d.proto == 6 || d.proto == 17 {
		d.sport, d.dport = d.dport, d.sport
	}
	return d
}

func TestStateGivesItsQueuesToBothDirections(t *testing.T) {
	b := newBed(t)
	em0, em1 := b.iface("em", 0), b.iface("em", 1)
	b.load(priqABC + "block\npass out on em0 proto tcp to port 80 queue (a, b)\n")
	must(t, b.p.Enable())
	id := b.qids()
	d := pkt{src: "10.0.0.1", dst: "192.0.2.1", proto: 6, sport: 1025, dport: 80, flags: syn}
	if got := b.run(em0, ifnet.PfilIn, back(d)); got.pass {
		t.Errorf("answer before the question: %+v", got)
	}
	if got, want := b.run(em0, ifnet.PfilOut, d), (verdict{true, id["a"], true}); got != want {
		t.Errorf("SYN: %+v, want %+v", got, want)
	}
	answer := back(d)
	answer.flags = syn | ack
	// States are not bound to an interface.
	for _, ifp := range []*ifnet.Ifnet{em0, em1} {
		if got, want := b.run(ifp, ifnet.PfilIn, answer), (verdict{true, id["b"], true}); got != want {
			t.Errorf("SYN+ACK on %s: %+v, want %+v", ifp.Name(), got, want)
		}
	}
	d.flags, d.payload = ack, 100
	if got, want := b.run(em0, ifnet.PfilOut, d), (verdict{true, id["a"], true}); got != want {
		t.Errorf("data: %+v, want %+v", got, want)
	}
	// The same packet coming in from outside is another connection.
	if got := b.run(em0, ifnet.PfilIn, d); got.pass {
		t.Errorf("data from the wrong side: %+v", got)
	}
	if r := b.p.Rules()[1]; r.States != 1 || r.Packets != 4 {
		t.Errorf("rule counts %d states, %d packets", r.States, r.Packets)
	}
}

func TestForwardedPacketTakesTheQueueOfTheWayIn(t *testing.T) {
	b := newBed(t)
	em0, em1 := b.iface("em", 0), b.iface("em", 1)
	b.load(priqABC + "pass in on em1 queue a\npass out on em0 proto tcp to port 22 queue b\n")
	must(t, b.p.Enable())
	id := b.qids()
	for port, want := range map[uint16]uint16{80: id["a"], 22: id["b"]} {
		d := pkt{src: "10.0.0.1", dst: "192.0.2.1", proto: 6, sport: 1025, dport: port, flags: syn}
		m := b.chain(d.bytes(), 0)
		for _, r := range []ifnet.PfilResult{b.p.Hook(b.c, em1, ifnet.PfilIn, ifnet.AFInet, &m), b.p.Hook(b.c, em0, ifnet.PfilOut, ifnet.AFInet, &m)} {
			if r != ifnet.PfilPass {
				t.Fatalf("result %d", r)
			}
		}
		if m.QID != want {
			t.Errorf("port %d: queue %d, want %d", port, m.QID, want)
		}
		b.c.FreeChain(m)
	}
}

func TestStatesExpire(t *testing.T) {
	tcp := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 6, sport: 1, dport: 2, flags: syn}
	with := func(d pkt, flags uint8) pkt { d.flags = flags; return d }
	udp := pkt{src: "2001:db8::1", dst: "2001:db8::2", proto: 17, sport: 1, dport: 2}
	icmp := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 1, sport: 77, dport: 8}
	gre := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 47}
	for _, c := range []struct {
		name    string
		packets []pkt // out, and in those whose source is the other end
		seconds int
	}{
		{"SYN", []pkt{tcp}, 120},
		{"SYN, SYN+ACK", []pkt{tcp, with(back(tcp), syn|ack)}, 30},
		{"established", []pkt{tcp, with(back(tcp), syn|ack), with(tcp, ack)}, 200},
		{"closing", []pkt{tcp, with(back(tcp), syn|ack), with(tcp, ack), with(tcp, fin|ack)}, 150},
		{"closed", []pkt{tcp, with(back(tcp), syn|ack), with(tcp, ack), with(tcp, fin|ack), with(back(tcp), fin|ack), with(tcp, ack)}, 90},
		{"reset", []pkt{tcp, with(back(tcp), rst|ack)}, 90},
		{"UDP once", []pkt{udp}, 60},
		{"UDP twice", []pkt{udp, udp}, 30},
		{"UDP answered", []pkt{udp, back(udp), udp}, 60},
		{"echo", []pkt{icmp}, 20},
		{"echo answered", []pkt{icmp, back(icmp)}, 10},
		{"GRE", []pkt{gre}, 60},
		{"GRE one way", []pkt{gre, gre}, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			em0 := b.iface("em", 0)
			b.load("set timeout { tcp.established 200, tcp.closing 150 }\nblock\npass out\n")
			must(t, b.p.Enable())
			for _, d := range c.packets {
				dir := ifnet.PfilOut
				if d.src != c.packets[0].src {
					dir = ifnet.PfilIn
				}
				if !b.run(em0, dir, d).pass {
					t.Fatalf("%+v does not pass", d)
				}
			}
			// A probe that no rule passes shows whether the state is there.
			probe := with(back(c.packets[0]), ack)
			b.advance(time.Duration(c.seconds-1) * time.Second)
			if n := b.p.Counters().States; n != 1 {
				t.Fatalf("%d states after %d s", n, c.seconds-1)
			}
			b.advance(11 * time.Second)
			if n := b.p.Counters().States; n != 0 {
				t.Errorf("%d states after %d s", n, c.seconds+10)
			}
			if b.run(em0, ifnet.PfilIn, probe).pass {
				t.Error("the probe passes")
			}
			if n := b.p.Rules()[1].States; n != 0 {
				t.Errorf("the rule counts %d", n)
			}
		})
	}
}

func TestExpiredStateIsNotFoundBeforeItIsRemoved(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load("set timeout udp.first 3\nblock\npass out\n")
	must(t, b.p.Enable())
	d := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17}
	b.run(em0, ifnet.PfilOut, d)
	b.advance(3 * time.Second)
	if b.run(em0, ifnet.PfilIn, back(d)).pass {
		t.Error("the answer passes after 3 s")
	}
}

func TestNewConnectionReplacesOneThatHasEnded(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "pass out queue a\n")
	must(t, b.p.Enable())
	d := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 6, sport: 1, dport: 2, flags: syn}
	b.run(em0, ifnet.PfilOut, d)
	r := back(d)
	r.flags = rst | ack
	b.run(em0, ifnet.PfilIn, r)
	b.load(priqABC + "pass out queue b\n")
	if got, want := b.run(em0, ifnet.PfilOut, d).qid, b.qids()["b"]; got != want {
		t.Errorf("queue %d, want %d", got, want)
	}
	if n := b.p.Counters().States; n != 1 {
		t.Errorf("%d states", n)
	}
}

func TestStatesKeepTheirQueuesOverALoad(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "pass out queue a\n")
	must(t, b.p.Enable())
	d := pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17}
	want := b.run(em0, ifnet.PfilOut, d)
	b.load(priqABC + "block\n")
	if got := b.run(em0, ifnet.PfilIn, back(d)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := b.p.FlushStates(); n != 1 || b.run(em0, ifnet.PfilIn, back(d)).pass {
		t.Errorf("flushed %d, and the answer still passes or not", n)
	}
}

func TestNumberOfStatesIsBounded(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load("set limit states 1000\npass\n")
	must(t, b.p.Enable())
	const flows = 1500
	passed := 0
	for i := range flows {
		if b.run(em0, ifnet.PfilOut, pkt{src: fmt.Sprintf("10.0.%d.%d", i/250, i%250), dst: "10.1.0.1", proto: 17}).pass {
			passed++
		}
	}
	if c := b.p.Counters(); passed != 1000 || c.States != 1000 || c.Memory != flows-1000 {
		t.Errorf("%d passed, counters %+v", passed, c)
	}
	// All of them are found, though tables have grown.
	for i := range 1000 {
		if !b.run(em0, ifnet.PfilIn, back(pkt{src: fmt.Sprintf("10.0.%d.%d", i/250, i%250), dst: "10.1.0.1", proto: 17})).pass {
			t.Fatalf("flow %d is not found", i)
		}
	}
	b.advance(45 * time.Second)
	if n := b.p.Counters().States; n != 0 {
		t.Errorf("%d states after a pause", n)
	}
}

func TestErrorBelongsToTheStateThatItIsAbout(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "block\npass out proto tcp to port 80 queue a\n")
	must(t, b.p.Enable())
	d := pkt{src: "10.0.0.1", dst: "192.0.2.1", proto: 6, sport: 1025, dport: 80, flags: syn}
	b.run(em0, ifnet.PfilOut, d)
	report := func(about pkt) []byte {
		e := pkt{src: "192.0.2.254", dst: "10.0.0.1", proto: 1, dport: 3, payload: 28}
		data := e.bytes()
		copy(data[28:], about.bytes()[:28])
		return data
	}
	if got, want := b.runBytes(em0, ifnet.PfilIn, ifnet.AFInet, report(d), 0), (verdict{true, b.qids()["a"], true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	d.sport++
	if b.runBytes(em0, ifnet.PfilIn, ifnet.AFInet, report(d), 0).pass {
		t.Error("an error about nothing passes")
	}
}

func TestHookAllocatesNothing(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "block\npass out proto tcp to port 80 queue (a, b)\npass out proto gre no state queue c\n")
	must(t, b.p.Enable())
	for _, d := range []pkt{
		{src: "10.0.0.1", dst: "192.0.2.1", proto: 6, sport: 1025, dport: 80, flags: syn},
		{src: "10.0.0.1", dst: "192.0.2.1", proto: 47},
		{src: "10.0.0.1", dst: "192.0.2.1", proto: 6, sport: 1025, dport: 80, flags: ack, cut: 7},
	} {
		m := b.chain(d.bytes(), d.cut)
		if n := testing.AllocsPerRun(100, func() {
			if b.p.Hook(b.c, em0, ifnet.PfilOut, ifnet.AFInet, &m) != ifnet.PfilPass {
				t.Error("dropped")
			}
		}); n != 0 {
			t.Errorf("%+v: %v allocations", d, n)
		}
		b.c.FreeChain(m)
	}
}

func TestSendersLoadersAndTimersMeet(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqABC + "set require-order no\nset limit states 300\npass queue a\n")
	must(t, b.p.Enable())
	var wg sync.WaitGroup
	for s := range 4 {
		wg.Go(func() {
			c := mbuf.Of(b.k).NewCache()
			defer c.Close()
			for i := range 500 {
				d := pkt{src: fmt.Sprintf("10.%d.0.%d", i%5, i%100), dst: fmt.Sprintf("10.9.0.%d", s%2), proto: 17}
				m := c.GetCl(mbuf.FlagPktHdr)
				m.SetLen(copy(m.Room(), d.bytes()))
				m.FixHdr()
				if b.p.Hook(c, em0, ifnet.PfilOut, ifnet.AFInet, &m) == ifnet.PfilPass {
					if m.QID == 0 {
						t.Error("no queue")
					}
					c.FreeChain(m)
				}
			}
		})
	}
	for range 20 {
		b.load(priqABC + "pass queue b\n")
		b.p.Rules()
		b.p.FlushStates()
	}
	wg.Wait()
	b.p.FlushStates()
	if n := b.p.Counters().States; n != 0 {
		t.Errorf("%d states", n)
	}
}

func BenchmarkHookState(b *testing.B) {
	bed := newBed(b)
	em0 := bed.iface("em", 0)
	bed.load(priqABC + "pass queue a\n")
	must(b, bed.p.Enable())
	m := bed.chain(pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17}.bytes(), 0)
	defer bed.c.FreeChain(m)
	b.ReportAllocs()
	for b.Loop() {
		bed.p.Hook(bed.c, em0, ifnet.PfilOut, ifnet.AFInet, &m)
	}
}

func BenchmarkHookRules(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bed := newBed(b)
			em0 := bed.iface("em", 0)
			text := priqABC
			for i := range n {
				text += fmt.Sprintf("pass proto udp to port %d no state queue a\n", i+1)
			}
			bed.load(text)
			m := bed.chain(pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17, dport: 1}.bytes(), 0)
			defer bed.c.FreeChain(m)
			b.ReportAllocs()
			for b.Loop() {
				bed.p.Hook(bed.c, em0, ifnet.PfilOut, ifnet.AFInet, &m)
			}
		})
	}
}
