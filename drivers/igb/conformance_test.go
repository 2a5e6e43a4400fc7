package igb_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/igb"
	"github.com/ifsim/ifsim/drivers/igb/igbhw"
	"github.com/ifsim/ifsim/iflib/iflibtest"
)

// TestConformance runs the suite that judges any driver.
func TestConformance(t *testing.T) {
	chips := []string{"I210", "82576"}
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
				return iflibtest.Device{Driver: &igb.Driver, Hardware: func(cfg hw.Config) (hw.NIC, error) { return igbhw.New(chip, cfg) }}
			}, opts...)
		})
	}
}
