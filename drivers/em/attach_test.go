package em

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/ifnet"
)

func TestAttachKnowsEachPart(t *testing.T) {
	for _, c := range chips {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, newCard(c.device), nil)
			if got := b.ctx.MAC(); got != testMAC {
				t.Errorf("MAC %x, want %x", got, testMAC)
			}
			queues := 1
			if c.device == emreg.Dev82574L {
				queues = 2
			}
			if tx, rx := b.ctx.NTxqs(), b.ctx.NRxqs(); tx != queues || rx != queues {
				t.Errorf("%d transmit and %d receive queues, want %d", tx, rx, queues)
			}
			if got := b.text("dev.em.0.%desc"); !strings.HasPrefix(got, c.name) {
				t.Errorf("description %q", got)
			}
			b.up()
			if !b.ctx.IsRunning() || b.ctx.Ifp().LinkState() != ifnet.LinkStateUp {
				t.Errorf("running %v, link %v", b.ctx.IsRunning(), b.ctx.Ifp().LinkState())
			}
			if got := b.ctx.Ifp().Baudrate(); got != 1_000_000_000 {
				t.Errorf("baudrate %d", got)
			}
		})
	}
}

// The sets are those of spec 1g 2.3 with IFCAP bits of spec ifnet 6.3.
func TestCapabilities(t *testing.T) {
	const (
		tso4, tso6 = 1 << 8, 1 << 9
		ipv6       = 1<<21 | 1<<22
		lem        = 3 | 1<<3 | 1<<4 | 1<<7 | 7<<11 | 1<<16 | tso4 | 1<<10 | 1<<18 | 1<<5 | ipv6
		wol        = 7 << 11
	)
	for _, tc := range []struct {
		mac         macType
		unsupported bool
		can, on     ifnet.Caps
	}{
		{mac82540, false, lem &^ ipv6, lem &^ (ipv6 | tso4 | wol)},
		{mac82540, true, lem&^ipv6 | tso6, lem &^ (ipv6 | tso4 | wol)},
		{mac82545, false, lem, lem &^ (tso4 | wol)},
		{mac82571, false, lem | tso6, lem &^ (tso4 | wol)},
		{mac82574, false, lem | tso6, lem &^ (tso4 | wol)},
	} {
		can, on := capabilities(&chip{mac: tc.mac}, tc.unsupported)
		if can != tc.can || on != tc.on {
			t.Errorf("mac %d unsupported %v: %#x enabled %#x, want %#x and %#x", tc.mac, tc.unsupported, can, on, tc.can, tc.on)
		}
	}
}

func TestAttachRefusesBrokenParts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(*card)
		want  string
	}{
		{"checksum", func(c *card) { c.NVM[9]++ }, "The EEPROM Checksum Is Not Valid"},
		{"no address", func(c *card) { c.SetReg(emreg.RAL, 0); c.NVM[0], c.NVM[1], c.NVM[2] = 0, 0, 0; c.Balance() }, "Invalid MAC address"},
		{"multicast address", func(c *card) { c.NVM[0] |= 1; c.Balance() }, "Invalid MAC address"},
		{"other PHY", func(c *card) { c.PHY[3]++ }, "Setup of Shared code failed, error 5"},
		{"gone", func(c *card) { c.Dead = true }, "Setup of Shared code failed, error 5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCard(emreg.Dev82574L)
			tc.spoil(c)
			b := tryBench(t, c, nil)
			if b.ctx != nil {
				t.Fatal("attached")
			}
			if out := b.Console.String(); !strings.Contains(out, "em0: "+tc.want) {
				t.Errorf("console:\n%s\nwant %q", out, tc.want)
			}
		})
	}
}

func TestChecksumGetsASecondChance(t *testing.T) {
	c := newCard(emreg.Dev82583V)
	reads := 0
	c.Fuzz = func(off uint64, v uint32) uint32 {
		if off == emreg.EERD {
			if reads++; reads == 1 {
				v ^= 1 << emreg.NVMRWDataShift
			}
		}
		return v
	}
	newBench(t, c, nil)
}

