package em

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/probe"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testMAC = e1000test.MAC

// card is a board in a slot.
type card struct {
	*e1000test.Board
	device uint16
	msix   int
	fn     *pci.Function
	flash  *e1000test.Flash // of pch parts
	rings  uint32           // what configuration space says of them (I219)
}

func (c *card) Identity() pci.Identity {
	return pci.Identity{Vendor: emreg.VendorIntel, Device: c.device, Class: 0x020000}
}

func (c *card) BARs() []pci.BARInfo {
	b := []pci.BARInfo{{Index: 0, Size: emreg.BARSize, Kind: pci.Mem32, BAR: pci.Regs32{Registers32: c.Board}}}
	if chipOf(c.device).lem() {
		io := &e1000test.IO{Board: c.Board}
		b = append(b, pci.BARInfo{Index: 2, Size: emreg.IOBARSize, Kind: pci.IO, BAR: pci.Regs32{Registers32: io}})
	}
	if chipOf(c.device).mac == macPCHLPT {
		b = append(b, pci.BARInfo{Index: emreg.FlashBAR, Size: emreg.FlashBytes, Kind: pci.Mem32,
			BAR: flashBAR{pci.Regs32{Registers32: flashWords{c}}, c.flash}})
	}
	return b
}

// flashBAR is the flash of I217, flashWords its registers behind what spoils reads of the
// board.
type (
	flashBAR struct {
		pci.Regs32
		flash *e1000test.Flash
	}
	flashWords struct{ *card }
)

func (b flashBAR) Write16(off uint64, v uint16) { b.flash.Write16(off, v) }

func (w flashWords) Write32(off uint64, v uint32) { w.flash.Write32(off, v) }

func (w flashWords) Read32(off uint64) uint32 {
	v := w.flash.Read32(off)
	if w.Fuzz != nil {
		v = w.Fuzz(off, v)
	}
	return v
}

// ReadConfig is the state of the rings.
func (c *card) ReadConfig(int) uint32 { return c.rings }

func (c *card) Vectors() (msix, msi int) {
	if chipOf(c.device).lem() {
		return 0, 0
	}
	return c.msix, 1
}

func (c *card) Plug(fn *pci.Function) { c.fn = fn }
func (c *card) Reset()                {}
func (c *card) Close() error          { return nil }

// phyOf is the id of the PHY on a part's board.
func phyOf(device uint16) uint32 { return chipOf(device).phyID }

// newCard is a board of a part, with MSI-X where the part has it.
func newCard(device uint16) *card {
	c := &card{Board: e1000test.NewBoard(testMAC, phyOf(device)), device: device}
	switch {
	case chipOf(device).mac == mac82574:
		c.msix = 5
	case chipOf(device).lem():
		c.SetReg(emreg.EECD, emreg.EECDPres) // 64 words
	case chipOf(device).pch():
		c.plugFlash()
	}
	return c
}

// plugFlash makes the board one of a pch part: its NVM, with a signature and a checksum, is
// in the flash.
func (c *card) plugFlash() {
	c.NVM[emreg.NVMCompat] = emreg.NVMCompatCsum
	c.NVM[emreg.NVMSignature] = emreg.NVMSignatureValid
	c.writeFlash()
	c.SetReg(emreg.FWSM, emreg.FWSMRspPCIPHY)
	c.SetReg(emreg.STATUS, c.Reg(emreg.STATUS)|emreg.StatusLANInitDone)
	c.MDI = emreg.PHYAddrBase
	if chipOf(c.device).mac > macPCHLPT {
		c.SetReg(emreg.STRAP, 1<<emreg.StrapSizeShift)
		c.Flash, c.flash.NIC = c.flash, true
	}
}

// writeFlash puts the NVM, balanced, into the flash.
func (c *card) writeFlash() {
	c.Balance()
	c.flash = e1000test.NewFlash(c.NVM[:], 0)
}

// bench is a machine with one attached card. Nothing happens but in calls of the test.
type bench struct {
	*e1000test.Machine
	t    testing.TB
	k    *kern.Kernel
	card *card
	ctx  *iflib.Ctx // nil where attach was refused
	sc   *softc
}

// newBench attaches the card; tunables are kenv entries.
func newBench(t testing.TB, c *card, tunables map[string]string) *bench {
	t.Helper()
	b := tryBench(t, c, tunables)
	if b.ctx == nil {
		t.Fatalf("attach failed: %s", b.Console.String())
	}
	return b
}

// tryBench is newBench for a card that may be refused: then ctx is nil.
func tryBench(t testing.TB, c *card, tunables map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, card: c, Machine: e1000test.Attach(t, 2, &Driver, c, tunables)}
	if b.k, b.ctx = b.K, b.Ctx; b.ctx == nil {
		return b
	}
	b.sc = b.ctx.Device().(*softc)
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	b.Must(err)
}

// up brings the interface up and returns what init wrote.
func (b *bench) up() []e1000test.Write {
	b.t.Helper()
	return b.Up(b.card.Board)
}

// text reads a sysctl.
func (b *bench) text(name string) string {
	b.t.Helper()
	return b.Text(name)
}

// lines returns what the console printed since the last call.
func (b *bench) lines() string { return b.Lines() }

const testDescs = e1000test.Descs

// rings is a data path of n queues on plain memory, without a device.
type rings struct {
	dataPath
	bar *e1000test.Board
}

func newRings(t testing.TB, n int) *rings {
	t.Helper()
	alloc := e1000test.Rings(t)
	r := &rings{bar: e1000test.NewBoard(testMAC, 0)}
	r.dataPath.bar, r.errs = r.bar, new(e1000.RxErrors)
	r.probes = probe.NewSet(1, func() time.Duration { return 0 })
	r.tx, r.rx = make([]txRing, n), make([]rxRing, n)
	for i := range n {
		r.tx[i].Init(alloc(), testDescs, pci.RegisterAt(r.bar, emreg.TDT+uint64(i)*emreg.RingStride))
		r.tx[i].reuse = n == 1
		r.rx[i].Init(alloc(), testDescs, emreg.RDT+uint64(i)*emreg.RingStride)
		r.rx[i].BufSize, r.rx[i].Csum, r.rx[i].tags = mbuf.MClBytes, true, true
	}
	return r
}

// desc is a descriptor as the four dwords of the specification.
type desc = e1000test.Desc
