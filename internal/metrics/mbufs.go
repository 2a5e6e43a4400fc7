package metrics

import "github.com/ifsim/ifsim/ifnet/mbuf"

const labelZone = "zone"

var (
	zoneSize     = gauge("mbuf_zone_item_size_bytes", unitBytes, "Size of an item.", "vmstat -z, SIZE", labelZone)
	zoneLimit    = gauge("mbuf_zone_limit", unitItems, "Most items that there may be; 0 for no limit.", "vmstat -z, LIMIT", labelZone)
	zoneUsed     = gauge("mbuf_zone_used", unitItems, "Items in use; of mbuf_cluster the clusters of all packets too, free or not.", "vmstat -z, USED", labelZone)
	zoneFree     = gauge("mbuf_zone_free", unitItems, "Items that are kept for later use.", "vmstat -z, FREE", labelZone)
	zoneRequests = counter("mbuf_zone_requests", unitItems, "Items that were given out.", "vmstat -z, REQ", labelZone)
	zoneFailures = counter("mbuf_zone_failures", unitTimes, "Requests that were denied.", "vmstat -z, FAIL", labelZone)
)

func mbufFamilies() []family {
	return []family{zoneSize, zoneLimit, zoneUsed, zoneFree, zoneRequests, zoneFailures}
}

func (s *scrape) mbufs() {
	stats := mbuf.Of(s.k).Stats()
	for _, z := range stats.Zones() {
		s.put(zoneSize, float64(z.Size), z.Name)
		s.put(zoneLimit, float64(z.Limit), z.Name)
		s.put(zoneUsed, float64(z.Used), z.Name)
		s.put(zoneFree, float64(z.Free), z.Name)
		s.put(zoneRequests, float64(z.Requests), z.Name)
		s.put(zoneFailures, float64(z.Denied), z.Name)
	}
}
