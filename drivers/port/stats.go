package port

// Cause says why a frame was refused or lost.
type Cause uint8

// The causes (spec ports 9.2, rules 1 and 2).
const (
	TooShort   Cause = iota // shorter than an Ethernet header (EINVAL)
	TooLong                 // longer than the port carries (EMSGSIZE)
	LinkDown                // no link when sent, or the receiver left before taking it (ENETDOWN)
	NoSpace                 // a received frame found no room
	HostRefuse              // the host's kernel refused it for another reason
	NumCauses               // number of causes
)

var causeNames = [NumCauses]string{"too short", "too long", "link down", "no space", "refused by host"}

// String names the cause in words.
func (c Cause) String() string {
	if c < NumCauses {
		return causeNames[c]
	}
	return "unknown cause"
}

// Stats are a port's counters since it was opened; reading does not clear them. A frame
// taken by Send is in TxFrames or in one of TxErrors, never both. Bytes have no FCS.
type Stats struct {
	TxFrames, TxBytes uint64
	RxFrames, RxBytes uint64            // lent by Recv
	TxErrors          [NumCauses]uint64 // taken by Send and refused for good
	RxDrops           [NumCauses]uint64 // reached the port and was never lent
	TxFull            uint64            // short Sends
	TagsInserted      uint64            // VLAN tags put back into received frames
	CsumCompleted     uint64            // partial checksums completed
	GSOCut            uint64            // super-frames cut into segments
}

// CheckLength returns the cause for which no port carries a frame of n bytes; ok is
// true when the length is fine.
func CheckLength(n int) (c Cause, ok bool) {
	switch {
	case n < MinFrame:
		return TooShort, false
	case n > MaxFrame:
		return TooLong, false
	}
	return 0, true
}
