package physmem

// extent is a run of free memory.
type extent struct {
	start Addr
	size  uint64
}

func (e extent) end() Addr { return e.start + Addr(e.size) }

// tree is a treap of free extents by address. Each node knows the largest extent
// below it, so that a search skips what is too small. Priorities are a hash
// of the address: the shape, and with it every answer, is the same in each run.
type tree struct{ root *node }

type node struct {
	extent
	priority    uint64
	largest     uint64 // size of the largest extent in this subtree
	left, right *node
}

// priorityMultiplier is 2^64 divided by the golden ratio (Fibonacci hashing).
const priorityMultiplier = 0x9e3779b97f4a7c15

func priorityOf(a Addr) uint64 {
	h := uint64(a) * priorityMultiplier
	h ^= h >> 32
	return h * priorityMultiplier
}

func (n *node) update() {
	n.largest = max(n.size, n.left.max(), n.right.max())
}

func (n *node) max() uint64 {
	if n == nil {
		return 0
	}
	return n.largest
}

func (t *tree) insert(e extent) {
	n := &node{extent: e, priority: priorityOf(e.start), largest: e.size}
	low, high := split(t.root, e.start)
	t.root = join(join(low, n), high)
}

// remove takes the extent that starts at a out of the tree.
func (t *tree) remove(a Addr) {
	low, rest := split(t.root, a)
	_, high := split(rest, a+1)
	t.root = join(low, high)
}

// split parts a subtree into the extents that start below a and the others.
func split(n *node, a Addr) (low, high *node) {
	if n == nil {
		return nil, nil
	}
	if n.start < a {
		n.right, high = split(n.right, a)
		n.update()
		return n, high
	}
	low, n.left = split(n.left, a)
	n.update()
	return low, n
}

// join is the reverse of split: every extent of low starts below all of high.
func join(low, high *node) *node {
	switch {
	case low == nil:
		return high
	case high == nil:
		return low
	case low.priority > high.priority:
		low.right = join(low.right, high)
		low.update()
		return low
	}
	high.left = join(low, high.left)
	high.update()
	return high
}

// at returns the extent that starts at a.
func (t *tree) at(a Addr) (extent, bool) {
	e, ok := t.below(a + 1)
	return e, ok && e.start == a
}

// below returns the last extent that starts below a.
func (t *tree) below(a Addr) (extent, bool) {
	var best *node
	for n := t.root; n != nil; {
		if n.start < a {
			best, n = n, n.right
		} else {
			n = n.left
		}
	}
	if best == nil {
		return extent{}, false
	}
	return best.extent, true
}

// firstOfSize returns the lowest extent of at least size bytes.
func (t *tree) firstOfSize(size uint64) (extent, bool) {
	n := t.root
	for n.max() >= size {
		switch {
		case n.left.max() >= size:
			n = n.left
		case n.size >= size:
			return n.extent, true
		default:
			n = n.right
		}
	}
	return extent{}, false
}

// first returns the lowest extent in which r fits, looking at no more than tries
// extents that are large enough; negative tries are no limit.
func (t *tree) first(r request, tries int) (extent, bool) {
	n := firstFit(t.root, r, &tries)
	if n == nil {
		return extent{}, false
	}
	return n.extent, true
}

func firstFit(n *node, r request, tries *int) *node {
	if n.max() < r.size || *tries == 0 {
		return nil
	}
	if found := firstFit(n.left, r, tries); found != nil || *tries == 0 {
		return found
	}
	if n.size >= r.size {
		if r.fits(n.extent) {
			return n
		}
		*tries--
	}
	return firstFit(n.right, r, tries)
}
