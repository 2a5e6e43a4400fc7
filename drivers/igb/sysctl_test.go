package igb

import (
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

func TestSysctlsAtAttach(t *testing.T) {
	b := newBench(t, partI210, map[string]string{"hw.em.eee_setting": "0", "hw.em.enable_aim": "2"})
	b.up()
	for name, want := range map[string]string{
		"legacy_udp_hashtype": "0", "enable_aim": "2", "eee_control": "0", "dmac": "0", "fc": "3", "nvm": "-1", "debug": "-1",
		"dropped": "0", "bad_writeback": "0", "link_irq": "0", "rx_overruns": "0", "fc_high_water": "32768",
		"fc_low_water": "32752", "queue_tx_3.interrupt_rate": "8000", "queue_rx_3.rx_irq": "0", "queue_rx_0.rxd_tail": "128",
		"eee.tx_lpi_count": "0", "mac_stats.coll_ext_errs": "0", "interrupts.rx_overrun": "0",
	} {
		if got := b.Text("dev.igb.0." + name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	b.wantRegs("EEE on", map[uint64]uint32{e1000reg.IPCNFG: 3 << 2, e1000reg.EEER: 7 << 16})
}

func TestSysctlsThatAreWritten(t *testing.T) {
	b := newBench(t, partI210, nil)
	b.up()
	for _, tc := range []struct {
		name, value string
		err         error
		show        string
		regs        map[uint64]uint32
	}{
		{"tso_tcp_flags_mask_first_segment", "4086", nil, "4086", map[uint64]uint32{0x359c: 0xff6}},
		{"tso_tcp_flags_mask_middle_segment", "3958", nil, "3958", map[uint64]uint32{0x359c: 0xf76_0ff6}},
		{"tso_tcp_flags_mask_last_segment", "4095", nil, "4095", map[uint64]uint32{0x35a0: 0xfff}},
		{"tso_tcp_flags_mask_last_segment", "4096", syscall.EINVAL, "4095", map[uint64]uint32{0x35a0: 0xfff}},
		{"tso_tcp_flags_mask_last_segment", "-1", syscall.EINVAL, "4095", nil},
		{"eee_control", "0", nil, "0", map[uint64]uint32{0xe38: 0xc, 0xe30: 0x70000}},
		{"eee_control", "7", nil, "1", map[uint64]uint32{0xe38: 0, 0xe30: 0}},
		{"dmac", "1", nil, "1000", map[uint64]uint32{
			0x2508: 1<<31 | 3<<28 | 32<<16 | 1000>>5, // 34 KiB less 1518/512
			0x2170: 2082 << 4,                        // 34 * 64 - 1518 / 16
			0x3550: (20408 - 2*1518) >> 6}},
		{"dmac", "1500", syscall.EINVAL, "0", nil},
		{"dmac", "10000", nil, "10000", map[uint64]uint32{0x2508: 1<<31 | 3<<28 | 32<<16 | 10000>>5}},
		{"dmac", "0", nil, "0", map[uint64]uint32{0x2508: 0}},
		{"fc", "1", nil, "1", nil},
		{"fc", "4", syscall.EINVAL, "1", nil},
	} {
		err := b.K.Sysctl.SetText("dev.igb.0."+tc.name, tc.value)
		if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
			t.Errorf("%s=%s: %v, want %v", tc.name, tc.value, err, tc.err)
		}
		b.K.RunUntilIdle()
		if got := b.Text("dev.igb.0." + tc.name); got != tc.show {
			t.Errorf("%s=%s shows %s, want %s", tc.name, tc.value, got, tc.show)
		}
		b.wantRegs(tc.name+"="+tc.value, tc.regs)
	}
}

func TestLegacyHashTypeIsRead(t *testing.T) {
	for value, want := range map[string]mbuf.HashType{"0": mbuf.HashRSSUDPIPv4, "1": mbuf.HashNone} {
		b := newBench(t, partI210, map[string]string{"dev.igb.0.legacy_udp_hashtype": value})
		if got := b.Text("dev.igb.0.legacy_udp_hashtype"); got != value {
			t.Errorf("shows %s, want %s", got, value)
		}
		f := receiveFormat(b.sc.Part.Format, value == "1")
		if diff := cmp.Diff(f, b.sc.Part.Format); diff != "" {
			t.Errorf("legacy %s: %s", value, diff)
		}
		if b.sc.Part.Format.UDPHash != (want != mbuf.HashNone) || f.HashDefault != mbuf.HashNone {
			t.Errorf("legacy %s: %+v", value, f)
		}
	}
}

func TestStatisticsBecomeCounters(t *testing.T) {
	b := newBench(t, partI350, nil)
	b.up()
	for i, reg := range []uint64{emreg.MPC, emreg.CRCERRS, emreg.RXERRC, emreg.ALGNERRC, emreg.RUC, emreg.ROC, emreg.CEXTERR} {
		b.card.SetReg(reg, 1<<i)
	}
	b.card.SetReg(emreg.LATECOL, 2)
	b.card.SetReg(emreg.COLC, 7)
	b.card.SetReg(emreg.XOFFRXC, 1)
	b.card.SetReg(emreg.TLPIC, 3)
	b.sc.Timer(0)
	b.K.RunUntilIdle()
	b.sc.RxErrors.Dropped.Add(1000)
	for c, want := range map[ifnet.Counter]uint64{ifnet.CounterIErrors: 1127, ifnet.CounterOErrors: 2, ifnet.CounterCollisions: 7} {
		if got := b.Ctx.Ifp().GetCounter(c); got != want {
			t.Errorf("counter %d = %d, want %d", c, got, want)
		}
	}
	for name, want := range map[string]string{"mac_stats.missed_packets": "1", "eee.tx_lpi_count": "3"} {
		if got := b.Text("dev.igb.0." + name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if !b.Ctx.Softc().PauseFrames.Load() {
		t.Error("an XOFF frame does not excuse the queues")
	}
}

func TestPowerEventsHandTheHardwareOver(t *testing.T) {
	b := newBench(t, partI210, nil)
	b.up()
	const drvLoad = 1 << 28
	if b.card.Reg(emreg.CTRLExt)&drvLoad == 0 {
		t.Error("not taken at attach")
	}
	b.Must(b.sc.Suspend())
	if b.card.Reg(emreg.CTRLExt)&drvLoad != 0 {
		t.Error("not released at suspend")
	}
	b.Must(b.sc.Resume())
	if b.card.Reg(emreg.CTRLExt)&drvLoad == 0 || b.card.Reg(emreg.RCTL)&emreg.RCTLEN == 0 {
		t.Error("not started by resume")
	}
}
