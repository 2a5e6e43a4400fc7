package igb

import (
	"github.com/ifsim/ifsim/drivers/internal/e1000/adv"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// receiveFormat completes what a part says of received packets. FreeBSD's igb reported
// UDP packets with a hash and without a hash type until 2026-07, so that iflib sent all
// that were forwarded on one queue; legacy brings that back (spec 1g 3.6).
func receiveFormat(f adv.Format, legacy bool) adv.Format {
	f.Errors = adv.FrameErrors
	f.HashDefault = mbuf.HashNone
	f.UDPHash = !legacy
	return f
}
