package skel

import (
	"github.com/ifsim/ifsim/drivers/skel/skelreg"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl"
)

// linkUnknown is no value of STATUS.
const linkUnknown = 1 << 15

// addMedia lists what the user can choose from: the part always negotiates.
func (sc *softc) addMedia() {
	m := sc.ctx.Media()
	m.Add(ifnet.MediaEther|ifnet.MediaAuto, 0)
	m.Set(ifnet.MediaEther | ifnet.MediaAuto)
}

// MediaChange accepts the only choice there is.
func (sc *softc) MediaChange() error { return nil }

// MediaStatus answers ifconfig.
func (sc *softc) MediaStatus(req *ifnet.MediaReq) {
	sc.UpdateAdminStatus()
	req.Status, req.Active = ifnet.MediaAValid, ifnet.MediaEther
	if sc.linkTold&skelreg.StatusLinkUp != 0 {
		req.Status |= ifnet.MediaActive
		req.Active |= ifnet.MediaAuto
		if sc.linkTold&skelreg.StatusFullDuplex != 0 {
			req.Active |= ifnet.MediaFDX
		}
	}
}

// UpdateAdminStatus is the admin task's: it tells iflib of a change of the link. While
// iflib believes the link to be down it sends nothing.
func (sc *softc) UpdateAdminStatus() {
	status := sc.regs.Read32(skelreg.STATUS)
	if status == sc.linkTold {
		return
	}
	sc.linkTold = status
	const bitsPerMega = 1_000_000
	sc.ctx.LinkStateChange(status&skelreg.StatusLinkUp != 0, uint64(status>>skelreg.StatusSpeedShift)*bitsPerMega)
}

// GetCounter adds what only the part knows to what iflib counts. Any goroutine, no lock.
func (sc *softc) GetCounter(c ifnet.Counter) uint64 {
	n := sc.ctx.Ifp().GetCounterDefault(c)
	switch c {
	case ifnet.CounterIErrors:
		n += sc.regs.Read64(skelreg.StatRxErrors)
	case ifnet.CounterIQDrops:
		n += sc.regs.Read64(skelreg.StatRxMissed)
	case ifnet.CounterOErrors:
		n += sc.regs.Read64(skelreg.StatTxErrors)
	}
	return n
}

// macStats are the leaves of dev.skel.N.mac_stats.
var macStats = []struct {
	name, descr string
	reg         uint64
}{
	{"tx_frames", "Frames sent", skelreg.StatTxFrames},
	{"tx_errors", "Packets lost on the way out", skelreg.StatTxErrors},
	{"rx_frames", "Frames received", skelreg.StatRxFrames},
	{"rx_errors", "Frames too long, or lost to a DMA error", skelreg.StatRxErrors},
	{"rx_missed", "Frames that found no buffer", skelreg.StatRxMissed},
	{"rx_filtered", "Frames for others, or while the receiver was off", skelreg.StatRxFilter},
	{"refused", "Writes and descriptors that the part has refused", skelreg.StatRefused},
}

// addSysctls adds dev.skel.N.*; iflib frees them.
func (sc *softc) addSysctls() {
	c, node := sc.ctx.SysctlCtx(), sc.ctx.SysctlNode()
	const flags = sysctl.RD | sysctl.Stats | sysctl.MPSafe
	c.U64(node, "bad_writeback", flags, &sc.badWriteback, "Device output that was out of bounds")
	stats := c.Node(node, "mac_stats", sysctl.RD, "Statistics of the part")
	for _, s := range macStats {
		c.Func(stats, s.name, flags, sysctl.KindU64, func() uint64 { return sc.regs.Read64(s.reg) }, s.descr)
	}
}
