package pf

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ifsim/ifsim/altq/pf/conf"
)

const (
	// defaultStates is the number of states without set limit (PFSTATE_HIWAT).
	defaultStates = 100000
	// shards of the table; a power of two.
	shards    = 64
	shardMask = shards - 1
	// purgeShards are looked through in a second, so that all are in some ten
	// (PFTM_INTERVAL).
	purgeShards = 7
	// slabStates are allocated at a time.
	slabStates = 64
	// minBuckets of a shard; a power of two.
	minBuckets = 16
)

// stateKey is a connection as seen from outside an interface: end 0 is that which
// packets come in from (struct pf_state_key).
type stateKey struct {
	addr   [2]addr128
	port   [2]uint16
	family conf.Family
	proto  uint8
}

// keyOf is a packet's key, and the end that has sent it.
func keyOf(pd *packet) (k stateKey, from int) {
	k.family, k.proto = pd.family, pd.proto
	if pd.dir == conf.Out {
		from = 1
	}
	k.addr[from], k.port[from] = pd.src, pd.sport
	k.addr[1-from], k.port[1-from] = pd.dst, pd.dport
	return k, from
}

// Mixing constants of the hash (splitmix64).
const (
	mixSeed               = 0x9e3779b97f4a7c15
	mixA, mixB            = 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
	mixShift1, mixShift2  = 30, 27
	mixShift3, portShift  = 31, 16
	protoShift, hashUpper = 32, 32
)

func mix(h, v uint64) uint64 {
	h = (h ^ v) * mixA
	h = (h ^ h>>mixShift1) * mixB
	return h ^ h>>mixShift2
}

// hash is a number of the connection, the same at any time and never 0.
func (k *stateKey) hash() uint32 {
	h := uint64(mixSeed)
	for i := range k.addr {
		h = mix(h, k.addr[i].hi)
		h = mix(h, k.addr[i].lo)
	}
	h = mix(h, uint64(k.proto)<<protoShift|uint64(k.port[0])<<portShift|uint64(k.port[1]))
	h ^= h >> mixShift3
	if v := uint32(h ^ h>>hashUpper); v != 0 {
		return v
	}
	return 1
}

// state is a connection (struct pf_kstate). Its shard's lock guards it.
type state struct {
	key     stateKey
	hash    uint32
	next    int32 // in the bucket or the list of free ones; -1: the last
	act     actions
	rule    *rule
	timeout timeout
	seen    [2]progress
	last    int64 // seconds of uptime when a packet came
}

// shard is a part of the table: buckets of chains through next.
type shard struct {
	mu      sync.Mutex
	slabs   [][]state
	buckets []int32
	free    int32
	n       int
	_       [64]byte // the next lock is on another cache line
}

// stateTable holds the states. Any goroutine.
type stateTable struct {
	shards   [shards]shard
	n        atomic.Int64
	limit    atomic.Int64
	now      atomic.Int64 // seconds of uptime
	timeouts atomic.Pointer[timeouts]
	purged   int // shard; by the timer only
}

func (t *stateTable) init(cfg conf.Config) {
	for i := range t.shards {
		t.shards[i].reset()
	}
	t.configure(cfg)
}

// configure takes the limit and the timeouts of a configuration.
func (t *stateTable) configure(cfg conf.Config) {
	limit := cfg.StateLimit
	if limit == 0 {
		limit = defaultStates
	}
	t.limit.Store(int64(limit))
	t.timeouts.Store(timeoutsOf(cfg.Timeouts))
}

// tick sets the clock.
func (t *stateTable) tick(uptime time.Duration) { t.now.Store(int64(uptime / time.Second)) }

func (t *stateTable) len() int { return int(t.n.Load()) }

func (s *shard) reset() {
	s.slabs, s.free, s.n = nil, -1, 0
	s.buckets = newBuckets(minBuckets)
}

func newBuckets(n int) []int32 {
	b := make([]int32, n)
	for i := range b {
		b[i] = -1
	}
	return b
}

func (s *shard) at(i int32) *state { return &s.slabs[i/slabStates][i%slabStates] }

// bucket is where the chain of a hash begins; the lowest bits have chosen the shard.
func (s *shard) bucket(hash uint32) *int32 {
	return &s.buckets[hash/shards&uint32(len(s.buckets)-1)]
}

// lookup finds a state that has not expired; an expired one on the way is removed.
func (s *shard) lookup(t *stateTable, k *stateKey, hash uint32) *state {
	for link := s.bucket(hash); *link >= 0; {
		st := s.at(*link)
		if st.hash != hash || st.key != *k {
			link = &st.next
			continue
		}
		if t.expired(st) {
			s.unlink(t, link)
			return nil
		}
		return st
	}
	return nil
}

