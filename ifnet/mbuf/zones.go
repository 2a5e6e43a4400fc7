package mbuf

import (
	"sync"
	"sync/atomic"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

// Config overrides the limits that Init computes from the machine's memory, in items; 0 computes. What the kernel
// environment says of kern.ipc.nm* wins.
type Config struct {
	NMBufs, NMBClusters, NMBJumboP, NMBJumbo9, NMBJumbo16 int
}

// Zones is the mbuf memory of one machine: a depot for each of FreeBSD's zones (spec ifnet 10.3), their limits and
// counters. Its methods are safe for concurrent use.
type Zones struct {
	k     *kern.Kernel
	win   []byte // the machine's memory: index = bus address
	check bool   // Invariants

	failGet, failCluster, failTag *kern.FailPoint

	keg      keg
	mbufs    depot[Mbuf]
	packets  depot[Mbuf]
	clusters [numClusterKinds]clusterDepot
	refs     depot[cluster] // of foreign storage: a count, no memory
	tags     depot[Tag]

	sndTags atomic.Int64
	limits  limits
	ctx     *sysctl.Ctx

	perCPU []atomic.Pointer[Cache]

	mu     sync.Mutex // before any depot's
	caches map[*Cache]struct{}
	spare  []*Cache // borrowed caches that found their CPU's place taken

	slabMu sync.Mutex // after any depot's and the keg's
	slabs  []physmem.Addr

	holderMu sync.Mutex
	holders  []*Holder // guarded by holderMu
}

// Kinds of cluster, index of Zones.clusters and Cache.clusters.
const (
	kindCluster = iota
	kindJumboP
	kindJumbo9
	kindJumbo16
	numClusterKinds
)

// clusterKind is what is constant of a kind of cluster.
type clusterKind struct {
	name, warning string
	size          int
	typ           ExtType
	align         uint64
}

var clusterKinds = [numClusterKinds]clusterKind{
	kindCluster: {"mbuf_cluster", "kern.ipc.nmbclusters limit reached", MClBytes, ExtCluster, MClBytes},
	kindJumboP:  {"mbuf_jumbo_page", "kern.ipc.nmbjumbop limit reached", MJumPageSize, ExtJumboP, MJumPageSize},
	kindJumbo9:  {"mbuf_jumbo_9k", "kern.ipc.nmbjumbo9 limit reached", MJum9Bytes, ExtJumbo9, pageSize},
	kindJumbo16: {"mbuf_jumbo_16k", "kern.ipc.nmbjumbo16 limit reached", MJum16Bytes, ExtJumbo16, pageSize},
}

const (
	pageSize = 4096
	// slabBytes is how much physical memory a zone takes at a time.
	slabBytes = 128 << 10
)

// clusterDepot is a depot of clusters of one kind.
type clusterDepot struct {
	depot[cluster]
	kind  clusterKind
	z     *Zones
	arena arena[cluster] // guarded by depot.mu
}

// keg is where the zones mbuf and mbuf_packet get bare mbufs from.
type keg struct {
	mu    sync.Mutex
	free  []*Mbuf
	arena arena[Mbuf]
	areas physmem.Addr // next area of the current slab
	left  int          // areas left in it
}

// Init makes the machine's zones, registers kern.ipc.* (spec ifnet 10.3) and the fail points mbuf.get, mbuf.cluster
// and mbuf.tag, and returns everything when the kernel closes.
func Init(k *kern.Kernel, cfg Config) (*Zones, error) {
	z := &Zones{
		k:           k,
		win:         k.Mem.Bytes(0, k.Mem.Size()),
		check:       k.Invariants(),
		failGet:     k.FailPoint("mbuf.get"),
		failCluster: k.FailPoint("mbuf.cluster"),
		failTag:     k.FailPoint("mbuf.tag"),
		caches:      make(map[*Cache]struct{}),
		perCPU:      make([]atomic.Pointer[Cache], maxProcs),
	}
	z.limits.compute(cfg, k.Env, k.Mem.Size())
	z.mbufs.init(k, "mbuf", "kern.ipc.nmbufs limit reached", MSize, z.limits.mbufs, z.fillMbufs)
	z.packets.init(k, "mbuf_packet", "", MSize, 0, z.fillPackets)
	for i := range z.clusters {
		d := &z.clusters[i]
		d.z, d.kind = z, clusterKinds[i]
		d.init(k, d.kind.name, d.kind.warning, d.kind.size, z.limits.clusters[i], d.fillClusters)
	}
	z.refs.init(k, "mbuf_extref", "", 0, 0, z.fillRefs)
	z.tags.init(k, "mbuf_tag", "", tagBytes, 0, fillTags)
	z.register()
	kern.Attach(k, z)
	k.OnClose(z.close)
	return z, nil
}

// Of is the kernel's zones; it panics if Init has not run.
func Of(k *kern.Kernel) *Zones {
	z, ok := kern.Lookup[*Zones](k)
	if !ok {
		panic("mbuf: zones of a kernel that has none")
	}
	return z
}

// close gives the memory back. Every owner has ended: mbufs still in use are leaks, and are reported.
func (z *Zones) close() {
	if z.check {
		z.reportLeaks()
	}
	if err := z.ctx.Free(); err != nil {
		z.k.Printf("mbuf: removing sysctls: %s\n", sysctl.Strerror(err))
	}
	z.slabMu.Lock()
	defer z.slabMu.Unlock()
	for _, a := range z.slabs {
		z.k.Mem.Free(a)
	}
	z.slabs = nil
}

// reportLeaks prints what FreeBSD prints when a zone is destroyed with items in use.
func (z *Zones) reportLeaks() {
	u := z.Usage()
	for _, zone := range []struct {
		name string
		used int64
	}{
		{z.mbufs.name, u.Mbufs}, {z.packets.name, u.Packets}, {z.clusters[kindCluster].name, u.Clusters},
		{z.clusters[kindJumboP].name, u.JumboPages}, {z.clusters[kindJumbo9].name, u.Jumbo9},
		{z.clusters[kindJumbo16].name, u.Jumbo16}, {z.refs.name, u.ExtRefs}, {z.tags.name, u.Tags},
	} {
		if zone.used != 0 {
			z.k.Printf("Freed UMA keg (%s) was not empty (%d items).\n", zone.name, zone.used)
		}
	}
}

// slab takes n bytes of physical memory, given back at close; false in a famine.
func (z *Zones) slab(n int, align uint64) (physmem.Addr, bool) {
	a, err := z.k.Mem.Alloc(uint64(n), align)
	if err != nil {
		return 0, false
	}
	z.slabMu.Lock()
	z.slabs = append(z.slabs, a)
	z.slabMu.Unlock()
	return a, true
}

// bareMbuf is an mbuf that belongs to no zone, nil in a famine.
func (z *Zones) bareMbuf() *Mbuf {
	g := &z.keg
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.free); n > 0 {
		m := g.free[n-1]
		g.free = g.free[:n-1]
		return m
	}
	if g.left == 0 {
		a, n, ok := z.areaSlab()
		if !ok {
			return nil
		}
		g.areas, g.left = a, n
	}
	m := g.arena.next()
	m.z, m.own = z, uint32(g.areas)
	g.areas += MSize
	g.left--
	if z.check {
		trash(z.area(m))
	}
	return m
}

