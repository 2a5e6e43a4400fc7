package igc

import (
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/adv"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// receiveFormat is what igc reads in received descriptors: one bit makes a frame bad, and
// packets whose RSS type has no name, UDP among them, keep their hash as an opaque flow
// (igc_isc_rxd_pkt_get; spec 1g 3.6, 4.6).
func receiveFormat() adv.Format {
	return adv.Format{Errors: emreg.RxdErrRXE << emreg.RxdExtErrShift, HashDefault: mbuf.HashOpaque}
}
