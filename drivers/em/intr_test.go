package em

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

func TestLegacyFilterTakesOnlyItsOwn(t *testing.T) {
	for _, tc := range []struct {
		device uint16
		icr    uint32
		want   iflib.FilterResult
	}{
		{emreg.Dev82583V, 0, iflib.FilterStray},
		{emreg.Dev82583V, 0xffffffff, iflib.FilterStray},
		{emreg.Dev82583V, 0x80, iflib.FilterStray},
		{emreg.Dev82583V, 0x8000_0080, iflib.FilterScheduleThread},
		{emreg.Dev82540EM, 0x80, iflib.FilterScheduleThread},
		{emreg.Dev82540EM, 0, iflib.FilterStray},
	} {
		b := newBench(t, newCard(tc.device), nil)
		b.up()
		b.card.SetReg(emreg.ICR, tc.icr)
		if got := b.sc.legacyFilter(); got != tc.want {
			t.Errorf("%#x with ICR %#x: %d, want %d", tc.device, tc.icr, got, tc.want)
		}
		masked := b.card.Reg(emreg.IMS) == 0
		if masked != (tc.want == iflib.FilterScheduleThread) {
			t.Errorf("%#x with ICR %#x: masked %v", tc.device, tc.icr, masked)
		}
	}
}

func TestOverrunsAndLinkChangesAreNoted(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), nil)
	b.up()
	b.card.Writes()
	b.card.SetReg(emreg.ICR, 0x8000_0044) // LSC and RXO
	if got := b.sc.linkFilter(); got != iflib.FilterHandled {
		t.Errorf("result %d, want handled", got)
	}
	// IMS = LSC|OTHER; then the queues' causes again, without OTHER.
	want := []string{"0xd0=0x1000004", "0xc8=0xf00000"}
	if diff := cmp.Diff(want, only(b.card.Writes(), emreg.IMS, emreg.ICS)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"link_irq": "1", "rx_overruns": "1"} {
		if got := b.text("dev.em.0." + name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	b.card.PHY[1] = 0x7949
	b.k.RunUntilIdle()
	if got := b.ctx.Ifp().LinkState(); got != ifnet.LinkStateDown {
		t.Errorf("link %v after it was lost", got)
	}
}

func TestInitReportsALinkThatIsGone(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), nil)
	b.up()
	b.card.PHY[1] = 0x7949 // and no interrupt says so
	b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetMTU, 1400))
	if got := b.ctx.Ifp().LinkState(); got != ifnet.LinkStateDown {
		t.Errorf("link %v after an init that found none", got)
	}
}

func TestQueuesUnmaskTheirOwnCause(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), nil)
	b.card.Writes()
	for q := range 2 {
		b.must(b.sc.RxQueueIntrEnable(q))
		b.must(b.sc.TxQueueIntrEnable(q))
	}
	want := []string{"0xd0=0x100000", "0xd0=0x400000", "0xd0=0x200000", "0xd0=0x800000"}
	if diff := cmp.Diff(want, only(b.card.Writes(), emreg.IMS)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestModerationFollowsTraffic(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), nil)
	b.up()
	rate := func() string { return b.text("dev.em.0.queue_rx_1.interrupt_rate") }
	if got := rate(); got != "8004" { // 488 * 256 ns
		t.Errorf("rate %s before traffic, want 8004", got)
	}
	v := b.sc.vectors[1]
	b.sc.path.rx[1].Load.Bytes, b.sc.path.rx[1].Load.Packets = 6000, 100
	v.queueFilter()
	if got := b.card.Reg(emreg.EITR + 4); got != 195 { // 20000 a second
		t.Errorf("EITR(1) = %d for small frames, want 195", got)
	}
	b.card.Writes()
	b.sc.path.rx[1].Load.Bytes, b.sc.path.rx[1].Load.Packets = 12000, 200
	v.queueFilter()
	if w := b.card.Writes(); len(w) != 0 {
		t.Errorf("the same rate was written again: %v", w)
	}
	b.must(b.k.Sysctl.SetText("dev.em.0.enable_aim", "0"))
	v.queueFilter()
	if got := b.card.Reg(emreg.EITR + 4); got != 488 {
		t.Errorf("EITR(1) = %d without AIM, want 488", got)
	}
}

