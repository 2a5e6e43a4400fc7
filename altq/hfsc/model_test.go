package hfsc

import (
	"slices"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"pgregory.net/rapid"
)

// model is the scheduler as spec altq 2.3 tells it, with sorted lists, offsets that are added at once, and numbers
// that nobody sets back. It takes curve arithmetic from the package, and corrects FreeBSD where the package does.
type model struct {
	byQID    map[altq.QID]*modelClass
	root     *modelClass
	fallback altq.QID
	eligible []*modelClass
}

type modelClass struct {
	qid                                 altq.QID
	parent                              *modelClass
	children, active                    []*modelClass
	lens                                []int
	rsc, fsc, usc                       *serviceCurve
	deadline, eligible, virtual, ulimit runtimeCurve
	total, cumul, e, d, vt, f, myf, adj uint64
	cvtmin, cvtmax, vtadj, vtoff        uint64
	vtperiod, parentperiod              uint32
	nactive                             int
}

func newModel(queues []altq.QueueConfig) *model {
	m := &model{byQID: map[altq.QID]*modelClass{}}
	for _, q := range queues {
		c := &modelClass{qid: q.QID, parent: m.byQID[q.Parent]}
		for _, of := range []struct {
			curve altq.Curve
			s     **serviceCurve
			r     *runtimeCurve
		}{{q.RealTime, &c.rsc, &c.deadline}, {q.LinkShare, &c.fsc, &c.virtual}, {q.UpperLimit, &c.usc, &c.ulimit}} {
			if !of.curve.IsZero() {
				s := newServiceCurve(of.curve)
				*of.s, *of.r = &s, newRuntimeCurve(&s, 0, 0)
			}
		}
		m.byQID[q.QID] = c
		if c.parent == nil {
			m.root = c
		} else {
			c.parent.children = append(c.parent.children, c)
		}
		if q.Flags&altq.FlagDefault != 0 {
			m.fallback = q.QID
		}
	}
	return m
}

// sorted puts c into a list behind all whose key is not larger.
func sorted(list []*modelClass, c *modelClass, key func(*modelClass) uint64) []*modelClass {
	i := slices.IndexFunc(list, func(p *modelClass) bool { return key(p) > key(c) })
	if i < 0 {
		i = len(list)
	}
	return slices.Insert(list, i, c)
}

func without(list []*modelClass, c *modelClass) []*modelClass {
	i := slices.Index(list, c)
	return slices.Delete(list, i, i+1)
}

func byE(c *modelClass) uint64  { return c.e }
func byVT(c *modelClass) uint64 { return c.vt }

func (m *model) enqueue(qid altq.QID, n int, now uint64) {
	c := m.byQID[qid]
	if c == nil || len(c.children) > 0 {
		c = m.byQID[m.fallback]
	}
	c.lens = append(c.lens, n)
	if len(c.lens) > 1 {
		return
	}
	if c.rsc != nil {
		c.deadline.min(c.rsc, now, c.cumul)
		c.eligible = c.deadline
		if c.rsc.sm1 <= c.rsc.sm2 {
			c.eligible.dx, c.eligible.dy = 0, 0
		}
		c.e, c.d = c.eligible.y2x(c.cumul), c.deadline.y2x(c.cumul+uint64(n))
		m.eligible = sorted(m.eligible, c, byE)
	}
	activating := c.fsc != nil
	for ; c.fsc != nil && c.parent != nil; c = c.parent {
		if activating {
			activating = c.nactive == 0
			c.nactive++
		}
		if activating {
			c.join(now)
		}
		c.f = max(c.myf, c.cfmin())
	}
}

func (c *modelClass) join(now uint64) {
	p := c.parent
	if len(p.active) > 0 {
		vt := p.active[len(p.active)-1].vt
		if p.cvtmin != 0 {
			vt = (vt + p.cvtmin) / 2
		}
		if p.vtperiod != c.parentperiod || vt > c.vt {
			c.vt = vt
		}
	} else {
		for _, s := range p.children {
			s.vtoff += p.cvtmax
		}
		c.vt, p.cvtmax, p.cvtmin = 0, 0, 0
	}
	u := c.vt + c.vtoff
	c.virtual.min(c.fsc, u, c.total)
	if c.virtual.x == u {
		c.virtual.x -= c.vtoff
		c.vtoff = 0
	}
	c.vtadj = 0
	c.vtperiod++
	c.parentperiod = p.vtperiod
	if p.nactive == 0 {
		c.parentperiod++
	}
	p.active = sorted(p.active, c, byVT)
	if c.usc != nil {
		c.ulimit.min(c.usc, now, c.total)
		c.myf, c.adj = c.ulimit.y2x(c.total), 0
	}
}

func (c *modelClass) cfmin() uint64 {
	if len(c.active) == 0 {
		return 0
	}
	return slices.MinFunc(c.active, func(a, b *modelClass) int {
		if a.f < b.f {
			return -1
		}
		return 1
	}).f
}