// areaSlab is memory for mbuf areas, less than a slab when memory is nearly gone.
func (z *Zones) areaSlab() (a physmem.Addr, areas int, ok bool) {
	for n := slabBytes; n >= pageSize; n /= 2 {
		if a, ok = z.slab(n, pageSize); ok {
			return a, n / MSize, true
		}
	}
	return 0, 0, false
}

func (z *Zones) fillMbufs(mag *magazine[Mbuf], n int) {
	for ; mag.n < n; mag.n++ {
		m := z.bareMbuf()
		if m == nil {
			return
		}
		mag.items[mag.n] = m
	}
}

// fillPackets joins bare mbufs with clusters of the cluster zone, where they count as in use.
func (z *Zones) fillPackets(mag *magazine[Mbuf], n int) {
	d := &z.clusters[kindCluster]
	for ; mag.n < n; mag.n++ {
		m := z.bareMbuf()
		if m == nil {
			return
		}
		cl := d.takeOne(mag.n == 0)
		if cl == nil {
			z.keg.put(m)
			return
		}
		cl.typ, cl.owner = ExtPacket, m
		m.attach(cl)
		mag.items[mag.n] = m
	}
}

func (g *keg) put(m *Mbuf) {
	g.mu.Lock()
	g.free = append(g.free, m)
	g.mu.Unlock()
}

// split takes a free packet apart: its cluster goes back to the cluster zone, its mbuf to the keg.
func (z *Zones) split(m *Mbuf) {
	cl := m.cl
	cl.typ, cl.owner = ExtCluster, nil
	m.cl, m.Flags = nil, 0
	z.keg.put(m)
	d := &z.clusters[kindCluster]
	d.mu.Lock()
	d.put(cl)
	d.frees++
	d.mu.Unlock()
}

// takeOne takes a cluster for the packet zone. A famine counts and complains only if asked to: a part of a
// magazine is enough.
func (d *clusterDepot) takeOne(count bool) *cluster {
	d.mu.Lock()
	if d.partial.n == 0 {
		if f := d.full; f != nil {
			d.full = f.next
			d.partial, f = f, d.partial
			f.next = d.empty
			d.empty = f
		} else if room := min(magSize, d.limit-d.created); room > 0 {
			d.fill(d.partial, room)
			d.created += d.partial.n
		}
	}
	if d.partial.n > 0 {
		d.partial.n--
		cl := d.partial.items[d.partial.n]
		d.allocs++
		d.mu.Unlock()
		return cl
	}
	warn := count && d.created >= d.limit && d.warnDue()
	d.mu.Unlock()
	if count {
		d.fails.Add(1)
	}
	if warn {
		d.k.Printf("[zone: %s] %s\n", d.name, d.warning)
	}
	return nil
}

// fillClusters makes a slab of clusters. Caller holds the depot's lock.
func (d *clusterDepot) fillClusters(mag *magazine[cluster], n int) {
	size := d.kind.size
	n = min(n, slabBytes/size)
	a, ok := d.z.slab(n*size, d.kind.align)
	if !ok {
		n = 1
		if a, ok = d.z.slab(size, d.kind.align); !ok {
			return
		}
	}
	for i := range n {
		cl := d.arena.next()
		cl.z, cl.typ, cl.size = d.z, d.kind.typ, int32(size)
		cl.bus = uint32(a) + uint32(i*size)
		cl.refs.Store(1)
		if d.z.check {
			trash(cl.bytes())
			cl.free = true
		}
		mag.items[i] = cl
	}
	mag.n = n
}

func (z *Zones) fillRefs(mag *magazine[cluster], n int) {
	slab := make([]cluster, n)
	for i := range slab {
		slab[i].z = z
		slab[i].refs.Store(1)
		mag.items[i] = &slab[i]
	}
	mag.n = n
}

func fillTags(mag *magazine[Tag], n int) {
	slab := make([]Tag, n)
	for i := range slab {
		mag.items[i] = &slab[i]
	}
	mag.n = n
}
