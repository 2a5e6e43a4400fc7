package e1000

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/sysctl"
)

// Speeds in Mbit/s.
const (
	Speed10   = 10
	Speed100  = 100
	Speed1000 = 1000
	Speed2500 = 2500

	bitsPerMega = 1_000_000
)

// Medium is what a port can be set to.
type Medium struct {
	Word ifnet.MediaWord
	Mode Modes
}

// GigabitMedia are the media of a gigabit port, in the order of em_setup_interface.
func GigabitMedia() []Medium {
	return []Medium{
		{ifnet.Media10T, Mode10HD},
		{ifnet.Media10T | ifnet.MediaFDX, Mode10FD},
		{ifnet.Media100TX, Mode100HD},
		{ifnet.Media100TX | ifnet.MediaFDX, Mode100FD},
		{ifnet.Media1000T | ifnet.MediaFDX, Mode1000FD},
		{ifnet.Media1000T, Mode1000FD},
		{ifnet.MediaAuto, ModesAll},
	}
}

// Port is the copper port of a device: its media, negotiation and flow control, and what
// came of them. A softc embeds it; then MediaStatus and MediaChange are those of
// iflib.Device. Unless a method says otherwise the ctx lock is held.
type Port struct {
	ctx   *iflib.Ctx
	regs  *Regs
	phy   PHY
	media []Medium
	all   Modes // of MediaAuto

	getLink       atomic.Bool // set by filters: ask the PHY (get_link_status)
	up            bool
	speed         atomic.Int32 // Mbit/s, 0 while down
	fullDuplex    bool
	modes         Modes // to advertise
	forced        Modes // 0 while negotiating
	fc            atomic.Int32
	wantFlow      atomic.Bool // fc was written
	fcHigh, fcLow atomic.Uint32
	pause         uint32 // FCTTV
	shortPause    bool   // the part has no registers for address and type of pause frames
}

// InitPort makes the port of a device whose PHY is known.
func (p *Port) InitPort(ctx *iflib.Ctx, phy PHY, media []Medium) {
	p.ctx, p.regs, p.phy, p.media = ctx, phy.Regs, phy, media
	p.all = media[len(media)-1].Mode
	p.modes = p.all
	p.fc.Store(int32(FlowFull))
	p.pause = pauseTime
}

// SetupMedia fills the interface's media list (spec 1g 2.3).
func (p *Port) SetupMedia() {
	m := p.ctx.Media()
	for _, e := range p.media {
		m.Add(ifnet.MediaEther|e.Word, 0)
	}
	m.Set(ifnet.MediaEther | ifnet.MediaAuto)
}

// forcible are the modes that are set without negotiation. Gigabit and more is never
// forced: only it is advertised.
const forcible = Mode10HD | Mode10FD | Mode100HD | Mode100FD

// MediaChange takes over the medium that was chosen; iflib stops and inits afterwards
// (em_if_media_change).
func (p *Port) MediaChange() error {
	word := p.ctx.Media().Current()
	if word&ifnet.MediaTypeMask != ifnet.MediaEther {
		return fmt.Errorf("media type of %#x: %w", uint32(word), syscall.EINVAL)
	}
	want := word & (ifnet.MediaSubtypeMask | ifnet.MediaFDX)
	for _, e := range p.media {
		if e.Word == want {
			p.modes, p.forced = e.Mode, 0
			if e.Mode&^forcible == 0 {
				p.forced = e.Mode
			}
			return nil
		}
	}
	return fmt.Errorf("media %#x: %w", uint32(word), syscall.EINVAL)
}

// MediaStatus reports the medium in use (em_if_media_status).
func (p *Port) MediaStatus(req *ifnet.MediaReq) {
	req.Status = ifnet.MediaAValid
	req.Active = ifnet.MediaEther
	if !p.up {
		return
	}
	req.Status |= ifnet.MediaActive
	switch p.speed.Load() {
	case Speed10:
		req.Active |= ifnet.Media10T
	case Speed100:
		req.Active |= ifnet.Media100TX
	case Speed1000:
		req.Active |= ifnet.Media1000T
	case Speed2500:
		req.Active |= ifnet.Media2500T
	}
	if p.fullDuplex {
		req.Active |= ifnet.MediaFDX
	} else {
		req.Active |= ifnet.MediaHDX
	}
}

