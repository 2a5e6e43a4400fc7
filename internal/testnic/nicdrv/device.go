package nicdrv

import (
	"fmt"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
)

// Limits told to iflib, in bytes.
const (
	EtherHdrVLAN = 18 // Ethernet header with tag
	TSOSizeMax   = 65535

	maxMTU      = 9216 - EtherHdrVLAN
	minFrame    = 60 // without FCS
	txSegments  = 16
	tsoSegments = 32
)

const txCsum = mbuf.CsumIP | mbuf.CsumIPUDP | mbuf.CsumIPTCP | mbuf.CsumIP6UDP | mbuf.CsumIP6TCP | mbuf.CsumTSO

const caps = ifnet.CapHWCsum | ifnet.CapHWCsumIPv6 | ifnet.CapTSO | ifnet.CapVLANMTU | ifnet.CapVLANHWTag |
	ifnet.CapVLANHWCsum | ifnet.CapVLANHWTSO | ifnet.CapJumboMTU | ifnet.CapLRO | ifnet.CapLinkState

// Describe fills in what is the same for both parts, for one with ntx transmit and nrx
// receive queues. Called in AttachPre.
func Describe(s *iflib.SoftcCtx, ntx, nrx int) {
	s.NTxQSetsMax, s.NRxQSetsMax = ntx, nrx
	if s.NTxQSets == 0 {
		s.NTxQSets = ntx
	}
	if s.NRxQSets == 0 {
		s.NRxQSets = nrx
	}
	s.TxNSegments, s.TSOSegmentsMax, s.TSOSizeMax = txSegments, tsoSegments, TSOSizeMax
	s.TxCsumFlags = txCsum
	s.Capabilities, s.Capenable = caps, caps
	s.RSSTableSize = nicreg.RETAEntries
	s.MinFrameSize = minFrame
}

// CheckMTU is the answer to MTUSet: EINVAL if the part cannot take such frames.
func CheckMTU(mtu int) error {
	if mtu < 0 || mtu > maxMTU {
		return fmt.Errorf("setting MTU %d: %w", mtu, syscall.EINVAL)
	}
	return nil
}

const (
	resetTries = 100
	resetWait  = 10 * time.Microsecond
)

// Reset sets the self-clearing bit of register ctrl and waits for it to clear. The
// error is ETIMEDOUT.
func Reset(ctx *iflib.Ctx, regs pci.BAR, ctrl uint64, bit uint32) error {
	regs.Write32(ctrl, bit)
	for range resetTries {
		if regs.Read32(ctrl)&bit == 0 {
			return nil
		}
		ctx.Kernel().Delay(resetWait)
	}
	return fmt.Errorf("resetting: %w", syscall.ETIMEDOUT)
}

// MACOf is the station address in the low bytes of v, byte 0 lowest.
func MACOf(v uint64) (mac [ifnet.EtherAddrLen]byte) {
	for i := range mac {
		mac[i] = byte(v >> (8 * i))
	}
	return mac
}

// AddMedia adds the only medium there is, automatic selection. Called in AttachPre.
func AddMedia(m *ifnet.Media) {
	m.Add(ifnet.MediaEther|ifnet.MediaAuto, 0)
	m.Set(ifnet.MediaEther | ifnet.MediaAuto)
}

// MediaStatus reports the only medium there is.
func MediaStatus(req *ifnet.MediaReq, up bool) {
	req.Status = ifnet.MediaAValid
	req.Active = ifnet.MediaEther
	if up {
		req.Status |= ifnet.MediaActive
		req.Active |= ifnet.MediaAuto | ifnet.MediaFDX
	}
}

// GetCounter adds what only the hardware knows to what the interface has counted.
func GetCounter(ctx *iflib.Ctx, regs pci.BAR, c ifnet.Counter) uint64 {
	n := ctx.Ifp().GetCounterDefault(c)
	switch c {
	case ifnet.CounterIErrors:
		n += regs.Read64(nicreg.StatRxErrors)
	case ifnet.CounterIQDrops:
		n += regs.Read64(nicreg.StatRxMissed)
	case ifnet.CounterOErrors:
		n += regs.Read64(nicreg.StatTxErrors)
	}
	return n
}
