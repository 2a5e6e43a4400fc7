package mbuf

import (
	"fmt"
	"strings"
)

// ZoneStats are a zone's numbers as memstat_uma reads them, in items. They are exact when nobody allocates.
type ZoneStats struct {
	// Name is FreeBSD's name of the zone.
	Name string
	// Size is an item's size in bytes.
	Size int
	// Limit is the greatest number of items, 0 for none.
	Limit int
	// Used are the items that somebody has; those of mbuf_cluster include the clusters of all packets, free or not.
	Used uint64
	// Free are the items in the depot and in caches.
	Free uint64
	// Requests is how many were ever given out.
	Requests uint64
	// Denied is how many requests failed.
	Denied uint64
}

// Stats are the numbers of all zones. Requests never wait here, so none are ever delayed.
type Stats struct {
	Mbuf, Packet, Cluster, JumboPage, Jumbo9, Jumbo16, ExtRef, Tag ZoneStats
}

// Usage is what is in use, by zone: equal before and after means that nothing leaked. Packets count as packets
// only.
type Usage struct {
	Mbufs, Packets, Clusters, JumboPages, Jumbo9, Jumbo16, ExtRefs, Tags int64
	SndTags                                                              int64
}

// Stats are the present numbers; any goroutine.
func (z *Zones) Stats() Stats {
	z.mu.Lock()
	defer z.mu.Unlock()
	clusters := func(kind int) ZoneStats {
		return zoneStats(z, &z.clusters[kind].depot, func(c *Cache) *slot[cluster] { return &c.clusters[kind] })
	}
	return Stats{
		Mbuf:      zoneStats(z, &z.mbufs, func(c *Cache) *slot[Mbuf] { return &c.mbufs }),
		Packet:    zoneStats(z, &z.packets, func(c *Cache) *slot[Mbuf] { return &c.packets }),
		Cluster:   clusters(kindCluster),
		JumboPage: clusters(kindJumboP),
		Jumbo9:    clusters(kindJumbo9),
		Jumbo16:   clusters(kindJumbo16),
		ExtRef:    zoneStats(z, &z.refs, func(c *Cache) *slot[cluster] { return &c.refs }),
		Tag:       zoneStats(z, &z.tags, func(c *Cache) *slot[Tag] { return &c.tags }),
	}
}

