package vmstat8

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// sizeEnd is the column in which sizes end, the colon behind the name not counted.
const sizeEnd = 26

// showZones prints the zones as text or JSON.
func (o options) showZones(w io.Writer, zones []mbuf.ZoneStats) error {
	if !o.format.JSON {
		return writeZones(w, zones)
	}
	j := o.format.NewJSON(w, xoVersion)
	j.Object("vmstat", func() {
		j.Object("memory-zone-statistics", func() {
			j.List("zone", func() {
				for _, z := range zones {
					j.Item(func() { zoneFields(j, z) })
				}
			})
		})
	})
	return j.Close()
}

func zoneFields(j *tool.JSON, z mbuf.ZoneStats) {
	j.Field("name", z.Name)
	j.Field("size", z.Size)
	j.Field("limit", z.Limit)
	j.Field("used", z.Used)
	j.Field("free", z.Free)
	j.Field("requests", z.Requests)
	j.Field("fail", z.Denied)
	j.Field("sleep", 0)
	j.Field("xdomain", 0)
}

// writeZones prints the table of -z. Nothing waits for memory here, and there is one
// memory domain: the last two columns are 0.
func writeZones(w io.Writer, zones []mbuf.ZoneStats) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-19s %7s %7s %8s %8s %8s %4s %4s %4s\n", "ITEM", "SIZE", "LIMIT", "USED", "FREE", "REQ", "FAIL", "SLEEP", "XDOM")
	for _, z := range zones {
		fmt.Fprintf(&b, "%s:%*d,%7d,%8d,%8d,%8d,%4d,%4d,%4d\n", z.Name, max(1, sizeEnd-len(z.Name)), z.Size, z.Limit, z.Used, z.Free, z.Requests, z.Denied, 0, 0)
	}
	_, err := w.Write(b.Bytes())
	return err
}
