package vmstat8

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// sizeEnd is the column in which sizes end, the colon behind the name not counted.
const sizeEnd = 26

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