// zoneStats adds up one zone. Caller holds z.mu, so that no cache closes meanwhile.
func zoneStats[T any](z *Zones, d *depot[T], of func(*Cache) *slot[T]) ZoneStats {
	var allocs, frees uint64
	for c := range z.caches {
		a, f := of(c).counts()
		allocs += a
		frees += f
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	allocs += d.allocs
	frees += d.frees
	s := ZoneStats{Name: d.name, Size: d.itemLen, Limit: d.limit, Requests: allocs, Denied: d.fails.Load()}
	if allocs > frees {
		s.Used = allocs - frees
	}
	if n := uint64(d.created); n > s.Used {
		s.Free = n - s.Used
	}
	return s
}

// Zones are all zones in the order of vmstat -z.
func (s *Stats) Zones() []ZoneStats {
	return []ZoneStats{s.Packet, s.Mbuf, s.Cluster, s.JumboPage, s.Jumbo9, s.Jumbo16, s.ExtRef, s.Tag}
}

// Usage is what is in use now; any goroutine.
func (z *Zones) Usage() Usage {
	s := z.Stats()
	return Usage{
		Mbufs:      int64(s.Mbuf.Used),
		Packets:    int64(s.Packet.Used),
		Clusters:   int64(s.Cluster.Used) - int64(s.Packet.Used+s.Packet.Free),
		JumboPages: int64(s.JumboPage.Used),
		Jumbo9:     int64(s.Jumbo9.Used),
		Jumbo16:    int64(s.Jumbo16.Used),
		ExtRefs:    int64(s.ExtRef.Used),
		Tags:       int64(s.Tag.Used),
		SndTags:    z.sndTags.Load(),
	}
}

// Any reports whether anything is in use.
func (u Usage) Any() bool { return u != Usage{} }

// kibi is a KiB.
const kibi = 1024

// NetstatLine is a line of netstat -m: numbers parted by slashes, and what they are.
type NetstatLine struct {
	Numbers []uint64
	Names   []string // of the numbers, as libxo has them
	Unit    string   // behind each number
	Text    string
}

// String is the line without its end.
func (l NetstatLine) String() string {
	var b strings.Builder
	for i, n := range l.Numbers {
		if i > 0 {
			b.WriteByte('/')
		}
		fmt.Fprintf(&b, "%d%s", n, l.Unit)
	}
	return b.String() + " " + l.Text
}

// Netstat are the mbuf lines of netstat -m (spec ifnet 12.4, output lines 1 to 11).
func (s *Stats) Netstat() []NetstatLine {
	p, m, c := s.Packet, s.Mbuf, s.Cluster
	clUsed, clFree := c.Used-min(c.Used, p.Free), c.Free+p.Free
	used, free := m.Used*MSize+p.Used*MSize+clUsed*MClBytes+s.Tag.Used*tagBytes, (m.Free+p.Free)*MSize+clFree*MClBytes
	jumbos := []ZoneStats{s.JumboPage, s.Jumbo9, s.Jumbo16}
	for _, j := range jumbos {
		used += j.Used * uint64(j.Size)
		free += j.Free * uint64(j.Size)
	}
	lines := []NetstatLine{
		{[]uint64{m.Used + p.Used, m.Free + p.Free, m.Used + p.Used + m.Free + p.Free}, []string{"mbuf-current", "mbuf-cache", "mbuf-total"}, "",
			"mbufs in use (current/cache/total)"},
		{[]uint64{clUsed, clFree, clUsed + clFree, uint64(c.Limit)}, []string{"cluster-current", "cluster-cache", "cluster-total", "cluster-max"}, "",
			"mbuf clusters in use (current/cache/total/max)"},
		{[]uint64{p.Used, p.Free}, []string{"packet-count", "packet-free"}, "", "mbuf+clusters out of packet secondary zone in use (current/cache)"},
	}
	for i, name := range [...]struct{ size, xo, limit string }{{"4k (page size)", "jumbo", "max"}, {"9k", "jumbo9", "max"}, {"16k", "jumbo16", "limit"}} {
		j := jumbos[i]
		lines = append(lines, NetstatLine{[]uint64{j.Used, j.Free, j.Used + j.Free, uint64(j.Limit)},
			[]string{name.xo + "-count", name.xo + "-cache", name.xo + "-total", name.xo + "-" + name.limit}, "",
			name.size + " jumbo clusters in use (current/cache/total/max)"})
	}
	return append(lines,
		NetstatLine{[]uint64{used / kibi, free / kibi, (used + free) / kibi}, []string{"bytes-in-use", "bytes-in-cache", "bytes-total"}, "K",
			"bytes allocated to network (current/cache/total)"},
		NetstatLine{[]uint64{m.Denied, c.Denied, p.Denied}, []string{"mbuf-failures", "cluster-failures", "packet-failures"}, "",
			"requests for mbufs denied (mbufs/clusters/mbuf+clusters)"},
		NetstatLine{[]uint64{0, 0, 0}, []string{"mbuf-sleeps", "cluster-sleeps", "packet-sleeps"}, "",
			"requests for mbufs delayed (mbufs/clusters/mbuf+clusters)"},
		NetstatLine{[]uint64{0, 0, 0}, []string{"jumbop-sleeps", "jumbo9-sleeps", "jumbo16-sleeps"}, "",
			"requests for jumbo clusters delayed (4k/9k/16k)"},
		NetstatLine{[]uint64{jumbos[0].Denied, jumbos[1].Denied, jumbos[2].Denied}, []string{"jumbop-failures", "jumbo9-failures", "jumbo16-failures"}, "",
			"requests for jumbo clusters denied (4k/9k/16k)"})
}