func TestSysctls(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), map[string]string{"hw.em.rx_int_delay": "32"})
	b.up()
	for name, want := range map[string]string{
		"hw.em.tx_int_delay": "66", "hw.em.rx_int_delay": "32", "hw.em.max_interrupt_rate": "8000",
		"dev.em.0.rx_int_delay": "32", "dev.em.0.tx_abs_int_delay": "66", "dev.em.0.itr": "488", "dev.em.0.fc": "3",
		"dev.em.0.nvm": "-1", "dev.em.0.enable_aim": "1", "dev.em.0.bad_writeback": "0", "dev.em.0.dropped": "0",
		"dev.em.0.fc_high_water": "30720", "dev.em.0.fc_low_water": "29220",
	} {
		if got := b.text(name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	set := func(name, v string) error { return b.k.Sysctl.SetText("dev.em.0."+name, v) }
	for _, tc := range []struct {
		name, value string
		reg         uint64
		want        uint32
		ide         bool
		err         error
	}{
		{"rx_int_delay", "100", emreg.RDTR, 98, true, nil}, // (100000+512)/1024
		{"rx_abs_int_delay", "67108", emreg.RADV, 65535, true, nil},
		{"rx_abs_int_delay", "67109", emreg.RADV, 65535, true, syscall.EINVAL},
		{"rx_abs_int_delay", "-1", emreg.RADV, 65535, true, syscall.EINVAL},
		{"tx_int_delay", "0", emreg.TIDV, 1, false, nil},
		{"tx_int_delay", "10", emreg.TIDV, 10, true, nil},
		{"itr", "125", emreg.ITR, 488, true, nil},
		{"fc", "4", emreg.TIDV, 10, true, syscall.EINVAL},
	} {
		err := set(tc.name, tc.value)
		if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
			t.Errorf("%s=%s: %v, want %v", tc.name, tc.value, err, tc.err)
		}
		if got := b.card.Reg(tc.reg); got != tc.want {
			t.Errorf("%s=%s: register %d, want %d", tc.name, tc.value, got, tc.want)
		}
		if ide := b.sc.path.cmd.Load() != 0; ide != tc.ide {
			t.Errorf("%s=%s: IDE %v, want %v", tc.name, tc.value, ide, tc.ide)
		}
	}
	b.must(set("fc", "1"))
	b.k.RunUntilIdle()
	if got := b.card.Reg(emreg.CTRL) & (1<<27 | 1<<28); got != 1<<27 {
		t.Errorf("flow control bits %#x with fc=1, want receive", got)
	}
	b.lines()
	b.must(set("nvm", "1"))
	if out := b.lines(); !strings.Contains(out, "0x0000  0002 0000 0100 ") {
		t.Errorf("nvm printed %q", out)
	}
	b.must(set("debug", "1"))
	if out := b.lines(); !strings.Contains(out, "em0: Interface is RUNNING and INACTIVE\n") {
		t.Errorf("debug printed %q", out)
	}
	b.must(set("rs_dump", "1"))
	if out, want := b.lines(), "\nqid[0]->tx_rsq[rs_cidx-1=1023]: 65535  cidx_prev=1023 rs_pidx=0 \n"; !strings.HasPrefix(out, want) || !strings.Contains(out, "\nqid[1]->") {
		t.Errorf("rs_dump printed %q", out)
	}
}

