package kern

import (
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Locks are profiled by the place that acquires them, as FreeBSD's options LOCK_PROFILING
// has it (subr_lock.c): a record for each lock and place, filled at the release. While
// debug.lock.prof.enable is 0 this costs the word that a lock looks at anyway.

// Classes of locks (struct lock_class lc_name).
const (
	classMtx  = "sleep mutex"
	classSpin = "spin mutex" // waits as hw.ifsim.lock=spin says
	classSx   = "sx"
)

// siteSlots is how many places a session has records for (LPROF_CACHE_SIZE), a power of
// two; further ones are rejected. siteProbes bounds the search for one.
const (
	siteSlots  = 4096
	siteProbes = 64
)

// lockSite is what was counted of one lock acquired at one place (struct lock_prof). The
// first fields are constant.
type lockSite struct {
	session     *lockSession
	pc          uintptr
	class, name string

	count, contended, tryFailed  atomic.Uint64
	wait, waitMax, hold, holdMax atomic.Int64 // ns
}

// lockSession is what was counted since profiling was turned on or reset.
type lockSession struct {
	rejected atomic.Uint64 // records that found no room
	sampled  atomic.Uint64 // acquisitions that skipcount has seen
	sites    [siteSlots]atomic.Pointer[lockSite]
}

// site finds or makes the record of a lock at a place; nil if there is no room.
func (s *lockSession) site(pc uintptr, id *lockID) *lockSite {
	const spread = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	at := (uint64(pc)*spread ^ id.hash) >> 32
	for i := range uint64(siteProbes) {
		slot := &s.sites[(at+i)%siteSlots]
		have := slot.Load()
		if have == nil {
			fresh := &lockSite{session: s, pc: pc, class: id.class, name: id.name}
			if slot.CompareAndSwap(nil, fresh) {
				return fresh
			}
			have = slot.Load()
		}
		if have.pc == pc && have.name == id.name && have.class == id.class {
			return have
		}
	}
	s.rejected.Add(1)
	return nil
}

// lockID is who a lock is, constant once the lock is initialized.
type lockID struct {
	class, name string
	hash        uint64
}

// lockHold is an acquisition that is being profiled; the lock's owner's.
type lockHold struct {
	site      *lockSite // nil: not profiled
	since     time.Duration
	waited    time.Duration
	contested bool
}

// done adds an acquisition to its record (lock_profile_release_lock). One from before the
// session is lost.
func (h *lockHold) done(r *lockRegistry, now time.Duration) {
	s := h.site
	h.site = nil
	if s == nil || s.session != r.session.Load() {
		return
	}
	s.count.Add(1)
	if h.contested {
		s.contended.Add(1)
		s.wait.Add(int64(h.waited))
		raise(&s.waitMax, int64(h.waited))
	}
	s.hold.Add(int64(now - h.since))
	raise(&s.holdMax, int64(now-h.since))
}

// raise makes v at least to.
func raise(v *atomic.Int64, to int64) {
	for old := v.Load(); old < to && !v.CompareAndSwap(old, to); old = v.Load() {
	}
}

// lockRegistry knows every Mtx of a kernel, to turn profiling on in each: the
// fast path then has one word of its own to look at.
type lockRegistry struct {
	mu        sync.Mutex
	live      map[*Mtx]struct{} // guarded by mu
	on        atomic.Bool       // written with mu held
	policy    atomic.Int32      // index into lockPolicies
	session   atomic.Pointer[lockSession]
	seed      maphash.Seed
	skipSpin  atomic.Int32 // debug.lock.prof.skipspin
	skipCount atomic.Int32 // debug.lock.prof.skipcount
}

// lockPolicies are the values of hw.ifsim.lock, their rounds of spinning, and the class
// of a mutex that waits so.
var lockPolicies = []struct {
	name   string
	rounds int32
	class  string
}{{"mutex", 0, classMtx}, {"adaptive", adaptiveRounds, classMtx}, {"spin", spinRounds, classSpin}}

// spins is the number of rounds of the policy in force: none where an owner
// cannot run while somebody spins.
func (r *lockRegistry) spins() int32 {
	if min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) == 1 {
		return 0
	}
	return lockPolicies[r.policy.Load()].rounds
}

func (r *lockRegistry) init() { r.seed = maphash.MakeSeed() }

// id is who a lock of a class is.
func (r *lockRegistry) id(class, name string) lockID {
	return lockID{class, name, maphash.String(r.seed, name)}
}

// add has a mutex profiled while profiling is on.
func (r *lockRegistry) add(m *Mtx) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live = make(map[*Mtx]struct{})
	}
	r.live[m] = struct{}{}
	if r.on.Load() {
		m.mode.Or(mtxProf)
	}
}

// remove forgets a mutex; what was counted of it stays.
func (r *lockRegistry) remove(m *Mtx) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, m)
}

// setProfiling turns profiling of every lock on, with nothing counted yet, or off.
func (r *lockRegistry) setProfiling(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if on {
		r.session.Store(new(lockSession))
	}
	r.on.Store(on)
	for m := range r.live {
		if on {
			m.mode.Or(mtxProf)
		} else {
			m.mode.And(^mtxProf)
		}
	}
}

// reset forgets what was counted.
func (r *lockRegistry) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session.Load() != nil {
		r.session.Store(new(lockSession))
	}
}

// record is where an acquisition of a lock, or a try, is to be counted; nil: it is not.
// The place is the caller above skip further functions.
func (r *lockRegistry) record(id *lockID, skip int) *lockSite {
	s := r.session.Load()
	if s == nil || id.class == classSpin && r.skipSpin.Load() == 1 {
		return nil
	}
	if n := r.skipCount.Load(); n > 0 && s.sampled.Add(1)%uint64(n) != 0 {
		return nil
	}
	const own = 2 // runtime.Callers and this function
	var pc [1]uintptr
	runtime.Callers(own+skip, pc[:])
	return s.site(pc[0], id)
}

// begin is an acquisition that has just succeeded.
func (h *lockHold) begin(site *lockSite, now, waited time.Duration, contested bool) {
	*h = lockHold{site: site, since: now, waited: waited, contested: contested}
}
