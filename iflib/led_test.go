package iflib

import (
	"errors"
	"syscall"
	"testing"
)

// ledDev has an identification LED.
type ledDev struct {
	ctlDev
	locked bool
}

func (d *ledDev) LEDFunc(on bool) {
	d.note("led %v", on)
	d.locked = !d.ctx.ctxLock.TryLock()
}

// noLEDDev has the method and says that the part lacks the LED.
type noLEDDev struct{ ledDev }

func (*noLEDDev) LEDSupported() bool { return false }

func TestLED(t *testing.T) {
	m := newCtlMachine(t, false)
	d := &ledDev{}
	c := m.newCtx(t, 0, d, &d.ctlDev)
	c.addDeviceNode("")
	c.addSysctlsPre()
	c.addSysctlsPost()
	c.addLED()
	const oid = "dev.fk.0.ifsim.led"
	set := func(v string) {
		t.Helper()
		if err := m.k.Sysctl.SetText(oid, v); err != nil {
			t.Fatal(err)
		}
	}
	set("1")
	checkCalls(t, &d.ctlDev, nil) // the writer never sleeps
	m.k.RunUntilIdle()
	checkCalls(t, &d.ctlDev, []string{"led true"})
	if !d.locked {
		t.Error("led_func ran without the ctx lock")
	}
	if got := m.text(t, oid); got != "1" {
		t.Errorf("reads %s", got)
	}
	// Only the last state counts.
	set("0")
	set("1")
	set("0")
	m.k.RunUntilIdle()
	checkCalls(t, &d.ctlDev, []string{"led false"})

	set("1")
	c.setFlags(ctxInDetach, 0)
	m.k.RunUntilIdle()
	checkCalls(t, &d.ctlDev, nil)
	c.SetLED(false)
	if !c.ledState.Load() {
		t.Error("a detaching context took a new state")
	}
}

func TestLEDOnlyWhereThereIsOne(t *testing.T) {
	m := newCtlMachine(t, false)
	plain, none := &ctlDev{}, &noLEDDev{}
	for unit, c := range []*ctlCtx{m.newCtx(t, 0, plain, plain), m.newCtx(t, 1, none, &none.ctlDev)} {
		c.addDeviceNode("")
		c.addSysctlsPre()
		c.addSysctlsPost()
		c.addLED()
		if _, err := m.k.Sysctl.Lookup(c.devNode.FullName() + ".ifsim.led"); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("unit %d has a LED: %v", unit, err)
		}
	}
}
