package igb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igb/igbreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/ifnet"
)

func TestAttachKnowsEachPart(t *testing.T) {
	for _, c := range chips {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.device, nil)
			if got := b.Ctx.MAC(); got != e1000test.MAC {
				t.Errorf("MAC %x, want %x", got, e1000test.MAC)
			}
			// As many as the 4 CPUs and the part allow.
			queues := min(4, c.queues)
			if tx, rx := b.Ctx.NTxqs(), b.Ctx.NRxqs(); tx != queues || rx != queues {
				t.Errorf("%d transmit and %d receive queues, want %d", tx, rx, queues)
			}
			if got := b.Text("dev.igb.0.%desc"); !strings.HasPrefix(got, c.name) {
				t.Errorf("description %q", got)
			}
			b.up()
			if !b.Ctx.IsRunning() || b.Ctx.Ifp().LinkState() != ifnet.LinkStateUp {
				t.Errorf("running %v, link %v", b.Ctx.IsRunning(), b.Ctx.Ifp().LinkState())
			}
			if got := b.Ctx.Ifp().Baudrate(); got != 1_000_000_000 {
				t.Errorf("baudrate %d", got)
			}
		})
	}
}

// The limits are those of spec 1g 2.2, with CPUs to spare.
func TestQueuesOfThePart(t *testing.T) {
	for device, want := range map[uint16]int{part82575: 4, part82576: 8, igbreg.Dev82580Copper: 8, partI350: 8, partI210: 4, partI211: 2} {
		c := newCard(chipNamed(device))
		m := e1000test.Attach(t, 16, &Driver, c, nil)
		m.Must(m.Err)
		if got := m.Ctx.NRxqs(); got != want {
			t.Errorf("%#x: %d queues, want %d", device, got, want)
		}
	}
}

func TestAttachRefusesBrokenParts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(*e1000test.Card)
		want  string
	}{
		{"checksum", func(c *e1000test.Card) { c.NVM[9]++ }, "The EEPROM Checksum Is Not Valid"},
		{"no address", func(c *e1000test.Card) { c.NVM[0], c.NVM[1], c.NVM[2] = 0, 0, 0; c.Balance() }, "Invalid MAC address"},
		{"multicast address", func(c *e1000test.Card) { c.NVM[0] |= 1; c.Balance() }, "Invalid MAC address"},
		{"other PHY", func(c *e1000test.Card) { c.PHY[2]++ }, "Setup of Shared code failed, error 5"},
		{"firmware keeps the PHY", func(c *e1000test.Card) { c.SetReg(emreg.SWFWSync, 2<<16) }, "Setup of Shared code failed, error 5"},
		{"semaphore is never free", func(c *e1000test.Card) {
			c.Fuzz = func(off uint64, v uint32) uint32 {
				if off == emreg.SWSM {
					v |= 1
				}
				return v
			}
		}, "Setup of Shared code failed, error 5"},
		{"gone", func(c *e1000test.Card) { c.Dead = true }, "Setup of Shared code failed, error 5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCard(chipNamed(part82576))
			tc.spoil(c)
			m := e1000test.Attach(t, 4, &Driver, c, nil)
			if m.Ctx != nil {
				t.Fatal("attached")
			}
			if out := m.Console.String(); !strings.Contains(out, "igb0: "+tc.want) {
				t.Errorf("console:\n%s\nwant %q", out, tc.want)
			}
		})
	}
}

func TestVersionOfTheNVMIsShown(t *testing.T) {
	c := newCard(chipNamed(part82576))
	c.NVM[5] = 0x3160
	c.Balance()
	b := benchOf(t, c, nil)
	// The eTrack words 0x42 and 0x43 are words 2 and 3 on a board of 64.
	const want = "EEPROM V3.22-0 eTrack 0x01000000"
	if out := b.Lines(); !strings.Contains(out, "igb0: "+want+"\n") {
		t.Errorf("console:\n%s", out)
	}
	if got := b.Text("dev.igb.0.fw_version"); got != want {
		t.Errorf("fw_version %q, want %q", got, want)
	}
}

