package em_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em"
	"github.com/ifsim/ifsim/drivers/em/emhw"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/iflib/iflibtest"
)

// TestConformance runs the suite that judges any driver, on each kind of part: with MSI-X,
// of the lem class, and with one MSI.
func TestConformance(t *testing.T) {
	chips := []string{"82574L", "82545EM", "I219-LM"}
	if testing.Short() {
		chips = chips[:1]
	}
	for i, chip := range chips {
		t.Run(chip, func(t *testing.T) {
			var opts []iflibtest.Option
			if i > 0 && !allParts {
				opts = append(opts, iflibtest.Short())
			}
			iflibtest.Run(t, func() iflibtest.Device {
				return iflibtest.Device{Driver: &em.Driver, Hardware: func(cfg hw.Config) (hw.NIC, error) { return emhw.New(chip, cfg) }}
			}, opts...)
		})
	}
}