func TestVectorCountIsRaisedInTheNVM(t *testing.T) {
	c := newCard(emreg.Dev82574L)
	c.NVM[0x1b] = 2<<7 | 0x5
	c.Balance()
	newBench(t, c, nil)
	if got := c.NVM[0x1b]; got != 4<<7|0x5 {
		t.Errorf("word 0x1b = %#x", got)
	}
	sum := uint16(0)
	for _, w := range c.NVM {
		sum += w
	}
	if sum != 0xbaba {
		t.Errorf("checksum %#x after the change", sum)
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

// The order and the values are typed from spec 1g 6.2 to 6.5.
func TestInitWritesInOrder82574(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), map[string]string{"dev.em.0.iflib.override_ntxds": "256"})
	w := b.up()
	tdba := [2]uint32{uint32(b.sc.path.tx[0].Addr), uint32(b.sc.path.tx[1].Addr)}
	rdba := [2]uint32{uint32(b.sc.path.rx[0].Addr), uint32(b.sc.path.rx[1].Addr)}
	got := only(w, emreg.PBA, emreg.EXTCNFCtrl, emreg.VET, emreg.TDLEN, emreg.TDLEN+0x100, emreg.TDBAH, emreg.TDBAL,
		emreg.TDBAL+0x100, emreg.TDT, emreg.TDH, emreg.TIPG, emreg.TIDV, emreg.TADV, emreg.TARC, emreg.TARC+0x100,
		emreg.RFCTL, emreg.RXCSUM, emreg.ITR, emreg.EITR, emreg.EITR+12, emreg.RADV, emreg.RDTR, emreg.MRQC, emreg.RDLEN,
		emreg.RDLEN+0x100, emreg.RDBAL, emreg.RDBAL+0x100, emreg.RDH, emreg.RXDCTL, emreg.RXDCTL+0x100, emreg.IVAR,
		emreg.ICS, emreg.FCTTV, emreg.FCRTL, emreg.FCRTH, emreg.RETA, emreg.RSSRK)
	want := []string{
		"0xf00=0x20", "0xf00=0x0", // the stop before init resets too
		"0x1000=0x20",             // PBA 32 KiB (6.3)
		"0xf00=0x20", "0xf00=0x0", // software ownership around RST (6.2)
		"0x170=0x680",                // FCTTV
		"0x2160=0x80007220",          // FCRTL: 32768-2048-1500, XONE
		"0x2168=0x7800",              // FCRTH
		"0xe4=0x80000",               // init_hw: IVAR = 8<<16
		"0x38=0x8100", "0x38=0x8100", // VET of em_reset and of init
		"0x3808=0x1000", "0x3804=0x0", fmt.Sprintf("0x3800=%#x", tdba[0]), "0x3818=0x0", "0x3810=0x0",
		"0x3908=0x1000", fmt.Sprintf("0x3900=%#x", tdba[1]),
		"0x410=0x602008", "0x3820=0x42", "0x382c=0x42",
		"0x3840=0x7800080", "0x3940=0x7800080",
		"0x282c=0x42", "0xc4=0x1e8", "0x2820=0x0", "0xe8=0x1e8", "0xf4=0x1e8",
		"0x5008=0x9000",
		"0x5000=0x2300",
		"0x5c80=0xda565a6d", "0x5c00=0x80008000", "0x5818=0x1f0001",
		"0x2808=0x4000", fmt.Sprintf("0x2800=%#x", rdba[0]), "0x2810=0x0",
		"0x2908=0x4000", fmt.Sprintf("0x2900=%#x", rdba[1]),
		"0x2828=0x1040420", "0x2928=0x1040420",
		"0xe4=0x800a9898", // rings 0 and 1 on vectors 0 and 1, the rest on 2
		"0xc8=0x4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	for off, want := range map[uint64]uint32{
		emreg.RCTL:   1<<1 | 1<<15 | 1<<18 | 1<<26,                 // EN, BAM, VFE, SECRC
		emreg.TCTL:   1<<1 | 1<<3 | 15<<4 | 63<<12 | 1<<24 | 1<<28, // EN, PSP, CT, COLD, RTLC, MULR
		emreg.TXDCTL: 0x1f | 1<<8 | 1<<16 | 1<<22 | 1<<24,          //
		emreg.VFTA:   1,                                            // VLAN 0
		emreg.IMS:    0x9d | 0x1f00000,                             // queues and the rest
		emreg.EIAC:   0x1f00000,                                    //
		emreg.RAL:    0x0000_0002, emreg.RAH: 0x8000_0100,          // 02:00:00:00:00:01
	} {
		if got := b.card.Reg(off); got != want {
			t.Errorf("register %#x = %#x after init, want %#x", off, got, want)
		}
	}
	if got := b.card.Reg(emreg.CTRL); got&(1<<30|1<<6|1<<27|1<<28) != 1<<30|1<<6|1<<27|1<<28 {
		t.Errorf("CTRL %#x: want VME, SLU, RFCE, TFCE", got)
	}
}