func TestAlternateAddressOfABladeIsUsed(t *testing.T) {
	c := newCard(chipNamed(part82576))
	c.NVM[emreg.NVMAltMacPtr] = 0x20
	c.NVM[0x20], c.NVM[0x21], c.NVM[0x22] = 0x1100, 0x3322, 0x5544
	c.Balance()
	if got, want := benchOf(t, c, nil).Ctx.MAC(), [6]byte{0, 0x11, 0x22, 0x33, 0x44, 0x55}; got != want {
		t.Errorf("MAC %x, want %x", got, want)
	}
}

// The records are typed from the layout in e1000_i210.h: type in bits 2:0, word in 15:9,
// value in 31:16.
func TestOneTimeMemoryIsReadByRecords(t *testing.T) {
	c := newCard(chipNamed(partI211))
	for i, d := range []uint32{2, 0xffffffff, 5<<9 | 0x1230<<16 | 1, 4, 1, 1, 1, 1, 1, 1, 1, 1, 6<<9 | 0xabcd<<16 | 1} {
		c.SetReg(igbreg.INVMData+4*uint64(i), d)
	}
	b := benchOf(t, c, nil)
	for word, want := range map[int]uint16{5: 0x1230, 6: 0xabcd, 7: 0xffff} {
		if got, err := b.sc.NVM.ReadWord(word); err != nil || got != want {
			t.Errorf("word %d = %#x, %v; want %#x", word, got, err, want)
		}
	}
	if err := b.sc.NVM.WriteWord(5, 0); err == nil {
		t.Error("one-time memory was written")
	}
}

// only keeps the writes to registers in a list and shows them.
func only(w []e1000test.Write, regs ...uint64) (out []string) {
	want := map[uint64]bool{}
	for _, r := range regs {
		want[r] = true
	}
	for _, x := range w {
		if want[x.Off] {
			out = append(out, fmt.Sprintf("%#x=%#x", x.Off, x.V))
		}
	}
	return out
}

