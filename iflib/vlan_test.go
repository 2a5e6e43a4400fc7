package iflib

import (
	"fmt"
	"testing"
)

// vlanDev has a VLAN filter and may want a restart.
type vlanDev struct {
	ctlDev
	restart bool
}

func (d *vlanDev) VLANRegister(vtag uint16)   { d.note("register %d", vtag) }
func (d *vlanDev) VLANUnregister(vtag uint16) { d.note("unregister %d", vtag) }
func (d *vlanDev) NeedsRestart(ev RestartEvent) bool {
	d.note("needs_restart %d", ev)
	return d.restart
}

func newVLANCtx(t *testing.T, m *ctlMachine, unit int) (*ctlCtx, *vlanDev) {
	d := &vlanDev{}
	c := m.newCtx(t, unit, d, &d.ctlDev)
	c.registerVLANEvents()
	return c, d
}

func TestVLANEvents(t *testing.T) {
	m := newCtlMachine(t, false)
	c, d := newVLANCtx(t, m, 0)
	other, _ := newVLANCtx(t, m, 1)
	const asked = "needs_restart 0"

	c.ifp.VLANConfig(100)
	checkCalls(t, &d.ctlDev, []string{asked, "register 100", asked})
	c.ifp.VLANUnconfig(100)
	checkCalls(t, &d.ctlDev, []string{asked, "unregister 100", asked})

	for _, vid := range []uint16{0, 4096, 65535} {
		c.ifp.VLANConfig(vid)
		c.ifp.VLANUnconfig(vid)
	}
	other.ifp.VLANConfig(100)
	checkCalls(t, &d.ctlDev, nil)

	for _, vid := range []uint16{1, 4095} {
		c.ifp.VLANConfig(vid)
		checkCalls(t, &d.ctlDev, []string{asked, fmt.Sprintf("register %d", vid), asked})
	}

	// A detaching context takes no new VLANs, but lets old ones go.
	c.setFlags(ctxInDetach, 0)
	c.ifp.VLANConfig(7)
	checkCalls(t, &d.ctlDev, nil)
	c.ifp.VLANUnconfig(7)
	checkCalls(t, &d.ctlDev, []string{asked, "unregister 7", asked})

	c.unregisterEvents()
	c.ifp.VLANUnconfig(7)
	checkCalls(t, &d.ctlDev, nil)
}

func TestVLANRestartOnDemandAlsoOfADownedInterface(t *testing.T) {
	c, d := newVLANCtx(t, newCtlMachine(t, false), 0)
	d.restart = true
	c.ifp.VLANConfig(5)
	checkCalls(t, &d.ctlDev, seq([]string{"needs_restart 0"}, stopCalls, []string{"register 5", "needs_restart 0"}, initCalls))
}

func TestVLANEventsWithoutDriverMethodsDoNotBounceTheLink(t *testing.T) {
	m := newCtlMachine(t, false)
	d := &ctlDev{}
	c := m.newCtx(t, 0, d, d)
	c.registerVLANEvents()
	c.running(d)
	c.ifp.VLANConfig(5)
	c.ifp.VLANUnconfig(5)
	checkCalls(t, d, nil)
}
