package netstat8

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// sendfileLines are what -m counts behind the buffers (spec ifnet 12.4, lines 12 to 22):
// nothing here serves files from the kernel.
var sendfileLines = [...]struct{ json, text string }{
	{"sendfile-syscalls", "sendfile syscalls"},
	{"sendfile-no-io", "sendfile syscalls completed without I/O request"},
	{"sendfile-io-count", "requests for I/O initiated by sendfile"},
	{"sendfile-pages-sent", "pages read by sendfile as part of a request"},
	{"sendfile-pages-valid", "pages were valid at time of a sendfile request"},
	{"sendfile-pages-bogus", "pages were valid and substituted to bogus page"},
	{"sendfile-requested-readahead", "pages were requested for read ahead by applications"},
	{"sendfile-readahead", "pages were read ahead by sendfile"},
	{"sendfile-busy-encounters", "times sendfile encountered an already busy page"},
	{"sfbufs-alloc-failed", "requests for sfbufs denied"},
	{"sfbufs-alloc-wait", "requests for sfbufs delayed"},
}

// pageSizeName is what the JSON has the size of pages as, in KiB, and pageKiB is it.
const (
	pageSizeName = "jumbo-page-size"
	pageKiB      = 4
	jumboMax     = "jumbo-max"
)

// showMemory prints what -m shows (mbpr).
func (o options) showMemory(w io.Writer, stats mbuf.Stats) error {
	if o.format.JSON {
		return o.memoryJSON(w, stats)
	}
	var b bytes.Buffer
	for _, line := range stats.Netstat() {
		fmt.Fprintln(&b, line)
	}
	for _, line := range sendfileLines {
		fmt.Fprintf(&b, "0 %s\n", line.text)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (o options) memoryJSON(w io.Writer, stats mbuf.Stats) error {
	j := o.format.NewJSON(w, xoVersion)
	j.Object("mbuf-statistics", func() {
		for _, line := range stats.Netstat() {
			for i, name := range line.Names {
				j.Field(name, line.Numbers[i])
				if name == jumboMax {
					j.Field(pageSizeName, pageKiB)
				}
			}
		}
		for _, line := range sendfileLines {
			j.Field(line.json, 0)
		}
	})
	return j.Close()
}
