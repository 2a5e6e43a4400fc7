package hfsc

// node is a class's place in a tree.
type node struct {
	left, right, up *node
	key             uint64 // what the tree is sorted by
	val             uint64 // what it is searched for
	min             uint64 // smallest val of the node and those below
	prio            uint32 // never smaller than those below: what keeps the tree flat
	class           *class
}

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
	n.left, n.right, n.up = nil, nil, nil
	at := &t.root
	for p := t.root; p != nil; p = *at {
		p.min = min(p.min, val)
		n.up = p
		if key < p.key {
			at = &p.left
		} else {
			at = &p.right
		}
	}
	*at = n
	for n.up != nil && n.up.prio < n.prio {
		t.lift(n)
	}
}

// remove takes n out.
func (t *tree) remove(n *node) {
	for n.left != nil && n.right != nil {
		if n.left.prio >= n.right.prio {
			t.lift(n.left)
		} else {
			t.lift(n.right)
		}
	}
	child := n.left
	if child == nil {
		child = n.right
	}
	up := n.up
	t.replace(n, child)
	n.left, n.right, n.up = nil, nil, nil
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
	next, prev := n.next(), n.prev()
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
func (t *tree) last() *node {
	n := t.root
	for n != nil && n.right != nil {
		n = n.right
	}
	return n
}

// first is the node of the smallest key, nil in an empty tree.
func (t *tree) first() *node {
	n := t.root
	for n != nil && n.left != nil {
		n = n.left
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
		case n.left != nil && n.left.min <= limit:
			n = n.left
		case n.val <= limit:
			return n
		default:
			n = n.right
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
			n = n.left
			continue
		}
		if l := n.left; l != nil && (best == nil || l.min < least) {
			best, least, whole = l, l.min, true
		}
		if best == nil || n.val < least {
			best, least, whole = n, n.val, false
		}
		n = n.right
	}
	if whole {
		return best.firstFit(least)
	}
	return best
}

func (n *node) refresh() {
	n.min = n.val
	if n.left != nil {
		n.min = min(n.min, n.left.min)
	}
	if n.right != nil {
		n.min = min(n.min, n.right.min)
	}
}

// replace puts m, which may be nil, where n hangs.
func (t *tree) replace(n, m *node) {
	switch {
	case n.up == nil:
		t.root = m
	case n.up.left == n:
		n.up.left = m
	default:
		n.up.right = m
	}
	if m != nil {
		m.up = n.up
	}
}

// lift rotates n above its parent; the order stays.
func (t *tree) lift(n *node) {
	p := n.up
	t.replace(p, n)
	if p.left == n {
		p.left = n.right
		if p.left != nil {
			p.left.up = p
		}
		n.right = p
	} else {
		p.right = n.left
		if p.right != nil {
			p.right.up = p
		}
		n.left = p
	}
	p.up = n
	p.refresh()
	n.refresh()
}

// next is the node behind n in order.
func (n *node) next() *node {
	if n.right == nil {
		for n.up != nil && n.up.right == n {
			n = n.up
		}
		return n.up
	}
	n = n.right
	for n.left != nil {
		n = n.left
	}
	return n
}

// prev is the node before n in order.
func (n *node) prev() *node {
	if n.left == nil {
		for n.up != nil && n.up.left == n {
			n = n.up
		}
		return n.up
	}
	n = n.left
	for n.right != nil {
		n = n.right
	}
	return n
}
