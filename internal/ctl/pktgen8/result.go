package pktgen8

import (
	"math/bits"
	"slices"
	"time"

	"github.com/ifsim/ifsim/client"
)

const bitsPerByte = 8

// Result is what was done.
type Result = client.PktgenResult

// rtts collects how long answers took. The zero value has none.
type rtts struct {
	client.PktgenRTT
	sum time.Duration
}

// add counts an answer that took d.
func (r *rtts) add(d time.Duration) {
	d = max(d, 0)
	if r.Answers == 0 || d < r.Min {
		r.Min = d
	}
	r.Max = max(r.Max, d)
	r.Answers++
	r.sum += d
	r.Average = r.sum / time.Duration(r.Answers)
	k := max(bits.Len64(uint64(d))-1, 0)
	for len(r.Log2) <= k {
		r.Log2 = append(r.Log2, 0)
	}
	r.Log2[k]++
}

// copy is what there is, for others.
func (r *rtts) copy() *client.PktgenRTT {
	c := r.PktgenRTT
	c.Log2 = slices.Clone(c.Log2)
	return &c
}

// Report is the state of a run that goes on.
type Report struct {
	Number int           // 1 for the first
	At     time.Duration // uptime
	Took   time.Duration // since the report before, or the beginning
	// Frames, Bytes and Batches are those of this time, and so is RTT, nil if there were no answers.
	Frames, Bytes, Batches uint64
	RTT                    *client.PktgenRTT
	Total                  Result // without RTT
}
