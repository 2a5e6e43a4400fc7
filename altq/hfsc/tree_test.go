package hfsc

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// listed is the tree as FreeBSD has it: a sorted list.
type listed []*node

func (l listed) insert(n *node) listed {
	at := len(l)
	for at > 0 && l[at-1].key > n.key {
		at--
	}
	return slices.Insert(l, at, n)
}

func (l listed) remove(n *node) listed {
	i := slices.Index(l, n)
	return slices.Delete(l, i, i+1)
}

func (l listed) firstFit(limit uint64) *node {
	for _, n := range l {
		if n.val <= limit {
			return n
		}
	}
	return nil
}

func (l listed) minUpTo(limit uint64) (best *node) {
	for _, n := range l {
		if n.key <= limit && (best == nil || n.val < best.val) {
			best = n
		}
	}
	return best
}

func inOrder(tr *tree) (all listed) {
	for n := tr.root.outermost(left); n != nil; n = n.neighbour(right) {
		all = append(all, n)
	}
	return all
}

// Random changes and searches find what the sorted list finds, with ties in its order.
func TestTreeEqualsTheSortedList(t *testing.T) {
	small := rapid.Uint64Range(0, 20) // for many ties
	rapid.Check(t, func(t *rapid.T) {
		var tr tree
		var want listed
		var out []*node
		for range 40 {
			out = append(out, &node{})
		}
		steps := rapid.IntRange(1, 200).Draw(t, "steps")
		for range steps {
			pick := func(of []*node) *node { return of[rapid.IntRange(0, len(of)-1).Draw(t, "n")] }
			switch op := rapid.IntRange(0, 4).Draw(t, "op"); {
			case op == 0 && len(out) > 0:
				n := pick(out)
				out = listed(out).remove(n)
				tr.insert(n, small.Draw(t, "key"), small.Draw(t, "val"))
				want = want.insert(n)
			case len(want) == 0:
			case op == 1:
				n := pick(want)
				tr.remove(n)
				want, out = want.remove(n), append(out, n)
			case op == 2:
				tr.setVal(pick(want), small.Draw(t, "val"))
			case op >= 3:
				n := pick(want)
				behind := op == 3
				i := slices.Index(want, n)
				key := n.key + small.Draw(t, "by")
				stays := i+1 == len(want) || key < want[i+1].key || key == want[i+1].key && !behind
				tr.move(n, key, small.Draw(t, "val"), behind)
				if !stays {
					want = want.remove(n).insert(n)
				}
			}
			if got := inOrder(&tr); !slices.Equal(got, want) {
				t.Fatalf("order differs")
			}
			if got := tr.last(); len(want) > 0 && got != want[len(want)-1] || len(want) == 0 && got != nil {
				t.Fatalf("last differs")
			}
			limit := small.Draw(t, "limit")
			if tr.firstFit(limit) != want.firstFit(limit) {
				t.Fatalf("first with val up to %d differs", limit)
			}
			if tr.minUpTo(limit) != want.minUpTo(limit) {
				t.Fatalf("least with key up to %d differs", limit)
			}
			checkShape(t, tr.root)
		}
	})
}

func checkShape(t *rapid.T, n *node) {
	if n == nil {
		return
	}
	least := n.val
	for _, c := range n.child {
		if c == nil {
			continue
		}
		if c.up != n || c.prio > n.prio {
			t.Fatal("broken link or priority")
		}
		checkShape(t, c)
		least = min(least, c.min)
	}
	if n.min != least {
		t.Fatalf("min is %d, want %d", n.min, least)
	}
}

// Keys that come in order would make a plain tree a list.
func TestTreeStaysFlat(t *testing.T) {
	var tr tree
	const n, limit = 4096, 40 // log2 is 12, a random tree has about 3 times as many levels at its deepest
	for i := range uint64(n) {
		tr.insert(&node{}, i, i)
	}
	var depth func(n *node) int
	depth = func(n *node) int {
		if n == nil {
			return 0
		}
		return 1 + max(depth(n.child[left]), depth(n.child[right]))
	}
	if d := depth(tr.root); d > limit {
		t.Errorf("%d nodes in order are %d levels deep, want at most %d", n, d, limit)
	}
}
