//go:build !amd64 && !arm64

package kern

import (
	"bytes"
	"runtime"
	"strconv"
)

// goidBuf holds "goroutine 18446744073709551615 [".
const goidBuf = 40

// curg identifies the running goroutine by the number in its stack trace.
func curg() uintptr {
	var buf [goidBuf]byte
	trace := buf[:runtime.Stack(buf[:], false)]
	fields := bytes.Fields(trace)
	id, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		panic("kern: no goroutine number in " + string(trace))
	}
	return uintptr(id)
}
