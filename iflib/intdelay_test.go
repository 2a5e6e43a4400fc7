package iflib

import (
	"errors"
	"syscall"
	"testing"
)

// delayDev has delays in steps of 4 us up to 1000.
type delayDev struct {
	ctlDev
	locked bool
	unit   uint64
}

func (d *delayDev) SysctlIntDelay(info *IntDelayInfo) error {
	d.locked = !d.ctx.ctxLock.TryLock()
	d.unit = info.Offset
	if !info.Write {
		return nil
	}
	if info.New < 0 || info.New > 1000 {
		return syscall.EINVAL
	}
	info.Value = info.New / 4 * 4
	return nil
}

func TestIntDelaySysctl(t *testing.T) {
	m := newCtlMachine(t, false)
	d := &delayDev{}
	c := m.newCtx(t, 0, d, &d.ctlDev)
	c.addDeviceNode("")
	c.addSysctlsPre()
	var info IntDelayInfo
	c.AddIntDelaySysctl("rx_int_delay", "receive interrupt delay in usecs", &info, 0x2820, 32)
	const oid = "dev.fk.0.rx_int_delay"
	if got := m.text(t, oid); got != "32" || !d.locked || d.unit != 0x2820 {
		t.Errorf("reads %s, ctx lock held: %v, register %#x", got, d.locked, d.unit)
	}
	for _, tt := range []struct {
		set  string
		err  error
		want string
	}{{"64", nil, "64"}, {"67", nil, "64"}, {"1001", syscall.EINVAL, "64"}, {"-1", syscall.EINVAL, "64"}, {"0", nil, "0"}} {
		if err := m.k.Sysctl.SetText(oid, tt.set); !errors.Is(err, tt.err) {
			t.Errorf("writing %s: %v, want %v", tt.set, err, tt.err)
		}
		if got := m.text(t, oid); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.set, got, tt.want)
		}
	}
	o, err := m.k.Sysctl.Lookup(oid)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.Descr(); got != "receive interrupt delay in usecs" {
		t.Errorf("description %q", got)
	}
}
