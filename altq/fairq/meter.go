package fairq

import "github.com/ifsim/ifsim/altq"

// meter estimates a rate: bytes and time, both of which lose an eighth at each packet (bw_bytes, bw_delta, last_time).
type meter struct {
	bytes, delta uint64
	last         altq.Time
}

const (
	// maxGap is the longest time that counts between two packets.
	maxGap = 8 * altq.MachClkFreq
	// decay is the shift by which the sums shrink.
	decay = 3
)

// pass lets time go by.
func (r *meter) pass(now altq.Time) {
	r.delta += min(now.Since(r.last), maxGap)
	r.last = now
}

// count adds a packet of n bytes.
func (r *meter) count(n int, now altq.Time) {
	r.pass(now)
	r.bytes += uint64(n)
	r.delta -= r.delta >> decay
	r.bytes -= r.bytes >> decay
}

// rate is the estimate in bytes a second; false: there is none yet.
func (r *meter) rate() (uint64, bool) {
	if r.delta == 0 {
		return 0, false
	}
	return altq.MulDiv(r.bytes, altq.MachClkFreq, r.delta), true
}
