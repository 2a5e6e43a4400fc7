package hfsc

// node is a class's place in a tree.
type node struct {
	child [2]*node // left and right
	up    *node
	key   uint64 // what the tree is sorted by
	val   uint64 // what it is searched for
	min   uint64 // smallest val of the node and those below
	prio  uint32 // never smaller than those below: what keeps the tree flat
	class *class
}

// Sides of a node, and directions in order.
const (
	left  = 0
	right = 1
)

// tree keeps classes by key and finds one by val, each in a time logarithmic in the classes it holds. FreeBSD keeps
// sorted lists (ellist_*, actlist_*); order and ties are theirs: an entry goes behind its equals. The zero value is
// empty and ready. It is a treap: of all nodes with a random priority the highest is the root, at each level.
type tree struct {
	root *node
	seed uint32
}

// seedStep is what an additive generator of full period steps by (2^32 over the golden ratio, odd).
const seedStep = 0x9e3779b9

// nextPrio mixes a counter (the finaliser of MurmurHash3), so that runs repeat.
func (t *tree) nextPrio() uint32 {
	t.seed += seedStep
	h := t.seed
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return h
}

// insert adds n behind nodes of the same key.
func (t *tree) insert(n *node, key, val uint64) {
	n.key, n.val, n.min, n.prio = key, val, val, t.nextPrio()
	n.child, n.up = [2]*node{}, nil
	at := &t.root
	for p := t.root; p != nil; p = *at {
		p.min = min(p.min, val)
		n.up = p
		if key < p.key {
			at = &p.child[left]
		} else {
			at = &p.child[right]
		}
	}
	*at = n
	for n.up != nil && n.up.prio < n.prio {
		t.lift(n)
	}
}

// remove takes n out.
func (t *tree) remove(n *node) {
	for n.child[left] != nil && n.child[right] != nil {
		if n.child[left].prio >= n.child[right].prio {
			t.lift(n.child[left])
		} else {
			t.lift(n.child[right])
		}
	}
	child := n.child[left]
	if child == nil {
		child = n.child[right]
	}
	up := n.up
	t.replace(n, child)
	n.child, n.up = [2]*node{}, nil
	for ; up != nil; up = up.up {
		up.refresh()
	}
}

// setVal changes what n is found by.
func (t *tree) setVal(n *node, val uint64) {
	n.val = val
	for ; n != nil; n = n.up {
		old := n.min
		if n.refresh(); n.min == old {
			return
		}
	}
}

// move gives n a new key and val. A node before an equal one keeps its place unless behind is set.
func (t *tree) move(n *node, key, val uint64, behind bool) {
	next, prev := n.neighbour(right), n.neighbour(left)
	stays := next == nil || key < next.key || key == next.key && !behind
	if stays && (prev == nil || prev.key <= key) {
		n.key = key
		t.setVal(n, val)
		return
	}
	t.remove(n)
	t.insert(n, key, val)
}

// last is the node of the largest key, nil in an empty tree.
func (t *tree) last() *node { return t.root.outermost(right) }

// outermost is the last node in direction dir of those below n, which may be nil.
func (n *node) outermost(dir int) *node {
	for n != nil && n.child[dir] != nil {
		n = n.child[dir]
	}
	return n
}

// firstFit is the first node in order with val at most limit.
func (t *tree) firstFit(limit uint64) *node { return t.root.firstFit(limit) }

func (n *node) firstFit(limit uint64) *node {
	if n == nil || n.min > limit {
		return nil
	}
	for {
		switch {
		case n.child[left] != nil && n.child[left].min <= limit:
			n = n.child[left]
		case n.val <= limit:
			return n
		default:
			n = n.child[right]
		}
	}
}

// minUpTo is the node of the smallest val among those with key at most limit, the first in order if several are.
func (t *tree) minUpTo(limit uint64) *node {
	var best *node   // a node, or the root of a subtree that lies within the limit
	var least uint64 // its val, or its min
	var whole bool   // best is a subtree
	for n := t.root; n != nil; {
		if n.key > limit {
			n = n.child[left]
			continue
		}
		if l := n.child[left]; l != nil && (best == nil || l.min < least) {
			best, least, whole = l, l.min, true
		}
		if best == nil || n.val < least {
			best, least, whole = n, n.val, false
		}
		n = n.child[right]
	}
	if whole {
		return best.firstFit(least)
	}
	return best
}

func (n *node) refresh() {
	n.min = n.val
	for _, c := range n.child {
		if c != nil {
			n.min = min(n.min, c.min)
		}
	}
}

// side is where n hangs below its parent.
func (n *node) side() int {
	if n.up.child[left] == n {
		return left
	}
	return right
}

// replace puts m, which may be nil, where n hangs.
func (t *tree) replace(n, m *node) {
	if n.up == nil {
		t.root = m
	} else {
		n.up.child[n.side()] = m
	}
	if m != nil {
		m.up = n.up
	}
}

// lift rotates n above its parent; the order stays.
func (t *tree) lift(n *node) {
	p, side := n.up, n.side()
	t.replace(p, n)
	inner := n.child[1-side]
	p.child[side] = inner
	if inner != nil {
		inner.up = p
	}
	n.child[1-side] = p
	p.up = n
	p.refresh()
	n.refresh()
}

// neighbour is the next node in direction dir, nil if n is the last.
func (n *node) neighbour(dir int) *node {
	if c := n.child[dir]; c != nil {
		return c.outermost(1 - dir)
	}
	for n.up != nil && n.side() == dir {
		n = n.up
	}
	return n.up
}
