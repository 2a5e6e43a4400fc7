package mbuf

import (
	"math"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/sysctl"
)

// limits are what tunable_mbinit computes (spec ifnet 10.3). The values in force are in the depots; these serialise
// the writers and hold what is only shown.
type limits struct {
	mu         sync.Mutex // held while a limit changes
	maxMbufMem int64
	mbufs      int
	clusters   [numClusterKinds]int
	extPgs     atomic.Int32
}

// Shares of maxmbufmem that each zone may fill, as FreeBSD divides it.
const (
	mbufShare    = 5
	clusterShare = 4
	jumboShare   = 6
)

// clusterTunables are the names of the cluster limits, and their shares.
var clusterTunables = [numClusterKinds]struct {
	name, descr string
	share       int64
}{
	kindCluster: {"nmbclusters", "Maximum number of mbuf clusters allowed", clusterShare},
	kindJumboP:  {"nmbjumbop", "Maximum number of mbuf page size jumbo clusters allowed", clusterShare},
	kindJumbo9:  {"nmbjumbo9", "Maximum number of mbuf 9k jumbo clusters allowed", jumboShare},
	kindJumbo16: {"nmbjumbo16", "Maximum number of mbuf 16k jumbo clusters allowed", jumboShare},
}

// compute sets the limits for a machine with mem bytes: half the memory for mbufs unless the environment says
// otherwise, never above three quarters; a limit of 0 is computed from its share.
func (l *limits) compute(cfg Config, env *sysctl.Kenv, mem uint64) {
	real := int64(mem)
	l.maxMbufMem = real / 2
	env.FetchInt64("kern.ipc.maxmbufmem", &l.maxMbufMem)
	if most := real / 4 * 3; l.maxMbufMem > most || l.maxMbufMem < 0 {
		l.maxMbufMem = most
	}
	l.clusters = [numClusterKinds]int{cfg.NMBClusters, cfg.NMBJumboP, cfg.NMBJumbo9, cfg.NMBJumbo16}
	sum := 0
	for i := range l.clusters {
		n := &l.clusters[i]
		env.FetchInt("kern.ipc."+clusterTunables[i].name, n)
		if *n <= 0 || *n > math.MaxInt32 {
			*n = int(l.maxMbufMem / int64(clusterKinds[i].size) / clusterTunables[i].share)
		}
		sum += *n
	}
	l.mbufs = cfg.NMBufs
	env.FetchInt("kern.ipc.nmbufs", &l.mbufs)
	if cfg.NMBufs == 0 && l.mbufs < sum {
		l.mbufs = max(int(l.maxMbufMem/MSize/mbufShare), sum)
	}
	extPgs := 1
	env.FetchInt("kern.ipc.mb_use_ext_pgs", &extPgs)
	l.extPgs.Store(int32(extPgs))
}

// setLimit changes a limit as sysctl_nmbclusters does: it can only grow, by whole pages of items.
func (d *depot[T]) setLimit(n int) {
	perPage := max(1, pageSize/d.itemLen)
	d.mu.Lock()
	d.limit = (n + perPage - 1) / perPage * perPage
	d.mu.Unlock()
}

func (d *depot[T]) getLimit() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limit
}

// clusterSum is the sum of the four cluster limits.
func (z *Zones) clusterSum() int {
	sum := 0
	for i := range z.clusters {
		sum += z.clusters[i].getLimit()
	}
	return sum
}

// limitHandler serves one of the limits: equal is no change, larger is accepted if allowed says so, smaller EINVAL.
func (z *Zones) limitHandler(get func() int, set func(int), allowed func() bool) sysctl.Handler {
	return func(req *sysctl.Request) error {
		z.limits.mu.Lock()
		defer z.limits.mu.Unlock()
		cur := get()
		val, written, err := req.HandleInt(int64(cur))
		if err != nil || !written || val == int64(cur) {
			return err
		}
		if val < int64(cur) || !allowed() {
			return syscall.EINVAL
		}
		set(int(val))
		return nil
	}
}

// register adds kern.ipc.* (spec ifnet 10.1, 10.3).
func (z *Zones) register() {
	t := z.k.Sysctl
	z.ctx = t.NewCtx()
	c := z.ctx
	ipc, err := t.Lookup("kern.ipc")
	if err != nil {
		kernNode, _ := t.Lookup("kern") // a static node of every tree
		ipc = c.Node(kernNode, "ipc", sysctl.RW, "IPC")
	}
	const tunable = sysctl.RWTUN | sysctl.NoFetch
	c.Func(ipc, "maxmbufmem", sysctl.RDTUN|sysctl.NoFetch, sysctl.KindS64,
		func() uint64 { return uint64(z.limits.maxMbufMem) }, "Maximum real memory allocatable to various mbuf types")
	for i := range z.clusters {
		d := &z.clusters[i]
		c.Proc(ipc, clusterTunables[i].name, tunable, sysctl.KindInt, "IU",
			z.limitHandler(d.getLimit, d.setLimit, func() bool { return z.mbufs.getLimit() >= z.clusterSum() }),
			clusterTunables[i].descr)
	}
	c.Proc(ipc, "nmbufs", tunable, sysctl.KindInt, "IU",
		z.limitHandler(z.mbufs.getLimit, z.mbufs.setLimit, func() bool { return true }),
		"Maximum number of mbufs allowed")
	c.Int(ipc, "mb_use_ext_pgs", tunable, &z.limits.extPgs, "Use unmapped mbufs for sendfile(2) and TLS offload")
	c.Func(ipc, "num_snd_tags", sysctl.RD, sysctl.KindU64,
		func() uint64 { return uint64(z.sndTags.Load()) }, "# of active mbuf send tags")
	c.ConstInt(ipc, "max_linkhdr", sysctl.RD, MaxLinkHdr, "Size of largest link layer header")
	c.ConstInt(ipc, "max_protohdr", sysctl.RD, MaxProtoHdr, "Size of largest protocol layer header")
	c.ConstInt(ipc, "max_hdr", sysctl.RD, MaxHdr, "Size of largest link plus protocol header")
}
