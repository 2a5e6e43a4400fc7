package altq

import (
	"math"
	"math/bits"
	"time"
)

// QID is the number of a queue (qid of struct pf_altq): 1 to 50,000, 0 for none.
type QID = uint16

// Type is a discipline's code (ALTQT_*).
type Type uint8

// Disciplines that can be attached.
const (
	TypeNone  Type = 0
	TypeCBQ   Type = 1
	TypeHFSC  Type = 8
	TypePRIQ  Type = 11
	TypeFAIRQ Type = 13
	TypeCoDel Type = 14
)

// String is the discipline's word in pf.conf.
func (t Type) String() string {
	switch t {
	case TypeCBQ:
		return "cbq"
	case TypeHFSC:
		return "hfsc"
	case TypePRIQ:
		return "priq"
	case TypeFAIRQ:
		return "fairq"
	case TypeCoDel:
		return "codel"
	}
	return "none"
}

// QType is how a class's queue drops (the qtype of class_queue_t).
type QType uint8

// Kinds of class queue. Nothing here drops at the head by itself (Q_DROPHEAD, 0).
const (
	QDropTail QType = 3
	QRED      QType = 1
	QRIO      QType = 2
	QCoDel    QType = 4
)

// Flags are the options of a queue. FreeBSD numbers them differently in each
// discipline; here they have one numbering, since nothing outside sees it.
type Flags uint16

// Options of a queue, by their words in pf.conf. WRR, Efficient and Root cannot be
// written there.
const (
	FlagRED Flags = 1 << iota
	FlagECN
	FlagRIO
	FlagCoDel
	FlagClearDSCP
	FlagFlowValve
	FlagBorrow
	FlagWRR
	FlagEfficient
	FlagRoot
	FlagDefault
)

// Time is a moment of the machine's clock in units of 1/256 us (machclk with the
// emulated clock, spec altq 0). It advances in steps of 1 us and never goes back.
type Time uint64

// Units of time.
const (
	// MachClkFreq is the number of units in a second (machclk_freq).
	MachClkFreq = 256_000_000
	// MachClkShift turns microseconds into units.
	MachClkShift = 8
	// hz is the rate of the tick.
	hz = 1000
	// MachClkPerTick is the number of units in a tick of 1 ms (machclk_per_tick).
	MachClkPerTick = MachClkFreq / hz
	// TickMicros is a tick in microseconds (tick).
	TickMicros = 1_000_000 / hz
)

// TimeOf is the time at an uptime.
func TimeOf(uptime time.Duration) Time { return Time(uptime/time.Microsecond) << MachClkShift }

// Micros is the time in microseconds since boot.
func (t Time) Micros() int64 { return int64(t >> MachClkShift) }

// Since is t - past, 0 if past lies ahead.
func (t Time) Since(past Time) uint64 {
	if t < past {
		return 0
	}
	return uint64(t - past)
}

// MulDiv is a x b / c in 128 bits, the largest number if the result does not fit
// or c is 0.
func MulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}
