package iflibtest

import (
	"testing"

	"github.com/ifsim/ifsim/internal/testnic/cqnic"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbhw"
)

func cq() Device  { return Device{Driver: &cqnic.Driver, Hardware: cqhw.New} }
func hwb() Device { return Device{Driver: &hwbnic.Driver, Hardware: hwbhw.New} }

func TestCompletionQueueNIC(t *testing.T) { Run(t, cq) }

func TestHeadWriteBackNIC(t *testing.T) {
	if testing.Short() && raceEnabled {
		t.Skip("one driver is enough for the race detector")
	}
	Run(t, hwb)
}
