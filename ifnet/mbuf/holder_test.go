package mbuf

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/internal/physmem"
)

func TestAccountOfAllChainsIsTheUsageOfTheZones(t *testing.T) {
	z := machine(t, false, Config{})
	c := cache(t, z)
	foreign, err := z.k.Mem.Alloc(pageSize, pageSize)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var live []*Mbuf
		add := func(m *Mbuf) {
			if m != nil {
				live = append(live, m)
			}
		}
		pick := func() int { return rapid.IntRange(0, len(live)-1).Draw(t, "which") }
		t.Repeat(map[string]func(*rapid.T){
			"get": func(t *rapid.T) { add(c.Get3(rapid.IntRange(1, MJum16Bytes).Draw(t, "size"), FlagPktHdr)) },
			"foreign": func(*rapid.T) {
				if m := c.GetHdr(); c.ExtAdd(m, physmem.Addr(foreign), pageSize, nil, nil) {
					add(m)
				} else {
					c.FreeChain(m)
				}
			},
			"tag": func(t *rapid.T) {
				if len(live) == 0 {
					return
				}
				if tag := c.TagAlloc(1, 2); tag != nil {
					live[pick()].TagPrepend(tag)
				}
			},
			"copy": func(t *rapid.T) {
				if len(live) == 0 {
					return
				}
				m := live[pick()]
				if m.Len() == 0 {
					m.SetLen(1)
					m.FixHdr()
				}
				add(c.CopyPacket(m))
			},
			"free": func(t *rapid.T) {
				if len(live) == 0 {
					return
				}
				i := pick()
				c.FreeChain(live[i])
				live = slices.Delete(live, i, i+1)
			},
			"": func(t *rapid.T) {
				var a Account
				var sum Usage
				for _, m := range live {
					before := a.Held()
					if added := a.Add(m); added != a.Held().Minus(before) {
						t.Fatalf("added %+v", added)
					}
				}
				if sum = a.Held(); sum != z.Usage() {
					t.Fatalf("held %+v, in use %+v", sum, z.Usage())
				}
			},
		})
		for _, m := range live {
			c.FreeChain(m)
		}
	})
	noLeak(t, z)
}

// holding is a holder of one list, or a busy one.
type holding struct {
	list *Mbuf
	busy bool
}

func (h holding) Holding(v Visit) {
	if h.busy {
		v.Busy("nobody knows")
		return
	}
	v.List("list", h.list)
}

func TestHoldersAreKnownUntilTheyGo(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	a, b := c.GetHdr(), c.GetHdr()
	a.NextPkt = b
	removeA := z.AddHolder(holding{list: a})
	removeB := z.AddHolder(holding{busy: true})
	look := func() (chains []*Mbuf, busy int) {
		for _, h := range z.Holders() {
			h.Holding(Visit{
				Chain: func(place string, slot int, m *Mbuf) {
					if place != "list" || slot != -1 {
						t.Errorf("%s %d", place, slot)
					}
					chains = append(chains, m)
				},
				Busy: func(string) { busy++ },
			})
		}
		return chains, busy
	}
	if chains, busy := look(); !slices.Equal(chains, []*Mbuf{a, b}) || busy != 1 {
		t.Errorf("%d chains, %d busy", len(chains), busy)
	}
	removeA()
	removeA()
	if chains, busy := look(); len(chains) != 0 || busy != 1 {
		t.Errorf("%d chains, %d busy", len(chains), busy)
	}
	removeB()
	a.NextPkt = nil
	c.FreeChain(a)
	c.FreeChain(b)
	noLeak(t, z)
}
