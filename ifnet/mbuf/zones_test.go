package mbuf

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

func TestLimitsAreSharesOfHalfTheMemory(t *testing.T) {
	const gib8 = 8 << 30
	var l limits
	l.compute(Config{}, sysctl.NewKenv(), gib8)
	want := limits{maxMbufMem: gib8 / 2, mbufs: 3355443, clusters: [...]int{524288, 262144, 77672, 43690}}
	if l.maxMbufMem != want.maxMbufMem || l.mbufs != want.mbufs || l.clusters != want.clusters {
		t.Fatalf("limits %d %d %v, want %d %d %v", l.maxMbufMem, l.mbufs, l.clusters, want.maxMbufMem, want.mbufs, want.clusters)
	}
}

func TestLimitsFollowTheEnvironment(t *testing.T) {
	env := sysctl.NewKenv()
	for name, v := range map[string]string{
		"kern.ipc.maxmbufmem": "1g", "kern.ipc.nmbclusters": "1000", "kern.ipc.nmbufs": "5",
	} {
		if err := env.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	const mem = 1 << 30
	var l limits
	l.compute(Config{}, env, mem)
	if l.maxMbufMem != mem/4*3 {
		t.Errorf("maxmbufmem %d, want three quarters of memory", l.maxMbufMem)
	}
	if l.clusters[kindCluster] != 1000 {
		t.Errorf("nmbclusters %d", l.clusters[kindCluster])
	}
	if want := mem / 4 * 3 / MSize / mbufShare; l.mbufs != want {
		t.Errorf("nmbufs %d, want %d", l.mbufs, want)
	}
}

// Spec ifnet 13, quirk 13.
func TestLimitsCanOnlyGrow(t *testing.T) {
	z := machine(t, false, Config{NMBufs: 10000, NMBClusters: 100, NMBJumboP: 10, NMBJumbo9: 10, NMBJumbo16: 10})
	tree := z.k.Sysctl
	for _, step := range []struct {
		name, value string
		err         error
		after       string
	}{
		{"kern.ipc.nmbclusters", "100", nil, "100"},
		{"kern.ipc.nmbclusters", "99", syscall.EINVAL, "100"},
		{"kern.ipc.nmbclusters", "101", nil, "102"}, // two in a page
		{"kern.ipc.nmbjumbop", "11", nil, "11"},
		{"kern.ipc.nmbufs", "9999", syscall.EINVAL, "10000"},
		{"kern.ipc.nmbufs", "10001", nil, "10016"}, // sixteen in a page
		{"kern.ipc.nmbclusters", "20000", nil, "20000"},
		{"kern.ipc.nmbclusters", "20002", syscall.EINVAL, "20000"}, // nmbufs is below the sum now
		{"kern.ipc.nmbjumbo9", "11", syscall.EINVAL, "10"},
	} {
		if err := tree.SetText(step.name, step.value); !errors.Is(err, step.err) {
			t.Errorf("%s=%s: %v, want %v", step.name, step.value, err, step.err)
		}
		if got, err := tree.Text(step.name); got != step.after || err != nil {
			t.Errorf("%s after %s: %q %v, want %s", step.name, step.value, got, err, step.after)
		}
	}
	for name, want := range map[string]string{
		"kern.ipc.max_linkhdr": "16", "kern.ipc.max_protohdr": "60", "kern.ipc.max_hdr": "76",
		"kern.ipc.mb_use_ext_pgs": "1", "kern.ipc.num_snd_tags": "0", "kern.ipc.maxmbufmem": "16777216",
	} {
		if got, err := tree.Text(name); got != want || err != nil {
			t.Errorf("%s: %q %v, want %s", name, got, err, want)
		}
	}
}

func TestClusterFamineReturnsNilCountsAndWarnsOnce(t *testing.T) {
	const limit = 70
	z := machine(t, true, Config{NMBufs: 1000, NMBClusters: limit})
	c := cache(t, z)
	var all []*Mbuf
	for m := c.GetCl(0); m != nil; m = c.GetCl(0) {
		all = append(all, m)
	}
	if len(all) != limit {
		t.Fatalf("%d packets under a limit of %d clusters", len(all), limit)
	}
	m := c.Get()
	if c.ClGet(m) || m.Flags&FlagExt != 0 {
		t.Fatal("cluster beyond the limit")
	}
	if s := z.Stats(); s.Packet.Denied != 1 || s.Cluster.Denied != 3 || s.Mbuf.Denied != 0 {
		t.Fatalf("denied: packets %d clusters %d mbufs %d", s.Packet.Denied, s.Cluster.Denied, s.Mbuf.Denied)
	}
	const warning = "[zone: mbuf_cluster] kern.ipc.nmbclusters limit reached\n"
	if n := strings.Count(z.k.Dmesg(), warning); n != 1 {
		t.Fatalf("warned %d times in %q", n, z.k.Dmesg())
	}
	z.k.Advance(warnInterval + time.Second)
	if c.ClGet(m) {
		t.Fatal("cluster beyond the limit")
	}
	if n := strings.Count(z.k.Dmesg(), warning); n != 2 {
		t.Fatalf("warned %d times after the interval", n)
	}
	c.Free(m)
	for _, m := range all {
		c.Free(m)
	}
	noLeak(t, z)
}

func TestClusterIsTakenFromFreePacketsInAFamine(t *testing.T) {
	const limit = 100
	z := machine(t, true, Config{NMBufs: 1000, NMBClusters: limit})
	c, other := cache(t, z), z.NewCache()
	var all []*Mbuf
	for m := other.GetCl(0); m != nil; m = other.GetCl(0) {
		all = append(all, m)
	}
	for _, m := range all {
		other.Free(m)
	}
	other.Close()
	if s := z.Stats(); s.Packet.Free != limit || s.Cluster.Free != 0 {
		t.Fatalf("free: %d packets, %d clusters", s.Packet.Free, s.Cluster.Free)
	}
	m := c.Get()
	if !c.ClGet(m) {
		t.Fatal("free packets not taken apart")
	}
	if s := z.Stats(); s.Packet.Free != 0 || s.Cluster.Free != limit-1 || s.Cluster.Used != 1 {
		t.Fatalf("after: %+v %+v", s.Packet, s.Cluster)
	}
	c.Free(m)
	noLeak(t, z)
	if m = c.GetCl(FlagPktHdr); m == nil {
		t.Fatal("no packet after a drain")
	}
	c.Free(m)
	noLeak(t, z)
}

func TestMemoryFamineReturnsNil(t *testing.T) {
	z := machine(t, true, Config{NMBJumbo16: 1 << 20, NMBufs: 1 << 21})
	c := cache(t, z)
	var all []*Mbuf
	for m := c.GetJcl(0, MJum16Bytes); m != nil; m = c.GetJcl(0, MJum16Bytes) {
		all = append(all, m)
	}
	if free := z.k.Mem.Size() - z.k.Mem.InUse(); free > 2*(1<<20) {
		t.Fatalf("%d bytes of memory left", free)
	}
	for _, m := range all {
		c.Free(m)
	}
	noLeak(t, z)
}

func TestCloseReturnsAllMemory(t *testing.T) {
	k, err := kern.New(kern.Config{
		NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true, Mem: physmem.Config{Size: testMem},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := k.Mem.InUse()
	var after uint64
	k.OnClose(func() { after = k.Mem.InUse() })
	z, err := Init(k, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if Of(k) != z {
		t.Fatal("zones not found in the kernel")
	}
	c := z.NewCache()
	leaked := c.GetJcl(0, MJumPageSize)
	c.Free(c.GetCl(0))
	c.Close()
	c.Close()
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Errorf("%d bytes in use after close, before %d", after, before)
	}
	if leaked == nil || !strings.Contains(k.Dmesg(), "Freed UMA keg (mbuf_jumbo_page) was not empty (1 items).\n") {
		t.Errorf("leak not reported: %q", k.Dmesg())
	}
	if _, err := k.Sysctl.Text("kern.ipc.nmbclusters"); err == nil {
		t.Error("sysctls are still there")
	}
}

func TestNetstatLines(t *testing.T) {
	z := machine(t, false, Config{NMBufs: 1000, NMBClusters: 200, NMBJumboP: 30, NMBJumbo9: 20, NMBJumbo16: 10})
	c := cache(t, z)
	held := []*Mbuf{c.GetHdr(), c.GetCl(0), c.GetJcl(0, MJumPageSize)}
	if err := z.failGet.Set("1*return(1)"); err != nil {
		t.Fatal(err)
	}
	if c.Get() != nil {
		t.Fatal("no failure")
	}
	var b strings.Builder
	s := z.Stats()
	for _, line := range s.Netstat() {
		b.WriteString(line.String() + "\n")
		if len(line.Names) != len(line.Numbers) {
			t.Errorf("%s: names %v", line, line.Names)
		}
	}
	// two plain mbufs of a magazine of 64, one packet of 64, one page cluster of 30 that fit a slab
	const want = `3/125/128 mbufs in use (current/cache/total)
1/63/64/200 mbuf clusters in use (current/cache/total/max)
1/63 mbuf+clusters out of packet secondary zone in use (current/cache)
1/29/30/30 4k (page size) jumbo clusters in use (current/cache/total/max)
0/0/0/20 9k jumbo clusters in use (current/cache/total/max)
0/0/0/10 16k jumbo clusters in use (current/cache/total/max)
6K/273K/280K bytes allocated to network (current/cache/total)
1/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)
0/0/0 requests for mbufs delayed (mbufs/clusters/mbuf+clusters)
0/0/0 requests for jumbo clusters delayed (4k/9k/16k)
0/0/0 requests for jumbo clusters denied (4k/9k/16k)
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	for _, m := range held {
		c.Free(m)
	}
	noLeak(t, z)
}