// dequeue is the class that sends and the length; 0 if none may.
func (m *model) dequeue(now uint64) (altq.QID, int) {
	var c *modelClass
	for _, p := range m.eligible {
		if p.e <= now && (c == nil || p.d < c.d) {
			c = p
		}
	}
	realtime := c != nil
	if !realtime {
		for c = m.root; len(c.children) > 0; {
			i := slices.IndexFunc(c.active, func(p *modelClass) bool { return p.f <= now })
			if i < 0 {
				return 0, 0
			}
			c.cvtmin = max(c.cvtmin, c.active[i].vt)
			c = c.active[i]
		}
	}
	n := c.lens[0]
	c.lens = c.lens[1:]
	c.served(n, now)
	if realtime {
		c.cumul += uint64(n)
	}
	switch {
	case c.rsc == nil:
	case len(c.lens) == 0:
		m.eligible = without(m.eligible, c)
	default:
		c.d = c.deadline.y2x(c.cumul + uint64(c.lens[0]))
		if !realtime {
			break
		}
		c.e = c.eligible.y2x(c.cumul)
		i := slices.Index(m.eligible, c)
		if i+1 < len(m.eligible) && c.e > m.eligible[i+1].e {
			m.eligible = sorted(without(m.eligible, c), c, byE)
		}
	}
	return c.qid, n
}

func (c *modelClass) served(n int, now uint64) {
	passive := len(c.lens) == 0 && c.fsc != nil
	for ; c.parent != nil; c = c.parent {
		p := c.parent
		c.total += uint64(n)
		if c.fsc == nil || c.nactive == 0 {
			continue
		}
		if passive {
			c.nactive--
			passive = c.nactive == 0
		}
		if passive {
			p.cvtmax = max(p.cvtmax, c.vt)
			p.active = without(p.active, c)
			continue
		}
		// Inverse slopes are cut off, so that a curve kept from an earlier period may lag behind the offset by a
		// little; FreeBSD would wrap.
		c.vt = sub(c.virtual.y2x(c.total)+c.vtadj, c.vtoff)
		if c.vt < p.cvtmin {
			c.vtadj += p.cvtmin - c.vt
			c.vt = p.cvtmin
		}
		p.active = sorted(without(p.active, c), c, byVT)
		if c.usc != nil {
			c.myf = c.adj + c.ulimit.y2x(c.total)
			if c.myf < now-altq.MachClkPerTick {
				c.adj += now - c.myf
				c.myf = now
			}
		}
		c.f = max(c.myf, c.cfmin())
	}
}

// Over random hierarchies, curves, arrivals and pauses each packet comes from the class that the lists give it to.
func TestTreesDecideAsFreeBSDsListsDo(t *testing.T) {
	c := packets(t)
	rapid.Check(t, func(t *rapid.T) {
		queues := hierarchies.Draw(t, "queues")
		b := newBench(c, altq.Config{Bandwidth: 10 * mbit})
		b.add(t, queues...)
		defer b.Purge(b.drops)
		m := newModel(queues)
		now := altq.TimeOf(10e9)
		// 0 and an unknown number are for the default queue.
		qids := rapid.Custom(func(t *rapid.T) altq.QID { return altq.QID(rapid.IntRange(0, len(queues)+1).Draw(t, "qid")) })
		lens := rapid.SampledFrom([]int{60, 214, 1514, 1514, 9014})
		for range steps {
			now += altq.Time(rapid.SampledFrom([]int{0, 0, 1, 50, 1200, 1200, 40_000}).Draw(t, "us")) << altq.MachClkShift
			for range rapid.IntRange(0, 3).Draw(t, "arrivals") {
				qid, n := qids.Draw(t, "qid"), lens.Draw(t, "len")
				if b.put(qid, n, now) {
					m.enqueue(qid, n, uint64(now))
				}
			}
			poll := rapid.Bool().Draw(t, "poll")
			var polled *mbuf.Mbuf
			if poll {
				polled = b.Poll(now, b.drops)
			}
			sent := b.Dequeue(now, b.drops)
			if poll && polled != sent {
				t.Fatal("poll shows another packet than is sent")
			}
			n := 0
			if sent != nil {
				n = int(sent.Pkt.Len)
				c.FreeChain(sent)
			}
			if qid, want := m.dequeue(uint64(now)); n != want {
				t.Fatalf("sent %d bytes, the model %d of queue %d", n, want, qid)
			}
			compare(t, b.HFSC, m)
		}
	})
}

func compare(t *rapid.T, d *HFSC, m *model) {
	for qid, want := range m.byQID {
		c := d.table.Find(qid)
		if c.queue.Len() != len(want.lens) {
			t.Fatalf("queue %d holds %d, the model %d", qid, c.queue.Len(), len(want.lens))
		}
		if c.parent == nil {
			continue
		}
		got := [...]uint64{c.total, c.cumul, c.e, c.d, c.vt, c.f, c.myf, c.vtadj, c.offset(), c.cvtmin, c.cvtmax}
		if exp := [...]uint64{want.total, want.cumul, want.e, want.d, want.vt, want.f, want.myf, want.vtadj,
			want.vtoff, want.cvtmin, want.cvtmax}; got != exp {
			t.Fatalf("queue %d: total cumul e d vt f myf vtadj vtoff cvtmin cvtmax\n%d, the model\n%d", qid, got, exp)
		}
	}
}