func TestStatisticsBecomeCounters(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82540EM), nil)
	b.up()
	for i, reg := range []uint64{emreg.MPC, emreg.CRCERRS, emreg.RXERRC, emreg.ALGNERRC, emreg.RUC, emreg.ROC, emreg.CEXTERR} {
		b.card.SetReg(reg, 1<<i)
	}
	b.card.SetReg(emreg.ECOL, 1)
	b.card.SetReg(emreg.LATECOL, 2)
	b.card.SetReg(emreg.COLC, 7)
	b.card.SetReg(emreg.XOFFRXC, 1)
	b.card.SetReg(emreg.IAC, 9)
	b.sc.Timer(0)
	b.k.RunUntilIdle()
	b.sc.RxErrors.Dropped.Add(1000)
	for c, want := range map[ifnet.Counter]uint64{ifnet.CounterIErrors: 1127, ifnet.CounterOErrors: 3, ifnet.CounterCollisions: 7} {
		if got := b.ctx.Ifp().GetCounter(c); got != want {
			t.Errorf("counter %d = %d, want %d", c, got, want)
		}
	}
	for name, want := range map[string]string{"mac_stats.missed_packets": "1", "mac_stats.late_coll": "2",
		"mac_stats.xoff_recvd": "1", "interrupts.asserts": "9"} {
		if got := b.text("dev.em.0." + name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if !b.ctx.Softc().PauseFrames.Load() {
		t.Error("an XOFF frame does not excuse the queues")
	}
}

func TestCountsFromBeforeAttachAreForgotten(t *testing.T) {
	c := newCard(emreg.Dev82574L)
	c.SetReg(emreg.MPC, 5)
	b := newBench(t, c, nil)
	b.sc.Timer(0)
	b.sc.UpdateAdminStatus()
	if got := b.text("dev.em.0.mac_stats.missed_packets"); got != "0" {
		t.Errorf("%s missed packets at attach, want 0", got)
	}
}

func TestMedia(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), nil)
	b.up()
	for _, tc := range []struct {
		word ifnet.MediaWord
		bmcr uint16
		adv  uint16 // of ANAR, without flow control
		ctrl uint32 // FRCSPD, FRCDPX, SPD, FD
	}{
		{ifnet.Media100TX | ifnet.MediaFDX, 0x2100, 0, 1<<11 | 1<<12 | 1<<8 | 1},
		{ifnet.Media10T, 0, 0, 1<<11 | 1<<12},
		{ifnet.Media1000T | ifnet.MediaFDX, 0x1000, 0x001, 0},
		{ifnet.MediaAuto, 0x1000, 0x1e1, 0},
	} {
		b.card.PHY[0] = 0
		b.card.SetReg(emreg.CTRL, 0)
		b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetMedia, ifnet.MediaEther|tc.word))
		if got := b.card.PHY[0]; got != tc.bmcr {
			t.Errorf("media %#x: BMCR %#x, want %#x", uint32(tc.word), got, tc.bmcr)
		}
		if got := b.card.PHY[4] &^ 0xc00; tc.adv != 0 && got != tc.adv {
			t.Errorf("media %#x: advertised %#x, want %#x", uint32(tc.word), got, tc.adv)
		}
		const forced = 1<<11 | 1<<12 | 3<<8 | 1
		if got := b.card.Reg(emreg.CTRL) & forced; got != tc.ctrl {
			t.Errorf("media %#x: CTRL %#x, want %#x", uint32(tc.word), got, tc.ctrl)
		}
	}
	var req ifnet.MediaReq
	b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlGetMedia, &req))
	if want := ifnet.MediaEther | ifnet.Media1000T | ifnet.MediaFDX; req.Active != want || req.Status != 3 {
		t.Errorf("active %#x status %d, want %#x and 3", uint32(req.Active), req.Status, uint32(want))
	}
}

func TestLEDComesBack(t *testing.T) {
	c := newCard(emreg.Dev82540EM)
	c.SetReg(emreg.LEDCTL, 0x0706_8302)
	b := newBench(t, c, nil)
	b.sc.LEDFunc(true)
	if got := c.Reg(emreg.LEDCTL); got != 0x0706_830e {
		t.Errorf("LEDCTL %#x on", got)
	}
	b.sc.LEDFunc(false)
	if got := c.Reg(emreg.LEDCTL); got != 0x0706_8302 {
		t.Errorf("LEDCTL %#x off", got)
	}
}

func TestControlIsHandedOver(t *testing.T) {
	for device, at := range map[uint16][2]uint32{emreg.Dev82574L: {emreg.CTRLExt, 1 << 28}, emreg.Dev82573L: {emreg.SWSM, 1 << 3}} {
		b := newBench(t, newCard(device), nil)
		reg := uint64(at[0])
		if b.card.Reg(reg)&at[1] == 0 {
			t.Errorf("%#x: not taken at attach", device)
		}
		b.must(b.sc.Suspend())
		if b.card.Reg(reg)&at[1] != 0 {
			t.Errorf("%#x: not released at suspend", device)
		}
	}
}

func TestPeeksRunBesideTheOwner(t *testing.T) {
	r := newRings(t, 1)
	e1000test.PeeksRunBesideTheOwner(t, &r.dataPath, r.tx[0].Desc, r.rx[0].Desc, func() {
		r.txLoad(0, 1)
		r.rxLoad(0)
	})
}
