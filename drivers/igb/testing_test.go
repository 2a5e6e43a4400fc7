package igb

import (
	"fmt"
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igb/igbreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"github.com/ifsim/ifsim/ifnet"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCard is a board of a part, with MSI-X vectors for all its queues.
func newCard(c chip) *e1000test.Card {
	b := e1000test.NewBoard(e1000test.MAC, c.phyID)
	// Present, loaded, 512 words; the flash of I210.
	b.SetReg(emreg.EECD, 0x300|3<<emreg.EECDSizeExShift|e1000reg.EECDFlashPresent)
	b.SetReg(e1000reg.RXPBS, map[macType]uint32{mac82576: 0x40}[c.mac])
	return &e1000test.Card{Board: b, Device: c.device, MSIX: c.queues + 1, MSI: 1}
}

func chipNamed(device uint16) chip {
	for _, c := range chips {
		if c.device == device {
			return c
		}
	}
	panic(fmt.Sprintf("no part %#x", device))
}

// bench is a machine with one attached card.
type bench struct {
	*e1000test.Machine
	card *e1000test.Card
	sc   *softc
}

// newBench attaches a card of a part to a machine with 4 CPUs.
func newBench(t testing.TB, device uint16, tunables map[string]string) *bench {
	t.Helper()
	return benchOf(t, newCard(chipNamed(device)), tunables)
}

func benchOf(t testing.TB, c *e1000test.Card, tunables map[string]string) *bench {
	t.Helper()
	m := e1000test.Attach(t, 4, &Driver, c, tunables)
	if m.Ctx == nil {
		t.Fatalf("attach failed: %v\n%s", m.Err, m.Console.String())
	}
	return &bench{Machine: m, card: c, sc: m.Ctx.Device().(*softc)}
}

// up brings the interface up and returns what init wrote.
func (b *bench) up() []e1000test.Write {
	b.T.Helper()
	return b.Up(b.card.Board)
}

// caps sets and clears capabilities.
func (b *bench) caps(set, clear ifnet.Caps) {
	b.T.Helper()
	b.Must(b.Ctx.Ifp().Ioctl(ifnet.IoctlSetCap, &ifnet.CapReq{Req: b.Ctx.Ifp().Capenable()&^clear | set}))
	b.K.RunUntilIdle()
}

// wantRegs fails unless registers have these values.
func (b *bench) wantRegs(when string, want map[uint64]uint32) {
	b.T.Helper()
	for off, v := range want {
		if got := b.card.Reg(off); got != v {
			b.T.Errorf("%s: register %#x = %#x, want %#x", when, off, got, v)
		}
	}
}

// some parts of each kind of reset, routing and NVM.
const (
	part82575 = igbreg.Dev82575EBCopper
	part82576 = igbreg.Dev82576
	partI350  = igbreg.DevI350Copper
	partI210  = igbreg.DevI210Copper
	partI211  = igbreg.DevI211Copper
)
