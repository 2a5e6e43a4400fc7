// Package aqm makes the drop policy of a queue from its options, for disciplines
// with classes (spec altq 2.0).
package aqm

import (
	"math"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/codel"
	"github.com/ifsim/ifsim/altq/red"
)

// Shares of a queue's limit at which RED begins to drop, and drops everything.
const (
	minShare = 10
	maxShare = 30
	percent  = 100
)

// Order says which of RED and RIO wins when a queue asks for both.
type Order bool

// PRIQ and FAIRQ take RIO, CBQ and HFSC take RED.
const (
	RIOFirst Order = true
	REDFirst Order = false
)

// New is the policy that a queue's flags ask for, nil for drop-tail. CoDel beats
// the others (quirk Q8); ECN asks for RED. pktTime is what RED takes for the
// microseconds of a packet.
func New(q altq.QueueConfig, o Order, pktTime int64, seed uint64) altq.Policy {
	wantRED := q.Flags&(altq.FlagRED|altq.FlagECN) != 0
	wantRIO := q.Flags&altq.FlagRIO != 0
	seed += uint64(q.QID)
	switch {
	case q.Flags&altq.FlagCoDel != 0:
		return codel.NewPolicy(0, 0)
	case wantRIO && (o == RIOFirst || !wantRED):
		return red.NewRIO(pktTime, seed)
	case wantRED:
		limit := altq.QLimitOrDefault(q.QLimit)
		return red.New(red.Params{MinTh: limit * minShare / percent, MaxTh: limit * maxShare / percent,
			PktTime: pktTime, ECN: q.Flags&altq.FlagECN != 0, Seed: seed})
	}
	return nil
}

// PktTime is what PRIQ, HFSC and FAIRQ tell RED of a packet's time at a bandwidth
// in bits a second: nanoseconds, though RED takes them for microseconds (quirk Q2).
func PktTime(mtu int, bandwidth uint64) int64 {
	const (
		nsPerSecond = 1_000_000_000
		bitsPerByte = 8
	)
	if bandwidth < bitsPerByte {
		return nsPerSecond
	}
	return int64(min(altq.MulDiv(uint64(mtu), nsPerSecond, bandwidth/bitsPerByte), math.MaxInt32))
}
