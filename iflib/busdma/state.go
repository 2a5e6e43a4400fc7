package busdma

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/probe"
	"github.com/ifsim/ifsim/sysctl"
)

// Trace points of the slow paths.
var (
	probeBounce = probe.Define("busdma", "bounce", "addr", "len", "dir")
	probeFault  = probe.Define("busdma", "fault", "addr", "len", "dir")
)

// state is what busdma keeps in one machine.
type state struct {
	k     *kern.Kernel
	table *table // nil out of checking mode; constant after Init
	load  *kern.FailPoint

	maps    atomic.Int64 // maps made and not destroyed
	loaded  atomic.Int64 // maps loaded, counted in checking mode
	mem     atomic.Int64 // Alloc'd pieces not freed
	bounced atomic.Uint64
	faults  atomic.Uint64

	root   *sysctl.OID // hw.busdma
	zoneMu sync.Mutex  // held while zones come and go; OID handlers do not take it
	nzones int         // guarded by zoneMu; zones ever made, for their names

	mu    sync.Mutex
	zones map[zoneKey]*zone // guarded by mu; changed with zoneMu held as well
}

// Stats is what a machine's DMA has in use and has counted.
type Stats struct {
	Maps        int64  // maps made and not destroyed
	Loaded      int64  // maps loaded; counted in checking mode only
	Mem         int64  // pieces of Alloc not freed
	BouncePages int    // pages that the bounce zones own
	ActivePages int    // of them, in use by loaded maps
	Bounced     uint64 // pages bounced since boot
	Faults      uint64 // device accesses refused since boot
}

// Init makes the DMA state of a machine and registers hw.busdma.*. The tunable
// hw.busdma.check turns checking mode on. It is called once, before the first tag.
func Init(k *kern.Kernel) error {
	st := &state{k: k, load: k.FailPoint("busdma.load"), zones: make(map[zoneKey]*zone)}
	hw, err := k.Sysctl.Lookup("hw")
	if err != nil {
		return fmt.Errorf("busdma: looking up hw: %w", err)
	}
	ctx := k.Sysctl.NewCtx()
	st.root = ctx.Node(hw, "busdma", sysctl.RD|sysctl.MPSafe, "Busdma parameters")
	if st.root == nil {
		return errors.Join(errors.New("busdma: hw.busdma exists already"), ctx.Free())
	}
	var check atomic.Bool
	ctx.Bool(st.root, "check", sysctl.RDTUN, &check, "Fault device accesses outside loaded maps")
	if check.Load() {
		st.table = newTable(k.Mem.Size())
	}
	stat := func(name, descr string, kind sysctl.Kind, read func(Stats) uint64) {
		ctx.Func(st.root, name, sysctl.RD|sysctl.MPSafe, kind, func() uint64 { return read(st.stats()) }, descr)
	}
	stat("maps", "DMA maps in use", sysctl.KindInt, func(s Stats) uint64 { return uint64(s.Maps) })
	stat("loaded", "DMA maps loaded (checking mode)", sysctl.KindInt, func(s Stats) uint64 { return uint64(s.Loaded) })
	stat("total_bpages", "Total bounce pages", sysctl.KindInt, func(s Stats) uint64 { return uint64(s.BouncePages) })
	stat("active_bpages", "Active bounce pages", sysctl.KindInt, func(s Stats) uint64 { return uint64(s.ActivePages) })
	stat("total_bounced", "Total pages bounced", sysctl.KindU64, func(s Stats) uint64 { return s.Bounced })
	stat("faults", "Device accesses refused", sysctl.KindU64, func(s Stats) uint64 { return s.Faults })
	kern.Attach(k, st)
	return nil
}

// ReadStats returns the counters of a machine on which Init was called.
func ReadStats(k *kern.Kernel) Stats { return stateOf(k).stats() }

// Checking reports whether the machine is in checking mode.
func Checking(k *kern.Kernel) bool { return stateOf(k).table != nil }

func (st *state) stats() Stats {
	s := Stats{
		Maps: st.maps.Load(), Loaded: st.loaded.Load(), Mem: st.mem.Load(),
		Bounced: st.bounced.Load(), Faults: st.faults.Load(),
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, z := range st.zones {
		total, active := z.pages()
		s.BouncePages += total
		s.ActivePages += active
	}
	return s
}

func stateOf(k *kern.Kernel) *state {
	st, ok := kern.Lookup[*state](k)
	if !ok {
		panic("busdma: used before Init")
	}
	return st
}

// zoneFor returns the bounce zone for a tag's constraints and takes a reference.
func (st *state) zoneFor(key zoneKey) *zone {
	st.zoneMu.Lock()
	defer st.zoneMu.Unlock()
	z := st.zones[key]
	if z == nil {
		z = newZone(st.k.Mem, key, "zone"+strconv.Itoa(st.nzones))
		st.nzones++
		z.ctx = st.zoneOIDs(z)
		st.mu.Lock()
		st.zones[key] = z
		st.mu.Unlock()
	}
	z.refs++
	return z
}

// releaseZone drops a reference; the last one gives the zone's pages back.
func (st *state) releaseZone(z *zone) error {
	st.zoneMu.Lock()
	defer st.zoneMu.Unlock()
	if z.refs--; z.refs > 0 {
		return nil
	}
	st.mu.Lock()
	delete(st.zones, z.key)
	st.mu.Unlock()
	z.drain()
	return z.ctx.Free()
}

// zoneOIDs registers hw.busdma.zone<n>, with FreeBSD's names.
func (st *state) zoneOIDs(z *zone) *sysctl.Ctx {
	ctx := st.k.Sysctl.NewCtx()
	node := ctx.Node(st.root, z.name, sysctl.RD|sysctl.MPSafe, "")
	num := func(name, descr string, read func() uint64) {
		ctx.Func(node, name, sysctl.RD|sysctl.MPSafe, sysctl.KindInt, read, descr)
	}
	num("total_bpages", "Total bounce pages", func() uint64 { total, _ := z.pages(); return uint64(total) })
	num("free_bpages", "Free bounce pages", func() uint64 { total, active := z.pages(); return uint64(total - active) })
	num("active_bpages", "Active bounce pages", func() uint64 { _, active := z.pages(); return uint64(active) })
	num("total_bounced", "Total pages bounced", z.bounced.Load)
	num("alignment", "", func() uint64 { return z.key.align })
	ctx.ConstString(node, "lowaddr", sysctl.RD|sysctl.MPSafe, fmt.Sprintf("%#x", uint64(z.key.limit)), "")
	return ctx
}
