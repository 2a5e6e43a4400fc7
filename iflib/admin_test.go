package iflib

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet"
)

// adminDev has every method that the admin task calls.
type adminDev struct{ ctlDev }

func (d *adminDev) AdminCompletionHandle() { d.note("admin_completion") }
func (d *adminDev) WatchdogReset()         { d.note("watchdog_reset") }
func (d *adminDev) LinkIntrEnable() {
	d.note("link_intr_enable")
	for _, q := range d.ctx.txqs {
		if !q.timer.Pending() {
			d.note("timer of queue %d is off", q.id)
		}
	}
}
func (d *adminDev) VFLRHandle() { d.note("vflr") }

// UpdateAdminStatus notes that the timers stand still meanwhile.
func (d *adminDev) UpdateAdminStatus() {
	d.note("update_admin_status")
	for _, q := range d.ctx.txqs {
		if q.timer.Pending() {
			d.note("timer of queue %d runs", q.id)
		}
	}
}

func newAdminCtx(t *testing.T) (*ctlCtx, *adminDev) {
	m := newCtlMachine(t, false)
	d := &adminDev{}
	c := m.newCtx(t, 0, d, &d.ctlDev)
	c.addTxq(t)
	c.addTxq(t)
	return c, d
}

func TestAdminTaskServesRequests(t *testing.T) {
	reinit := []string{"intr_disable", "stop", "intr_disable", "init", "intr_enable"}
	status := []string{"update_admin_status", "link_intr_enable"}
	tests := []struct {
		name   string
		flags  ctxFlags
		admit  uint32
		shared SharedFlags
		up     bool
		want   []string
		left   ctxFlags // afterwards
		events uint32
	}{
		{name: "nothing asked", admit: admitRunning, want: status},
		{name: "oactive alone keeps it going", admit: admitOActive, want: status},
		{name: "down: requests are lost", flags: ctxDoReset | ctxDoWatchdog, want: nil},
		{name: "down, but always run", shared: FlagAdminAlwaysRun, want: status},
		{name: "admin queue", admit: admitRunning, shared: FlagHasAdminCQ, want: append([]string{"admin_completion"}, status...)},
		{name: "reset", admit: admitRunning, flags: ctxDoReset, want: append(status, reinit...)},
		{name: "reset if up", admit: admitRunning, flags: ctxDoResetIfUp, up: true, want: append(status, reinit...)},
		{name: "reset if up, but it is down", admit: admitRunning, flags: ctxDoResetIfUp, want: status},
		{name: "watchdog", admit: admitOActive, flags: ctxDoReset | ctxDoWatchdog, shared: FlagHasAdminCQ, events: 1,
			want: append(append([]string{"admin_completion", "watchdog_reset"}, status...), reinit...)},
		{name: "detaching", admit: admitRunning, flags: ctxInDetach | ctxDoReset, left: ctxInDetach, want: nil},
		{name: "other flags stay", admit: admitRunning, flags: ctxMultiSeg, left: ctxMultiSeg, want: status},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, d := newAdminCtx(t)
			c.sctx.Flags = tt.shared
			if tt.up {
				c.ifp.SetFlags(ifnet.FlagUp, 0)
			}
			c.admitNow(tt.admit, 0)
			c.flags.Store(uint32(tt.flags))
			c.adminTaskFn()
			if diff := cmp.Diff(tt.want, d.take()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got := ctxFlags(c.flags.Load()); got != tt.left {
				t.Errorf("flags %#x, want %#x", got, tt.left)
			}
			if got := c.txWatchdogEvents.Load(); got != tt.events {
				t.Errorf("%d watchdog events, want %d", got, tt.events)
			}
		})
	}
}

func TestAdminTaskAfterTheWatchdogBringsTheInterfaceBack(t *testing.T) {
	c, _ := newAdminCtx(t)
	c.ifp.SetFlags(ifnet.FlagUp, 0)
	c.admitNow(admitTx, 0)
	c.txqs[0].hung()
	c.k.RunUntilIdle()
	if got, want := c.admit.Load(), admitTx; got != want {
		t.Errorf("admit %#x, want %#x", got, want)
	}
	if got := c.ifp.DrvFlags(); got != ifnet.FlagRunning {
		t.Errorf("driver flags %#x", got)
	}
	if got := c.txWatchdogEvents.Load(); got != 1 {
		t.Errorf("%d watchdog events, want 1", got)
	}
	for _, q := range c.txqs {
		if !q.timer.Pending() {
			t.Errorf("timer of queue %d is off", q.id)
		}
	}
}

func TestAdminTaskDrainsWhatALostLinkLeft(t *testing.T) {
	c, _ := newAdminCtx(t)
	q := c.txqs[1]
	c.admitNow(admitRunning, 0)
	q.ledger.in.Add(1)
	if !q.br.Enqueue(c.packet(t, 60), txBatchSize, false) {
		t.Fatal("mp_ring full")
	}
	if !q.br.IsStalled() {
		t.Fatalf("ring without a link: %s", q.br.State())
	}
	c.adminTaskFn()
	if !q.br.IsStalled() {
		t.Fatalf("drained without a link: %s", q.br.State())
	}
	c.admitNow(admitLinkUp, 0)
	c.adminTaskFn()
	if !q.br.IsIdle() || q.State().Pidx != 1 {
		t.Errorf("ring %s, pidx %d", q.br.State(), q.State().Pidx)
	}
}

func TestAdminTaskFailPoint(t *testing.T) {
	c, d := newAdminCtx(t)
	c.admitNow(admitRunning, 0)
	c.flags.Store(uint32(ctxDoReset))
	set := func(name, v string) {
		t.Helper()
		if err := c.k.Sysctl.SetText(name, v); err != nil {
			t.Fatal(err)
		}
	}
	set("debug.fail_point.iflib.admin_task", "return(1)")
	set("debug.iflib.admin_task_device", "fk1")
	c.adminTaskFn()
	if len(d.take()) == 0 {
		t.Error("the fail point of fk1 stopped fk0")
	}
	c.flags.Store(uint32(ctxDoReset))
	set("debug.iflib.admin_task_device", "fk0")
	c.adminTaskFn()
	if calls := d.take(); calls != nil || ctxFlags(c.flags.Load()) != ctxDoReset {
		t.Errorf("missed run called %v and left %#x", calls, c.flags.Load())
	}
	set("debug.fail_point.iflib.admin_task", "off")
	c.adminTaskFn()
	if len(d.take()) != 7 {
		t.Error("the request was lost with the missed run")
	}
}

func TestVFLRTask(t *testing.T) {
	c, d := newAdminCtx(t)
	for _, tt := range []struct {
		admit  uint32
		flags  ctxFlags
		shared SharedFlags
		runs   bool
	}{
		{0, 0, 0, false},
		{admitRunning, 0, 0, true},
		{0, 0, FlagAdminAlwaysRun, true},
		{admitRunning, ctxInDetach, FlagAdminAlwaysRun, false},
	} {
		c.admitNow(tt.admit, ^tt.admit)
		c.flags.Store(uint32(tt.flags))
		c.sctx.Flags = tt.shared
		c.vflrTaskFn()
		if got := len(d.take()) == 1; got != tt.runs {
			t.Errorf("%+v: ran %v", tt, got)
		}
	}
}