func TestInitOf82540GoesThroughTheIOWindow(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82540EM), nil)
	w := b.up()
	got := only(w, emreg.PBA, emreg.RFCTL, emreg.RXCSUM, emreg.ITR, emreg.TADV, emreg.EITR, emreg.IVAR, emreg.EXTCNFCtrl)
	want := []string{"0x1000=0x30", "0x382c=0x42", "0xc4=0x1e8", "0x5000=0x300"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	for off, want := range map[uint64]uint32{
		emreg.TCTL:   1<<1 | 1<<3 | 15<<4 | 63<<12 | 1<<24,
		emreg.TXDCTL: 0x1f | 1<<8 | 1<<16 | 1<<24,
		emreg.IMS:    0x9d,
	} {
		if got := b.card.Reg(off); got != want {
			t.Errorf("register %#x = %#x after init, want %#x", off, got, want)
		}
	}
}

// Case 21 and the VLAN part of case 19.
func TestVLANTagsAndFilterFollowCapabilities(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82574L), nil)
	b.up()
	toggle := func(c ifnet.Caps, on bool) {
		req := ifnet.CapReq{Req: b.ctx.Ifp().Capenable() &^ c}
		if on {
			req.Req |= c
		}
		b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetCap, &req))
		b.k.RunUntilIdle()
	}
	vme := func() bool { return b.card.Reg(emreg.CTRL)&emreg.CtrlVME != 0 }
	vfe := func() bool { return b.card.Reg(emreg.RCTL)&emreg.RCTLVFE != 0 }
	toggle(ifnet.CapVLANHWTag, false)
	if vme() || b.sc.path.rx[0].tags {
		t.Error("tags are stripped with hardware tagging off")
	}
	toggle(ifnet.CapVLANHWTag, true)
	if !vme() || !b.sc.path.rx[0].tags {
		t.Error("tags are left in with hardware tagging on")
	}
	toggle(ifnet.CapVLANHWFilter, false)
	if vfe() {
		t.Error("the filter is on with hardware filtering off")
	}
	toggle(ifnet.CapVLANHWFilter, true)
	if !vfe() || b.card.Reg(emreg.VFTA)&1 == 0 {
		t.Errorf("filter %v, VFTA[0] %#x: VLAN 0 must pass", vfe(), b.card.Reg(emreg.VFTA))
	}
	b.sc.VLANRegister(1001)
	if got := b.card.Reg(emreg.VFTA + 31*4); got != 1<<9 {
		t.Errorf("VFTA[31] = %#x for VLAN 1001", got)
	}
	b.must(b.sc.PromiscSet(ifnet.FlagPromisc))
	if got := b.card.Reg(emreg.RCTL); got&(1<<3|1<<4|1<<18) != 1<<3|1<<4 {
		t.Errorf("promiscuous RCTL %#x: want UPE, MPE, no VFE", got)
	}
	b.must(b.sc.PromiscSet(ifnet.FlagAllMulti))
	if got := b.card.Reg(emreg.RCTL); got&(1<<3|1<<4|1<<18) != 1<<4|1<<18 {
		t.Errorf("RCTL %#x with all groups: want MPE, VFE", got)
	}
	b.sc.VLANUnregister(1001)
	if got := b.card.Reg(emreg.VFTA + 31*4); got != 0 {
		t.Errorf("VFTA[31] = %#x after VLAN 1001 left", got)
	}
}

