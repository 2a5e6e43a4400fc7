package netstat8

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// sendfileLines are what -m counts behind the buffers (spec ifnet 12.4, lines 12 to 22):
// nothing here serves files from the kernel.
var sendfileLines = [...]string{
	"sendfile syscalls", "sendfile syscalls completed without I/O request", "requests for I/O initiated by sendfile",
	"pages read by sendfile as part of a request", "pages were valid at time of a sendfile request",
	"pages were valid and substituted to bogus page", "pages were requested for read ahead by applications",
	"pages were read ahead by sendfile", "times sendfile encountered an already busy page",
	"requests for sfbufs denied", "requests for sfbufs delayed",
}

// writeMemory prints what -m shows (mbpr).
func writeMemory(w io.Writer, stats mbuf.Stats) error {
	var b bytes.Buffer
	if err := stats.WriteNetstat(&b); err != nil {
		return err
	}
	for _, line := range sendfileLines {
		fmt.Fprintf(&b, "0 %s\n", line)
	}
	_, err := w.Write(b.Bytes())
	return err
}
