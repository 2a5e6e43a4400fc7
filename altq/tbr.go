package altq

import (
	"math"
	"math/bits"
)

// Profile is a token bucket (struct tb_profile): Rate in bits a second, 0 for no
// regulator; Depth in bytes, of which at most 2^32-1 take effect.
type Profile struct {
	Rate  uint64 `json:"rate"`
	Depth uint64 `json:"depth"`
}

// TBRStats is the state of the regulator.
type TBRStats struct {
	Profile
	// Tokens are the bytes that may be sent at once; negative after the last packet of
	// a burst.
	Tokens int64 `json:"tokens"`
	// Stalled are the bytes that were never granted because the bucket was full while
	// packets waited: nobody came to send them in time, as when the host stalls.
	Stalled uint64 `json:"stalled"`
	// Idle are those not granted while nothing waited.
	Idle uint64 `json:"idle"`
	// Forgiven are the bytes of debt that a long pause cancelled.
	Forgiven uint64 `json:"forgiven"`
}

// tbrShift scales tokens (TBR_SHIFT).
const tbrShift = 29

// tbr is the token bucket regulator (struct tb_regulator, spec altq 1.5). Tokens
// are bytes << tbrShift. The queue's lock guards it.
type tbr struct {
	profile  Profile
	rate     int64 // tokens per Time unit
	depth    int64
	token    int64
	fillTime uint64 // that a whole depth takes
	last     Time
	polled   bool // the last operation was a poll that passed (tbr_lastop)

	stalled, idle, forgiven tokenSum
}

// tokenSum adds up tokens beyond 64 bits.
type tokenSum struct {
	bytes uint64
	rest  uint64 // tokens, less than a byte
}

func (s *tokenSum) add(hi, lo uint64) {
	const mask = 1<<tbrShift - 1
	var carry uint64
	lo, carry = bits.Add64(lo, s.rest, 0)
	hi += carry
	s.rest = lo & mask
	s.bytes += hi<<(64-tbrShift) | lo>>tbrShift
}

// bitsPerByte and the limit of a depth that its scaled form can hold.
const (
	bitsPerByte = 8
	maxDepth    = math.MaxUint32
)

// newTBR makes a full bucket.
func newTBR(p Profile, now Time) *tbr {
	t := &tbr{profile: p, last: now}
	t.rate = int64(min(MulDiv(p.Rate/bitsPerByte, 1<<tbrShift, MachClkFreq), math.MaxInt64))
	t.depth = int64(min(p.Depth, maxDepth)) << tbrShift
	t.token = t.depth
	t.fillTime = math.MaxInt64
	if t.rate > 0 {
		t.fillTime = uint64(t.depth / t.rate)
	}
	return t
}

// pass reports whether a packet may go, after refilling the bucket if it is empty.
// What accrued before since while nothing waited counts as idle.
func (t *tbr) pass(now, since Time) bool {
	if t.polled {
		return true
	}
	if t.token <= 0 {
		t.refill(now, since)
	}
	return t.token > 0
}

// refill grants what accrued since the last refill, up to the depth. After a pause
// of a whole depth the bucket is full and a debt forgiven.
func (t *tbr) refill(now, since Time) {
	interval := now.Since(t.last)
	waited := now.Since(max(since, t.last))
	t.last = now
	full := interval >= t.fillTime
	if !full {
		grant := int64(interval) * t.rate
		if t.token <= t.depth-grant {
			t.token += grant
			return
		}
	}
	t.account(interval, waited)
	t.token = t.depth
}

// account books what filling the bucket loses or forgives: tokens accrued for
// interval, in the last part of which, waited, packets waited.
func (t *tbr) account(interval, waited uint64) {
	hi, lo := bits.Mul64(interval, uint64(t.rate))
	room := uint64(t.depth - t.token)
	if hi == 0 && lo < room {
		t.forgiven.add(0, room-lo)
		return
	}
	lo, borrow := bits.Sub64(lo, room, 0)
	hi -= borrow
	whi, wlo := bits.Mul64(waited, uint64(t.rate))
	if whi > hi || whi == hi && wlo > lo {
		whi, wlo = hi, lo // what was lost is less than what accrued meanwhile
	}
	t.stalled.add(whi, wlo)
	lo, borrow = bits.Sub64(lo, wlo, 0)
	t.idle.add(hi-whi-borrow, lo)
}

// charge takes a packet of n bytes; the last of a burst may go into debt.
func (t *tbr) charge(n int) { t.token -= int64(n) << tbrShift }

func (t *tbr) stats() TBRStats {
	return TBRStats{Profile: t.profile, Tokens: t.token >> tbrShift,
		Stalled: t.stalled.bytes, Idle: t.idle.bytes, Forgiven: t.forgiven.bytes}
}

// depthSteps are the default depths of the regulator in MTUs, by the bandwidth up
// to which they hold (spec altq 1.5).
var depthSteps = []struct{ bandwidth, mtus uint64 }{
	{1_000_000, 1}, {10_000_000, 4}, {200_000_000, 8}, {2_500_000_000, 24}, {math.MaxUint64, 128},
}

// DefaultDepth is the depth in bytes of the regulator of an interface that is
// configured for so many bits a second, when tbrsize does not say (pfctl).
func DefaultDepth(bandwidth uint64, mtu int) uint64 {
	for _, s := range depthSteps {
		if bandwidth <= s.bandwidth {
			return s.mtus * uint64(mtu)
		}
	}
	return 0
}
