package pf_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
)

const priqAB = "altq on em0 priq bandwidth 10Mb queue { a b }\nqueue a priq(default)\nqueue b priority 2\n"

// shaping says what each interface's queue is doing.
func (b *bed) shaping() string {
	var words []string
	for ifp, q := range b.q {
		w := ifp.Name() + " off"
		if d := q.Discipline(); d != nil {
			w = fmt.Sprintf("%s %s", ifp.Name(), d.Type())
			if q.Enabled() {
				s, err := q.TBRStats()
				must(b.t, err)
				w += fmt.Sprintf(" %d/%d", s.Rate, s.Depth)
			}
		}
		words = append(words, w)
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

func (b *bed) wantShaping(want string) {
	b.t.Helper()
	if got := b.shaping(); got != want {
		b.t.Errorf("%s, want %s", got, want)
	}
}

func TestQueuesAreLoadedEnabledAndReplaced(t *testing.T) {
	b := newBed(t)
	b.iface("em", 0)
	b.iface("em", 1)
	b.load(priqAB)
	b.wantShaping("em0 priq, em1 off")
	must(t, b.p.Enable())
	if err := b.p.Enable(); !errors.Is(err, pf.ErrEnabled) {
		t.Errorf("enabled twice: %v", err)
	}
	b.wantShaping("em0 priq 10000000/6000, em1 off")
	b.load("altq on em1 hfsc bandwidth 100Mb queue x\nqueue x hfsc(default)\naltq on em0 codel bandwidth 5Mb queue\n")
	b.wantShaping("em0 codel 5000000/6000, em1 hfsc 100000000/12000")
	must(t, b.p.Disable())
	if err := b.p.Disable(); !errors.Is(err, pf.ErrDisabled) {
		t.Errorf("disabled twice: %v", err)
	}
	b.wantShaping("em0 codel, em1 hfsc")
	must(t, b.p.Enable())
	b.p.FlushQueues()
	b.wantShaping("em0 off, em1 off")
	if list, _ := b.p.Queues(); len(list) != 0 {
		t.Errorf("queues %v", list)
	}
}

func TestLoadThatFailsChangesNothing(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	plain := ifnet.Alloc(b.k, ifnet.TypeEther)
	plain.InitName("plain", 0)
	plain.SetMethods(ifnet.Methods{Init: func() {}})
	ifnet.EtherAttach(plain, [ifnet.EtherAddrLen]byte{2, 9})
	t.Cleanup(func() { ifnet.EtherDetach(plain); ifnet.Free(plain) })
	b.load(priqAB + "pass no state queue b\n")
	must(t, b.p.Enable())
	before, ticket := b.p.Queues()
	rules := b.p.Rules()
	for _, c := range []struct {
		text string
		want error
	}{
		{"altq on plain0 priq bandwidth 10Mb queue a\nqueue a priq(default)\nblock\n", syscall.ENXIO},
		{"altq on em0 codel bandwidth 10Mb queue a\nqueue a\nblock\n", syscall.ENXIO},
	} {
		cfg, msgs, ok := b.p.Parse("pf.conf", c.text, conf.Options{})
		if !ok {
			t.Fatalf("%s: %v", c.text, msgs)
		}
		if err := b.p.Load(cfg); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.text, err, c.want)
		}
		after, now := b.p.Queues()
		if d := cmp.Diff(before, after); d != "" || now != ticket {
			t.Errorf("ticket %d, was %d; queues (-before +after):\n%s", now, ticket, d)
		}
		if !slices.Equal(rules, b.p.Rules()) {
			t.Errorf("rules %v, were %v", b.p.Rules(), rules)
		}
		b.wantShaping("em0 priq 10000000/6000")
	}
	if got, want := b.run(em0, ifnet.PfilOut, pkt{src: "10.0.0.1", dst: "10.0.0.2", proto: 17}).qid, b.qids()["b"]; got != want {
		t.Errorf("queue %d, want %d", got, want)
	}
}

func TestQueuesWaitForTheirInterface(t *testing.T) {
	b := newBed(t)
	b.load(priqAB)
	must(t, b.p.Enable())
	removed := func() (list []bool) {
		queues, _ := b.p.Queues()
		for _, q := range queues {
			list = append(list, q.Removed)
		}
		return list
	}
	if got := removed(); !slices.Equal(got, []bool{true, true, true}) {
		t.Errorf("removed %v", got)
	}
	em0 := b.iface("em", 0)
	b.wantShaping("em0 priq 10000000/6000")
	if got := removed(); !slices.Equal(got, []bool{false, false, false}) {
		t.Errorf("removed %v", got)
	}
	q := b.q[em0]
	must(t, b.send(q, 1, 100))
	b.detach(em0)
	if got := removed(); !slices.Equal(got, []bool{true, true, true}) {
		t.Errorf("removed %v", got)
	}
	b.iface("em", 0)
	b.wantShaping("em0 priq 10000000/6000")
}

func (b *bed) send(q *altq.Queue, qid altq.QID, n int) error {
	m := b.c.GetHdr()
	m.Pkt.Len = int32(n)
	m.QID = qid
	return q.Enqueue(m)
}

func TestStatisticsAreThoseOfTheQueues(t *testing.T) {
	b := newBed(t)
	em0 := b.iface("em", 0)
	b.load(priqAB)
	must(t, b.p.Enable())
	q := b.q[em0]
	for range 3 {
		must(t, b.send(q, b.qids()["b"], 1000))
	}
	b.c.FreeChain(q.Dequeue())
	list, ticket := b.p.Queues()
	if ticket != 1 || list[0].Stats != nil || list[0].QID != 0 || list[0].Qname != "" {
		t.Errorf("ticket %d, interface %+v", ticket, list[0])
	}
	want := altq.ClassStats{QID: 2, QLen: 2, QLimit: 50, QType: altq.QDropTail, Xmit: altq.Counter{Packets: 1, Bytes: 1000}}
	if d := cmp.Diff(&want, list[2].Stats); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
