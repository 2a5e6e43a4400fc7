package metrics

import "github.com/ifsim/ifsim/ifnet/mbuf"

const labelZone = "zone"

// zoneReadings are the columns of vmstat -z.
var zoneReadings = []reading[mbuf.ZoneStats]{
	{gauge("mbuf_zone_item_size_bytes", unitBytes, "Size of an item.", "vmstat -z, SIZE", labelZone), func(z mbuf.ZoneStats) float64 { return float64(z.Size) }},
	{gauge("mbuf_zone_limit", unitItems, "Most items that there may be; 0 for no limit.", "vmstat -z, LIMIT", labelZone), func(z mbuf.ZoneStats) float64 { return float64(z.Limit) }},
	{gauge("mbuf_zone_used", unitItems, "Items in use; of mbuf_cluster the clusters of all packets too, free or not.", "vmstat -z, USED", labelZone),
		func(z mbuf.ZoneStats) float64 { return float64(z.Used) }},
	{gauge("mbuf_zone_free", unitItems, "Items that are kept for later use.", "vmstat -z, FREE", labelZone), func(z mbuf.ZoneStats) float64 { return float64(z.Free) }},
	{counter("mbuf_zone_requests", unitItems, "Items that were given out.", "vmstat -z, REQ", labelZone), func(z mbuf.ZoneStats) float64 { return float64(z.Requests) }},
	{counter("mbuf_zone_failures", unitTimes, "Requests that were denied.", "vmstat -z, FAIL", labelZone), func(z mbuf.ZoneStats) float64 { return float64(z.Denied) }},
}

func mbufFamilies() []family { return familiesOf(zoneReadings) }

func (s *scrape) mbufs() {
	stats := mbuf.Of(s.k).Stats()
	for _, z := range stats.Zones() {
		show(s, zoneReadings, z, z.Name)
	}
}
