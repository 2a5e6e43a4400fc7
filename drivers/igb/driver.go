package igb

import (
	"fmt"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/adv"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/sysctl"
)

// Driver is igb.
var Driver = iflib.Driver{
	Name:   "igb",
	Shared: &shared,
	New:    func(ctx *iflib.Ctx) iflib.Device { return &softc{ctx: ctx} },
}

var shared = e1000.SharedCtx("2.5.28-fbsd", vendorInfo(), rxMaxSize)

// rxMaxSize is the largest frame that is received (MJUM9BYTES; spec 1g 2.1).
const rxMaxSize = 9216

// softc is one controller (struct e1000_softc).
type softc struct {
	adv.Softc
	ctx       *iflib.Ctx
	legacyUDP atomic.Int32 // legacy_udp_hashtype
}

var (
	_ iflib.Device         = (*softc)(nil)
	_ iflib.VLANRegisterer = (*softc)(nil)
)

// AttachPre identifies the part and attaches it (em_if_attach_pre; spec 1g 6.1).
func (sc *softc) AttachPre() error {
	id := sc.ctx.Function().Identity().Device
	part := partOf(id)
	if part == nil {
		return fmt.Errorf("device %#x: %w", id, syscall.ENXIO)
	}
	t, err := e1000.EMTunables(sc.ctx.Kernel().Sysctl)
	if err != nil {
		return err
	}
	sc.ctx.SysctlCtx().Int(sc.ctx.SysctlNode(), "legacy_udp_hashtype", sysctl.RDTUN, &sc.legacyUDP,
		"Report UDP packets without a hash type, as before 2026-07")
	part.Format = receiveFormat(part.Format, sc.legacyUDP.Load() != 0)
	err = sc.Attach(sc.ctx, part, adv.SettingsOf(t))
	if err == nil {
		sc.addFlagMasks()
	}
	return err
}

// VLANRegister lets frames of a VLAN in (em_if_vlan_register).
func (sc *softc) VLANRegister(vtag uint16) { sc.AddVLAN(vtag) }

// VLANUnregister keeps them out again (em_if_vlan_unregister).
func (sc *softc) VLANUnregister(vtag uint16) { sc.RemoveVLAN(vtag) }