// The order and the values are typed from spec 1g 6.2 to 6.6.
func TestInitWritesInOrderI210(t *testing.T) {
	b := newBench(t, partI210, map[string]string{"dev.igb.0.iflib.override_ntxds": "256"})
	w := b.up()
	got := only(w, 0x3828, 0x3808, 0x3818, 0x3810, 0x3928, 0x2808, 0x280c, 0x2828, 0x290c, 0x5008, 0x5000, 0x5818,
		0x1514, 0x1700, 0x1704, 0x1740, 0x1680, 0x168c, 0xc8, 0x38, 0x2168, 0x2160, 0xe38, 0xe30, 0x5c00, 0x5c80)
	want := []string{
		"0x2160=0x80007ff0", "0x2168=0x8000", // 34 KiB less 2 KiB for a frame, less 16
		"0x38=0x8100", "0x38=0x8100", // VET of em_reset and of init
		"0x5008=0x10000",                                                                // IPV6_EX_DIS
		"0x3828=0x108", "0x3808=0x1000", "0x3818=0x0", "0x3810=0x0", "0x3828=0x2000108", // ring 0, then its enable
		"0x3928=0x108", "0x3928=0x2000108",
		"0x5000=0x2b00", // IPOFL, TUOFL, CRCOFL, PCSD
		"0x5c00=0x3020100", "0x5c80=0xda565a6d",
		"0x5818=0x1f70002", // MRQC: RSS; all fields but IPv6 with extensions
		"0x2828=0x0", "0x2808=0x4000", "0x280c=0x2000002", "0x2828=0x2040808",
		"0x290c=0x2000002",
		"0x1514=0xc0000011",                                                // GPIE
		"0x1700=0x80", "0x1700=0x810080", "0x1704=0x82", "0x1704=0x830082", // receive queues
		"0x1700=0x818080", "0x1700=0x81818080", "0x1704=0x838282", "0x1704=0x83838282", // transmit queues
		"0x1740=0x8400",
		"0x1680=0x800001f4", "0x168c=0x800001f4", // 125 us
		"0xc8=0x4",
		"0xe38=0x0", "0xe30=0x0", // no EEE
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	b.wantRegs("after init", map[uint64]uint32{
		emreg.RCTL: 1<<1 | 1<<15 | 1<<18 | 1<<26,         // EN, BAM, VFE, SECRC
		emreg.TCTL: 1<<1 | 1<<3 | 15<<4 | 63<<12 | 1<<24, // EN, PSP, CT, COLD, RTLC
		emreg.VFTA: 1, emreg.IMS: 1 << 2,
		e1000reg.EIMS: 0x1f, e1000reg.EIAC: 0x1f, e1000reg.EIAM: 0x1f,
		emreg.RAL: 0x0000_0002, emreg.RAH: 0x8000_0100, // 02:00:00:00:00:01
	})
	if got := b.card.Reg(emreg.CTRL); got&(1<<30|1<<6|1<<27|1<<28) != 1<<30|1<<6|1<<27|1<<28 {
		t.Errorf("CTRL %#x: want VME, SLU, RFCE, TFCE", got)
	}
}

// Where the parts have their vectors: spec 1g 5.2.
func TestVectorsAreRoutedAsThePartHasThem(t *testing.T) {
	two := map[string]string{"dev.igb.0.iflib.override_qs_enable": "1", "dev.igb.0.iflib.override_nrxqs": "2"}
	for _, tc := range []struct {
		device uint16
		want   map[uint64]uint32
	}{
		// Two receive queues, four transmit queues: the surplus shares.
		{part82576, map[uint64]uint32{0x1700: 0x8080, 0x1704: 0x8181, 0x1708: 0x8000, 0x170c: 0x8100, 0x1740: 0x8200, 0x1524: 7}},
		{partI350, map[uint64]uint32{0x1700: 0x81818080, 0x1704: 0x81008000, 0x1740: 0x8200, 0x1524: 7}},
		{part82575, map[uint64]uint32{0x1600: 0x0501, 0x1604: 0x0a02, 0x1608: 1 << 31, 0x1524: 0x80000f03}},
	} {
		b := newBench(t, tc.device, two)
		b.up()
		b.wantRegs(fmt.Sprintf("%#x", tc.device), tc.want)
	}
}

func TestQueuesUnmaskTheirVector(t *testing.T) {
	b := newBench(t, partI210, map[string]string{"dev.igb.0.iflib.override_qs_enable": "1", "dev.igb.0.iflib.override_nrxqs": "2"})
	b.up()
	b.card.Writes()
	b.Must(b.sc.RxQueueIntrEnable(1))
	for q := range 4 {
		b.Must(b.sc.TxQueueIntrEnable(q))
	}
	want := []string{"0x1524=0x2", "0x1524=0x1", "0x1524=0x2", "0x1524=0x1", "0x1524=0x2"}
	if diff := cmp.Diff(want, only(b.card.Writes(), e1000reg.EIMS)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestOneInterruptServesWithoutMSIX(t *testing.T) {
	b := newBench(t, part82576, map[string]string{"dev.igb.0.iflib.disable_msix": "1"})
	if out := b.Lines(); !strings.Contains(out, "igb0: Using an MSI interrupt\n") {
		t.Errorf("console:\n%s", out)
	}
	b.up()
	b.wantRegs("MSI", map[uint64]uint32{emreg.IMS: 0x9d, e1000reg.EIMS: 0, e1000reg.GPIE: 0, emreg.MRQC: 0, 0x5000: 0xb00})
	for icr, stray := range map[uint32]bool{0: true, 0xffffffff: true, 0x80: true, 0x8000_0080: false} {
		b.card.SetReg(emreg.IMS, 0x9d)
		b.card.SetReg(emreg.ICR, icr)
		b.sc.LegacyIntr()
		if got := b.card.Reg(emreg.IMS) != 0; got != stray {
			t.Errorf("ICR %#x: interrupts stay enabled: %v, want %v", icr, got, stray)
		}
	}
}

func TestJumboFrames(t *testing.T) {
	b := newBench(t, partI210, nil)
	if err := b.sc.MTUSet(9234 - 18 + 1); err == nil {
		t.Error("a frame of 9235 bytes is taken")
	}
	b.Must(b.Ctx.Ifp().Ioctl(ifnet.IoctlSetMTU, 9000))
	b.up()
	b.wantRegs("MTU 9000", map[uint64]uint32{e1000reg.RLPML: 9022, 0x280c: 0x2000004,
		emreg.RCTL: 1<<1 | 1<<5 | 1<<15 | 1<<18 | 1<<26})
	b.caps(0, ifnet.CapVLANMTU)
	b.Must(b.Ctx.Ifp().Ioctl(ifnet.IoctlSetMTU, 4000))
	b.wantRegs("MTU 4000 without room for tags", map[uint64]uint32{e1000reg.RLPML: 4018, 0x280c: 0x2000004})
}

// A queue that is full holds the others up, unless it drops; it must not while pause
// frames are to keep the peer from sending.
func TestQueuesDropOnlyWithoutPauseFrames(t *testing.T) {
	b := newBench(t, partI210, nil)
	for fc, drop := range map[string]uint32{"0": 1, "1": 1, "2": 0, "3": 0} {
		b.Must(b.K.Sysctl.SetText("dev.igb.0.fc", fc))
		b.Must(b.Ctx.Ifp().Ioctl(ifnet.IoctlSetFlags, b.Ctx.Ifp().Flags()&^ifnet.FlagUp))
		b.up()
		if got := b.card.Reg(0x280c) >> 31; got != drop {
			t.Errorf("fc=%s: DROP_EN %d, want %d", fc, got, drop)
		}
	}
}

func TestVLANTableOfI350IsWrittenTenTimes(t *testing.T) {
	b := newBench(t, partI350, nil)
	b.up()
	b.card.Writes()
	b.sc.VLANRegister(1001)
	if got := len(only(b.card.Writes(), emreg.VFTA+31*4)); got != 10 {
		t.Errorf("%d writes, want 10", got)
	}
	b.wantRegs("VLAN 1001", map[uint64]uint32{emreg.VFTA + 31*4: 1 << 9})
	b.sc.VLANUnregister(1001)
	b.wantRegs("VLAN 1001 gone", map[uint64]uint32{emreg.VFTA + 31*4: 0})
}

func TestCapabilitiesReachTheRegisters(t *testing.T) {
	b := newBench(t, partI210, nil)
	b.up()
	if on := b.Ctx.Ifp().Capenable(); on&ifnet.CapTSO != ifnet.CapTSO || on&ifnet.CapWOL != 0 {
		t.Errorf("enabled at attach: %#x; want TSO, no wake-up", on)
	}
	bit := func(reg uint64, n int) bool { return b.card.Reg(reg)>>n&1 != 0 }
	b.caps(0, ifnet.CapVLANHWTag|ifnet.CapVLANHWFilter|ifnet.CapRxCsum)
	if bit(emreg.CTRL, 30) || bit(emreg.RCTL, 18) || b.card.Reg(emreg.RXCSUM) != 0x2000 {
		t.Errorf("off: CTRL %#x RCTL %#x RXCSUM %#x", b.card.Reg(emreg.CTRL), b.card.Reg(emreg.RCTL), b.card.Reg(emreg.RXCSUM))
	}
	b.caps(ifnet.CapVLANHWTag|ifnet.CapVLANHWFilter|ifnet.CapRxCsum, 0)
	if !bit(emreg.CTRL, 30) || !bit(emreg.RCTL, 18) || b.card.Reg(emreg.RXCSUM) != 0x2b00 {
		t.Errorf("on: CTRL %#x RCTL %#x RXCSUM %#x", b.card.Reg(emreg.CTRL), b.card.Reg(emreg.RCTL), b.card.Reg(emreg.RXCSUM))
	}
}
