package igc

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igc/igcreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
)

func TestAttachKnowsEachPart(t *testing.T) {
	for _, c := range chips {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, newCard(c.device), nil)
			if tx, rx := b.Ctx.NTxqs(), b.Ctx.NRxqs(); tx != queues || rx != queues {
				t.Errorf("%d transmit and %d receive queues, want %d", tx, rx, queues)
			}
			if got := b.Text("dev.igc.0.%desc"); !strings.HasPrefix(got, c.name) {
				t.Errorf("description %q", got)
			}
			b.up()
			if got := b.Ctx.Ifp().Baudrate(); got != 2_500_000_000 {
				t.Errorf("baudrate %d", got)
			}
		})
	}
}

func TestPartWithoutFlashNeedsNoChecksum(t *testing.T) {
	c := newCard(igcreg.DevI225Blank)
	c.SetReg(emreg.EECD, 0x300)
	c.NVM[9]++
	b := newBench(t, c, nil)
	if got := b.Text("dev.igc.0.fw_version"); got != "" {
		t.Errorf("fw_version %q of nothing", got)
	}
	if err := b.sc.NVM.WriteWord(0, 1); err == nil {
		t.Error("a word was written")
	}
	c = newCard(igcreg.DevI225V)
	c.NVM[9]++
	if m := e1000test.Attach(t, 2, &Driver, c, nil); m.Ctx != nil || !strings.Contains(m.Console.String(), "Checksum") {
		t.Errorf("a flash with a wrong checksum: %v\n%s", m.Err, m.Console.String())
	}
}

// The values are typed from spec 1g 2.3 and 6.4.
func TestInitOfI226(t *testing.T) {
	b := newBench(t, newCard(igcreg.DevI226V), nil)
	b.up()
	for off, want := range map[uint64]uint32{
		0x3828: 0x1f | 1<<8 | 1<<16 | 1<<22 | 1<<24 | 1<<25,
		0x2828: 8 | 8<<8 | 4<<16 | 1<<25,
		0x280c: 2 | 1<<25,     // flow control keeps the queues from dropping
		0x5000: 1<<11 | 1<<13, // CRCOFL, PCSD
		0x1700: 0x81818080, 0x1704: 0x83838282, 0x1740: 0x8400,
		0x1514: 1 | 1<<4 | 1<<30 | 1<<31, 0x1524: 0x1f,
		0x1680:     500 | 1<<31,
		emreg.RCTL: 1<<1 | 1<<15 | 1<<26, // EN, BAM, SECRC: no VLAN filter
		emreg.VFTA: 0, emreg.RFCTL: 1 << 16,
	} {
		if got := b.card.Reg(off); got != want {
			t.Errorf("register %#x = %#x after init, want %#x", off, got, want)
		}
	}
	if caps := b.Ctx.Ifp().Capabilities(); caps&ifnet.CapVLANHWFilter != 0 || caps&ifnet.CapTSO != ifnet.CapTSO {
		t.Errorf("capabilities %#x: want TSO and no VLAN filter", caps)
	}
	var dev any = b.sc
	if _, ok := dev.(iflib.VLANRegisterer); ok {
		t.Error("igc has a VLAN filter")
	}
}

// MMD access as in IEEE 802.3 annex 22D: device 7, register 32, bit 7.
func TestGigabitAndHalfIsAdvertised(t *testing.T) {
	b := newBench(t, newCard(igcreg.DevI225V), nil)
	b.up()
	// PHY register 14 keeps what was last written to it on this board.
	if got := b.card.PHY[14]; got&0x80 == 0 {
		t.Errorf("advertised %#x, want 2.5 Gbit/s", got)
	}
	var req ifnet.MediaReq
	b.Must(b.Ctx.Ifp().Ioctl(ifnet.IoctlGetXMedia, &req))
	if want := ifnet.MediaEther | ifnet.Media2500T | ifnet.MediaFDX; req.Active != want {
		t.Errorf("active %#x, want %#x", uint32(req.Active), uint32(want))
	}
	b.Must(b.Ctx.Ifp().Ioctl(ifnet.IoctlSetMedia, ifnet.MediaEther|ifnet.Media1000T|ifnet.MediaFDX))
	if got := b.card.PHY[14]; got&0x80 != 0 {
		t.Errorf("advertised %#x with gigabit alone", got)
	}
	b.Must(b.Ctx.Ifp().Ioctl(ifnet.IoctlSetMedia, ifnet.MediaEther|ifnet.Media2500T))
	if got, giga := b.card.PHY[14], b.card.PHY[9]; got&0x80 == 0 || giga&(3<<8) != 0 {
		t.Errorf("advertised %#x and %#x with 2.5 Gbit/s alone", got, giga)
	}
}

func TestOwnSysctls(t *testing.T) {
	b := newBench(t, newCard(igcreg.DevI225V), nil)
	b.up()
	b.wantText(map[string]string{"watchdog_timeouts": "0", "eee_control": "1", "dmac": "0", "fc_high_water": "32768",
		"interrupts.asserts": "0", "interrupts.rx_desc_min_thresh": "0", "queue_rx_1.interrupt_rate": "8000"})
	for _, name := range []string{"mac_stats.coll_ext_errs", "mac_stats.tso_ctx_fail", "interrupts.rx_overrun", "eee.tx_lpi_count",
		"tso_tcp_flags_mask_last_segment", "legacy_udp_hashtype"} {
		if got, err := b.K.Sysctl.Text("dev.igc.0." + name); err == nil {
			t.Errorf("%s exists: %s", name, got)
		}
	}
	for name, want := range map[string]string{"sbp": "1", "max_interrupt_rate": "8000", "enable_aim": "1"} {
		if got := b.Text("hw.igc." + name); got != want {
			t.Errorf("hw.igc.%s = %s, want %s", name, got, want)
		}
	}
	b.Must(b.sc.PromiscSet(ifnet.FlagPromisc))
	if got := b.card.Reg(emreg.RCTL) & 0x1c; got != 0x1c {
		t.Errorf("promiscuous RCTL %#x: want SBP, UPE and MPE", got)
	}
}

func TestCountersOfItsOwn(t *testing.T) {
	b := newBench(t, newCard(igcreg.DevI225V), nil)
	b.up()
	b.card.SetReg(emreg.COLC, 1)
	b.card.SetReg(igcreg.RERC, 2)
	b.card.SetReg(igcreg.HTDPMC, 4)
	b.card.SetReg(emreg.ECOL, 8)
	b.sc.Timer(0)
	b.K.RunUntilIdle()
	b.sc.WatchdogReset()
	for c, want := range map[ifnet.Counter]uint64{ifnet.CounterCollisions: 3, ifnet.CounterIErrors: 4, ifnet.CounterOErrors: 9} {
		if got := b.Ctx.Ifp().GetCounter(c); got != want {
			t.Errorf("counter %d = %d, want %d", c, got, want)
		}
	}
	b.wantText(map[string]string{"watchdog_timeouts": "1"})
}

// FuzzDeviceState lets a part answer and write back anything: attach may fail, but
// nothing panics, hangs or leaves its bounds.
func FuzzDeviceState(f *testing.F) {
	f.Add(uint8(0), false, []byte{0})
	f.Add(uint8(1), false, []byte{0xff})
	f.Add(uint8(15), true, []byte{0x80, 0, 0, 0x44, 0x12, 0x34})
	f.Fuzz(func(t *testing.T, part uint8, spoilAttach bool, data []byte) {
		c := newCard(chips[int(part)%len(chips)].device)
		e1000test.FuzzDevice(t, &Driver, c, spoilAttach, &e1000test.Garbage{Data: data})
	})
}