// unlink removes the state behind a link.
func (s *shard) unlink(t *stateTable, link *int32) {
	i := *link
	st := s.at(i)
	*link = st.next
	if st.rule != nil {
		st.rule.states.Add(^uint64(0))
	}
	*st = state{next: s.free}
	s.free = i
	s.n--
	t.n.Add(-1)
}

func (t *stateTable) expired(st *state) bool {
	return t.now.Load()-st.last >= int64(t.timeouts.Load()[st.timeout])
}

// find finds the state of a packet, which moves on by it (pf_test_state). False: there is
// none.
func (t *stateTable) find(pd *packet) (actions, uint32, bool) {
	if pd.fragment || pd.icmpError {
		return actions{}, 0, false
	}
	k, from := keyOf(pd)
	hash := k.hash()
	s := &t.shards[hash&shardMask]
	s.mu.Lock()
	st := s.lookup(t, &k, hash)
	if st != nil && st.over(pd) {
		s.remove(t, st)
		st = nil
	}
	if st == nil {
		s.mu.Unlock()
		return actions{}, 0, false
	}
	st.advance(pd, from)
	st.last = t.now.Load()
	act, r := st.act, st.rule
	s.mu.Unlock()
	if r != nil {
		r.count(pd)
	}
	return act, hash, true
}

// peek finds the state of a packet that an error is about and leaves it as it is.
func (t *stateTable) peek(pd *packet) (actions, uint32, bool) {
	k, _ := keyOf(pd)
	hash := k.hash()
	s := &t.shards[hash&shardMask]
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.lookup(t, &k, hash); st != nil {
		return st.act, hash, true
	}
	return actions{}, 0, false
}

// remove removes a state that is there.
func (s *shard) remove(t *stateTable, st *state) {
	for link := s.bucket(st.hash); *link >= 0; link = &s.at(*link).next {
		if s.at(*link) == st {
			s.unlink(t, link)
			return
		}
	}
}

// insert makes a state for a packet that a rule has passed (pf_create_state). False:
// the limit is reached. If another packet has made it meanwhile, that one stays.
func (t *stateTable) insert(pd *packet, r *rule, act actions) (hash uint32, ok bool) {
	k, from := keyOf(pd)
	hash = k.hash()
	s := &t.shards[hash&shardMask]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lookup(t, &k, hash) != nil {
		return hash, true
	}
	if t.n.Add(1) > t.limit.Load() {
		t.n.Add(-1)
		return 0, false
	}
	st := s.take(hash)
	st.key, st.hash, st.act, st.rule, st.last = k, hash, act, r, t.now.Load()
	st.begin(pd, from)
	r.states.Add(1)
	return hash, true
}

// take links a free state into its bucket. It allocates a slab when none is free, and
// larger buckets when there are more states than those.
func (s *shard) take(hash uint32) *state {
	if s.free < 0 {
		base := int32(len(s.slabs) * slabStates)
		slab := make([]state, slabStates)
		for i := range slab {
			slab[i].next = base + int32(i) + 1
		}
		slab[slabStates-1].next = -1
		s.slabs = append(s.slabs, slab)
		s.free = base
	}
	if s.n >= len(s.buckets) {
		s.grow()
	}
	i := s.free
	st := s.at(i)
	s.free = st.next
	link := s.bucket(hash)
	st.next, *link = *link, i
	s.n++
	return st
}

// grow doubles the buckets.
func (s *shard) grow() {
	old := s.buckets
	s.buckets = newBuckets(len(old) + len(old))
	for _, i := range old {
		for i >= 0 {
			st := s.at(i)
			next := st.next
			link := s.bucket(st.hash)
			st.next, *link = *link, i
			i = next
		}
	}
}

// purgeSome removes expired states of some shards, and of all in turn. By the timer.
func (t *stateTable) purgeSome() {
	for range purgeShards {
		s := &t.shards[t.purged&shardMask]
		t.purged++
		s.mu.Lock()
		for b := range s.buckets {
			for link := &s.buckets[b]; *link >= 0; {
				if st := s.at(*link); t.expired(st) {
					s.unlink(t, link)
				} else {
					link = &st.next
				}
			}
		}
		s.mu.Unlock()
	}
}

// flush removes all states and returns how many there were.
func (t *stateTable) flush() (n int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for b := range s.buckets {
			for s.buckets[b] >= 0 {
				s.unlink(t, &s.buckets[b])
				n++
			}
		}
		s.reset()
		s.mu.Unlock()
	}
	return n
}