// AskForLink has the next UpdateLink look at the link. Any goroutine.
func (p *Port) AskForLink() { p.getLink.Store(true) }

// LinkEvent has the admin task look at the link. Any goroutine; filters.
func (p *Port) LinkEvent() {
	p.AskForLink()
	p.ctx.AdminIntrDeferred()
}

// LinkAsked reports whether the next UpdateLink looks at the link. Any goroutine.
func (p *Port) LinkAsked() bool { return p.getLink.Load() }

// AtGigabit reports whether the link runs at 1 Gbit/s or more. Any goroutine.
func (p *Port) AtGigabit() bool { return p.speed.Load() >= Speed1000 }

// CheckForLink asks the PHY whether there is a link and, if so, settles flow control and
// collision distance (e1000_check_for_copper_link_generic; spec 1g 6.8). An error means
// the PHY did not answer.
func (p *Port) CheckForLink() (bool, error) {
	up, err := p.phy.Link()
	if err != nil {
		return false, fmt.Errorf("checking for link: %w", err)
	}
	p.getLink.Store(!up)
	if !up {
		return false, nil
	}
	p.regs.Change(emreg.TCTL, emreg.TCTLCOLD, emreg.CollisionDistance<<emreg.TCTLCOLDShift)
	fc := p.flow()
	if p.forced == 0 {
		if fc, err = p.phy.ResolveFlow(fc); err != nil {
			return false, fmt.Errorf("resolving flow control: %w", err)
		}
	}
	p.forceFlow(fc)
	return true, nil
}

// UpdateLink follows the link, and calls cameUp between finding a new one and telling
// iflib of it (the first half of em_if_update_admin_status; spec 1g 6.8).
func (p *Port) UpdateLink(cameUp func(speed int32)) {
	up := true
	if p.getLink.Load() {
		var err error
		if up, err = p.CheckForLink(); err != nil {
			p.ctx.Printf("%v\n", err)
		}
	}
	switch {
	case up && !p.up:
		p.up = true
		status := p.regs.Read32(emreg.STATUS)
		speed := speedOf(status, p.all)
		p.speed.Store(speed)
		p.fullDuplex = status&emreg.StatusFD != 0
		cameUp(speed)
		p.ctx.LinkStateChange(true, uint64(speed)*bitsPerMega)
	case !up && p.up:
		p.up = false
		p.speed.Store(0)
		p.ctx.LinkStateChange(false, 0)
	}
	if p.wantFlow.Swap(false) {
		p.forceFlow(p.flow())
	}
}

// status2500 says in STATUS of parts that can do it that 1 Gbit/s means 2.5
// (IGC_STATUS_SPEED_2500).
const status2500 = 1 << 22

func speedOf(status uint32, modes Modes) int32 {
	switch {
	case status&emreg.StatusSpeedMask == emreg.StatusSpeed10:
		return Speed10
	case status&emreg.StatusSpeedMask == emreg.StatusSpeed100:
		return Speed100
	case status&status2500 != 0 && modes&Mode2500FD != 0:
		return Speed2500
	}
	return Speed1000
}

// forceFlow has the part obey and send pause frames (e1000_force_mac_fc_generic).
func (p *Port) forceFlow(fc FlowControl) {
	var set uint32
	if fc == FlowRx || fc == FlowFull {
		set |= emreg.CtrlRFCE
	}
	if fc == FlowTx || fc == FlowFull {
		set |= emreg.CtrlTFCE
	}
	p.regs.Change(emreg.CTRL, emreg.CtrlRFCE|emreg.CtrlTFCE, set)
}

func (p *Port) flow() FlowControl { return FlowControl(p.fc.Load()) }

// SendsPause reports whether the port is to send pause frames when its buffer fills up.
func (p *Port) SendsPause() bool { return p.flow() == FlowTx || p.flow() == FlowFull }

