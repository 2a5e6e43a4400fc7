package igc

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/igc/igcreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCard is a board of a part with a flash and 2.5 Gbit/s.
func newCard(device uint16) *e1000test.Card {
	b := e1000test.NewBoard(e1000test.MAC, igcreg.PHYIDI226)
	b.SetReg(emreg.EECD, 0x300|e1000reg.EECDFlashPresent)
	b.SetReg(emreg.STATUS, 0x83|igcreg.StatusSpeed2500)
	return &e1000test.Card{Board: b, Device: device, MSIX: queues + 1, MSI: 1}
}

// bench is a machine with one attached card.
type bench struct {
	*e1000test.Machine
	card *e1000test.Card
	sc   *softc
}

func newBench(t testing.TB, c *e1000test.Card, tunables map[string]string) *bench {
	t.Helper()
	m := e1000test.Attach(t, 4, &Driver, c, tunables)
	if m.Ctx == nil {
		t.Fatalf("attach failed: %v\n%s", m.Err, m.Console.String())
	}
	return &bench{Machine: m, card: c, sc: m.Ctx.Device().(*softc)}
}

func (b *bench) up() []e1000test.Write {
	b.T.Helper()
	return b.Up(b.card.Board)
}

func (b *bench) wantText(want map[string]string) {
	b.T.Helper()
	for name, v := range want {
		if got := b.Text("dev.igc.0." + name); got != v {
			b.T.Errorf("%s = %s, want %s", name, got, v)
		}
	}
}