func TestMulticastHash(t *testing.T) {
	b := newBench(t, newCard(emreg.Dev82540EM), nil)
	b.up()
	// 01:00:5e:00:00:fb: hash (0x00>>4 | 0xfb<<4) = 0xfb0: dword 125, bit 16.
	b.must(b.ctx.Ifp().AddMulti([6]byte{0x01, 0, 0x5e, 0, 0, 0xfb}))
	b.k.RunUntilIdle()
	for i := range uint64(emreg.MTACount) {
		want := uint32(0)
		if i == 125 {
			want = 1 << 16
		}
		if got := b.card.Reg(emreg.MTA + 4*i); got != want {
			t.Errorf("MTA[%d] = %#x, want %#x", i, got, want)
		}
	}
}

// Case 17.
func TestTSOIsOffBelowGigabit(t *testing.T) {
	link := func(b *bench, status uint32) {
		for _, s := range []struct {
			phy    uint16
			status uint32
		}{{0x7949, 0}, {0x796d, status}} {
			b.card.PHY[1] = s.phy
			b.card.SetReg(emreg.STATUS, s.status)
			b.sc.LinkEvent()
			b.k.RunUntilIdle()
		}
	}
	const at100, at1000 = 0x43, 0x83
	for _, unsupported := range []string{"0", "1"} {
		b := newBench(t, newCard(emreg.Dev82574L), map[string]string{"hw.em.unsupported_tso": unsupported})
		b.up()
		req := ifnet.CapReq{Req: b.ctx.Ifp().Capenable() | ifnet.CapTSO}
		b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetCap, &req))
		b.k.RunUntilIdle()
		b.lines()
		link(b, at100)
		off, on := "em0: Disabling TSO for 10/100 Ethernet.\n", "em0: Re-enabling TSO for GbE.\n"
		want := ifnet.Caps(0)
		if unsupported == "1" {
			off, on, want = "", "", ifnet.CapTSO
		}
		if got := b.ctx.Ifp().Capenable() & ifnet.CapTSO; got != want {
			t.Errorf("unsupported %s at 100: TSO %#x, want %#x", unsupported, got, want)
		}
		if got := b.ctx.Ifp().HWAssist() != 0 && b.ctx.Ifp().HWAssist()&0x1010 != 0; got != (want != 0) {
			t.Errorf("unsupported %s at 100: stack may segment %v", unsupported, got)
		}
		if out := b.lines(); strings.Contains(out, off) != (off != "") && off != "" {
			t.Errorf("console %q", out)
		}
		link(b, at1000)
		if got := b.ctx.Ifp().Capenable() & ifnet.CapTSO; got != ifnet.CapTSO {
			t.Errorf("unsupported %s back at 1000: TSO %#x", unsupported, got)
		}
		if out := b.lines(); !strings.Contains(out, on) || on == "" && strings.Contains(out, "TSO") {
			t.Errorf("unsupported %s: console %q", unsupported, out)
		}
	}
}

func TestMTULimits(t *testing.T) {
	for device, limit := range map[uint16]int{emreg.Dev82574L: 9234 - 18, emreg.Dev82540EM: 16128 - 18} {
		b := newBench(t, newCard(device), nil)
		if err := b.sc.MTUSet(limit); err != nil {
			t.Errorf("MTU %d: %v", limit, err)
		}
		if err := b.sc.MTUSet(limit + 1); err == nil {
			t.Errorf("MTU %d is taken", limit+1)
		}
	}
	b := newBench(t, newCard(emreg.Dev82574L), nil)
	b.must(b.ctx.Ifp().Ioctl(ifnet.IoctlSetMTU, 9000))
	b.up()
	// LPE, 4096-byte buffers: BSEX and size 3.
	if got := b.card.Reg(emreg.RCTL); got&(1<<5|3<<16|1<<25) != 1<<5|3<<16|1<<25 {
		t.Errorf("RCTL %#x with jumbo frames", got)
	}
	if got := b.card.Reg(emreg.PBA); got != 22 {
		t.Errorf("PBA %d with jumbo frames, want 22", got)
	}
}
