package e1000

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000test"
)

const testPHY = 0x01410cb1

var testMAC = [6]byte{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}

// bench is a board with its registers; waits cost nothing.
func bench(t testing.TB) (*e1000test.Board, *Regs) {
	t.Helper()
	b := e1000test.NewBoard(testMAC, testPHY)
	return b, &Regs{BAR: b, Delay: func(time.Duration) {}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
