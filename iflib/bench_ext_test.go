package iflib_test

import (
	"testing"

	"github.com/ifsim/ifsim/internal/quiet/quietbench"
)

func benchmarkTransmit(b *testing.B, path txPath) {
	r := newBare(b, path)
	for range 5000 {
		r.send()
	}
	b.SetBytes(int64(len(r.hdr) + 1300))
	quietbench.Measure(b, func(n int) {
		for range n {
			r.send()
		}
	})
}

// BenchmarkTransmitMPRingEM sends headers and 1300 bytes through em into a null port.
func BenchmarkTransmitMPRingEM(b *testing.B) { benchmarkTransmit(b, paths[0]) }

// BenchmarkTransmitSimpleTxEM is the same on the simple_tx path.
func BenchmarkTransmitSimpleTxEM(b *testing.B) { benchmarkTransmit(b, paths[2]) }

func benchmarkReceive(b *testing.B, size int) {
	r := newReceiver(b, size)
	for range 500 {
		r.inject()
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += receiveBatch {
		r.inject()
	}
}

// BenchmarkReceiveEM64 receives frames of 64 bytes, 16 at a time; the time is that of a
// frame.
func BenchmarkReceiveEM64(b *testing.B) { benchmarkReceive(b, 64) }

// BenchmarkReceiveEM1342 is the same with 1342 bytes.
func BenchmarkReceiveEM1342(b *testing.B) { benchmarkReceive(b, 1342) }