// Flow control (spec 1g 6.3 step 3).
const (
	kib        = 1024
	fcRound    = 1024 // the high mark is a whole number of these below the top
	fcMarkMask = 0xfff8
	fcAddrLow  = 0x00c28001
	fcAddrHigh = 0x0100
	fcType     = 0x8808
	pauseTime  = 0x0680 // EM_FC_PAUSE_TIME
)

// SetMarks computes the flow control marks for a packet buffer of pba KiB: frames of
// full size still fit above the high mark; the low one is hysteresis bytes below. It
// reports whether the buffer is too tight for two frames.
func (p *Port) SetMarks(pba uint32, frame int, hysteresis uint32) (tight bool) {
	high := pba*kib - uint32(frame+fcRound-1)&^(fcRound-1)
	p.fcHigh.Store(high)
	p.fcLow.Store(high - hysteresis)
	return 2*frame > int(pba*kib)
}

// FixMarks sets marks and pause time of a part that knows by itself what a pause frame
// begins with (em_reset for the pch parts).
func (p *Port) FixMarks(high, low, pause uint32) {
	p.fcHigh.Store(high)
	p.fcLow.Store(low)
	p.pause, p.shortPause = pause, true
}

// SetupLink starts the PHY and programs flow control (e1000_setup_link_generic). An
// error means the PHY did not answer.
func (p *Port) SetupLink() error {
	r := p.regs
	clear := uint32(emreg.CtrlFrcSpd | emreg.CtrlFrcDpx)
	set := uint32(emreg.CtrlSLU)
	var err error
	if p.forced != 0 {
		clear |= emreg.CtrlSpdSel | emreg.CtrlFD | emreg.CtrlASDE
		set |= forcedCtrl(p.forced)
		r.Change(emreg.CTRL, clear, set)
		err = p.phy.Force(p.forced)
	} else {
		r.Change(emreg.CTRL, clear, set)
		if p.all&Mode2500FD != 0 {
			err = p.phy.advertise2500(p.modes&Mode2500FD != 0)
		}
		if err == nil {
			err = p.phy.StartAutoNeg(p.modes, p.flow())
		}
	}
	if !p.shortPause {
		r.Write32(emreg.FCT, fcType)
		r.Write32(emreg.FCAH, fcAddrHigh)
		r.Write32(emreg.FCAL, fcAddrLow)
	}
	r.Write32(emreg.FCTTV, p.pause)
	var low, high uint32
	if p.SendsPause() {
		low, high = p.fcLow.Load()&fcMarkMask|emreg.FCRTLXONE, p.fcHigh.Load()&fcMarkMask
	}
	r.Write32(emreg.FCRTL, low)
	r.Write32(emreg.FCRTH, high)
	return err
}

// forcedCtrl is what CTRL says for a forced mode (e1000_phy_force_speed_duplex_setup).
func forcedCtrl(m Modes) uint32 {
	ctrl := uint32(emreg.CtrlFrcSpd | emreg.CtrlFrcDpx)
	if m&(Mode100HD|Mode100FD) != 0 {
		ctrl |= emreg.CtrlSpd100
	}
	if m&(Mode10FD|Mode100FD) != 0 {
		ctrl |= emreg.CtrlFD
	}
	return ctrl
}

// flowHandler serves the sysctl fc: 0 none, 1 receive, 2 transmit, 3 both
// (em_set_flowcntl). The admin task, which holds the ctx lock, brings it into force. The
// error wraps EINVAL for anything else.
func (p *Port) flowHandler(req *sysctl.Request) error {
	val, written, err := req.HandleInt(int64(p.fc.Load()))
	if err != nil || !written {
		return err
	}
	if val < int64(FlowNone) || val > int64(FlowFull) {
		return fmt.Errorf("flow control %d: %w", val, syscall.EINVAL)
	}
	p.fc.Store(int32(val))
	p.wantFlow.Store(true)
	p.ctx.AdminIntrDeferred()
	return nil
}
